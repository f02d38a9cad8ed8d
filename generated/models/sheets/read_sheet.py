# Generated from schemas/tools/sheets/read_sheet.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 2b534d44ead8c743ec227b8a510231bd; generator 1

"""Read cells of a sheet.

Read the cells of a range of a spreadsheet.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.clients import CellText


class ReadSheetInput(BaseModel):
    """
    The spreadsheet and the cells.

    Schema: schemas/tools/sheets/read_sheet.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    sheet_id: Annotated[
        str | None, Field(max_length=128, min_length=1, pattern="^[A-Za-z0-9_-]+$")
    ] = None
    """
    Id of the spreadsheet, from its URL; the default is the client database. The gateway's
    operator must allow any other spreadsheet.
    """

    range: Annotated[
        str,
        Field(
            max_length=250,
            min_length=1,
            pattern="^(?:(?:[A-Za-z_][A-Za-z0-9_]{0,99}|'(?:[^'/\\\\\\x00-\\x1F\\x7F]|''|/[^'/.\\\\\\x00-\\x1F\\x7F]){1,100}')(?:!(?:[$]?[A-Za-z]{1,3}[$]?[1-9][0-9]{0,6}(?::[$]?[A-Za-z]{1,3}(?:[$]?[1-9][0-9]{0,6})?|:[$]?[1-9][0-9]{0,6})?|[$]?[A-Za-z]{1,3}:[$]?[A-Za-z]{1,3}(?:[$]?[1-9][0-9]{0,6})?|[$]?[1-9][0-9]{0,6}:[$]?[1-9][0-9]{0,6}))?|[$]?[A-Za-z]{1,3}[$]?[1-9][0-9]{0,6}:[$]?[A-Za-z]{1,3}(?:[$]?[1-9][0-9]{0,6})?|[$]?[A-Za-z]{1,3}:[$]?[A-Za-z]{1,3}(?:[$]?[1-9][0-9]{0,6})?|[$]?[1-9][0-9]{0,6}:[$]?[1-9][0-9]{0,6})$",
        ),
    ]
    """
    The cells in A1 notation, with the name of the sheet: Clients!A2:N, 'Flight History'!A:H,
    or only a sheet. Put the name in single quotes if it has characters other than letters,
    digits and _.
    """


class ReadSheetOutput(BaseModel):
    """
    The cells of the range, without empty cells at the end of a row and without empty rows at
    the end.

    Schema: schemas/tools/sheets/read_sheet.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    range: CellText
    """The range that was read, as Google writes it."""

    values: Annotated[list[list[str | int | float | bool]], Field(max_length=5000)]
    """The rows. Each is a list of cells, starting at the first column of the range."""

    row_count: Annotated[int, Field(ge=0, le=10000000)]
    """Number of rows in the range, up to the last row that is not empty."""

    truncated: bool
    """Whether the range has more rows than this result. Read the rest with another range."""
