"""Edits of which the truth is known, and what the comparison says of them: `--self-test`."""

import re
import tempfile
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
import yaml
from msgspec import Struct

from gateway.authoring.diff.changes import ChangeVerdict, ContractChange
from gateway.authoring.diff.sides import Side, changes_between, read_document

Label = Literal["same", "safe", "breaking"]
Said = Literal["same", "safe", "breaking", "undecided"]

_OF_SCHEMA: Final = re.compile(r"#/\$defs/")
_JSON: Final = "application/json"


class Edit(Struct, frozen=True, kw_only=True):
    """One edit of a contract."""

    name: str
    kind: Literal["request", "response", "event", "paths"]
    """Who sends the values of the two schemas, or the paths of two documents."""
    old: Any
    new: Any
    label: Label
    """What is true of it."""
    seen: str | None = None
    """An API whose changes had one of this kind."""


class TriedEdit(Struct, frozen=True, kw_only=True):
    """An edit, and what the comparison says of it."""

    edit: Edit
    said: Said

    @property
    def is_wrong(self) -> bool:
        """Whether it says something that is not true. Undecided is no statement."""
        return self.said not in {self.edit.label, "undecided"}


def tried_edits(step: Callable[[str], None] = lambda _: None) -> tuple[TriedEdit, ...]:
    """All edits, each compared as two documents."""
    found = msgspec.convert(yaml.safe_load(_text()), tuple[Edit, ...])
    tried = []
    with tempfile.TemporaryDirectory(prefix="gateway-diff-") as folder:
        for edit in found:
            step(edit.name)
            old, new = (_side(Path(folder), edit.kind, each) for each in (edit.old, edit.new))
            said = _said(changes_between(old, new, "api", step))
            tried.append(TriedEdit(edit=edit, said=said))
    return tuple(tried)


def _text() -> str:
    return (files(__package__) / "edits.yaml").read_text("utf-8")


def _side(folder: Path, kind: str, content: Any) -> Side:
    path = folder / "openapi.json"
    path.write_bytes(msgspec.json.encode(_document(kind, content)))
    return read_document(path, path.name)


def _document(kind: str, content: Any) -> dict[str, Any]:
    if kind == "paths":
        return _whole(paths=content)
    definitions = content.get("$defs", {})
    schema = {name: value for name, value in content.items() if name != "$defs"}
    body = {"required": True, "content": {_JSON: {"schema": schema}}}
    done: dict[str, Any] = {"200": {"description": "Done."}}
    if kind == "response":
        done["200"]["content"] = body["content"]
        operation: dict[str, Any] = {"responses": done}
    else:
        operation = {"requestBody": body, "responses": done}
    place = {"thing" if kind == "event" else "/thing": {"post": operation}}
    where = "webhooks" if kind == "event" else "paths"
    whole = _whole(**{where: place}, components={"schemas": definitions})
    moved: dict[str, Any] = msgspec.json.decode(
        _OF_SCHEMA.sub("#/components/schemas/", msgspec.json.encode(whole).decode())
    )
    return moved


def _whole(**members: Mapping[str, Any]) -> dict[str, Any]:
    return {"openapi": "3.1.1", "info": {"title": "Edit", "version": "1"}, "paths": {}, **members}


def _said(changes: tuple[ContractChange, ...]) -> Said:
    undecided = [each for each in changes if each.verdict is ChangeVerdict.UNDECIDED]
    failing = [each for each in changes if each.severity == "error" and each not in undecided]
    if failing or any(each.verdict is ChangeVerdict.BREAKING for each in changes):
        return "breaking"
    if undecided:
        return "undecided"
    return "safe" if changes else "same"
