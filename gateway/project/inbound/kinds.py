"""Finds where the messages of a vendor say their kind, and which kinds they have."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from msgspec import Struct

from gateway.mapping.fields.analysis.shapes import member
from gateway.openapi.lowering.naming import snake_case
from gateway.openapi.lowering.webhooks import InboundMessage
from gateway.project.drafts.webhook import is_event_type

_MEMBERS: Final = ("type", "event", "event_type", "eventType", "event_name", "topic", "kind")
"""Members that usually say the kind of a message, the most usual first."""
_HEADERS: Final = ("event", "topic", "kind", "type")
"""Words of the names of headers that do."""
_UNKNOWN: Final = {"header": "X-Event-Type"}


class MessageKinds(Struct, frozen=True, kw_only=True):
    """The place of the kind in each message, and the kinds of each message."""

    place: Mapping[str, str]
    """`{"pointer": …}` or `{"header": …}`."""
    is_declared: bool
    """Whether the document says it. If not, the kinds are the names of the messages."""
    kinds: tuple[tuple[str, ...], ...]
    """For each message, in the order of the messages."""


def kinds_of(messages: Sequence[InboundMessage], bodies: Sequence[dict[str, Any]]) -> MessageKinds:
    """How `messages` differ. `bodies` are their schemas without references."""
    names = list(bodies[0].get("properties", {})) if len(bodies) > 1 else []
    ways = (_of_bodies(bodies, _MEMBERS), _of_headers(messages), _of_bodies(bodies, names))
    found = next(chain.from_iterable(ways), None)
    return found or MessageKinds(
        place=_UNKNOWN,
        is_declared=False,
        kinds=tuple((_type_of(each.name),) for each in messages),
    )


def _type_of(name: str) -> str:
    return name if is_event_type(name) else snake_case(name)


def _of_bodies(bodies: Sequence[dict[str, Any]], names: Iterable[str]) -> Iterator[MessageKinds]:
    """Those of the members `names` with which all bodies say different kinds."""
    for name in names:
        kinds = tuple(_values(each, name) for each in bodies)
        every = [kind for each in kinds for kind in each]
        if all(kinds) and len(set(every)) == len(every):
            pointer = f"/{name.replace('~', '~0').replace('/', '~1')}"
            yield MessageKinds(place={"pointer": pointer}, is_declared=True, kinds=kinds)


def _values(body: dict[str, Any], name: str) -> tuple[str, ...]:
    """The texts that the member `name` of `body` may be. Empty if it may be absent or anything."""
    found = member(body, name)
    if found is None or not found.is_required or not isinstance(found.schema, dict):
        return ()
    schema = found.schema
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    return tuple(values) if all(isinstance(each, str) for each in values) else ()


def _of_headers(messages: Sequence[InboundMessage]) -> Iterator[MessageKinds]:
    """The headers in which all messages say a kind. Several messages may have the same."""
    names = {name.lower(): name for name in messages[0].headers}
    for word in _HEADERS:
        for name in (each for each in names if word in each):
            kinds = tuple(_header(each, name) for each in messages)
            if all(kinds):
                yield MessageKinds(place={"header": names[name]}, is_declared=True, kinds=kinds)


def _header(message: InboundMessage, name: str) -> tuple[str, ...]:
    found = (values for header, values in message.headers.items() if header.lower() == name)
    return next(found, ())
