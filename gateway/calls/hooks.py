"""Hooks for a program that embeds the gateway: they observe each call."""

import copy
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar

from gateway.calls.asking.errors import InputRequired
from gateway.observability.defects import defect

_T = TypeVar("_T")
_log: Final = logging.getLogger(__name__)

ExecutionHook: TypeAlias = Callable[[str, dict[str, Any]], Awaitable[None]]
"""Given the operation id and a copy of the arguments, sensitive ones included."""
ErrorHook: TypeAlias = Callable[[str, Exception], Awaitable[None]]
"""Given the operation id and the error that the call is about to raise."""


@dataclass(frozen=True, slots=True)
class CallHooks:
    """Hooks for every admitted call, over every transport.

    Hooks only observe. An exception in a hook is logged and does not change the call. The call
    waits for its hooks; they have no time limit of their own.
    """

    on_execution: tuple[ExecutionHook, ...] = ()
    """Run in order, when the arguments are valid and before the operation runs."""
    on_error: tuple[ErrorHook, ...] = ()
    """Run in order, when the call fails after that."""

    async def around(
        self, operation_id: str, arguments: Mapping[str, Any], run: Callable[[], Awaitable[_T]]
    ) -> _T:
        """Call `run` between the hooks. Returns or raises what `run` does."""
        for before in self.on_execution:
            await _observe(before(operation_id, copy.deepcopy(dict(arguments))), operation_id)
        try:
            return await run()
        except InputRequired:
            raise  # it is no failure: the call is made again with the answers
        except Exception as error:
            for after in self.on_error:
                await _observe(after(operation_id, error), operation_id)
            raise


NO_HOOKS: Final = CallHooks()


async def _observe(observation: Awaitable[None], operation_id: str) -> None:
    try:
        await observation
    except Exception as error:  # noqa: BLE001 - a hook must not change what becomes of the call
        # The message of the exception is left out: it may contain arguments.
        name = type(error).__name__
        _log.error("a hook of %s failed: %s", operation_id, name, extra=defect(error))
