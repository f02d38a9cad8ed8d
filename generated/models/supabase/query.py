# Generated from schemas/tools/supabase/query.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: e91d60ce3ae443fabe003025508cd8e8; generator 1

"""Query a table.

Find rows of a table by the values of their columns.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.tables import Filters, Row, TableName


class OrderBy(BaseModel):
    """How the rows are sorted. Rows without a value in the column come last. Without it: by id."""

    model_config = ConfigDict(
        extra="forbid",
    )
    column: Annotated[str, Field(max_length=63, pattern="^[a-z][a-z0-9_]{0,62}$")]
    """The column to sort by."""

    ascending: bool = True
    """Whether the smallest or earliest comes first."""


class QueryInput(BaseModel):
    """
    Which rows, and which of their columns.

    Schema: schemas/tools/supabase/query.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    table: TableName
    """The table to read."""

    filters: Filters | None = None
    """Which rows: by column, what its value must be. Without it: all."""

    select: Annotated[
        str, Field(max_length=1000, pattern="^(?:[*]|[a-z][a-z0-9_]*(?: *, *[a-z][a-z0-9_]*)*)$")
    ] = "*"
    """
    The columns to answer, separated by commas, or * for all. Names alone: neither expressions
    nor other tables.
    """

    orderBy: OrderBy | None = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 100
    """At most this many rows."""

    offset: Annotated[int, Field(ge=0, le=1000000)] = 0
    """How many rows to pass over first."""


class QueryOutput(BaseModel):
    """
    The rows found.

    Schema: schemas/tools/supabase/query.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    rows: Annotated[list[Row], Field(max_length=1000)]
    """The rows, in the order asked for."""

    count: Annotated[int, Field(ge=0, le=1000)]
    """How many rows these are."""
