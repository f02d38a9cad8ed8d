"""Pages of lists. A cursor names the last item before its page, so no item is lost or repeated
when others appear or go between two pages, and any process continues any list.
"""

import base64
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, PaginatedRequestParams

_T = TypeVar("_T")
PAGE: Final = 200
"""Items of a page."""
_LONGEST: Final = 4_000
_MARK: Final = "after:"


def page_of(
    items: Iterable[_T], key: Callable[[_T], str], params: PaginatedRequestParams | None
) -> tuple[list[_T], str | None]:
    """The page of `items` that the request asks for, in the order of `key`, and the next cursor.

    Raises `MCPError` for a cursor that is not one of ours, which the empty text is not either.
    """
    cursor = None if params is None else params.cursor
    after = None if cursor is None else _read(cursor)
    rest = sorted((each for each in items if after is None or key(each) > after), key=key)
    page = rest[:PAGE]
    return page, _cursor(key(page[-1])) if len(rest) > PAGE else None


def _cursor(last: str) -> str:
    return base64.urlsafe_b64encode(f"{_MARK}{last}".encode()).decode("ascii")


def _read(cursor: str) -> str:
    last = _decoded(cursor) if len(cursor) <= _LONGEST else None
    if last is None or _cursor(last) != cursor:
        raise MCPError(INVALID_PARAMS, "Unknown cursor")
    return last


def _decoded(cursor: str) -> str | None:
    try:
        text = base64.b64decode(cursor.encode("ascii"), b"-_", validate=True).decode()
    except ValueError:  # also of characters and bytes that are none of the encoding
        return None
    return text.removeprefix(_MARK)
