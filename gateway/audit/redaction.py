"""What an audit record may hold of a call's arguments."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from gateway.contract.values.pointers import steps

REDACTED: Final = "<redacted>"
MAX_ARGUMENTS_BYTES: Final = 8192
MAX_TEXT: Final = 200

_encode = msgspec.json.Encoder().encode


def redact(arguments: dict[str, Any], sensitive: tuple[str, ...]) -> dict[str, Any]:
    """`arguments` without what the JSON Pointers `sensitive` lead to; `*` is any index or name."""
    for pointer in sensitive:
        arguments = _without(arguments, steps(pointer))
    return arguments


def cut(arguments: dict[str, Any]) -> dict[str, Any]:
    """`arguments` without the members that would make it larger than an audit record holds."""
    if len(_encode(arguments)) <= MAX_ARGUMENTS_BYTES:
        return arguments
    room = MAX_ARGUMENTS_BYTES
    kept: dict[str, Any] = {}
    for name, value in arguments.items():
        size = len(_encode({name: value}))
        if size > room:
            value = f"<cut: {size} bytes>"  # noqa: PLW2901 - the member stands for itself from here
            size = len(_encode({name: value}))
        if size > room:
            break
        kept[name] = value
        room -= size
    return kept


def printable(text: str) -> str:
    """A caller's own word, short and harmless enough to be stored and shown."""
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
