# Generated from schemas/common/tables.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 3e73ab3f9ae77458a7f5f03fbf01bf36; generator 1

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
"""A table."""


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
"""A table whose rows are the agents' own."""


class Comparison(BaseModel):
    """Operators, all of which must hold."""

    model_config = ConfigDict(
        extra="forbid",
    )
    eq: str | int | float | bool | None = None
    """Equal to this; null: there is no value."""

    neq: str | int | float | bool | None = None
    """There is a value, and not this one; null: there is some value."""

    gt: str | int | float | bool | None = None
    """Greater, or later, than this."""

    gte: str | int | float | bool | None = None
    """This, or greater, or later."""

    lt: str | int | float | bool | None = None
    """Less, or earlier, than this."""

    lte: str | int | float | bool | None = None
    """This, or less, or earlier."""

    like: Annotated[str | None, Field(max_length=200, min_length=1)] = None
    """Text of this form: % stands for any text, _ for one character, and \\ makes either plain."""

    ilike: Annotated[str | None, Field(max_length=200, min_length=1)] = None
    """As like, where a and A are equal. Only the case of A to Z is ignored."""

    in_: Annotated[
        list[str | int | float | bool] | None, Field(alias="in", max_length=200, min_length=1)
    ] = None
    """One of these."""

    is_: Annotated[bool | None, Field(alias="is")] = None
    """null: there is no value. true and false: of a column that holds one of them."""


Condition = TypeAliasType("Condition", str | int | float | bool | Comparison | None)
"""What a column's value must be."""


Filters = TypeAliasType("Filters", dict[str, Condition])
"""
Conditions by column, all of which must hold. A value means equal to it, null that there
is none; an object names operators.

Schema: schemas/common/tables.json#/$defs/Filters
"""


NarrowingFilters = TypeAliasType("NarrowingFilters", dict[str, Condition])
"""
Conditions by column, all of which must hold. A value means equal to it, null that there
is none; an object names operators. There must be one at least.

Schema: schemas/common/tables.json#/$defs/NarrowingFilters
"""


Row = TypeAliasType("Row", dict[str, Any])
"""
Values by column.

Schema: schemas/common/tables.json#/$defs/Row
"""
