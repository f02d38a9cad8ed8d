"""Drafts an event that the gateway publishes."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from msgspec import Struct

from gateway.authoring.contracts.sources.tree import EVENTS, SourceTree
from gateway.authoring.project.drafts.texts import (
    DraftPart,
    inline,
    listed_parts,
    rendered,
    schema_text,
    words,
)
from gateway.authoring.project.placing import Files
from gateway.authoring.project.staging import Project
from gateway.contract.event import TRACEPARENT, TRACEPARENT_PATTERN
from gateway.errors import ConfigurationError

_TYPE: Final = re.compile(
    r"(?:gateway\.)?(?P<entity>[a-z][a-z0-9_]*)\.(?P<verb>[a-z][a-z0-9_]*)"
    r"(?:\.v(?P<version>[1-9][0-9]{0,2}))?"
)
_MAX_KIND: Final = 100
"""The longest type of a webhook's event."""


class EventWish(Struct, frozen=True, kw_only=True):
    """What is known of a new event."""

    type: str
    """`<entity>.<verb>`, with or without `gateway.` before it and a version after it."""
    title: str | None = None
    data: Mapping[str, Any] | None = None
    """The schemas of the members of its data. None: an id."""
    example: Mapping[str, Any] | None = None
    """The data of its example, if `data` is given."""


def draft_event(project: Project, tree: SourceTree, wish: EventWish) -> Files:
    """The files of a new event. Raises `ConfigurationError`."""
    return listed_parts(project, tree, event_part(project, tree, wish))


def event_part(project: Project, tree: SourceTree, wish: EventWish) -> DraftPart:
    """A new event, before it is in the index. Raises `ConfigurationError`."""
    stem = _stem(wish.type)
    type_ = f"gateway.{stem}"
    path = PurePosixPath(EVENTS, f"{stem}.yaml")
    if path in tree.documents or path.with_suffix(".json") in tree.documents:
        versions = (
            int(each.type.rpartition(".v")[2])
            for each in tree.events
            if each.type.rpartition(".v")[0] == type_.rpartition(".v")[0]
        )
        higher = max(versions, default=int(stem.rpartition(".v")[2]))
        name = stem.rpartition(".v")[0]
        raise ConfigurationError(
            f"the event {type_} exists, {path}; another meaning needs a new version: "
            f"{name}.v{higher + 1}"
        )
    entity, verb, _ = stem.split(".")
    title = wish.title or f"{words(entity)} {words(verb).lower()}"
    description = f"{title.rstrip('.')}."
    values = {
        "TYPE": type_,
        "STEM": stem,
        "SUMMARY": inline(title),
        "DESCRIPTION": inline(description),
        "EXAMPLE": inline(_example(type_, wish.example)),
    }
    listed = {"webhooks": [f"{type_}: {{$ref: ./{path}}}"]}
    tags = {EVENTS: "Events that the gateway publishes and delivers."}
    schema = schema_text(_schema(type_, title, wish.data))
    files = {
        project.place_of(path): rendered("event.yaml", values).encode(),
        project.place_of(path.with_suffix(".json")): schema,
    }
    return DraftPart(files=files, entries=listed, tags=tags)


def message_event(provider: str) -> EventWish:
    """The event that every message becomes, until its author declares better ones."""
    return EventWish(
        type=f"{provider}.received",
        title=f"Message of {provider} received",
        data={
            "kind": {
                "description": "Kind of the message.",
                "type": "string",
                "minLength": 1,
                "maxLength": _MAX_KIND,
            },
            "message": {
                "description": "The message as it was received.",
                "type": "object",
                "additionalProperties": {},
            },
        },
        example={"kind": "one", "message": {"id": "one"}},
    )


def _stem(type_: str) -> str:
    found = _TYPE.fullmatch(type_)
    if found is None or len(type_) > 100:
        raise ConfigurationError(
            f"{type_!r} is not the type of an event; write <entity>.<verb> in lower-case letters, "
            "digits and _, such as order.shipped or order.shipped.v2"
        )
    return f"{found['entity']}.{found['verb']}.v{found['version'] or 1}"


def _text(description: str, **rules: Any) -> dict[str, Any]:
    return {"description": description, "type": "string", **rules}


def _schema(type_: str, title: str, members: Mapping[str, Any] | None) -> dict[str, Any]:
    declared = members or {"id": _text("Id of the thing.", minLength=1, maxLength=64)}
    data = {
        "description": "What subscribers get.",
        "type": "object",
        "additionalProperties": False,
        "required": list(declared),
        "properties": dict(declared),
    }
    properties = {
        "specversion": _text("Version of the CloudEvents specification.", const="1.0"),
        "id": _text(
            "Id of the event, the same for each repeated delivery.", minLength=1, maxLength=64
        ),
        "source": _text("Source of the event.", minLength=1, maxLength=200),
        "type": _text("Type of the event.", const=type_),
        "subject": _text("Subject of the event.", minLength=1, maxLength=200),
        "time": _text("Time at which the event was recorded, RFC 3339 in UTC.", format="date-time"),
        "datacontenttype": _text("Media type of `data`.", const="application/json"),
        "traceparent": _text(
            "The trace in which the event came to be, as in W3C Trace Context.",
            maxLength=55,
            pattern=TRACEPARENT_PATTERN,
        ),
        "data": data,
    }
    return {
        "title": title,
        "description": f"{title.rstrip('.')}.",
        "type": "object",
        "additionalProperties": False,
        "required": [name for name in properties if name != TRACEPARENT],
        "properties": properties,
    }


def _example(type_: str, data: Mapping[str, Any] | None) -> dict[str, Any]:
    return {
        "specversion": "1.0",
        "id": "5b2b8f0e-8a44-5f7b-9d1e-0c3a6e9f4b21",
        "source": "/webhooks/example",
        "type": type_,
        "subject": "one",
        "time": "2026-11-20T14:42:01.250Z",
        "datacontenttype": "application/json",
        "data": dict(data or {"id": "one"}),
    }
