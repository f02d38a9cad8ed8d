# Generated from schemas/tools/supabase/update.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 93b80636bba1f73089426ff917658143; generator 1

"""Update rows.

Update the matching rows of a table, all of them or none.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.tables import NarrowingFilters, Row, TableName


class UpdateInput(BaseModel):
    """
    The table, the rows and their new values.

    Schema: schemas/tools/supabase/update.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    table: TableName
    """Name of the table."""

    filters: NarrowingFilters
    """
    Conditions on columns that the rows must meet. At least one is required, so that no whole
    table is changed by mistake.
    """

    data: Row
    """
    The new values. Callers cannot change id, created_at and updated_at, or columns that
    webhooks write. In the tables that webhooks write, callers can change only these columns:
    quotes: request_id, details; rfqs: request_id; bookings: none; operator_profiles: none.
    """


class UpdateOutput(BaseModel):
    """
    The changed rows.

    Schema: schemas/tools/supabase/update.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    rows: Annotated[list[Row], Field(max_length=1000)]
    """The rows as they are now, with all columns, sorted by id."""

    count: Annotated[int, Field(ge=0, le=1000)]
    """Number of rows."""
