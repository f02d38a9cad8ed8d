# Generated from schemas/tools/supabase/delete.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 18603ead9081c5f607a65a950978425e; generator 1

"""Delete rows.

Remove the rows of a table that match, all of them or none.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.tables import NarrowingFilters, OwnTableName, Row


class DeleteInput(BaseModel):
    """
    Which rows of a table to remove.

    Schema: schemas/tools/supabase/delete.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    table: OwnTableName
    """The table to remove from. The rows of all other tables come by webhook, and stay."""

    filters: NarrowingFilters
    """
    Which rows: by column, what its value must be. At least one, so that no table is emptied
    by oversight.
    """


class DeleteOutput(BaseModel):
    """
    The rows that are gone.

    Schema: schemas/tools/supabase/delete.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    rows: Annotated[list[Row], Field(max_length=1000)]
    """The rows as they were, with every column, by id."""

    count: Annotated[int, Field(ge=0, le=1000)]
    """How many rows these are."""
