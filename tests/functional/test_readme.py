"""README.md, run as it is printed, and what its pages say of the catalogue."""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gateway.catalogue import Catalogue, open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.testing.live import service_account_key
from tests.functional.pasted import BLOCKS, README, URL, block, paste, provide_command
from tests.gateway_process import (
    REPOSITORY,
    RunningGateway,
    run_gateway,
    started_gateway,
)

DOCUMENTS = REPOSITORY / "tests/assets/documents"
CONNECTORS = (REPOSITORY / "docs/operate/connectors.md").read_text("utf-8")
CLIENTS = (REPOSITORY / "docs/call/mcp.md").read_text("utf-8")
SETTINGS = re.findall(r"^```toml\n(.*?)^```", CONNECTORS, re.MULTILINE | re.DOTALL)
ITS_OWN = {"GATEWAY_SCHEMAS": ""}


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return open_catalogue("generated", HANDLER_PACKAGES)


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the command, in which the commands find our contracts."""
    folder = tmp_path_factory.mktemp("reader")
    provide_command(folder)
    return folder


def test_the_first_calls_answer_as_the_readme_says(
    shared_gateway: RunningGateway, reader: Path
) -> None:
    def curl(holding: str) -> Any:
        text = block(holding).replace(URL, shared_gateway.url)
        return json.loads(paste(text, reader, GATEWAY_KEY=shared_gateway.key))

    found = curl("""-d '{"query": "Teterboro"}'""")
    refused = curl('"limit": "ten"')

    assert found["airports"][0]["icao"] == "KTEB"
    assert {error["pointer"] for error in refused["errors"]} == {"/query", "/limit"}


def test_the_reader_s_own_tool_is_generated_and_answers(
    new_initial: Callable[[Path], Path], tmp_path: Path
) -> None:
    provide_command(new_initial(tmp_path))
    assert '"name": "One"' in paste(block("gateway lint"), tmp_path)


def test_any_document_is_imported_as_the_readme_says(
    new_initial: Callable[[Path], Path], tmp_path: Path
) -> None:
    provide_command(new_initial(tmp_path))
    text = (DOCUMENTS / "pets.yaml").read_text("utf-8")
    (tmp_path / "pets.yaml").write_text(
        text.replace("VENDOR", "https://a.test").replace("OTHER", "https://b.test")
    )

    printed = paste(block("--dry-run").replace("path/to/openapi.json", "pets.yaml"), tmp_path)

    assert "files written" in printed
    record = json.loads((tmp_path / "generated/imported/vendor.json").read_text("utf-8"))
    assert len(record["operations"]) == 6


def test_a_document_is_served_at_once_as_the_readme_says(tmp_path: Path) -> None:
    """The two blocks at its top, but for the installation and the client."""
    provide_command(tmp_path)
    text = (DOCUMENTS / "pets.yaml").read_text("utf-8")
    (tmp_path / "pets.yaml").write_text(
        text.replace("VENDOR", "https://a.test").replace("OTHER", "https://b.test")
    )
    _install, serve = block("--as vendor --serve").splitlines()
    command = serve.replace("path/to/openapi.json", "pets.yaml").split()[1:]
    # A start makes a key of its own, as for the reader.
    own = ITS_OWN | {"GATEWAY_BOOTSTRAP_KEY": ""}
    more = ("--port", "0")
    with started_gateway(tmp_path, *command, *more, environment=own) as served:
        url = served.ready_url()
        export, top, _client = block(".gateway-import/vendor/bootstrap-key").splitlines()
        call = f'curl -s {url}/v1/vendor/list_pets -H "Authorization: Bearer $GATEWAY_KEY"'
        typed = "-H 'Content-Type: application/json' -d '{}'"
        printed = paste(f"{export}\n{top} --interval 0.1\n{call} {typed}", tmp_path, **own)
        assert served.stop() == 0
    assert "1 process" in printed
    assert json.loads(printed[printed.index("{") :])["result"]


def test_a_key_for_an_agent_is_made_as_the_readme_says(reader: Path) -> None:
    assert "gw_" in paste(block("gateway keys create flight_search"), reader)


def test_the_table_of_connectors_is_the_catalogue(catalogue: Catalogue) -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \|", CONNECTORS, re.MULTILINE)

    tools = catalogue.entries
    counted = Counter(entry.operation.connector for entry in tools)
    assert {name: int(number) for name, number in rows} == counted
    assert f"{len(counted)} connectors with {len(tools)} tools" in README
    assert len(rows) == len(set(rows))


def test_every_upstream_goes_live_with_the_settings_shown(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    (text,) = (found for found in SETTINGS if "[upstreams.avinode]" in found)
    for name in set(re.findall(r"/run/secrets/([\w.-]+)", text)):
        secret = service_account_key() if name == "sheets-key.json" else "a-secret"
        (tmp_path / name).write_text(secret, "utf-8")
    config = tmp_path / "gateway.toml"
    config.write_text(text.replace("/run/secrets", str(tmp_path)), "utf-8")

    printed = run_gateway(tmp_path, "doctor", "--config", str(config), "--port", "0", "--json")

    found = {each["part"]: each["finding"] for each in json.loads(printed)}
    for name in catalogue.upstreams:
        assert found[f"upstream {name}"].startswith("live at https://")


@pytest.mark.parametrize("language", ["json", "toml"])
def test_pasted_configuration_parses(language: str) -> None:
    tomllib = pytest.importorskip("tomllib")
    pattern = rf"^```{language}\n(.*?)^```"
    texts = re.findall(pattern, README + CLIENTS + CONNECTORS, re.MULTILINE | re.DOTALL)

    assert texts
    for text in texts:
        assert (json if language == "json" else tomllib).loads(text)


def test_every_linked_file_exists() -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", README)

    assert targets
    assert [target for target in targets if not (REPOSITORY / target).exists()] == []


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 150


def test_every_block_is_known_here() -> None:
    """A new block needs a test that runs it. The first three are not run.

    test_own_project.py runs `gateway init`, in the environment that it installs into.
    """
    known = (
        "make run",
        "GATEWAY_KEY=$(cat data/bootstrap-key)",
        "claude mcp add --transport http gateway ",
        """-d '{"query": "Teterboro"}'""",
        '"limit": "ten"',
        "gateway keys create flight_search",
        "gateway lint",
        "gateway init",
        "--dry-run",
        "--as vendor --serve",
        ".gateway-import/vendor/bootstrap-key",
    )
    found = [[text for text in known if text in each] for each in BLOCKS]
    assert [len(each) for each in found] == [1] * len(BLOCKS)
    assert len(BLOCKS) == len(known)
