"""Redacts and shortens the arguments of a call for its audit record."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final, TypeAlias

import msgspec

from gateway.contract.values.pointers import steps

REDACTED: Final = "<redacted>"
MAX_ARGUMENTS_BYTES: Final = 8192
MAX_TEXT: Final = 200

_ANY: Final = "*"
_SHORTEST: Final = 3
_Table: TypeAlias = dict[str, Any]
"""For each step the table of the steps after it, or None where the value is sensitive."""

_encode = msgspec.json.Encoder().encode


def redact(arguments: dict[str, Any], sensitive: tuple[str, ...]) -> dict[str, Any]:
    """`arguments` with `REDACTED` at the JSON Pointers `sensitive`. `*` is any index or name.

    Only what holds something sensitive is copied.
    """
    table = _table(sensitive)
    if table is None:
        return dict.fromkeys(arguments, REDACTED)
    redacted: dict[str, Any] = _without(arguments, table)
    return redacted


def sensitive_texts(arguments: dict[str, Any], sensitive: tuple[str, ...]) -> set[str]:
    """The texts and numbers at the JSON Pointers `sensitive`, but those too short to be known."""
    found: set[str] = set()
    _collect(arguments, _table(sensitive), found)
    return found


def cut(arguments: dict[str, Any]) -> dict[str, Any]:
    """`arguments`, cut to `MAX_ARGUMENTS_BYTES`. The size takes the place of a large member."""
    if len(_encode(arguments)) <= MAX_ARGUMENTS_BYTES:
        return arguments
    remaining = MAX_ARGUMENTS_BYTES
    kept: dict[str, Any] = {}
    for name, value in arguments.items():
        size = len(_encode({name: value}))
        if size > remaining:
            value = f"<cut: {size} bytes>"  # noqa: PLW2901 - it takes the place of the member
            size = len(_encode({name: value}))
        if size > remaining:
            break
        kept[name] = value
        remaining -= size
    return kept


def printable(text: str) -> str:
    """A text from a caller as printable ASCII, of at most `MAX_TEXT` characters."""
    plain = text[:MAX_TEXT].encode("ascii", "backslashreplace").decode()
    return plain.translate(_CONTROLS)[:MAX_TEXT]


@lru_cache(maxsize=4096)
def _table(sensitive: tuple[str, ...]) -> _Table | None:
    """The steps of the pointers as one table, so that each value is looked at once."""
    return _merged([steps(pointer) for pointer in sensitive])


def _merged(paths: list[list[str]]) -> _Table | None:
    if [] in paths:
        return None
    every = [path[1:] for path in paths if path[0] == _ANY]
    names = dict.fromkeys(path[0] for path in paths)
    return {
        name: _merged([*(path[1:] for path in paths if path[0] == name != _ANY), *every])
        for name in names
    }


def _without(value: Any, table: _Table | None) -> Any:
    if table is None:
        return REDACTED
    match value:
        case dict():
            found = _members(table, value.items())
            return {**value, **found} if found else value
        case list():
            found = _members(table, ((str(at), item) for at, item in enumerate(value)))
            return [found.get(str(at), item) for at, item in enumerate(value)] if found else value
        case _:
            return value


def _collect(value: Any, table: _Table | None, found: set[str]) -> None:
    """Add the texts and numbers of `value` that `table` names."""
    match value:
        case dict():
            members: Iterable[tuple[str, Any]] = value.items()
        case list():
            members = ((str(at), item) for at, item in enumerate(value))
        case bool() | None:
            return
        case _:
            text = str(value)
            if table is None and len(text) >= _SHORTEST:
                found.add(text)
            return
    for name, member in members:
        if table is None:
            _collect(member, None, found)
        elif name in table or _ANY in table:
            _collect(member, table.get(name, table.get(_ANY)), found)


def _members(table: _Table, members: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """The redacted values of those members that the table has."""
    if _ANY not in table:
        return {name: _without(value, table[name]) for name, value in members if name in table}
    other = table[_ANY]
    return {name: _without(value, table.get(name, other)) for name, value in members}


_CONTROLS: Final = {code: f"\\x{code:02x}" for code in (*range(32), 127)}
