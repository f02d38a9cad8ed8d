"""Tracebacks for the log, without the texts of exceptions, which may contain arguments."""

import traceback
from collections.abc import Iterator
from itertools import islice
from typing import Final

from gateway.errors import GatewayError

_MAX_ERRORS: Final = 20


def silent_traceback(error: BaseException) -> str:
    """The frames and the class of `error` and of the errors that led to it, the first one first.

    The texts of our own errors are kept: they are written for the log.
    """
    return "\n".join(_described(each) for each in chain_of(error))


def chain_of(error: BaseException) -> list[BaseException]:
    """`error` and the errors that led to it, the first one first. There are at most 20."""
    return list(islice(_chain(error, set()), _MAX_ERRORS))[::-1]


def _chain(error: BaseException, seen: set[int]) -> Iterator[BaseException]:
    if id(error) in seen:
        return
    seen.add(id(error))
    yield error
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _chain(each, seen)
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None:
        yield from _chain(before, seen)


def _described(error: BaseException) -> str:
    kind = type(error)
    name = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    text = f": {error.detail}" if isinstance(error, GatewayError) else ""
    frames = "".join(traceback.format_tb(error.__traceback__))
    return f"Traceback (most recent call last):\n{frames}{name}{text}"
