"""The README's tour, run as it is printed: what a new reader pastes must work."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.gateway_process import GATEWAY, REPOSITORY, clean_environment, running_gateway

README = (REPOSITORY / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def block(holding: str) -> str:
    """The one block of shell commands that holds this text."""
    (found,) = [text for text in BLOCKS if holding in text]
    return found


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What the tour writes to: contracts and generated code, apart from the repository's own."""
    for folder in ("schemas", "generated"):
        shutil.copytree(REPOSITORY / folder, tmp_path / folder)
    forget_the_tour(tmp_path)
    (tmp_path / "docs" / "reference").mkdir(parents=True)
    shutil.copytree(REPOSITORY / "docs/reference/tools", tmp_path / "docs/reference/tools")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "gateway").symlink_to(GATEWAY)
    return tmp_path


def forget_the_tour(folder: Path) -> None:
    """Whoever runs these tests may have taken the tour already."""
    for path in (folder / "schemas/tools/avinode").glob("airport_names.*"):
        path.unlink()
    index = folder / "schemas/openapi.yaml"
    lines = index.read_text("utf-8").splitlines(keepends=True)
    index.write_text("".join(line for line in lines if "airport_names" not in line), "utf-8")


def paste(text: str, folder: Path, **environment: str) -> str:
    """What the shell prints for these commands, the last of which must succeed."""
    own = {"COLUMNS": "100"}
    done = subprocess.run(
        ["sh", "-e", "-c", text],
        cwd=folder,
        env=clean_environment(own | environment),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_calls_of_the_tour_answer_what_it_says(checkout: Path, tmp_path: Path) -> None:
    with running_gateway(tmp_path / "data") as gateway:

        def curl(holding: str) -> Any:
            text = block(holding).replace("http://127.0.0.1:8700", gateway.url)
            return json.loads(paste(text, checkout, GATEWAY_KEY=gateway.key))

        found = curl("""-d '{"query": "Teterboro"}'""")
        refused = curl('"limit": "ten"')
        over_mcp = curl("Mcp-Name: avinode_search_airports")

    assert found["airports"][0]["icao"] == "KTEB"
    assert {error["pointer"] for error in refused["errors"]} == {"/query", "/limit"}
    assert over_mcp["result"]["structuredContent"] == found


def test_the_reader_s_own_tool_is_generated_and_answers(checkout: Path) -> None:
    paste(block("airport_names.output.json <<"), checkout)

    printed = paste(block("gateway lint"), checkout)

    assert '"Teterboro"' in printed


def test_a_key_for_an_agent_is_made_as_the_readme_says(checkout: Path) -> None:
    assert "gw_" in paste(block("gateway keys create"), checkout)


@pytest.mark.parametrize("language", ["json", "toml"])
def test_pasted_configuration_parses(language: str) -> None:
    tomllib = pytest.importorskip("tomllib")
    texts = re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)

    assert texts
    for text in texts:
        assert (json if language == "json" else tomllib).loads(text)


def test_every_linked_file_exists() -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", README)

    assert targets
    assert [target for target in targets if not (REPOSITORY / target).exists()] == []
