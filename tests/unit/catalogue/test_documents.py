"""Published documents of single tools, and packages that are imported again."""

import importlib
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any

import msgspec
import pytest

from gateway.catalogue.index import KEPT, ToolContracts, open_pages
from gateway.catalogue.opening import imported_afresh
from gateway.errors import UnknownOperation


class Document:
    """A published document that says how often, and by how many at once, it was read."""

    def __init__(self, paths: int) -> None:
        self._text = msgspec.json.encode({"paths": {f"/{each}": {} for each in range(paths)}})
        self._reading = Lock()
        self.reads = 0

    def read(self) -> bytes:
        assert self._reading.acquire(blocking=False), "two are read at once"
        try:
            self.reads += 1
            return self._text
        finally:
            self._reading.release()


def test_a_contract_is_made_once_by_one_at_a_time() -> None:
    document = Document(2)
    contracts = ToolContracts(document.read)
    assert contracts.kept("/0") is None

    with ThreadPoolExecutor(8) as threads:
        found = set(threads.map(contracts.of, ["/0", "/1"] * 20))

    assert found == {b'{"paths":{"/0":{}}}', b'{"paths":{"/1":{}}}'}
    assert document.reads == 2
    assert contracts.kept("/0") == b'{"paths":{"/0":{}}}'


def test_the_one_that_was_made_longest_ago_is_made_again() -> None:
    document = Document(KEPT + 1)
    contracts = ToolContracts(document.read)
    for each in range(KEPT + 1):
        contracts.of(f"/{each}")
    assert document.reads == KEPT + 1

    contracts.of("/1")
    assert document.reads == KEPT + 1
    contracts.of("/0")
    assert document.reads == KEPT + 2


def test_pages_are_found_by_id(tmp_path: Path) -> None:
    (tmp_path / "pages.json").write_bytes(msgspec.json.encode({"a.b": "# B\n", "a.c": "# C"}))
    pages = open_pages(tmp_path)
    assert (pages.ids, pages.page("a.b"), pages.page("a.c")) == ({"a.b", "a.c"}, "# B\n", "# C")
    with pytest.raises(UnknownOperation):
        pages.page("a.d")


PACKAGE = "package_of_the_test"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package whose module `rows` has `VALUE` 1, and is imported."""
    package = tmp_path / PACKAGE
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "rows.py").write_text("VALUE = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    imported()
    yield package
    for name in [each for each in sys.modules if each.startswith(PACKAGE)]:
        del sys.modules[name]


def imported() -> Any:
    return importlib.import_module(f"{PACKAGE}.rows")


def test_the_new_file_is_imported_and_the_old_module_goes_on(folder: Path) -> None:
    old, before = imported(), (folder / "rows.py").stat()
    # As long as before, and in the same second: Python would take its compiled file.
    (folder / "rows.py").write_text("VALUE = 2\n")
    os.utime(folder / "rows.py", (before.st_atime, before.st_mtime))
    with imported_afresh([PACKAGE]):
        assert imported().VALUE == 2
    assert (old.VALUE, imported().VALUE, sys.modules[PACKAGE].rows.VALUE) == (1, 2, 2)


def test_what_fails_leaves_the_old_modules_in_place(folder: Path) -> None:
    old, package = imported(), sys.modules[PACKAGE]
    (folder / "rows.py").write_text("VALUE = nothing\n")
    with pytest.raises(NameError), imported_afresh([PACKAGE]):
        imported()
    assert imported() is old
    assert sys.modules[PACKAGE] is package
    assert package.rows is old
    assert not any(PACKAGE in str(getattr(each, "_packages", "")) for each in sys.meta_path)
