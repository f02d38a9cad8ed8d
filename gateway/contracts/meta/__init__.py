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


def install(schemas: Path) -> tuple[Path, ...]:
    """Write the copies under `schemas/_meta/` that are missing or differ. Returns their paths."""
    folder = schemas / "_meta"
    folder.mkdir(parents=True, exist_ok=True)
    stale = [folder / name for name in stale_copies(schemas)]
    for file in stale:
        file.write_bytes(texts()[file.name])
    return tuple(stale)


def stale_copies(schemas: Path) -> tuple[str, ...]:
    """Names of the meta-schemas whose copy under `schemas/_meta/` is missing or differs."""
    folder = schemas / "_meta"
    return tuple(name for name, text in texts().items() if _copy(folder / name) != text)


def _copy(file: Path) -> bytes | None:
    if file.is_symlink() or not file.is_file():
        return None
    return file.read_bytes().replace(b"\r\n", b"\n")
