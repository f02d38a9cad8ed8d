"""Merges a message into a row, in any order of arrival.

For each column, the row stores the time of the message that set it. A message sets a column unless
a later message has set it. If two messages have the same time, the one that arrives last replaces
the other. Of two states with the same time, the one that
the contract names first counts as earlier.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec
from sqlalchemy import Table

from gateway.contract.fields.conversion import as_date_time, rfc3339
from gateway.contract.rows.entity import (
    CREATED_AT,
    ID,
    OCCURRED_AT,
    TIMES,
    UPDATED_AT,
    WEBHOOK_ID,
    EntityRules,
    States,
)
from gateway.contract.rows.states import Entry, moment, outcome, replay
from gateway.store.records import EntityChange
from gateway.store.sql.entities.tables import kept, key_of, microseconds, stored

Row = dict[str, Any]
"""A row by column, in the form of the database."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_BEFORE_ALL: Final = -(2**63)


def rules_of(table: Table) -> EntityRules:
    """The rules by which the rows of `table` are written."""
    return kept(table, "rules", lambda: msgspec.convert(table.info.get("rules", {}), EntityRules))


def new_row(table: Table, row_id: str, change: EntityChange, now: int) -> Row:
    """A new row with the key of `change`. The other values of `change` are not merged yet."""
    at = microseconds(change.occurred_at)
    return {
        **dict.fromkeys(column.name for column in table.columns),
        **{name: stored(table.c[name], change.values[name]) for name in key_of(table)},
        ID: row_id,
        WEBHOOK_ID: change.webhook_id,
        OCCURRED_AT: at,
        CREATED_AT: now,
        UPDATED_AT: now,
        TIMES: dict.fromkeys(key_of(table), at),
    }


def merged(table: Table, row: Row, change: EntityChange, now: int) -> Row:
    """`row` with `change` merged into it. The same object if nothing changes."""
    rules, at = rules_of(table), microseconds(change.occurred_at)
    result = {**row, TIMES: dict(row[TIMES])}
    by_state = _of_states(rules.states)
    plain = {
        name: stored(table.c[name], value)
        for name, value in change.values.items()
        if name not in by_state and name not in key_of(table)
    }
    is_newer = _merge_columns(result, plain, at)
    if rules.states is not None:
        is_newer |= _merge_state(rules.states, result, change)
    if at >= row[OCCURRED_AT]:
        result |= {WEBHOOK_ID: change.webhook_id, OCCURRED_AT: at}
    elif not is_newer:
        return row
    _derive(rules, result)
    return {**result, UPDATED_AT: now}


def _of_states(states: States | None) -> frozenset[str]:
    return frozenset() if states is None else frozenset({states.column, *states.carries})


def _merge_columns(row: Row, values: Mapping[str, Any], at: int) -> bool:
    """Set the columns that have no later value. Returns whether any was set."""
    times = row[TIMES]
    newer = [name for name in values if at >= times.get(name, _BEFORE_ALL)]
    row |= {name: values[name] for name in newer}
    times |= dict.fromkeys(newer, at)
    return bool(newer)


def _merge_state(states: States, row: Row, change: EntityChange) -> bool:
    """Add the message's state to the log, and set the state's columns.

    Returns whether the log has changed.
    """
    state = change.values.get(states.column)
    if state is None:
        return False
    before = _known_entries(states, row)
    carried = {name: change.values[name] for name in states.carries if name in change.values}
    entry: Entry = {
        "state": state,
        "occurred_at": _time_text(change.occurred_at),
        "webhook_id": change.webhook_id,
        **({"values": carried} if carried else {}),
    }
    log = replay(states, before, entry)
    row[states.log] = log
    held, values = outcome(states, log)
    # Carried columns are plain texts (entity/states), which the log and the database store alike.
    row |= {states.column: held, **values}
    applied = [moment(each) for each in log if each["applied"]]
    if applied:
        row[TIMES][states.column] = microseconds(applied[-1])
    return log != before


def _known_entries(states: States, row: Row) -> Sequence[Entry]:
    """The log, with an entry for a state that an older package has written.

    An older package sets the state's column and has no log. The row is from the time before the
    kind had a log, or both packages use the database.
    """
    log: Sequence[Entry] = row[states.log] or []
    held, values = outcome(states, log)
    if row[states.column] in {None, held}:
        return log
    at = _EPOCH + timedelta(microseconds=row[TIMES].get(states.column, row[OCCURRED_AT]))
    carried = {name: row[name] for name in states.carries if row[name] not in {None, values[name]}}
    entry: Entry = {
        "state": row[states.column],
        "occurred_at": _time_text(at),
        "webhook_id": row[WEBHOOK_ID],
        **({"values": carried} if carried else {}),
    }
    return replay(states, log, entry) if log else [{**entry, "applied": True}]


def _time_text(at: datetime) -> str:
    """RFC 3339 with milliseconds, or with microseconds if `at` has them.

    So the log and the columns have the same order.
    """
    return rfc3339(at) if at.microsecond % 1000 == 0 else as_date_time(at.isoformat())


def _derive(rules: EntityRules, row: Row) -> None:
    """Set the columns that depend on other columns: defaults and computed ones."""
    for name, default in rules.defaults.items():
        if name not in row[TIMES]:
            row[name] = default.value if row[default.beside] is not None else None
    for name, computed in rules.computed.items():
        holds = all(row[column] == value for column, value in computed.when.items())
        row[name] = row[computed.copy] if holds else None
