# Generated from schemas/tools/supabase/query.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 295af7172accb95aff9bd31afbf84ab5; generator 1

"""Query a table.

Query the rows of a table by the values of their columns.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.tables import Filters, Row, TableName


class OrderBy(BaseModel):
    """Sort order; the default is by id. Rows without a value in the column are last."""

    model_config = ConfigDict(
        extra="forbid",
    )
    column: Annotated[str, Field(max_length=63, pattern="^[a-z][a-z0-9_]{0,62}$")]
    """The column to sort by."""

    ascending: bool = True
    """Whether the smallest or earliest value is first."""


class QueryInput(BaseModel):
    """
    The table, the rows and their columns.

    Schema: schemas/tools/supabase/query.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    table: TableName
    """Name of the table."""

    filters: Filters | None = None
    """Conditions on columns that the rows must meet; the default is all rows."""

    select: Annotated[
        str, Field(max_length=1000, pattern="^(?:[*]|[a-z][a-z0-9_]*(?: *, *[a-z][a-z0-9_]*)*)$")
    ] = "*"
    """
    The columns to return, separated by commas, or * for all. Only column names: no
    expressions and no other tables.
    """

    orderBy: OrderBy | None = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 100
    """Maximum number of rows."""

    offset: Annotated[int, Field(ge=0, le=1000000)] = 0
    """Number of rows to skip."""


class QueryOutput(BaseModel):
    """
    The rows that were found.

    Schema: schemas/tools/supabase/query.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    rows: Annotated[list[Row], Field(max_length=1000)]
    """The rows, in the requested order."""

    count: Annotated[int, Field(ge=0, le=1000)]
    """Number of rows."""
