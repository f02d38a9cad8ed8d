# Generated from schemas/tools/supabase/delete.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: fb271d9b7d36c2a9adcf517fe36dc69f; generator 1

"""Delete rows.

Delete the matching rows of a table, all of them or none.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.tables import NarrowingFilters, OwnTableName, Row


class DeleteInput(BaseModel):
    """
    The table and the rows to delete.

    Schema: schemas/tools/supabase/delete.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    table: OwnTableName
    """Name of the table. The rows of all other tables come from webhooks and cannot be deleted."""

    filters: NarrowingFilters
    """
    Conditions on columns that the rows must meet. At least one is required, so that no table
    is emptied by mistake.
    """


class DeleteOutput(BaseModel):
    """
    The deleted rows.

    Schema: schemas/tools/supabase/delete.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    rows: Annotated[list[Row], Field(max_length=1000)]
    """The rows as they were, with all columns, sorted by id."""

    count: Annotated[int, Field(ge=0, le=1000)]
    """Number of rows."""
