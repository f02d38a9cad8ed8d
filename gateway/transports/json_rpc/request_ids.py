"""Reads the id of a request that is refused before it is read as a whole."""

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

HEAD_BYTES: Final = 64 * 1024
"""How much of the beginning is searched for the id. This takes at most about 20 ms."""
TAIL_BYTES: Final = 1024
"""How much of the end is searched: some clients write the id behind the parameters."""
_STRING: Final = rb'"(?:[^"\\]|\\.)*+"'
_NAME: Final = rb"(?P<name>" + _STRING + rb")\s*+"
_VALUE: Final = rb":\s*+(?P<value>" + _STRING + rb"|[-+.\w]++(?=[\s,}]))"
_TOKEN: Final = re.compile(_NAME + rb"(?:" + _VALUE + rb")?+" + rb'|[\[\]{}"]', re.DOTALL)
_MEMBER: Final = re.compile(_NAME + _VALUE, re.DOTALL)
_LAST_MEMBERS: Final = re.compile(
    rb"(?:,\s*+" + _STRING + rb"\s*+:\s*+(?:" + _STRING + rb"|[-+.\w]++)\s*+)++\}\s*+\Z", re.DOTALL
)
_ID: Final = b'"id"'
_METHOD: Final = b'"method"'


def id_of_request(text: bytes, head_bytes: int = HEAD_BYTES) -> int | str | None:
    """The id of the request in `text`. None if it is no request, or no id is found.

    `text` may have lost its middle, after `head_bytes`. Only its beginning and its end are
    searched. A request with two ids has none.
    """
    if not text.lstrip().startswith(b"{"):
        return None
    members = dict(_first_members(text, min(head_bytes, HEAD_BYTES)))
    members.update(_last_members(text))
    ids = [value for name, value in members.values() if name == _ID]
    is_request = any(name == _METHOD for name, _ in members.values())
    return _scalar(ids[0]) if is_request and len(ids) == 1 else None


def _first_members(text: bytes, end: int) -> Iterator[tuple[int, tuple[bytes, bytes | None]]]:
    """The members of the outermost object that begin before `end`, by their positions."""
    depth = 0
    for token in _TOKEN.finditer(text, 0, end):
        mark = token[0]
        if mark == b'"':
            return  # a string that ends later
        if mark in {b"{", b"["}:
            depth += 1
        elif mark in {b"}", b"]"}:
            depth -= 1
        elif depth == 1:
            yield token.start(), (token["name"], token["value"])


def _last_members(text: bytes) -> Iterator[tuple[int, tuple[bytes, bytes | None]]]:
    """The last members of the outermost object, as long as they are no containers."""
    found = _LAST_MEMBERS.search(text, max(0, len(text) - TAIL_BYTES))
    if found is not None:
        for member in _MEMBER.finditer(text, found.start()):
            yield member.start(), (member["name"], member["value"])


def _scalar(value: bytes | None) -> int | str | None:
    try:
        found: Any = None if value is None else msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return found if type(found) in {int, str} else None
