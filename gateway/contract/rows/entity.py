"""An entity as its contract declares it, the states of its rows, and tables that show it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Literal, Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from gateway.contract.rows.rows import Shape, shape_of
from gateway.contract.rows.tables import Tables

# An entity as its contract declares it: a kind of row that webhooks write and callers read.

ID: Final = "id"
WEBHOOK_ID: Final = "webhook_id"
OCCURRED_AT: Final = "occurred_at"
CREATED_AT: Final = "created_at"
UPDATED_AT: Final = "updated_at"
ROW_COLUMNS: Final = (ID, WEBHOOK_ID, OCCURRED_AT, CREATED_AT, UPDATED_AT)
"""The standard columns of every row. Only the database sets them."""
TIMES: Final = "column_times"
"""An internal column of the store: by column, the time of its last change in microseconds
since 1970."""

Owner = Literal["webhook", "agent", "gateway"]
"""The only writer of a column."""


class Default(Struct, frozen=True):
    """The value of a column if no message set the column, but a message set the column `beside`."""

    beside: str
    value: str | int | float | bool


class Computed(Struct, frozen=True):
    """A column that the gateway computes: the value of the column `copy` if each column of `when`
    has the value given there, else null."""

    copy: str
    when: dict[str, str]


class States(Struct, frozen=True, kw_only=True):
    """The state machine of a kind of rows.

    Messages are replayed in the order of the events that they report, not of their arrival. A state
    that may not follow the current one is not applied, and the row's log records that.
    """

    column: str
    log: str
    """The column that holds the states that messages have reported, applied or not."""
    initial: tuple[str, ...]
    """The states that a row may have when the gateway first receives a message about it."""
    next: dict[str, tuple[str, ...]]
    """By state, the states that may follow it. Of two states with the same time, the one that is
    listed first counts as the earlier."""
    carries: tuple[str, ...] = ()
    """Columns that only a message whose state is applied may write."""
    same: dict[str, str] = {}
    """By state, a carried column. A message with this state is applied only if the message and the
    row have the same value in that column, or one of them has none. This holds also if the row is
    in the state already."""


class Fixed(Struct, frozen=True):
    """A value that does not depend on the call."""

    const: str | int | float | bool


class Inherited(Struct, frozen=True, rename={"kind": "from"}):
    """Where a column without a value takes it from: the column of the same name in a row of `kind`,
    whose id is in the column `by`."""

    kind: str
    by: str


class EntityRules(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How the rows of a kind are written. By default, later messages replace earlier ones."""

    agent: tuple[str, ...] = ()
    """Columns that agents own. The webhook or the gateway owns all other columns."""
    defaults: dict[str, Default] = {}
    computed: dict[str, Computed] = {}
    states: States | None = None
    calls: dict[str, dict[str, str | Fixed]] = {}
    """The rows that successful calls report: by operation id and column, a JSON Pointer into
    `{"arguments": …, "result": …}` or a fixed value. No row is written without its key."""
    inherits: dict[str, Inherited] = {}
    """By column that agents own, where it comes from as long as no agent has set it."""

    def owner(self, column: str) -> Owner:
        """The owner of `column`."""
        if column in self.agent:
            return "agent"
        log = self.states.log if self.states else None
        return "gateway" if column in {*ROW_COLUMNS, *self.computed, log} else "webhook"


class Entity(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A kind of row. One member of `entities.json`."""

    kind: str
    """The name of the kind: the last part of `/v1/entities/<kind>`."""
    key: tuple[str, ...]
    """The columns of the row's external key. `id` is a UUIDv5 of kind and key, so that a reference
    can be stored before its row."""
    filters: tuple[str, ...]
    """Columns that a query may filter by."""
    schema: dict[str, Any]
    """JSON Schema of a row, without references. Besides its own columns, a row has `id`,
    `webhook_id` (the webhook that wrote it last), `occurred_at`, `created_at` and `updated_at`."""
    rules: EntityRules = EntityRules()


class EntityPages(Protocol):
    """Reads the rows that webhooks wrote."""

    async def page(
        self, kind: str, filters: Mapping[str, Any], limit: int, cursor: str | None
    ) -> tuple[list[dict[str, Any]], str | None]:
        """One page of the rows that match `filters`, last changed first, and the next cursor.

        The cursor is None after the last page. Raises `InvalidArguments` for a cursor that was not
        issued for this kind and these filters.
        """
        ...

    async def get(self, kind: str, entity_id: str) -> dict[str, Any] | None:
        """The row of `kind` with the id `entity_id`. None if there is none."""
        ...

    def tables(self, shape: Shape) -> Tables:
        """The rows of `shape.entity` as the table `shape`. Only columns that agents own can be
        changed. Rows cannot be added or removed."""
        ...


# Replays the states that messages report for a row, and decides which of them are applied.
#
# A log is a list of plain JSON objects, which are stored and returned unchanged. Its entries are
# in the order of the events that they report. Messages that arrive late, twice or in another order
# give the same log, as long as at most 100 reports are newer. Of older reports the log keeps the
# resulting state and their number. A message that arrives even later is counted, also if it is
# repeated, and changes nothing else.

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


# Tables of upstreams as agents see them, and the owners of their columns.
#
# A table either has its own rows, which agents write, or shows the rows of an entity, which
# webhooks write. `x-table` then names the kind. The rows exist once, in the gateway's store, and
# agents can change only the columns that they own.


def shapes_of(
    tables: Mapping[str, Mapping[str, Any]], entities: Mapping[str, Entity]
) -> dict[str, Shape]:
    """The shapes of an upstream's tables, by name. `entities` are the catalogue's, by kind."""
    return {name: _shape(name, schema, entities) for name, schema in tables.items()}


def _shape(table: str, schema: Mapping[str, Any], entities: Mapping[str, Entity]) -> Shape:
    shape, facts = shape_of(table, schema), schema.get("x-table", {})
    if "entity" not in facts:
        return shape
    entity = entities[facts["entity"]]
    sources = {name: facts.get("columns", {}).get(name, name) for name in shape.columns}
    owners = {name: entity.rules.owner(source) for name, source in sources.items()}
    return replace(shape, entity=entity.kind, sources=sources, owners=owners)
