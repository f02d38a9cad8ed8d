# Generated from schemas/tools/supabase/update.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 57df6ce0fba58f61a956dac263125cb9; generator 1

"""Update rows.

Change the rows of a table that match, all of them or none.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.tables import NarrowingFilters, Row, TableName


class UpdateInput(BaseModel):
    """
    New values for the rows of a table that match.

    Schema: schemas/tools/supabase/update.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    table: TableName
    """The table to change."""

    filters: NarrowingFilters
    """
    Which rows: by column, what its value must be. At least one, so that no table is changed
    by oversight.
    """

    data: Row
    """
    The new values. id, created_at and updated_at are not for callers to change, nor is what a
    webhook has brought. Of its tables callers change these columns: quotes: request_id,
    details; rfqs: request_id; bookings: none; operator_profiles: none.
    """


class UpdateOutput(BaseModel):
    """
    The rows that were changed.

    Schema: schemas/tools/supabase/update.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    rows: Annotated[list[Row], Field(max_length=1000)]
    """The rows as they are now, with every column, by id."""

    count: Annotated[int, Field(ge=0, le=1000)]
    """How many rows these are."""
