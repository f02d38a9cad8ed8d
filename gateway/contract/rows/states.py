"""Replaying the states that messages report of a row: what is applied, and what may not follow.

A log is a list of plain JSON objects, so that it is stored and answered as it is. Its order is that
of what happened; arriving late, twice or in another order makes no difference to it, as long as no
more than a hundred reports are newer. Of what is older the log keeps the outcome and the count: who
comes later still is counted, also a second time, and changes nothing.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from gateway.contract.rows.entity import States

Entry = dict[str, Any]
"""`state`, `occurred_at` (RFC 3339, UTC), `webhook_id`, `applied`; `values` of carried columns, if
there are any; `earlier` where it stands for older entries as well."""

MOST_ENTRIES: Final = 100
"""Entries of one log. Older ones are folded into the oldest that is kept."""
_encode: Final = msgspec.json.Encoder(order="deterministic").encode


def replay(states: States, log: Sequence[Entry], new: Entry) -> list[Entry]:
    """`log` with `new` in its place, each entry marked with whether it is applied."""
    kept = {_identity(entry): entry for entry in log}
    known = kept.get(_identity(new))
    if known is not None:
        # The same report under two ids: which one arrived first must not matter.
        new = {**known, "webhook_id": min(known["webhook_id"], new["webhook_id"])}
    kept[_identity(new)] = new
    entries = sorted(kept.values(), key=lambda entry: _place(states, entry))
    return _marked(states, _bounded(states, entries))


def outcome(states: States, log: Sequence[Entry]) -> tuple[str | None, dict[str, Any]]:
    """The state that the row is in after `log`, and its carried columns."""
    state, values = None, dict.fromkeys(states.carries)
    for entry in log:
        if entry["applied"]:
            state = entry["state"]
            values |= entry.get("values", {})
    return state, values


def moment(entry: Entry) -> datetime:
    """When what `entry` reports had happened."""
    return datetime.fromisoformat(entry["occurred_at"])


def _identity(entry: Entry) -> bytes:
    return _encode([entry["occurred_at"], entry["state"], entry.get("values", {})])


def _place(states: States, entry: Entry) -> tuple[datetime, int, bytes]:
    order = list(states.next)
    rank = order.index(entry["state"]) if entry["state"] in order else -1
    return moment(entry), rank, _identity(entry)


def _marked(states: States, entries: Sequence[Entry]) -> list[Entry]:
    state: str | None = None
    values: dict[str, Any] = {}
    marked: list[Entry] = []
    for entry in entries:
        is_applied = "earlier" in entry or _may_follow(states, state, values, entry)
        marked.append({**entry, "applied": is_applied})
        if is_applied:
            state = entry["state"]
            values |= entry.get("values", {})
    return marked


def _may_follow(states: States, state: str | None, values: Mapping[str, Any], entry: Entry) -> bool:
    reported = entry["state"]
    if state is None:
        return reported in states.initial
    if reported != state and reported not in states.next.get(state, ()):
        return False
    column = states.same.get(reported)
    if column is None:
        return True
    held, said = values.get(column), entry.get("values", {}).get(column)
    return held is None or said is None or held == said


def _bounded(states: States, entries: Sequence[Entry]) -> list[Entry]:
    """The newest entries; the first of them stands for what is older."""
    rest = [*entries]
    while len(rest) > MOST_ENTRIES or any("earlier" in entry for entry in rest[1:]):
        first, second = _marked(states, rest[:2])
        rest[:2] = [_folded(states, first, second)]
    return rest


def _folded(states: States, first: Entry, second: Entry) -> Entry:
    count = sum(1 + entry.get("earlier", 0) for entry in (first, second)) - 1
    if "earlier" in second:
        return {**second, "earlier": count}
    state, values = outcome(states, [first, second])
    values = {name: value for name, value in values.items() if value is not None}
    return {
        **second,
        "state": state,
        "applied": True,
        "earlier": count,
        **({"values": values} if values else {}),
    }
