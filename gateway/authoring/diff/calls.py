"""Which calls of the last days a change would break, by the audit records of a gateway.

Nothing of a call is shown but who made it, how often, and where its arguments break the new schema.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from gateway.audit.facts import REDACTED
from gateway.contract.schemas.algebra import Schema, violations
from gateway.contract.values.pointers import child

_CUT: Final = re.compile(r"<cut: [0-9]+ bytes>")
_GONE: Final = "the tool is gone"


class RecordedCall(Struct, frozen=True, kw_only=True):
    """What is read of an audit record. Other members are ignored."""

    operation: str | None
    agent: str | None = None
    arguments: dict[str, Any] | None = None


class BrokenCalls(Struct, frozen=True, kw_only=True):
    """Calls of one agent that the new contracts refuse for one reason."""

    agent: str
    operation: str
    calls: int
    pointer: str
    """Where in the arguments."""
    why: str


class JudgedCalls(Struct, frozen=True, kw_only=True):
    """All calls of a log, judged by the new contracts."""

    broken: tuple[BrokenCalls, ...]
    judged: int
    """Calls of tools of the old contracts, with arguments that those admit."""
    unknown: int
    """Those of which the log has too little: what would break is redacted or cut there."""


def judged_calls(
    calls: Iterable[RecordedCall], old: Mapping[str, Schema], new: Mapping[str, Schema]
) -> JudgedCalls:
    """Judge `calls` by the input schemas of both sides, by operation id."""
    found: defaultdict[tuple[str, str], Counter[tuple[str, str]]] = defaultdict(Counter)
    judged = unknown = 0
    for call in calls:
        schema = old.get(call.operation or "")
        if schema is None or call.operation is None or call.arguments is None:
            continue
        hidden = frozenset(_hidden(call.arguments))
        if any(True for _ in _seen(schema, call.arguments, hidden)):
            continue  # it was refused before
        judged += 1
        reasons = _reasons(new.get(call.operation), call.arguments, hidden)
        unknown += reasons is None
        found[call.agent or "-", call.operation].update(reasons or ())
    return JudgedCalls(broken=tuple(_ordered(found)), judged=judged, unknown=unknown)


def _reasons(
    schema: Schema | None, arguments: dict[str, Any], hidden: frozenset[str]
) -> list[tuple[str, str]] | None:
    """Where and why the arguments are refused. None: nobody can say without what is hidden."""
    if schema is None:
        return [("", _GONE)]
    reasons = list(_seen(schema, arguments, hidden))
    is_hidden = not reasons and any(True for _ in violations(schema, arguments))
    return None if is_hidden else reasons


def _seen(schema: Schema, value: Any, hidden: frozenset[str]) -> Iterator[tuple[str, str]]:
    """The violations at places of which the log has the value."""
    for each in violations(schema, value):
        if not any(_touch(each.pointer, place) for place in hidden):
            yield each.pointer, each.detail


def _touch(pointer: str, place: str) -> bool:
    return place == pointer or place.startswith(f"{pointer}/") or pointer.startswith(f"{place}/")


def _hidden(value: Any, pointer: str = "") -> Iterator[str]:
    if isinstance(value, str) and (value == REDACTED or _CUT.fullmatch(value)):
        yield pointer
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from _hidden(member, child(pointer, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _hidden(item, child(pointer, index))


def _ordered(
    found: Mapping[tuple[str, str], Counter[tuple[str, str]]],
) -> Iterator[BrokenCalls]:
    for (agent, operation), reasons in sorted(found.items()):
        for (pointer, why), number in sorted(reasons.items(), key=lambda each: (-each[1], each[0])):
            yield BrokenCalls(
                agent=agent, operation=operation, calls=number, pointer=pointer, why=why
            )
