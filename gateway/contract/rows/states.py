"""Replays the states that messages report for a row, and decides which of them are applied.

A log is a list of plain JSON objects, which are stored and returned unchanged. Its entries are in
the order of the events that they report. Messages that arrive late, twice or in another order give
the same log, as long as at most 100 reports are newer. Of older reports the log keeps the resulting
state and their number. A message that arrives even later is counted, also if it is repeated, and
changes nothing else.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from gateway.contract.rows.entity import States

Entry = dict[str, Any]
"""`state`, `occurred_at` (RFC 3339, UTC), `webhook_id` and `applied`; `values` of carried columns,
if any; `earlier`, the number of older entries that are merged into this one, if any."""

MOST_ENTRIES: Final = 100
"""The most entries of one log. Older ones are merged into the oldest entry that is kept."""
_encode: Final = msgspec.json.Encoder(order="deterministic").encode


def replay(states: States, log: Sequence[Entry], new: Entry) -> list[Entry]:
    """`log` with `new` inserted in order. `applied` of every entry is computed again."""
    kept = {_identity(entry): entry for entry in log}
    known = kept.get(_identity(new))
    if known is not None:
        # Two messages with the same report: the log must not depend on which arrived first.
        new = {**known, "webhook_id": min(known["webhook_id"], new["webhook_id"])}
    kept[_identity(new)] = new
    entries = sorted(kept.values(), key=lambda entry: _sort_key(states, entry))
    return _marked(states, _bounded(states, entries))


def outcome(states: States, log: Sequence[Entry]) -> tuple[str | None, dict[str, Any]]:
    """The state of the row after `log`, and the values of its carried columns."""
    state, values = None, dict.fromkeys(states.carries)
    for entry in log:
        if entry["applied"]:
            state = entry["state"]
            values |= entry.get("values", {})
    return state, values


def moment(entry: Entry) -> datetime:
    """The time of the event that `entry` reports."""
    return datetime.fromisoformat(entry["occurred_at"])


def _identity(entry: Entry) -> bytes:
    return _encode([entry["occurred_at"], entry["state"], entry.get("values", {})])


def _sort_key(states: States, entry: Entry) -> tuple[datetime, int, bytes]:
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
    current, reported_value = values.get(column), entry.get("values", {}).get(column)
    return current is None or reported_value is None or current == reported_value


def _bounded(states: States, entries: Sequence[Entry]) -> list[Entry]:
    """The newest entries. Older ones are merged into the first of them."""
    rest = [*entries]
    while len(rest) > MOST_ENTRIES or any("earlier" in entry for entry in rest[1:]):
        first, second = _marked(states, rest[:2])
        rest[:2] = [_merged(states, first, second)]
    return rest


def _merged(states: States, first: Entry, second: Entry) -> Entry:
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
