"""An entity as its contract declares it: a kind of row that webhooks write and callers read."""

from collections.abc import Mapping
from typing import Any, Final, Literal, Protocol

from msgspec import Struct

from gateway.contract.rows.rows import Shape
from gateway.contract.rows.tables import Tables

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
