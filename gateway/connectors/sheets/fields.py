"""Field functions of the connector `sheets`: what its field maps make of the rows of a sheet.

Sheets cannot look for a row, so every tool reads the whole client sheet and picks here. `cells` are
the values of the range as Google sends them, header first, or None for an empty range.
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
    """The id of the client that the arguments name."""
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
    """What the client likes and needs."""
    return dict(profile(found_one(cells, inputs))["preferences"])


@mapping_function
def history(cells: Cells | None, inputs: Inputs) -> dict[str, Any]:
    """The client's flights in figures."""
    return dict(profile(found_one(cells, inputs))["history"])


@mapping_function
def vip_status(cells: Cells | None, inputs: Inputs) -> str | None:
    """The client's status."""
    status: str | None = profile(found_one(cells, inputs)).get("vip_status")
    return status


@mapping_function
def created_at(cells: Cells | None, inputs: Inputs) -> str | None:
    """When the client was entered."""
    return as_moment(found_one(cells, inputs).cell("created_at"))


@mapping_function
def updated_at(cells: Cells | None, inputs: Inputs) -> str | None:
    """When the client was last changed."""
    return as_moment(found_one(cells, inputs).cell("updated_at"))


@mapping_function
def searched(cells: Cells | None, inputs: Inputs) -> list[dict[str, Any]]:
    """The first clients that fit `query` and `filters`, at most `limit`."""
    return [profile(row) for row in _fitting(cells, inputs)[: _whole(inputs, "limit", 10)]]


@mapping_function
def searched_count(cells: Cells | None, inputs: Inputs) -> int:
    """How many clients fit `query` and `filters`."""
    return len(_fitting(cells, inputs))


@mapping_function
def named(cells: Cells | None, inputs: Inputs) -> list[dict[str, Any]]:
    """The first clients whose name or address holds `query`, with only the `fields` asked for."""
    wanted = {"client_id", *inputs["fields"]} if "fields" in inputs else None
    return [
        {key: value for key, value in profile(row).items() if wanted is None or key in wanted}
        for row in _named(cells, inputs)[:MAX_HITS]
    ]


@mapping_function
def named_count(cells: Cells | None, inputs: Inputs) -> int:
    """How many clients' names or addresses hold `query`."""
    return len(_named(cells, inputs))


@mapping_function
def page(cells: Cells | None, inputs: Inputs) -> list[dict[str, Any]]:
    """At most `limit` clients from `offset` on."""
    start = _whole(inputs, "offset", 0)
    rows = list(client_rows(cells))[start : start + _whole(inputs, "limit", _PAGE)]
    return [profile(row) for row in rows]


@mapping_function
def client_count(cells: Cells | None) -> int:
    """How many clients there are."""
    return sum(1 for _ in client_rows(cells))


@mapping_function
def next_offset(cells: Cells | None, inputs: Inputs) -> int | None:
    """Where the next page begins; None after the last one."""
    end = _whole(inputs, "offset", 0) + _whole(inputs, "limit", _PAGE)
    return end if end < client_count(cells) else None


@mapping_function
def readable_spreadsheet(asked: str | None, clients: str, readable: str) -> str:
    """The spreadsheet to read: the one asked for, if agents may read it, or the client database.

    `readable` are ids separated by commas. Raises `ToolFailed` (`spreadsheet_not_readable`): the
    gateway's account can see more than agents may.
    """
    if asked is None:
        return clients
    if asked in {clients, *filter(None, readable.split(","))}:
        return asked
    raise ToolFailed("spreadsheet_not_readable")


@mapping_function
def rows(cells: Cells | None) -> list[list[Any]]:
    """The rows of a range as they are, at most `MAX_ROWS`."""
    return [list(row) for row in (cells or ())[:MAX_ROWS]]


@mapping_function
def row_count(cells: Cells | None) -> int:
    """How many rows of a range hold something, or lie above one that does."""
    return len(cells or ())


@mapping_function
def is_cut(cells: Cells | None) -> bool:
    """Whether the range has more rows than `rows` answers."""
    return len(cells or ()) > MAX_ROWS


def _whole(inputs: Inputs, name: str, default: int) -> int:
    """An argument that is a whole number, also when it was written `2.0`."""
    return int(inputs.get(name, default))


def _fitting(cells: Cells | None, inputs: Inputs) -> Sequence[ClientRow]:
    query, filters = inputs.get("query", ""), inputs.get("filters", {})
    return where(cells, lambda row: matches(row, query, _SEARCHED) and passes(row, filters))


def _named(cells: Cells | None, inputs: Inputs) -> Sequence[ClientRow]:
    return where(cells, lambda row: matches(row, inputs["query"], _NAMED))
