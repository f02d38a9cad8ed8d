"""A vendor's OpenAPI document of our own, and what an import leaves on disk."""

import json
from pathlib import Path
from typing import Any

from gateway.authoring.openapi.folder import ImportFolder
from gateway.authoring.openapi.importing import GivenDocument, ImportRun, given_document
from gateway.authoring.openapi.reading.source import parse_source
from gateway.authoring.project.changes import place


def shop(**paths: str) -> dict[str, Any]:
    """A document with a `get` operation for each `name="operationId"`."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Corner Shop", "version": "1"},
        "servers": [{"url": "https://shop.example"}],
        "paths": {f"/{name}": {"get": {"operationId": id_}} for name, id_ in paths.items()},
    }


def given(document: dict[str, Any], name: str = "shop.json") -> GivenDocument:
    """`document` as a user gives it."""
    return given_document(parse_source(json.dumps(document).encode(), name), name)


def written(folder: ImportFolder, run: ImportRun) -> ImportRun:
    """`run`, after its files are written."""
    place(folder.schemas, run.contents, run.removed)
    return run


def contents(root: Path) -> dict[str, bytes]:
    """Every file below `root`, by relative path."""
    files = (each for each in root.rglob("*") if each.is_file())
    return {each.relative_to(root).as_posix(): each.read_bytes() for each in files}
