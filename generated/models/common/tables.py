# Generated from schemas/common/tables.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 5540b140afd7dc401d2a8a23008720fe; generator 1

"""Definitions that several contracts share: tables."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypeAliasType

TableName = TypeAliasType(
    "TableName",
    Literal[
        "agent_errors",
        "bookings",
        "client_cache",
        "flight_options",
        "iso_requests",
        "iso_workflows",
        "operator_profiles",
        "quote_scores",
        "quotes",
        "ranked_proposals",
        "rfqs",
    ],
)
"""Name of a table."""


OwnTableName = TypeAliasType(
    "OwnTableName",
    Literal[
        "agent_errors",
        "client_cache",
        "flight_options",
        "iso_requests",
        "iso_workflows",
        "quote_scores",
        "ranked_proposals",
    ],
)
"""Name of a table whose rows belong to the agents."""


class Comparison(BaseModel):
    """Operators. The value must meet all of them."""

    model_config = ConfigDict(
        extra="forbid",
    )
    eq: str | int | float | bool | None = None
    """Equal to this value; null: the column has no value."""

    neq: str | int | float | bool | None = None
    """The column has a value, and it is not this one; null: the column has any value."""

    gt: str | int | float | bool | None = None
    """Greater or later than this."""

    gte: str | int | float | bool | None = None
    """Equal to, greater or later than this."""

    lt: str | int | float | bool | None = None
    """Less or earlier than this."""

    lte: str | int | float | bool | None = None
    """Equal to, less or earlier than this."""

    like: Annotated[str | None, Field(max_length=200, min_length=1)] = None
    """Matches this pattern: % matches any text, _ matches one character, and \\ escapes them."""

    ilike: Annotated[str | None, Field(max_length=200, min_length=1)] = None
    """Like `like`, but not case-sensitive. Only the case of A to Z is ignored."""

    in_: Annotated[
        list[str | int | float | bool] | None, Field(alias="in", max_length=200, min_length=1)
    ] = None
    """One of these values."""

    is_: Annotated[bool | None, Field(alias="is")] = None
    """null: the column has no value. true or false: a boolean column has this value."""


Condition = TypeAliasType("Condition", Comparison | str | int | float | bool | None)
"""A condition on the value of a column."""


Filters = TypeAliasType("Filters", dict[str, Condition])
"""
Conditions by column. A row must meet all of them. A value means "equal to"; null means
"has no value"; an object contains operators.

Schema: schemas/common/tables.json#/$defs/Filters
"""


NarrowingFilters = TypeAliasType("NarrowingFilters", dict[str, Condition])
"""
Conditions by column, at least one. A row must meet all of them. A value means "equal to";
null means "has no value"; an object contains operators.

Schema: schemas/common/tables.json#/$defs/NarrowingFilters
"""


Row = TypeAliasType("Row", dict[str, Any])
"""
Values by column.

Schema: schemas/common/tables.json#/$defs/Row
"""
