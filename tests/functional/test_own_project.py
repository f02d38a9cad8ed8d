"""The wheel as a product: a project of one's own, made and served far from this repository."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import httpx
import pytest
from msgspec import Struct

from gateway.testing.served import FROZEN
from tests import nursery
from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import REPOSITORY
from tests.installed import build, install
from tests.nursery import Forked

PACKAGE = "libcat"
UNSHRUNK = """\
from hypothesis import Phase, settings
settings.register_profile("unshrunk", phases=[Phase.generate])
settings.load_profile("unshrunk")
"""
"""Of a failure that is expected, nobody needs a small example, which takes longer than the rest."""
KEY = "key-of-the-own-project-0123456789"


class Wheel(Struct, frozen=True):
    """An environment into which the wheel is installed."""

    script: Path
    socket: Path
    """That of its nursery, which forks this environment's command."""

    @property
    def python(self) -> Path:
        return self.script.with_name("python")

    def started(self, folder: Path, *arguments: str, out: Any, error: Any) -> Forked:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(nursery, "_nursery", lambda: str(self.socket))
            return nursery.forked(
                [str(self.script), *arguments],
                environment=environment(),
                folder=folder,
                stdout=out,
                stderr=error,
            )

    def ended(self, folder: Path, *arguments: str) -> tuple[int, str, str]:
        """The exit code of the command, its output and its errors."""
        with TemporaryFile("w+") as out, TemporaryFile("w+") as error:
            code = self.started(folder, *arguments, out=out, error=error).wait(PATIENCE_SECONDS)
            out.seek(0)
            error.seek(0)
            return code, out.read(), error.read()

    def run(self, folder: Path, *arguments: str) -> str:
        """What the command prints, which must succeed."""
        code, out, error = self.ended(folder, *arguments)
        assert code == 0, f"{arguments}\n{out}\n{error}"
        return out

    @contextmanager
    def running(self, folder: Path, *arguments: str) -> Iterator[str]:
        """The URL of a command that serves, until the block ends."""
        log = folder / "stderr.log"
        read, write = os.pipe()
        with os.fdopen(read) as out, log.open("w") as error:
            try:
                process = self.started(folder, *arguments, out=write, error=error)
            finally:
                os.close(write)
            try:
                word, _, url = out.readline().strip().partition(" ")
                assert word == "ready", log.read_text("utf-8")
                yield url
                process.send_signal(signal.SIGTERM)
                assert process.wait(PATIENCE_SECONDS) == 0
            finally:
                process.send_signal(signal.SIGKILL)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("wheel"))


def installed(built: Path, folder: Path, *extras: str) -> Path:
    """The script of a new environment, with what this checkout has compiled of the same files."""
    script = install(built, folder, *extras)
    (package,) = (folder / "venv/lib").glob("python*/site-packages/gateway")
    for file in package.rglob("*.py"):
        ours = REPOSITORY / "gateway" / file.relative_to(package)
        if ours.is_file() and ours.read_bytes() == file.read_bytes():
            shutil.copystat(ours, file)
            kept = file.with_name("__pycache__")
            kept.mkdir(exist_ok=True)
            # Those of pytest too.
            for compiled in ours.with_name(kept.name).glob(f"{file.stem}.*.pyc"):
                shutil.copy(compiled, kept)
    return script


@pytest.fixture(scope="module")
def wheel(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wheel]:
    """One environment for all tests."""
    folder = tmp_path_factory.mktemp("authors")
    found = Wheel(installed(built, folder, "author", "test"), folder / "socket")
    command = [str(found.python), str(nursery.PROGRAM), str(found.socket)]
    with subprocess.Popen(
        command, cwd=folder, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield found
        process.communicate()


@pytest.fixture(scope="module")
def project(wheel: Wheel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the commands make that the README has its reader run."""
    folder = tmp_path_factory.mktemp("own")
    readme = (REPOSITORY / "README.md").read_text("utf-8")
    (text,) = (each for each in readme.split("```sh\n") if "gateway init\n" in each)
    _install, *commands, serve = text.partition("```")[0].splitlines()
    assert serve == ".venv/bin/gateway serve"
    printed = [
        wheel.run(folder, *shlex.split(each.removeprefix(".venv/bin/gateway ")))
        for each in commands
    ]
    assert "LAMP-1" in printed[-1]
    return folder


@pytest.fixture
def copied(project: Path, tmp_path: Path) -> Path:
    """A project like it."""
    return Path(shutil.copytree(project, tmp_path / "own", ignore=shutil.ignore_patterns("data")))


@pytest.fixture(scope="module")
def extended(wheel: Wheel, project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Such a project with a tool whose calls are jobs, imported tools and a package of its name."""
    folder = tmp_path_factory.mktemp("extended") / "own"
    shutil.copytree(project, folder, ignore=shutil.ignore_patterns("data", "generated"))
    settings = folder / "gateway.toml"
    settings.write_text(f'package = "{PACKAGE}"\n{settings.read_text("utf-8")}', "utf-8")
    pets = (REPOSITORY / "tests/assets/documents/pets.yaml").read_text("utf-8")
    document = pets.replace("VENDOR", "https://a.test").replace("OTHER", "https://b.test")
    (folder / "pets.yaml").write_text(document, "utf-8")
    wheel.run(folder, "import", "pets.yaml", "--as", "pets")
    wheel.run(folder, "generate")
    wheel.run(folder, "new", "tool", "store.find_later", "--path", "/later")
    contract = folder / "schemas/tools/store/find_later.yaml"
    text = contract.read_text("utf-8").replace("x-policy:", "x-policy:\n    task: required")
    contract.write_text(text, "utf-8")
    wheel.run(folder, "generate")
    return folder


def environment() -> dict[str, str]:
    """Without the developer's settings, and with compiled code that is kept."""
    clean = {name: text for name, text in os.environ.items() if not name.startswith("GATEWAY_")}
    clean.pop("PYTHONDONTWRITEBYTECODE", None)
    return clean | {"GATEWAY_BOOTSTRAP_KEY": KEY} | FROZEN


def ran(command: Sequence[str | Path], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*map(str, command)],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


def tools_at(url: str) -> set[str]:
    """The operation ids that the administrator sees."""
    headers = {"authorization": f"Bearer {KEY}"}
    document = httpx.get(f"{url}/openapi.json", headers=headers, timeout=PATIENCE_SECONDS).json()
    return {
        item["post"]["operationId"]
        for path, item in document["paths"].items()
        if path.startswith("/v1/") and not path.startswith("/v1/jobs")
    }


def test_the_wheel_has_no_package_that_could_be_served_by_mistake(
    wheel: Wheel, tmp_path: Path
) -> None:
    done = ran([wheel.python, "-c", "import generated"], tmp_path)
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
    wheel: Wheel, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    code, out, error = wheel.ended(tmp_path, *arguments)
    assert (code, out) == (2, "")
    assert error.splitlines() == [
        f"error: schemas is not a folder, so there is no project in {tmp_path}",
        "fix: make one with `gateway init`, or serve the ready connectors with `gateway demo`",
    ]
    assert list(tmp_path.iterdir()) == []


def test_the_doctor_says_the_same(wheel: Wheel, tmp_path: Path) -> None:
    code, out, _ = wheel.ended(tmp_path, "doctor")
    assert code == 1
    assert f"error  project: schemas is not a folder, so there is no project in {tmp_path}" in out


def test_a_new_project_is_in_order(wheel: Wheel, project: Path) -> None:
    assert wheel.run(project, "lint").startswith("0 errors, 0 notes")
    assert "up to date for 1 tool" in wheel.run(project, "generate", "--check")
    assert "error" not in wheel.run(project, "doctor", "--port", "0")


def test_it_serves_its_own_tool_and_nothing_of_the_library(wheel: Wheel, project: Path) -> None:
    with wheel.running(project, "serve", "--port", "0") as url:
        assert tools_at(url) == {"store.find_products"}
        answer = httpx.post(
            f"{url}/v1/store/find_products",
            json={"query": "lamp"},
            headers={"authorization": f"Bearer {KEY}"},
            timeout=PATIENCE_SECONDS,
        )
    assert answer.json()["total"] == 2


def test_its_upstream_can_be_mocked_over_http(wheel: Wheel, project: Path) -> None:
    with wheel.running(project, "mock", "store") as url:
        answer = httpx.get(
            f"{url}/products?q=lamp", headers={"x-api-key": "a-key"}, timeout=PATIENCE_SECONDS
        )
    assert [each["sku"] for each in answer.json()["products"]] == ["LAMP-1", "LAMP-2"]


@pytest.mark.slow
def test_it_is_verified_over_every_transport(wheel: Wheel, extended: Path) -> None:
    """A tool whose calls are jobs is verified by what its jobs end in."""
    printed = wheel.run(extended, "verify", "--connectors", "--connector", "store", "--json")
    verdicts = json.loads(printed)
    assert [each["operation"] for each in verdicts] == ["store.find_later", "store.find_products"]
    for verdict in verdicts:
        assert verdict["failures"] == []
        assert verdict["examples"] == 2
        assert set(verdict["verified"].values()) == {2}


@pytest.mark.slow
def test_the_contract_suite_runs_by_command_and_by_pytest(wheel: Wheel, extended: Path) -> None:
    """For tools with contract files and for imported ones, of which a file is a result."""
    printed = wheel.run(extended, "test", "-q", "-k", "imported or work_on_every_face")
    assert re.search(r"\b38 passed, \d+ deselected\b", printed), printed
    assert "6 of 6 imported operations of pets are tested" in printed
    upstream = extended / PACKAGE / "upstreams/store.json"
    # The mock's reply no longer fits, so no call can succeed.
    (extended / "conftest.py").write_text(UNSHRUNK, "utf-8")
    selected = ("-k", "agent or (accepted and find_products)")
    with changed(upstream, '"LAMP-1"', "1"):
        by_pytest = ran([wheel.python, "-m", "pytest", "-q", *selected], extended)
    assert by_pytest.returncode == 1, by_pytest.stdout
    assert "1 failed" in by_pytest.stdout
    assert " passed" in by_pytest.stdout


@pytest.mark.slow
def test_what_a_budget_has_left_is_filled_with_more_arguments(wheel: Wheel, extended: Path) -> None:
    printed = wheel.run(extended, "test", "--budget", "5s", "-q", "-k", "more_arguments")
    assert re.search(r"^1 passed, \d+ deselected", printed, re.MULTILINE), printed


@contextmanager
def changed(file: Path, old: str, new: str) -> Iterator[None]:
    """The file is changed in the block."""
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")
    yield
    file.write_text(text, "utf-8")


def test_the_plugin_does_nothing_outside_of_projects(wheel: Wheel, tmp_path: Path) -> None:
    (tmp_path / "test_theirs.py").write_text(
        "import sys\n\ndef test_theirs():\n    assert 'gateway.app' not in sys.modules\n", "utf-8"
    )
    done = ran([wheel.python, "-m", "pytest", "-q"], tmp_path)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_a_ready_connector_is_added_and_works_from_the_wheel(wheel: Wheel, copied: Path) -> None:
    wheel.run(copied, "add", "amadeus", "frankfurter")
    assert wheel.run(copied, "lint").startswith("0 errors")
    assert "up to date for 5 tools" in wheel.run(copied, "generate", "--check")
    assert "add_connectors" not in wheel.run(copied, "doctor", "--port", "0")
    arguments = '{"amount": "10", "from": "EUR", "to": "USD"}'
    assert "rate_source" in wheel.run(
        copied, "call", "frankfurter.convert_currency", "--json", arguments
    )
    with wheel.running(copied, "serve", "--port", "0") as url:
        assert "amadeus.search_flights" in tools_at(url)
        assert "gmail.send_email" not in tools_at(url)
    assert "0 files written" in wheel.run(copied, "add", "amadeus")


def test_an_edited_file_is_never_replaced(wheel: Wheel, copied: Path) -> None:
    (copied / "schemas/common/money.json").write_text("{}", "utf-8")
    before = contents(copied)
    code, _, error = wheel.ended(copied, "add", "amadeus")
    assert code == 2
    assert error.startswith("error: schemas/common/money.json would be replaced, ")
    assert contents(copied) == before


def test_a_second_init_changes_nothing_and_lists_what_is_there(wheel: Wheel, project: Path) -> None:
    before = contents(project)
    code, _, error = wheel.ended(project, "init")
    assert code == 2
    assert error.startswith("error: . already has .dockerignore, .github/workflows/check.yml, ")
    assert "fix: choose another folder" in error
    assert contents(project) == before


def test_the_demonstration_serves_the_library_and_keeps_its_data_apart(
    wheel: Wheel, tmp_path: Path
) -> None:
    (tmp_path / "gateway.toml").write_text("port = 1\nnot_a_setting = true\n", "utf-8")
    with wheel.running(tmp_path, "demo", "--port", "0") as url:
        assert {"avinode.search_flights", "example.greet"} <= tools_at(url)
    assert (tmp_path / ".gateway-demo" / "gateway.db").is_file()


def test_a_host_that_only_serves_needs_no_extra(built: Path, project: Path, tmp_path: Path) -> None:
    plain = installed(built, tmp_path)
    data = str(tmp_path / "data")
    with started([plain, "serve", "--port", "0", "--data", data], project) as url:
        assert tools_at(url) == {"store.find_products"}
    assert ran([plain, "lint"], project).returncode == 0
    refused = ran([plain, "generate"], project)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "needs datamodel-code-generator and ruff\n" in refused.stderr
    assert "fix: run `pip install 'contract-gateway[author]'`" in refused.stderr
    examined = ran([plain, "doctor", "--port", "0"], project)
    assert examined.returncode == 0, examined.stdout
    assert "note   contracts: not compared with the generated code" in examined.stdout


@contextmanager
def started(command: Sequence[str | Path], folder: Path) -> Iterator[str]:
    """The URL of a script that serves, until the block ends."""
    with (
        (folder / "stderr.log").open("w") as log,
        subprocess.Popen(
            [*map(str, command)],
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
            assert process.wait(PATIENCE_SECONDS) == 0
        finally:
            process.kill()


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and "data" not in path.parts)
    return {str(path): path.read_bytes() for path in files}


def test_the_project_names_what_it_needs(project: Path) -> None:
    assert "contract-gateway[author,test]==" in (project / "requirements.txt").read_text("utf-8")
    assert json.loads((project / "schemas/_meta/tool.schema.json").read_text("utf-8"))
