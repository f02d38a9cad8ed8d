"""The wheel as a product: a project of one's own, made and served far from this repository."""

import json
import os
import re
import shlex
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from gateway.cli.verification.transports import FROZEN
from tests.gateway_process import REPOSITORY
from tests.installed import build, install

KEY = "key-of-the-own-project-0123456789"
SECONDS = 120
CALL = ("call", "store.find_products", "--json", '{"query": "lamp"}')
"""A call as `gateway init` prints it."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def gateway(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of the wheel; one environment for all tests."""
    return install(wheel, tmp_path_factory.mktemp("authors"), "author", "test")


@pytest.fixture(scope="module")
def project(gateway: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `gateway init` makes."""
    folder = tmp_path_factory.mktemp("own")
    run(gateway, folder, "init")
    return folder


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    clean = {name: text for name, text in os.environ.items() if not name.startswith("GATEWAY_")}
    return clean | {"GATEWAY_BOOTSTRAP_KEY": KEY} | FROZEN | dict(extra or {})


def ran(gateway: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(gateway), *arguments],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def run(gateway: Path, folder: Path, *arguments: str) -> str:
    """What the command prints, which must succeed."""
    done = ran(gateway, folder, *arguments)
    assert done.returncode == 0, f"{arguments}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@contextmanager
def running(gateway: Path, folder: Path, *arguments: str) -> Iterator[str]:
    """The URL of a command that serves, until the block ends."""
    with (
        (folder / "stderr.log").open("w") as log,
        subprocess.Popen(
            [str(gateway), *arguments],
            cwd=folder,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        ) as process,
    ):
        try:
            assert process.stdout is not None
            word, _, url = process.stdout.readline().strip().partition(" ")
            assert word == "ready", (folder / "stderr.log").read_text("utf-8")
            yield url
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
        finally:
            process.kill()


def tools_at(url: str) -> set[str]:
    """The operation ids that the administrator sees."""
    headers = {"authorization": f"Bearer {KEY}"}
    document = httpx.get(f"{url}/openapi.json", headers=headers, timeout=30).json()
    return {
        item["post"]["operationId"]
        for path, item in document["paths"].items()
        if path.startswith("/v1/") and not path.startswith("/v1/jobs")
    }


def test_the_wheel_has_no_package_that_could_be_served_by_mistake(
    gateway: Path, tmp_path: Path
) -> None:
    command = [str(gateway.with_name("python")), "-c", "import generated"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "ModuleNotFoundError: No module named 'generated'" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("serve",),
        ("mcp", "--agent", "administrator"),
        ("mock", "avinode"),
        ("lint",),
        ("generate",),
        ("verify",),
        ("tools", "list"),
        ("keys", "list"),
        ("config",),
    ],
    ids=lambda each: each[0],
)
def test_a_folder_without_a_project_is_one_message_with_the_way_out(
    gateway: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    done = ran(gateway, tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        f"error: schemas is not a folder, so there is no project in {tmp_path}",
        "fix: make one with `gateway init`, or serve the ready connectors with `gateway demo`",
    ]
    assert list(tmp_path.iterdir()) == []


def test_the_doctor_says_the_same(gateway: Path, tmp_path: Path) -> None:
    done = ran(gateway, tmp_path, "doctor")
    assert done.returncode == 1
    assert f"error  project: schemas is not a folder, so there is no project in {tmp_path}" in (
        done.stdout
    )


def test_a_new_project_is_in_order(gateway: Path, project: Path) -> None:
    assert run(gateway, project, "lint").startswith("0 errors, 0 notes")
    assert "up to date for 1 tools" in run(gateway, project, "generate", "--check")
    assert '"LAMP-1"' in run(gateway, project, *CALL)
    assert "error" not in run(gateway, project, "doctor", "--port", "0")


def test_it_serves_its_own_tool_and_nothing_of_the_library(gateway: Path, project: Path) -> None:
    with running(gateway, project, "serve", "--port", "0") as url:
        assert tools_at(url) == {"store.find_products"}
        answer = httpx.post(
            f"{url}/v1/store/find_products",
            json={"query": "lamp"},
            headers={"authorization": f"Bearer {KEY}"},
            timeout=30,
        )
    assert answer.json()["total"] == 2


def test_its_upstream_can_be_mocked_over_http(gateway: Path, project: Path) -> None:
    with running(gateway, project, "mock", "store") as url:
        answer = httpx.get(f"{url}/products?q=lamp", headers={"x-api-key": "a-key"}, timeout=30)
    assert [each["sku"] for each in answer.json()["products"]] == ["LAMP-1", "LAMP-2"]


@pytest.mark.slow
def test_it_is_verified_over_every_transport(gateway: Path, project: Path) -> None:
    assert "1 of 1 tools verified over 4 transports, 8 calls" in run(gateway, project, "verify")


@pytest.mark.slow
def test_the_contract_suite_runs_by_command_and_by_pytest(gateway: Path, tmp_path: Path) -> None:
    """For a tool with contract files and for imported ones, of which a file is a result."""
    run(gateway, tmp_path, "init")
    pets = (REPOSITORY / "tests/assets/documents/pets.yaml").read_text("utf-8")
    document = pets.replace("VENDOR", "https://a.test").replace("OTHER", "https://b.test")
    (tmp_path / "pets.yaml").write_text(document, "utf-8")
    run(gateway, tmp_path, "import", "pets.yaml", "--as", "pets")
    run(gateway, tmp_path, "generate")
    printed = run(gateway, tmp_path, "test", "-q")
    assert re.search(r"\b66 passed, 5 deselected\b", printed), printed
    assert "5 of 5 imported operations of pets are tested" in printed
    python = gateway.with_name("python")
    by_pytest = subprocess.run(
        [str(python), "-m", "pytest", "-q", "-k", "agent"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert by_pytest.returncode == 0, by_pytest.stdout
    upstream = tmp_path / "generated/upstreams/store.json"
    # The mock's reply no longer fits, so no call can succeed.
    upstream.write_text(upstream.read_text("utf-8").replace('"LAMP-1"', "1"), "utf-8")
    done = ran(gateway, tmp_path, "test", "-q", "-k", "accepted")
    assert done.returncode == 1, done.stdout
    assert "1 failed" in done.stdout


def test_the_plugin_does_nothing_outside_of_projects(gateway: Path, tmp_path: Path) -> None:
    (tmp_path / "test_theirs.py").write_text(
        "import sys\n\ndef test_theirs():\n    assert 'gateway.app' not in sys.modules\n", "utf-8"
    )
    command = [str(gateway.with_name("python")), "-m", "pytest", "-q"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_a_ready_connector_is_added_and_works_from_the_wheel(gateway: Path, tmp_path: Path) -> None:
    run(gateway, tmp_path, "init")
    run(gateway, tmp_path, "add", "amadeus", "frankfurter")
    assert run(gateway, tmp_path, "lint").startswith("0 errors")
    assert "up to date for 5 tools" in run(gateway, tmp_path, "generate", "--check")
    assert "add_connectors" not in run(gateway, tmp_path, "doctor", "--port", "0")
    arguments = '{"amount": "10", "from": "EUR", "to": "USD"}'
    assert "rate_source" in run(
        gateway, tmp_path, "call", "frankfurter.convert_currency", "--json", arguments
    )
    with running(gateway, tmp_path, "serve", "--port", "0") as url:
        assert "amadeus.search_flights" in tools_at(url)
        assert "gmail.send_email" not in tools_at(url)
    assert "0 files written" in run(gateway, tmp_path, "add", "amadeus")


def test_an_edited_file_is_never_replaced(gateway: Path, tmp_path: Path) -> None:
    run(gateway, tmp_path, "init")
    (tmp_path / "schemas/common/money.json").write_text("{}", "utf-8")
    before = contents(tmp_path)
    done = ran(gateway, tmp_path, "add", "amadeus")
    assert done.returncode == 2
    assert done.stderr.startswith("error: schemas/common/money.json would be replaced, ")
    assert contents(tmp_path) == before


def test_a_second_init_changes_nothing_and_lists_what_is_there(
    gateway: Path, project: Path
) -> None:
    before = contents(project)
    done = ran(gateway, project, "init")
    assert done.returncode == 2
    assert done.stderr.startswith("error: . already has .github/workflows/check.yml, ")
    assert "fix: choose another folder" in done.stderr
    assert contents(project) == before


def test_the_demonstration_serves_the_library_and_keeps_its_data_apart(
    gateway: Path, tmp_path: Path
) -> None:
    (tmp_path / "gateway.toml").write_text("port = 1\nnot_a_setting = true\n", "utf-8")
    with running(gateway, tmp_path, "demo", "--port", "0") as url:
        assert {"avinode.search_flights", "example.greet"} <= tools_at(url)
    assert (tmp_path / ".gateway-demo" / "gateway.db").is_file()


def test_a_host_that_only_serves_needs_no_extra(wheel: Path, project: Path, tmp_path: Path) -> None:
    plain = install(wheel, tmp_path)

    with running(plain, project, "serve", "--port", "0", "--data", str(tmp_path / "data")) as url:
        assert tools_at(url) == {"store.find_products"}
    run(plain, project, "lint")
    refused = ran(plain, project, "generate")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "needs datamodel-code-generator and ruff\n" in refused.stderr
    assert "fix: run `pip install 'contract-gateway[author]'`" in refused.stderr
    examined = ran(plain, project, "doctor", "--port", "0")
    assert examined.returncode == 0, examined.stdout
    assert "note   contracts: not compared with the generated code" in examined.stdout


def test_the_commands_of_the_readme_work_in_an_empty_folder(gateway: Path, tmp_path: Path) -> None:
    readme = (REPOSITORY / "README.md").read_text("utf-8")
    (text,) = (each for each in readme.split("```sh\n") if "gateway init\n" in each)
    _install, *commands, serve = text.partition("```")[0].splitlines()
    assert serve == ".venv/bin/gateway serve"
    printed = [
        run(gateway, tmp_path, *shlex.split(each.removeprefix(".venv/bin/gateway ")))
        for each in commands
    ]
    assert "LAMP-1" in printed[-1]


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and "data" not in path.parts)
    return {str(path): path.read_bytes() for path in files}


def test_the_project_names_what_it_needs(project: Path) -> None:
    assert "contract-gateway[author,test]==" in (project / "requirements.txt").read_text("utf-8")
    assert json.loads((project / "schemas/_meta/tool.schema.json").read_text("utf-8"))
