"""Importing packages again beside those in use."""

import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway.catalogue.opening import imported_afresh

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
