"""Whole messages that one side has and the other has not, where no schema alone shows a change.

A request that the old side serves and the new one refuses, or what only the old one sends.
Values are valid for the side that has the message, and the other side was asked about it.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final, Literal
from urllib.parse import quote

from msgspec import UNSET, Struct

from gateway.authoring.diff.prepared import encoded
from gateway.authoring.diff.surface import (
    Alternative,
    ExchangedSchema,
    Subject,
    Subjects,
    is_enough,
)
from gateway.contract.schemas.containment import shrunk
from gateway.contract.schemas.flattening import NoSample
from gateway.contract.schemas.samples import Samples, Schemas
from gateway.contract.values.schema import with_definitions

_TEMPLATE: Final = re.compile(r"\{[^}]*\}")
_MOST_BYTES: Final = 100_000
"""Of a schema of which a value is made."""
_OPTIONAL: Final = frozenset({"type", "properties", "additionalProperties"})
"""The keywords of parameters of which none is required."""
_LOCATIONS: Final = ("query", "querystring", "header", "cookie")


_MOST_MESSAGES: Final = 300
"""Of one comparison, because values of large schemas take their time."""


class ShownMessage(Struct, frozen=True):
    """A message that one side has, and why the other has not."""

    message: dict[str, Any]
    refusal: str
    accepted_by: Literal["old", "new"] = "old"


class Messages:
    """Makes the messages of one comparison. Each method answers None where it finds none."""

    def __init__(self, old: Subjects, new: Subjects) -> None:
        self._old = old
        self._new = new
        self._left = _MOST_MESSAGES

    @property
    def unmade(self) -> str:
        """Why the last one was not made. Empty: none was found, or it was made."""
        return f"no message was made after {_MOST_MESSAGES}" if self._left < 0 else ""

    def of_contract(self, old: Subject) -> ShownMessage | None:
        """Of a contract that only the old side has."""
        if old.path:
            return self._request(old, _first_body(old) if "required body" in old.facts else None)
        return _shown(self._sent(old), f"it has no {old.kind} of this name")

    def of_part(self, old: Subject, part: ExchangedSchema) -> ShownMessage | None:
        """Of a body of a media type that only the old side has."""
        kind = part.name.rpartition(" ")[0]
        if kind == "body" and old.path:
            return self._request(old, part)
        status = kind.removeprefix("reply ")
        has_status = kind == "body" or f"status {status}" in self._new[old.name].facts
        why = f"it has no {part.name}" if has_status else f"{status} is never answered"
        return _shown(self._sent(old, part), why)

    def of_fact(self, old: Subject, name: str) -> ShownMessage | None:
        """Of a fact that one side has, or both in another way."""
        if name.startswith("style of "):
            return self._request(old, None, styled=name.removeprefix("style of "))
        empty: dict[str, Any] = {old.kind: old.name}
        if name.startswith("status "):
            status = name.removeprefix("status ")
            return ShownMessage({**empty, "status": status}, f"{status} is never answered")
        if old.path:
            return self._request(old, _first_body(old) if name == "body" else None)
        if name == "required body" and "body" in self._new[old.name].facts:
            return ShownMessage(empty, "it always has a body", "new")
        return _shown(
            self._sent(old, _first_body(old)) if name == "body" else empty, "it has no body"
        )

    def of_security(self, old: Subject, credentials: Alternative) -> ShownMessage | None:
        """Of credentials that were enough."""
        body = _first_body(old) if "required body" in old.facts else None
        return self._request(old, body, security=credentials) if old.path else None

    def _request(
        self,
        old: Subject,
        body: ExchangedSchema | None,
        security: Alternative | None = None,
        styled: str = "",
    ) -> ShownMessage | None:
        """A request that the old side serves and the new one does not."""
        self._left -= 1
        message = _request(old, body, styled) if self._left >= 0 else None
        if message is None:
            return None
        if security is not None:
            message["credentials"] = {scheme: sorted(each) for scheme, each in sorted(security)}
        refusal = _refusal(message, self._new, security)
        return ShownMessage(message, refusal) if refusal else None

    def _sent(self, old: Subject, part: ExchangedSchema | None = None) -> dict[str, Any] | None:
        """A call, a webhook, an event or a reply of `old`, with a value of `part` or its first."""
        self._left -= 1
        if self._left < 0:
            return None
        part = part or next((each for each in old.parts.values() if _is_payload(each)), None)
        message: dict[str, Any] = {old.kind: old.name}
        if part is not None:
            if (value := _value(part)) is UNSET:
                return None
            message[part.name] = value
        return message


def _shown(message: dict[str, Any] | None, refusal: str) -> ShownMessage | None:
    return None if message is None else ShownMessage(message, refusal)


def _is_payload(part: ExchangedSchema) -> bool:
    return part.name.partition(" ")[0] in {"arguments", "payload", "event", "body"}


def _first_body(subject: Subject) -> ExchangedSchema | None:
    return next((part for name, part in subject.parts.items() if name.startswith("body ")), None)


def _request(old: Subject, body: ExchangedSchema | None, styled: str) -> dict[str, Any] | None:
    message: dict[str, Any] = {"method": old.method, "path": ""}
    values = {name: _value(part) for name, part in _parameters(old)}
    if UNSET in values.values():
        return None
    if styled:
        location, _, name = styled.partition(" ")
        part = old.parts[f"{location} parameters"]
        if (value := _many(part, part.schema.get("properties", {}).get(name, True))) is UNSET:
            return None
        values[location] = {**values.get(location, {}), name: value}
        message["style"] = {styled: old.facts[f"style of {styled}"].value}
    segments = values.pop("path", {})
    numbers = iter(range(1, len(segments) + 1))
    message["path"] = _TEMPLATE.sub(
        lambda _: quote(_text(segments[f"segment {next(numbers)}"]), safe=""), old.path
    )
    message |= {location: value for location, value in values.items() if value}
    if body is not None:
        if (value := _value(body)) is UNSET:
            return None
        message |= {"content-type": body.name.rpartition(" ")[2], "body": value}
    return message


def _parameters(subject: Subject) -> Iterator[tuple[str, ExchangedSchema]]:
    for location in ("path", *_LOCATIONS):
        if (part := subject.parts.get(f"{location} parameters")) is not None:
            yield location, part


def _text(value: Any) -> str:
    # A segment is not empty.
    return value or "x" if isinstance(value, str) else encoded(value).decode()


def _refusal(message: Mapping[str, Any], new: Subjects, security: Alternative | None) -> str:
    """Why `new` does not serve a request. Empty: it serves it."""
    found = [
        each
        for each in new.values()
        if each.method == message["method"] and each.path and _is_of(message["path"], each.path)
    ]
    if not found:
        return "no operation has this method and path"
    refusals = [_refused_by(each, message, security) for each in found]
    return refusals[0] if all(refusals) else ""


def _is_of(path: str, template: str) -> bool:
    return _form_of(template).fullmatch(path) is not None


@lru_cache(maxsize=20_000)
def _form_of(template: str) -> re.Pattern[str]:
    """The paths of `template`. Each message is held against all of one side."""
    return re.compile("[^/]+".join(map(re.escape, _TEMPLATE.split(template))))


def _refused_by(new: Subject, message: Mapping[str, Any], security: Alternative | None) -> str:
    has_body, media_type = "body" in message, message.get("content-type", "")
    known = new.parts.keys()
    if has_body and "body" not in new.facts:
        return "it takes no body"
    if has_body and known.isdisjoint(
        f"body {each}" for each in (media_type, f"{media_type.partition('/')[0]}/*", "*/*")
    ):
        return f"it takes no body of the type {media_type}"
    if not has_body and "required body" in new.facts:
        return "it needs a body"
    for styled, style in message.get("style", {}).items():
        fact = new.facts.get(f"style of {styled}")
        if fact is not None and fact.value != style:
            return f"{styled} is written in another way: {fact.value}"
    if security is None or not new.security:
        return ""
    is_known = any(is_enough(security, each) for each in new.security)
    return "" if is_known else "the credentials are not enough"


def _many(part: ExchangedSchema, schema: Any) -> Any:
    """A value of a parameter, with two items if it is a list: one is written alike in any way."""
    if isinstance(schema, dict) and schema.get("type") == "array":
        item = _valid(part, schema.get("items", True))
        if item is not UNSET and _samples(part, schema).admits([item, item]):
            return [item, item]
    return _valid(part, schema)


def _value(part: ExchangedSchema) -> Any:
    return _valid(part, part.schema)


def _valid(part: ExchangedSchema, schema: Any) -> Any:
    """A small valid value of `schema`. UNSET: none was found."""
    if isinstance(schema, dict) and schema.get("type") == "object" and schema.keys() <= _OPTIONAL:
        return {}
    with suppress(NoSample, LookupError):
        samples = _samples(part, schema)
        if len(encoded(samples.schema)) <= _MOST_BYTES:
            return shrunk(samples.sample("diff", "0", is_short=True), samples.admits)
    return UNSET


def _samples(part: ExchangedSchema, schema: Any) -> Samples:
    """The samples of `schema` with the definitions that it needs."""
    together = with_definitions(schema, part.definitions)
    definitions = together.get("$defs", {}) if isinstance(together, dict) else {}
    return Schemas(definitions).samples(together)
