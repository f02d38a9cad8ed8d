"""README.md and the tour, run as they are printed: what a new reader pastes must work."""

import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gateway.catalogue import open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.testing.live import service_account_key
from tests.gateway_process import (
    GATEWAY,
    REPOSITORY,
    clean_environment,
    run_gateway,
    running_gateway,
)

DOCUMENTS = REPOSITORY / "tests/assets/documents"
README = (REPOSITORY / "README.md").read_text("utf-8")
TOUR = (REPOSITORY / "docs/tutorial/tour.md").read_text("utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```", README + TOUR, re.MULTILINE | re.DOTALL)
LIVE = (REPOSITORY / "docs/how-to/use-a-live-upstream.md").read_text("utf-8")
CLIENTS = (REPOSITORY / "docs/how-to/connect-mcp-clients.md").read_text("utf-8")
TUTORIAL = (REPOSITORY / "docs/tutorial/first-tool.md").read_text("utf-8")
SETTINGS = re.findall(r"^```toml\n(.*?)^```", LIVE, re.MULTILINE | re.DOTALL)
CAPTIONED = re.compile(
    r"^```\{code-block\} \w+\n:caption: ([^\n]+)\n(.*?)^```", re.MULTILINE | re.DOTALL
)
CATALOGUE = open_catalogue("generated", HANDLER_PACKAGES)
TOOLS = [entry for entry in CATALOGUE.entries if entry.id != "avinode.airport_names"]
"""Without the tool of the tutorial: the checkout of a reader may contain it."""


def block(holding: str) -> str:
    """The one block of shell commands that holds this text."""
    (found,) = [text for text in BLOCKS if holding in text]
    return found


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the contracts and the generated code, so that the commands do not change ours."""
    for folder in ("schemas", "generated"):
        shutil.copytree(REPOSITORY / folder, tmp_path / folder)
    remove_the_reader_s_tool(tmp_path)
    (tmp_path / "docs" / "reference").mkdir(parents=True)
    shutil.copytree(REPOSITORY / "docs/reference/tools", tmp_path / "docs/reference/tools")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "gateway").symlink_to(GATEWAY)
    return tmp_path


def remove_the_reader_s_tool(folder: Path) -> None:
    """The checkout in which these tests run may contain it."""
    for path in (folder / "schemas/tools/avinode").glob("airport_names.*"):
        path.unlink()
    index = folder / "schemas/openapi.yaml"
    lines = index.read_text("utf-8").splitlines(keepends=True)
    index.write_text("".join(line for line in lines if "airport_names" not in line), "utf-8")


def paste(text: str, folder: Path, **environment: str) -> str:
    """What the shell prints for these commands, the last of which must succeed.

    A folder with contracts is a project of its own; in another one, the commands find ours.
    """
    own = {"COLUMNS": "100"} | ({"GATEWAY_SCHEMAS": ""} if (folder / "schemas").is_dir() else {})
    done = subprocess.run(
        ["sh", "-e", "-c", text],
        cwd=folder,
        env=clean_environment(own | environment),
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_first_calls_answer_as_the_readme_says(checkout: Path, tmp_path: Path) -> None:
    with running_gateway(tmp_path / "data") as gateway:

        def curl(holding: str) -> Any:
            text = block(holding).replace("http://127.0.0.1:8700", gateway.url)
            return json.loads(paste(text, checkout, GATEWAY_KEY=gateway.key))

        found = curl("""-d '{"query": "Teterboro"}'""")
        refused = curl('"limit": "ten"')

    assert found["airports"][0]["icao"] == "KTEB"
    assert {error["pointer"] for error in refused["errors"]} == {"/query", "/limit"}


def test_the_reader_s_own_tool_is_generated_and_answers(checkout: Path) -> None:
    """The README names the page that shows the three files; its commands follow."""
    files = dict(CAPTIONED.findall(TUTORIAL))
    for name, text in files.items():
        if name.startswith("schemas/tools/"):
            (checkout / name).write_text(text, "utf-8")
    index = checkout / "schemas" / "openapi.yaml"
    paths = f"paths:\n{files['schemas/openapi.yaml']}"
    index.write_text(index.read_text("utf-8").replace("paths:\n", paths, 1), "utf-8")

    printed = paste(block("gateway lint"), checkout)

    assert '"Teterboro"' in printed


def test_any_document_is_imported_as_the_readme_says(checkout: Path) -> None:
    shutil.copy(DOCUMENTS / "pets.yaml", checkout / "pets.yaml")
    text = (checkout / "pets.yaml").read_text("utf-8")
    (checkout / "pets.yaml").write_text(
        text.replace("VENDOR", "https://a.test").replace("OTHER", "https://b.test")
    )

    printed = paste(block("gateway import").replace("path/to/openapi.json", "pets.yaml"), checkout)

    assert "files written" in printed
    record = json.loads((checkout / "generated/imported/vendor.json").read_text("utf-8"))
    assert len(record["operations"]) == 5


def test_the_agent_of_the_tour_may_search_clients_and_no_mail(
    checkout: Path, tmp_path: Path
) -> None:
    with running_gateway(tmp_path / "data") as gateway:
        text = block("gateway keys create client_data").replace(
            "http://127.0.0.1:8700", gateway.url
        )

        printed = paste(text, checkout, GATEWAY_DATA=str(gateway.data))

    granted, found, refused = printed.partition('{"clients"')[0], *bodies(printed)
    assert "sheets.search_client" in granted
    assert "gmail" not in granted
    assert found["clients"][0]["name"] == "Jane Smith"
    assert refused["code"] == "TOOL_NOT_FOUND"


def bodies(printed: str) -> list[Any]:
    """The JSON objects that `curl -s` printed one after the other, without a line between."""
    decoder, found, rest = json.JSONDecoder(), [], printed[printed.index("{") :]
    while rest:
        value, end = decoder.raw_decode(rest)
        found.append(value)
        rest = rest[end:].lstrip()
    return found


@pytest.mark.slow
def test_the_last_commands_of_the_tour_run_for_one_connector(checkout: Path) -> None:
    """Without `--connector`, the last command verifies all tools, as test_verify.py does."""
    paste(".venv/bin/gateway generate", checkout)
    commands = block("gateway verify").rstrip()
    assert commands.endswith("gateway verify")

    some = f"{commands} --connector example"
    printed = paste(some, checkout, GATEWAY_DATA=str(checkout / "data"))

    assert "2 of 2 tools verified over 4 transports" in printed


def test_a_key_for_an_agent_is_made_as_the_readme_says(checkout: Path) -> None:
    assert "gw_" in paste(block("gateway keys create flight_search"), checkout)


def test_the_table_of_connectors_is_the_catalogue() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \|", TOUR, re.MULTILINE)

    counted = Counter(entry.operation.connector for entry in TOOLS)
    assert {name: int(number) for name, number in rows} == counted
    assert f"{len(counted)} connectors with {len(TOOLS)} tools" in README
    assert len(rows) == len(set(rows))


def test_every_upstream_goes_live_with_the_settings_shown(tmp_path: Path) -> None:
    (text,) = (found for found in SETTINGS if "[upstreams.avinode]" in found)
    for name in set(re.findall(r"/run/secrets/([\w.-]+)", text)):
        secret = service_account_key() if name == "sheets-key.json" else "a-secret"
        (tmp_path / name).write_text(secret, "utf-8")
    config = tmp_path / "gateway.toml"
    config.write_text(text.replace("/run/secrets", str(tmp_path)), "utf-8")

    printed = run_gateway(tmp_path, "doctor", "--config", str(config), "--port", "0", "--json")

    found = {each["part"]: each["finding"] for each in json.loads(printed)}
    for name in CATALOGUE.upstreams:
        assert found[f"upstream {name}"].startswith("live at https://")


@pytest.mark.parametrize("language", ["json", "toml"])
def test_pasted_configuration_parses(language: str) -> None:
    tomllib = pytest.importorskip("tomllib")
    pattern = rf"^```{language}\n(.*?)^```"
    texts = re.findall(pattern, README + TOUR + CLIENTS + LIVE, re.MULTILINE | re.DOTALL)

    assert texts
    for text in texts:
        assert (json if language == "json" else tomllib).loads(text)


def test_every_linked_file_exists() -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", README)

    assert targets
    assert [target for target in targets if not (REPOSITORY / target).exists()] == []


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 150


def test_every_block_of_both_pages_is_known_here() -> None:
    """A new block needs a test that runs it. The first three are not run.

    test_own_project.py runs `gateway init`, in the environment that it installs into.
    """
    known = (
        "make run",
        "GATEWAY_KEY=$(cat data/bootstrap-key)",
        "claude mcp add",
        """-d '{"query": "Teterboro"}'""",
        '"limit": "ten"',
        "gateway keys create client_data",
        "events tail",
        "gateway verify",
        "gateway keys create flight_search",
        "gateway lint",
        "gateway init",
        "gateway import",
    )
    found = [[text for text in known if text in each] for each in BLOCKS]
    assert [len(each) for each in found] == [1] * len(BLOCKS)
    assert len(BLOCKS) == len(known)
