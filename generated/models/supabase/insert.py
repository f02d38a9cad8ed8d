# Generated from schemas/tools/supabase/insert.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 9503311bb97f1ecdf90ca64a56dcb9aa; generator 1

"""Insert rows.

Add one or more rows to a table.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.tables import OwnTableName, Row


class InsertInput(BaseModel):
    """
    New rows for a table.

    Schema: schemas/tools/supabase/insert.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    table: OwnTableName
    """The table to add to. The rows of all other tables come by webhook."""

    data: Row | list[Row]
    """
    A row, or up to 500 rows of which all or none are stored. A row without id is given one;
    created_at and updated_at are the database's.
    """


class InsertOutput(BaseModel):
    """
    The rows as they are stored.

    Schema: schemas/tools/supabase/insert.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    rows: Annotated[list[Row], Field(max_length=500)]
    """The rows with every column, in the order given."""

    count: Annotated[int, Field(ge=0, le=500)]
    """How many rows these are."""
