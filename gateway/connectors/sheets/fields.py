"""Field functions of the connector `sheets`: they read results from the rows of a sheet.

The Sheets API cannot search for a row, so every tool reads the whole client sheet and selects rows
here. `cells` has the values of the range as Google sends them, header first, or None for an empty
range.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from gateway.connectors.sheets.clients import (
    Cells,
    ClientRow,
    as_moment,
    client_rows,
    found_one,
    matches,
    passes,
    profile,
    where,
)
from gateway.contract.connector import mapping_function
from gateway.errors import ToolFailed

Inputs = Mapping[str, Any]

MAX_HITS: Final = 100
MAX_ROWS: Final = 5_000
_PAGE: Final = 50
_SEARCHED: Final = ("client_id", "name", "email", "company")
_NAMED: Final = ("name", "email")


@mapping_function
def client_id(cells: Cells | None, inputs: Inputs) -> str:
    """The id of the client in the arguments."""
    return found_one(cells, inputs).client_id


@mapping_function
def name(cells: Cells | None, inputs: Inputs) -> str | None:
    """The client's name."""
    return found_one(cells, inputs).text("name")


@mapping_function
def email(cells: Cells | None, inputs: Inputs) -> str | None:
    """The client's email address."""
    return found_one(cells, inputs).text("email")


@mapping_function
def phone(cells: Cells | None, inputs: Inputs) -> str | None:
    """The client's telephone number."""
    return found_one(cells, inputs).text("phone")


@mapping_function
def company(cells: Cells | None, inputs: Inputs) -> str | None:
    """The client's company."""
    return found_one(cells, inputs).text("company")


@mapping_function
def preferences(cells: Cells | None, inputs: Inputs) -> dict[str, Any]:
    """The preferences and needs of the client."""
    return dict(profile(found_one(cells, inputs))["preferences"])


@mapping_function
def history(cells: Cells | None, inputs: Inputs) -> dict[str, Any]:
    """Figures about the client's flights."""
    return dict(profile(found_one(cells, inputs))["history"])


@mapping_function
def vip_status(cells: Cells | None, inputs: Inputs) -> str | None:
    """The client's status."""
    status: str | None = profile(found_one(cells, inputs)).get("vip_status")
    return status


@mapping_function
def created_at(cells: Cells | None, inputs: Inputs) -> str | None:
    """When the client's row was created."""
    return as_moment(found_one(cells, inputs).cell("created_at"))


@mapping_function
def updated_at(cells: Cells | None, inputs: Inputs) -> str | None:
    """When the client was last changed."""
    return as_moment(found_one(cells, inputs).cell("updated_at"))


@mapping_function
def searched(cells: Cells | None, inputs: Inputs) -> list[dict[str, Any]]:
    """The first clients that match `query` and `filters`, at most `limit`."""
    return [profile(row) for row in _fitting(cells, inputs)[: _whole(inputs, "limit", 10)]]


@mapping_function
def searched_count(cells: Cells | None, inputs: Inputs) -> int:
    """The number of clients that match `query` and `filters`."""
    return len(_fitting(cells, inputs))


@mapping_function
def named(cells: Cells | None, inputs: Inputs) -> list[dict[str, Any]]:
    """The first clients with `query` in the name or email address, with the requested `fields`."""
    wanted = {"client_id", *inputs["fields"]} if "fields" in inputs else None
    return [
        {key: value for key, value in profile(row).items() if wanted is None or key in wanted}
        for row in _named(cells, inputs)[:MAX_HITS]
    ]


@mapping_function
def named_count(cells: Cells | None, inputs: Inputs) -> int:
    """The number of clients whose name or email address contains `query`."""
    return len(_named(cells, inputs))


@mapping_function
def page(cells: Cells | None, inputs: Inputs) -> list[dict[str, Any]]:
    """At most `limit` clients from `offset` on."""
    start = _whole(inputs, "offset", 0)
    rows = list(client_rows(cells))[start : start + _whole(inputs, "limit", _PAGE)]
    return [profile(row) for row in rows]


@mapping_function
def client_count(cells: Cells | None) -> int:
    """The total number of clients."""
    return sum(1 for _ in client_rows(cells))


@mapping_function
def next_offset(cells: Cells | None, inputs: Inputs) -> int | None:
    """The offset of the next page; None on the last page."""
    end = _whole(inputs, "offset", 0) + _whole(inputs, "limit", _PAGE)
    return end if end < client_count(cells) else None


@mapping_function
def readable_spreadsheet(requested: str | None, clients: str, readable: str) -> str:
    """The spreadsheet to read: the requested one, if agents may read it, or the client database.

    `readable` has ids separated by commas. Raises `ToolFailed` (`spreadsheet_not_readable`),
    because the gateway's account can read more than agents may.
    """
    if requested is None:
        return clients
    if requested in {clients, *filter(None, readable.split(","))}:
        return requested
    raise ToolFailed("spreadsheet_not_readable")


@mapping_function
def rows(cells: Cells | None) -> list[list[Any]]:
    """The unchanged rows of a range, at most `MAX_ROWS`."""
    return [list(row) for row in (cells or ())[:MAX_ROWS]]


@mapping_function
def row_count(cells: Cells | None) -> int:
    """The number of rows of a range, up to the last row that is not empty."""
    return len(cells or ())


@mapping_function
def is_cut(cells: Cells | None) -> bool:
    """Whether the range has more rows than `rows` returns."""
    return len(cells or ()) > MAX_ROWS


def _whole(inputs: Inputs, name: str, default: int) -> int:
    """An argument that is a whole number, even if it was written as `2.0`."""
    return int(inputs.get(name, default))


def _fitting(cells: Cells | None, inputs: Inputs) -> Sequence[ClientRow]:
    query, filters = inputs.get("query", ""), inputs.get("filters", {})
    return where(cells, lambda row: matches(row, query, _SEARCHED) and passes(row, filters))


def _named(cells: Cells | None, inputs: Inputs) -> Sequence[ClientRow]:
    return where(cells, lambda row: matches(row, inputs["query"], _NAMED))
