"""Redacts and shortens the arguments of a call for its audit record."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from gateway.contract.values.pointers import steps

REDACTED: Final = "<redacted>"
MAX_ARGUMENTS_BYTES: Final = 8192
MAX_TEXT: Final = 200

_encode = msgspec.json.Encoder().encode


def redact(arguments: dict[str, Any], sensitive: tuple[str, ...]) -> dict[str, Any]:
    """`arguments` with `REDACTED` at the JSON Pointers `sensitive`. `*` is any index or name."""
    for pointer in sensitive:
        arguments = _without(arguments, steps(pointer))
    return arguments


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


def _without(value: Any, path: list[str]) -> Any:
    if not path:
        return REDACTED
    step, *rest = path
    match value:
        case Mapping():
            return {
                name: _without(member, rest) if step in (name, "*") else member
                for name, member in value.items()
            }
        case list():
            return [
                _without(member, rest) if step in (str(index), "*") else member
                for index, member in enumerate(value)
            ]
        case _:
            return value


_CONTROLS: Final = {code: f"\\x{code:02x}" for code in (*range(32), 127)}
