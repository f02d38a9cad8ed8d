"""The project's own source, parsed once, for the tests that look at how it is built."""

import ast
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]


class Source(NamedTuple):
    """One Python file."""

    path: str
    """Relative to the repository, with forward slashes."""
    text: str
    tree: ast.Module


def _parsed(path: str, text: str) -> Source:
    return Source(path, text, ast.parse(text))


def _read(*folders: str) -> list[Source]:
    files = [file for folder in folders for file in sorted((ROOT / folder).rglob("*.py"))]
    # Without files, every test of them would pass.
    assert len(files) > 50, f"{folders}: {len(files)} files"
    return [_parsed(file.relative_to(ROOT).as_posix(), file.read_text("utf-8")) for file in files]


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def written() -> list[Source]:
    """What people wrote and ship: the gateway and the repository's chores."""
    return _read("gateway", "scripts")


@pytest.fixture(scope="session")
def tested() -> list[Source]:
    """The tests, without the golden files, which are generated."""
    return [source for source in _read("tests") if not source.path.startswith("tests/golden/")]


@pytest.fixture(scope="session")
def generated() -> list[Source]:
    """What `gateway generate` wrote."""
    return _read("generated")


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """The pages of the reference that the build of the documentation writes: path to text."""
    folder = tmp_path_factory.mktemp("reference")
    script = ROOT / "scripts" / "reference.py"
    subprocess.run([sys.executable, script, folder], cwd=ROOT, check=True)
    pages = {f"docs/reference/{page.name}": page.read_text("utf-8") for page in folder.iterdir()}
    assert pages
    return pages


@pytest.fixture(scope="session")
def pages(built: Mapping[str, str]) -> Mapping[str, str]:
    """Every page for readers, built or written by people: path to text."""
    files = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md"), ROOT / "schemas" / "README.md"]
    by_hand = {
        file.relative_to(ROOT).as_posix(): file.read_text("utf-8")
        for file in files
        if "_build" not in file.parts
    }
    return {**by_hand, **built}


@pytest.fixture(scope="session")
def planted() -> Callable[..., list[Source]]:
    """Makes a source with a mistake in it, to show that a check would find it."""
    return lambda text, path="gateway/planted.py": [_parsed(path, text)]
