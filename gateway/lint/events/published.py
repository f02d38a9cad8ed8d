"""Checks of published events: their names, envelopes and examples."""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from gateway.contract.event import SPEC_VERSION, TRACEPARENT, TRACEPARENT_PATTERN
from gateway.contract.schemas.algebra import covers
from gateway.contract.schemas.shapes import member
from gateway.contract.values.pointers import child
from gateway.contracts.finding import Finding
from gateway.lint.draft import Draft
from gateway.lint.soundness import is_sound

MEDIA: Final = "/post/requestBody/content/application~1cloudevents+json"
_TEXT: Final = {"type": "string", "minLength": 1}
_ENVELOPE: Final[Mapping[str, dict[str, Any]]] = {
    "specversion": {"const": SPEC_VERSION},
    "id": _TEXT,
    "source": _TEXT,
    "subject": _TEXT,
    "time": {"type": "string", "format": "date-time"},
    "datacontenttype": {"const": "application/json"},
    "data": {"type": "object"},
}
"""The required schemas of the CloudEvents 1.0 attributes. `type` differs between events."""
_TRACEPARENT: Final = {"type": "string", "maxLength": 55, "pattern": TRACEPARENT_PATTERN}
"""That of the extension for distributed tracing, which not every event has."""


def check_names(draft: Draft) -> Iterator[Finding]:
    """event/name, event/schema-file"""
    for event in draft.events:
        found = draft.at(event.document, "/post/operationId")
        if found != event.type:
            message, fix = f"{found} does not match the file's name", f"Write {event.type}."
            yield draft.finding("event/name", event.document, "/post/operationId", message, fix)
        pointer = f"{MEDIA}/schema"
        target = draft.target(event.document, pointer, draft.at(event.document, pointer))
        wanted = event.path.with_suffix(".json")
        if target and (target.document.path, target.pointer) != (wanted, ""):
            message = f"the schema must be in {wanted.name}"
            fix = f"Write {{$ref: ./{wanted.name}}}."
            yield draft.finding("event/schema-file", event.document, pointer, message, fix)


def check_envelopes(draft: Draft, unsound: frozenset[PurePosixPath]) -> Iterator[Finding]:
    """event/envelope"""
    for event in draft.events:
        path = event.path.with_suffix(".json")
        document = draft.tree.documents.get(path)
        if document and is_sound(draft, path, unsound):
            schema = draft.expanded(path, "")
            wanted = {**_ENVELOPE, "type": {"const": event.type}}
            for name, kind in wanted.items():
                if objection := _objection(schema, name, kind):
                    pointer = child("/properties", name)
                    yield draft.finding("event/envelope", document, pointer, objection)
            if objection := _trace_objection(schema):
                yield draft.finding("event/envelope", document, "/properties", objection)


def _trace_objection(schema: dict[str, Any]) -> str:
    found = member(schema, TRACEPARENT)
    if found is None:
        return f"{TRACEPARENT} is not declared"
    if found.is_required:
        return f"{TRACEPARENT} is required, but an event without a trace has none"
    is_covered = covers(found.schema, _TRACEPARENT) is True
    return "" if is_covered else f"{TRACEPARENT} does not allow what the gateway writes"


def _objection(schema: dict[str, Any], name: str, wanted: dict[str, Any]) -> str:
    found = member(schema, name)
    if found is None or not found.is_required:
        return f"{name} is not required"
    is_covered = covers(wanted, found.schema) is True
    is_fixed = "const" not in wanted or covers(found.schema, wanted) is True
    return "" if is_covered and is_fixed else f"{name} is not valid for a CloudEvent of this type"


def check_examples(draft: Draft) -> Iterator[Finding]:
    """event/no-example, event/example-refused"""
    for event in draft.events:
        examples = draft.at(event.document, f"{MEDIA}/examples") or {}
        if not examples:
            yield draft.finding("event/no-example", event.document, MEDIA, "there is no example")
        validator = draft.validator(event.path, f"{MEDIA}/schema")
        for name, example in examples.items():
            pointer = child(child(f"{MEDIA}/examples", name), "value")
            for violation in validator.violations(example["value"]) if validator else ():
                message = f"the schema refuses this example: {violation.detail}"
                where = pointer + violation.pointer
                yield draft.finding("event/example-refused", event.document, where, message)
