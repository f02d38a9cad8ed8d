"""Cells of the Sheets mock: the stored value of an input, and its form in a reply.

RAW stores the input unchanged. USER_ENTERED parses it like text typed in the editor: numbers,
booleans and dates are converted, and a text that begins with `=`, `+` or `-` becomes a formula.
Sums of two whole numbers are calculated; any other formula gives an error.
"""

import re
from datetime import date, timedelta
from typing import Any, Final

from msgspec import Struct

_FORMULA: Final = re.compile(r"[=+-].*", re.DOTALL)
_SUM: Final = re.compile(r"[=+]([0-9]{1,9})\+([0-9]{1,9})")
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,15}(\.[0-9]{1,15})?")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_EPOCH: Final = date(1899, 12, 30)
_TRUTHS: Final = {"TRUE": True, "FALSE": False}


class Cell(Struct, frozen=True):
    """A cell that is not empty."""

    value: str | int | float | bool
    formula: str | None = None
    """The formula of the value."""
    is_date: bool = False
    """Whether the number is displayed as a date."""


def stored(value: Any, option: str) -> Cell | None:
    """The cell for an input; None if the input clears the cell."""
    if value == "":
        return None
    if option == "RAW" or not isinstance(value, str):
        return Cell(value)
    return _typed(value)


def shown(cell: Cell | None, render: str, render_dates: str) -> Any:
    """The cell as in a reply; an empty text for an empty cell."""
    if cell is None:
        return ""
    if render == "FORMULA" and cell.formula is not None:
        return cell.formula
    if render == "FORMATTED_VALUE":
        return _day(cell.value) if cell.is_date else _formatted(cell.value)
    is_text = cell.is_date and render_dates == "FORMATTED_STRING" and render != "FORMULA"
    return _day(cell.value) if is_text else cell.value


def day(text: str) -> Cell:
    """The cell for the date `text`, as if a user had typed it."""
    return Cell((date.fromisoformat(text) - _EPOCH).days, is_date=True)


def _typed(text: str) -> Cell:
    if text.upper() in _TRUTHS:
        return Cell(_TRUTHS[text.upper()])
    if _NUMBER.fullmatch(text):
        number = float(text)
        return Cell(int(number) if number.is_integer() else number)
    if _DATE.fullmatch(text):
        return _date_or_text(text)
    if _FORMULA.fullmatch(text):
        return Cell(_calculated(text), formula=f"={text.removeprefix('=')}")
    return Cell(text.removeprefix("'"))


def _date_or_text(text: str) -> Cell:
    try:
        return day(text)
    except ValueError:
        return Cell(text)


def _calculated(formula: str) -> int | str:
    found = _SUM.fullmatch(formula)
    return "#ERROR!" if found is None else int(found[1]) + int(found[2])


def _formatted(value: Any) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return str(value)


def _day(value: Any) -> str:
    return (_EPOCH + timedelta(days=int(value))).isoformat()
