"""Runs the command line in this process."""

import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import structlog

from gateway.cli.edge import run

ROOT = Path(__file__).parents[3]


class Outcome(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Cli = Callable[..., Outcome]


@pytest.fixture
def cli(capsys, monkeypatch, tmp_path) -> Iterator[Cli]:
    """Runs `gateway ARGUMENTS` in an empty folder, with no settings but those of the test."""
    monkeypatch.chdir(tmp_path)
    # A command makes the project's own package importable; the next test has another project.
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setenv("GATEWAY_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("GATEWAY_SCHEMAS", str(ROOT / "schemas"))
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level

    def _run(*arguments: object) -> Outcome:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    yield _run
    logging.captureWarnings(capture=False)
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()
