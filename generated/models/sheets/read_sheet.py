# Generated from schemas/tools/sheets/read_sheet.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 0c75c57a0ebd27063af023213dccc914; generator 1

"""Read cells of a sheet.

Read the cells of a range of a spreadsheet.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.clients import CellText


class ReadSheetInput(BaseModel):
    """
    Which cells.

    Schema: schemas/tools/sheets/read_sheet.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    sheet_id: Annotated[
        str | None, Field(max_length=128, min_length=1, pattern="^[A-Za-z0-9_-]+$")
    ] = None
    """
    Id of the spreadsheet, from its address; the client database when left out. Others only if
    the gateway's operator allows it.
    """

    range: Annotated[
        str,
        Field(
            max_length=250,
            min_length=1,
            pattern="^(?:(?:[A-Za-z_][A-Za-z0-9_]{0,99}|'(?:[^'/\\\\%?#\\x00-\\x1F\\x7F]|''){1,100}')(?:!(?:[A-Z]{1,3}[1-9][0-9]{0,6}(?::[A-Z]{1,3}(?:[1-9][0-9]{0,6})?|:[1-9][0-9]{0,6})?|[A-Z]{1,3}:[A-Z]{1,3}(?:[1-9][0-9]{0,6})?|[1-9][0-9]{0,6}:[1-9][0-9]{0,6}))?|[A-Z]{1,3}[1-9][0-9]{0,6}:[A-Z]{1,3}(?:[1-9][0-9]{0,6})?)$",
        ),
    ]
    """
    The cells in A1 notation, with the tab in front: Clients!A2:N, 'Flight History'!A:H, or a
    tab alone. A tab whose name holds more than letters, digits and _ is written in single
    quotes; / \\ % ? # cannot occur in it.
    """


class ReadSheetOutput(BaseModel):
    """
    The cells of the range. Empty cells at the end of a row and empty rows at the end are left
    out.

    Schema: schemas/tools/sheets/read_sheet.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    range: CellText
    """The range that was read, as Google words it."""

    values: Annotated[list[list[str | int | float | bool]], Field(max_length=5000)]
    """The rows, each a list of cells from the first column of the range on."""

    row_count: Annotated[int, Field(ge=0, le=10000000)]
    """How many rows the range has, up to the last one that is not empty."""

    truncated: bool
    """Whether the range has more rows than are answered; ask for the rest by range."""
