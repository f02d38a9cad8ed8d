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
"""What every row has besides its own columns; the database alone sets them."""
TIMES: Final = "column_times"
"""The column in which the store keeps, by column, when its value changed: microseconds
since 1970."""

Owner = Literal["webhook", "agent", "gateway"]
"""Who writes a column. Nobody else may."""


class Default(Struct, frozen=True):
    """What a column holds while no message has given it a value, but has given `beside` one."""

    beside: str
    value: str | int | float | bool


class Computed(Struct, frozen=True):
    """A column that the gateway computes: the value of `copy` where every column of `when` holds
    the value named there, else null."""

    copy: str
    when: dict[str, str]


class States(Struct, frozen=True, kw_only=True):
    """The state machine of a kind of rows.

    Messages are replayed in the order in which they happened, however they arrived. A state that
    may not follow is not applied; the row's log says so.
    """

    column: str
    log: str
    """The column that holds the states that messages have reported, applied or not."""
    initial: tuple[str, ...]
    """States in which a row may become known: any message may be the first one to arrive."""
    next: dict[str, tuple[str, ...]]
    """By state, in the order of progress, the states that may follow it. Of two that happened at
    the same moment, the one named first here counts as the earlier."""
    carries: tuple[str, ...] = ()
    """Columns that are written only by a message whose state is applied."""
    same: dict[str, str] = {}
    """By state, a carried column in which its message must agree with the row to be applied, also
    where the row is in that state already. Where one of the two is empty, they agree."""


class EntityRules(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How the rows of a kind are written, besides `later messages replace earlier ones`."""

    agent: tuple[str, ...] = ()
    """Columns that agents own. All other columns are the webhook's or the gateway's."""
    defaults: dict[str, Default] = {}
    computed: dict[str, Computed] = {}
    states: States | None = None

    def owner(self, column: str) -> Owner:
        """Who writes `column`."""
        if column in self.agent:
            return "agent"
        log = self.states.log if self.states else None
        return "gateway" if column in {*ROW_COLUMNS, *self.computed, log} else "webhook"


class Entity(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A kind of row. One member of `entities.json`."""

    kind: str
    """The table, and the last part of `/v1/entities/<kind>`."""
    key: tuple[str, ...]
    """The columns by which the outside world knows a row. `id` is a UUIDv5 of kind and key, so
    that a reference can be written before the row that it leads to."""
    filters: tuple[str, ...]
    """Columns that a query may filter by."""
    schema: dict[str, Any]
    """Of a row; self-contained. Besides its own properties every row has `id`, `webhook_id` (which
    wrote it last), `occurred_at`, `created_at` and `updated_at`."""
    rules: EntityRules = EntityRules()


class EntityPages(Protocol):
    """The rows that webhooks wrote, as those who may call see them."""

    async def page(
        self, kind: str, filters: Mapping[str, Any], limit: int, cursor: str | None
    ) -> tuple[list[dict[str, Any]], str | None]:
        """Rows equal in `filters`, the last changed first, and where the next page begins.

        Raises `InvalidArguments` for a cursor that was not given for this kind and these filters.
        """
        ...

    def tables(self, shape: Shape) -> Tables:
        """The rows of `shape.entity` as the table `shape`: to be read, and changed where agents
        own the column. Rows are neither added nor removed there."""
        ...
