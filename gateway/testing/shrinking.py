"""A smaller JSON value that fails in the same way, so that a person sees what matters."""

import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final

_TRIES: Final = 150
Fails = Callable[[bytes], Awaitable[bool]]


async def shrunk(text: bytes, fails: Fails) -> bytes:
    """The smallest text found for which `fails` still says so; `text` itself if there is none.

    Each candidate is judged anew, so what is returned has failed by itself.
    """
    value, tries = json.loads(text), 0
    while True:
        for candidate in _smaller(value):
            tries += 1
            if tries > _TRIES:
                return text
            written = json.dumps(candidate).encode()
            if await fails(written):
                value, text = candidate, written
                break
        else:
            return text


def _smaller(value: Any) -> Iterator[Any]:
    """Values that have less than `value` in one place, the simplest first."""
    match value:
        case dict():
            yield from ({k: v for k, v in value.items() if k != name} for name in value)
            for name, member in value.items():
                yield from ({**value, name: each} for each in _smaller(member))
        case list():
            yield from (value[:n] + value[n + 1 :] for n in range(len(value)))
            for n, member in enumerate(value):
                yield from ([*value[:n], each, *value[n + 1 :]] for each in _smaller(member))
        case str() if len(value) > 1:
            yield from (value[: len(value) // 2], value[:-1])
        case float() if value == value // 1:
            yield int(value)
        case int() if not isinstance(value, bool) and abs(value) > 1:
            yield value // 2 if value > 0 else -(-value // 2)
