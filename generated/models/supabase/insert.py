# Generated from schemas/tools/supabase/insert.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 2ac33130b0d7a51cdfbc2cfc823979f3; generator 1

"""Insert rows.

Insert one or more rows into a table.
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
    """Name of the table. The rows of all other tables come from webhooks."""

    data: Row | list[Row]
    """
    A row, or up to 500 rows; all are stored, or none. The database sets a missing id, and
    always created_at and updated_at.
    """


class InsertOutput(BaseModel):
    """
    The rows as stored.

    Schema: schemas/tools/supabase/insert.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    rows: Annotated[list[Row], Field(max_length=500)]
    """The rows with all columns, in the order of the call."""

    count: Annotated[int, Field(ge=0, le=500)]
    """Number of rows."""
