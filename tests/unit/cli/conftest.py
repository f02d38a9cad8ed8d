"""Runs the command line in this process."""

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from gateway.authoring.codegen.generate import generate
from gateway.authoring.contracts import meta
from gateway.cli.edge import run
from tests.vendors import shop

ROOT = Path(__file__).parents[3]
MINIMAL = ROOT / "tests" / "assets" / "contracts" / "minimal"
SMALL_PACKAGE = "small_project_of_the_command_line"


class Outcome(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Cli = Callable[..., Outcome]


@pytest.fixture
def cli(capsys, monkeypatch, tmp_path, own_log) -> Iterator[Cli]:
    """Runs `gateway ARGUMENTS` in an empty folder, with no settings but those of the test."""
    monkeypatch.chdir(tmp_path)
    # A command makes the project's own package importable; the next test has another project.
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setenv("GATEWAY_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("GATEWAY_SCHEMAS", str(ROOT / "schemas"))
    switch_seconds = sys.getswitchinterval()

    def _run(*arguments: object) -> Outcome:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    yield _run
    sys.setswitchinterval(switch_seconds)


@pytest.fixture(scope="session")
def small_project(tmp_path_factory) -> Path:
    """The folder of a project with the minimal contracts, which opens in no time."""
    folder = tmp_path_factory.mktemp("small")
    shutil.copytree(MINIMAL, folder / "schemas")
    meta.install(folder / "schemas")
    policies = folder / "schemas" / "policies" / "agents.yaml"
    text = policies.read_text("utf-8")
    policies.write_text(text.replace('["*"]', '["*", gateway.operate]'), "utf-8")
    generate(folder / "schemas", folder / SMALL_PACKAGE)
    return folder


@pytest.fixture
def small(cli, small_project, monkeypatch) -> None:
    """Commands work on that project, for tests of what the gateway itself keeps."""
    monkeypatch.setenv("GATEWAY_SCHEMAS", str(small_project / "schemas"))
    monkeypatch.setenv("GATEWAY_PACKAGE", SMALL_PACKAGE)
    sys.path.insert(0, str(small_project))


@pytest.fixture
def vendor(cli, tmp_path, monkeypatch, schemas):
    """Writes a document with these operations, next to a project with minimal contracts."""
    monkeypatch.setenv("GATEWAY_SCHEMAS", str(schemas))

    def _vendor(**operations):
        path = tmp_path / "shop.json"
        path.write_text(json.dumps(shop(**operations)), "utf-8")
        return path

    return _vendor


@pytest.fixture
def own(cli, tmp_path, monkeypatch):
    """The schemas of a project that `gateway init` made, in which commands run."""
    folder = tmp_path / "own"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("GATEWAY_SCHEMAS")
    assert cli("init").code == 0
    return folder / "schemas"
