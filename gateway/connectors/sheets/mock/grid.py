"""Sheets (tabs) of the Sheets mock, and ranges in A1 notation."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Self

from msgspec import Struct
from msgspec.structs import astuple

from gateway.connectors.sheets.mock.cells import Cell, stored

_RANGE: Final = re.compile(
    r"(?:(?:'((?:[^']|'')+)'|([^'!:]+))!)?[$]?([A-Za-z]{0,3})[$]?([0-9]{0,7})"
    r"(?::[$]?([A-Za-z]{0,3})[$]?([0-9]{0,7}))?"
)
_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CELL: Final = re.compile(r"[A-Za-z]{1,3}[0-9]{1,7}")


class Tab:
    """One tab: a grid of cells. A row ends with the last cell that was ever written."""

    def __init__(self, title: str, rows: Iterable[Sequence[Cell | None]] = ()) -> None:
        self.title = title
        self.rows: list[list[Cell | None]] = [list(row) for row in rows]
        self.row_count = 1000
        self.column_count = 26

    def data(self) -> dict[str, Any]:
        """The content without the title, as plain data."""
        rows = [[None if cell is None else astuple(cell) for cell in row] for row in self.rows]
        return {"rows": rows, "row_count": self.row_count, "column_count": self.column_count}

    @classmethod
    def restored(cls, title: str, data: Mapping[str, Any]) -> Self:
        """The tab with this content, from `data()`."""
        cells = ([None if cell is None else Cell(*cell) for cell in row] for row in data["rows"])
        tab = cls(title, cells)
        tab.row_count, tab.column_count = data["row_count"], data["column_count"]
        return tab

    def cell(self, row: int, column: int) -> Cell | None:
        """The cell at 0-based indexes; None for an empty cell."""
        cells = self.rows[row] if row < len(self.rows) else []
        return cells[column] if column < len(cells) else None

    def put(self, row: int, column: int, value: Any, option: str) -> None:
        """Store an input. None leaves the cell unchanged."""
        if value is None:
            return
        while len(self.rows) <= row:
            self.rows.append([])
        cells = self.rows[row]
        cells.extend([None] * (column + 1 - len(cells)))
        cells[column] = stored(value, option)

    def is_blank(self, row: int) -> bool:
        """Whether the row is empty."""
        return row >= len(self.rows) or all(cell is None for cell in self.rows[row])

    def insert(self, row: int, count: int) -> None:
        """Insert empty rows before `row`."""
        self.rows[row:row] = [[] for _ in range(count)]
        self.row_count += count


class Area(Struct, frozen=True):
    """A part of a tab: 0-based, inclusive indexes; None is an open end."""

    tab: Tab
    top: int
    left: int
    bottom: int | None
    right: int | None

    @property
    def is_inside(self) -> bool:
        """Whether the start is on the grid."""
        return self.top < self.tab.row_count and self.left < self.tab.column_count

    @property
    def last_row(self) -> int:
        """The last row within the grid."""
        last = self.tab.row_count - 1
        return last if self.bottom is None else min(self.bottom, last)

    @property
    def last_column(self) -> int:
        """The last column within the grid."""
        last = self.tab.column_count - 1
        return last if self.right is None else min(self.right, last)

    def __str__(self) -> str:
        start = f"{_letters(self.left)}{self.top + 1}"
        end = f"{_letters(self.last_column)}{self.last_row + 1}"
        return f"{_quoted(self.tab.title)}!{start if start == end else f'{start}:{end}'}"


def find_area(text: str, tabs: Mapping[str, Tab]) -> Area | None:
    """The area of `text`; None if `text` is invalid or its tab does not exist.

    Without a tab, the area is in the first one. A name alone is a whole tab, unless it is a cell.
    """
    whole = text[1:-1].replace("''", "'") if text[:1] == text[-1:] == "'" else text
    if whole in tabs and not _CELL.fullmatch(text):
        return Area(tabs[whole], 0, 0, None, None)
    found = _RANGE.fullmatch(text)
    if found is None:
        return None
    quoted, plain, left, top, right, bottom = found.groups()
    title = quoted.replace("''", "'") if quoted else plain or next(iter(tabs))
    is_named = bool(left or top) and (right is None or bool(right or bottom))
    if title not in tabs or not is_named:
        return None
    if right is None:
        right, bottom = left, top
    return _ordered(tabs[title], (_index(left), _number(top)), (_index(right), _number(bottom)))


def _ordered(
    tab: Tab, start: tuple[int | None, int | None], end: tuple[int | None, int | None]
) -> Area:
    """`B9:A2` means `A2:B9`. An end without row or column is open."""
    left, right = start[0] or 0, end[0]
    top, bottom = start[1] or 0, end[1]
    if right is not None and right < left:
        left, right = right, left
    if bottom is not None and bottom < top:
        top, bottom = bottom, top
    return Area(tab, top, left, bottom, right)


def _index(letters: str) -> int | None:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number - 1 if letters else None


def _number(digits: str) -> int | None:
    return max(int(digits) - 1, 0) if digits else None


def _letters(index: int) -> str:
    text, number = "", index + 1
    while number:
        number, rest = divmod(number - 1, 26)
        text = chr(65 + rest) + text
    return text


def _quoted(title: str) -> str:
    return title if _PLAIN.fullmatch(title) else "'" + title.replace("'", "''") + "'"
