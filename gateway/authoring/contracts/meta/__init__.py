"""The meta-schemas of the contract format. Editors use the copies in `schemas/_meta/`."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from gateway.contract.values import jsontext
from gateway.contract.values.schema import Validator

_BASE: Final = "https://contracts.invalid/"
"""Base of the files' relative references. It is never fetched (RFC 2606 domain)."""
_CONTENT: Final = "content.json"


@cache
def texts() -> Mapping[str, bytes]:
    """The text of every meta-schema by file name, sorted by name."""
    found = (file for file in files(__name__).iterdir() if file.name.endswith(".schema.json"))
    return {file.name: file.read_bytes() for file in sorted(found, key=lambda file: file.name)}


@cache
def validator(name: str) -> Validator:
    """The validator of the meta-schema `name`, such as `tool.schema.json`."""
    schemas: dict[str, Any] = {
        name: {**jsontext.decode(text), "$id": _BASE + name} for name, text in texts().items()
    }
    return Validator({"$id": _BASE, "$ref": name, "$defs": schemas})


@cache
def content_schema() -> Any:
    """The schema of content blocks, of which projects have a copy in `common/`."""
    return jsontext.decode(_content_text())


def install(schemas: Path) -> tuple[Path, ...]:
    """Write the copies under `schemas/_meta/` that are missing or differ. Returns their paths.

    A copy of the schema of content blocks that differs is written too. New projects have one.
    """
    folder = schemas / "_meta"
    folder.mkdir(parents=True, exist_ok=True)
    stale = {folder / name: texts()[name] for name in stale_copies(schemas)}
    shared = schemas / "common" / _CONTENT
    if shared.is_file() and _copy(shared) != _content_text():
        stale[shared] = _content_text()
    for file, text in stale.items():
        file.write_bytes(text)
    return tuple(stale)


def _content_text() -> bytes:
    return (files(__name__) / _CONTENT).read_bytes()


def stale_copies(schemas: Path) -> tuple[str, ...]:
    """Names of the meta-schemas whose copy under `schemas/_meta/` is missing or differs."""
    folder = schemas / "_meta"
    return tuple(name for name, text in texts().items() if _copy(folder / name) != text)


def _copy(file: Path) -> bytes | None:
    if file.is_symlink() or not file.is_file():
        return None
    return file.read_bytes().replace(b"\r\n", b"\n")
