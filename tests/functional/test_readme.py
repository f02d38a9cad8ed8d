"""README.md, the tour and the first tutorial, run as they are printed."""

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gateway.catalogue import Catalogue, open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.testing.live import service_account_key
from tests.eventually import PATIENCE_SECONDS
from tests.functional.pasted import BLOCKS, README, TOUR, URL, block, paste, provide_command
from tests.gateway_process import (
    REPOSITORY,
    RunningGateway,
    clean_environment,
    ended_gateway,
    run_gateway,
    started_gateway,
)

DOCUMENTS = REPOSITORY / "tests/assets/documents"
LIVE = (REPOSITORY / "docs/how-to/use-a-live-upstream.md").read_text("utf-8")
CLIENTS = (REPOSITORY / "docs/how-to/connect-mcp-clients.md").read_text("utf-8")
TUTORIAL = (REPOSITORY / "docs/tutorial/first-tool.md").read_text("utf-8")
SETTINGS = re.findall(r"^```toml\n(.*?)^```", LIVE, re.MULTILINE | re.DOTALL)
CAPTIONED = re.compile(
    r"^```\{code-block\} \w+\n:caption: ([^\n]+)\n(.*?)^```", re.MULTILINE | re.DOTALL
)
FILES = dict(CAPTIONED.findall(TUTORIAL))
"""The blocks of the tutorial by their captions."""
CALL = re.compile(r"gateway (call avinode\.airport_names --json '(.+)')")
TOOL = Path("schemas/tools/avinode/airport_names.yaml")
INDEX = Path("schemas/openapi.yaml")
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


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the contracts and the generated code, with the files of the tutorial."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("schemas", "generated"):
        shutil.copytree(REPOSITORY / name, folder / name)
    provide_command(folder)
    for name, text in FILES.items():
        if name.startswith("schemas/tools/"):
            (folder / name).write_text(text, "utf-8")
    # The checkout in which these tests run may be of somebody who has followed the tutorial.
    lines = (folder / INDEX).read_text("utf-8").splitlines(keepends=True)
    without = "".join(line for line in lines if "airport_names" not in line)
    paths = f"paths:\n{FILES[str(INDEX)]}"
    (folder / INDEX).write_text(without.replace("paths:\n", paths, 1), "utf-8")
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


def test_the_reader_s_own_tool_is_generated_and_answers(checkout: Path) -> None:
    """The README names the page that shows the three files; its commands follow."""
    printed = paste(block("gateway lint"), checkout)

    assert '"Teterboro"' in printed
    found = CALL.search(TUTORIAL)
    assert found is not None
    call = ("call", "avinode.airport_names", "--json", found[2])
    answer = json.loads(run_gateway(checkout, *call, environment=ITS_OWN))
    assert answer == json.loads(FILES["the answer"])


def test_the_slip_of_the_tutorial_is_found_where_it_was_made(checkout: Path) -> None:
    """The page has its reader misspell a member and promises file, line, pointer and fix."""
    with changed(checkout / TOOL, '"@/name"', '"@/nmae"') as text:
        code, out, _ = ended_gateway(checkout, "lint", "--errors-only", environment=ITS_OWN)
    assert code == 1
    line = text[: text.index('"@/name"')].count("\n") + 1
    assert f"{TOOL}:{line}: error binding/" in out
    assert "/post/x-binding/response/200/names/item" in out


@contextmanager
def changed(file: Path, old: str, new: str) -> Iterator[str]:
    """The text of the file, which is changed in the block."""
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")
    yield text
    file.write_text(text, "utf-8")


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


def test_the_agent_of_the_tour_may_search_clients_and_no_mail(
    shared_gateway: RunningGateway, reader: Path
) -> None:
    text = block("gateway keys create client_data").replace(URL, shared_gateway.url)

    printed = paste(text, reader, GATEWAY_DATA=str(shared_gateway.data))

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


def test_the_tour_ends_with_the_audit_log_and_a_verification(
    shared_gateway: RunningGateway, reader: Path
) -> None:
    """test_verify.py runs the last command."""
    listing, last = block("gateway verify").splitlines()
    assert last == ".venv/bin/gateway verify"
    run_gateway(
        reader, "call", "example.greet", "--json", '{"name": "Ada"}', environment=own(reader)
    )

    assert "example.greet" in paste(listing, reader, **own(reader))


def own(folder: Path) -> dict[str, str]:
    return {"GATEWAY_DATA": str(folder / "data")}


def test_a_key_for_an_agent_is_made_as_the_readme_says(reader: Path) -> None:
    assert "gw_" in paste(block("gateway keys create flight_search"), reader)


def test_the_python_client_of_the_guide_calls_with_the_key_of_the_guide(
    shared_gateway: RunningGateway, reader: Path
) -> None:
    [made] = re.findall(
        r"^export GATEWAY_KEY=\$\(gateway (keys create .+)\)$", CLIENTS, re.MULTILINE
    )
    here = {"GATEWAY_DATA": str(shared_gateway.data)}
    key = run_gateway(reader, *made.split(), environment=here).strip()
    [program] = re.findall(r"^```python\n(.*?)^```", CLIENTS, re.MULTILINE | re.DOTALL)
    (reader / "client.py").write_text(program.replace(URL, shared_gateway.url), "utf-8")
    done = subprocess.run(
        [sys.executable, "client.py"],
        cwd=reader,
        env=clean_environment({"GATEWAY_KEY": key}),
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_SECONDS,
    )
    assert "'KTEB'" in done.stdout


def test_the_table_of_connectors_is_the_catalogue(catalogue: Catalogue) -> None:
    """Without the tool of the tutorial: the checkout of a reader may contain it."""
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \|", TOUR, re.MULTILINE)

    tools = [each for each in catalogue.entries if each.id != "avinode.airport_names"]
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
        "claude mcp add --transport http gateway ",
        """-d '{"query": "Teterboro"}'""",
        '"limit": "ten"',
        "gateway keys create client_data",
        "events tail",
        "gateway verify",
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
