"""Hooks for a program that embeds the gateway: they observe each call."""

import copy
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from gateway.calls.asking import InputRequired
from gateway.observability.defects import defect

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

    def around(self, operation_id: str, arguments: Mapping[str, Any]) -> "_Around":
        """Runs the hooks before and, if it fails, after what is done in this context."""
        return _Around(self, operation_id, arguments)


class _Around:
    def __init__(self, hooks: CallHooks, operation_id: str, arguments: Mapping[str, Any]) -> None:
        self._hooks = hooks
        self._operation_id = operation_id
        self._arguments = arguments

    async def __aenter__(self) -> None:
        for before in self._hooks.on_execution:
            arguments = copy.deepcopy(dict(self._arguments))
            await _observe(before(self._operation_id, arguments), self._operation_id)

    async def __aexit__(self, _: object, error: BaseException | None, trace: object) -> None:
        # To be asked is no failure: the call is made again with the answers.
        if isinstance(error, Exception) and not isinstance(error, InputRequired):
            for after in self._hooks.on_error:
                await _observe(after(self._operation_id, error), self._operation_id)


NO_HOOKS: Final = CallHooks()


async def _observe(observation: Awaitable[None], operation_id: str) -> None:
    try:
        await observation
    except Exception as error:  # noqa: BLE001 - a hook must not change what becomes of the call
        # The message of the exception is left out: it may contain arguments.
        name = type(error).__name__
        _log.error("a hook of %s failed: %s", operation_id, name, extra=defect(error))
