"""Reads the existing revisions. They are parsed and not imported."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from gateway.codegen.migrations.shape import Shapes
from gateway.errors import ContractError

FOLDER: Final = "migrations"
RECORD: Final = "SHAPES"
"""The constant in a revision with the shapes of all tables after it."""
_FILE: Final = re.compile(r"v(\d{4})_[a-z0-9_]+\.py")


class Revision(Struct, frozen=True, kw_only=True):
    """One existing revision."""

    name: str
    """The name of its file."""
    number: int
    text: str
    shapes: Shapes


def recorded_revisions(out: Path) -> tuple[Revision, ...]:
    """The revisions in the generated package `out`, oldest first.

    Raises `ContractError` with the file's name if a revision is damaged, missing or duplicate.
    """
    files = sorted(path for path in (out / FOLDER).glob("v*.py") if _FILE.fullmatch(path.name))
    revisions = tuple(map(_revision, files))
    for expected, revision in enumerate(revisions, start=1):
        if revision.number != expected:
            raise ContractError(
                f"{out / FOLDER / revision.name} should be revision {expected:04}: a revision is "
                "missing or duplicate; restore the missing one, or delete the one that no database "
                "has run, and generate again"
            )
    return revisions


def _revision(path: Path) -> Revision:
    try:
        text = path.read_bytes().decode()
        shapes = msgspec.convert(_record(text), Shapes)
    except OSError as error:
        raise ContractError(f"{path} cannot be read: {error.strerror}") from error
    except (SyntaxError, ValueError, LookupError, msgspec.ValidationError):
        raise ContractError(
            f"{path} is damaged: {RECORD} is missing or invalid; restore the file from version "
            "control"
        ) from None
    return Revision(name=path.name, number=int(path.name[1:5]), text=text, shapes=shapes)


def _record(text: str) -> Any:
    return next(_records(ast.parse(text)), None)


def _records(module: ast.Module) -> Iterator[Any]:
    for node in module.body:
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                if name == RECORD:
                    yield ast.literal_eval(value)
