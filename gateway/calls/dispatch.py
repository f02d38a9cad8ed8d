"""From a permit to an outcome: the Python handler, or the upstream through its backend."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from gateway.auth.principal import Permit
from gateway.backends.base import Backend
from gateway.calls.call import Arguments, BackendName, Call, Outcome
from gateway.calls.replies import ReplyReader
from gateway.clock import Clock, rfc3339
from gateway.contract.fieldmap import Unmappable
from gateway.contract.operation import CallFacts, Effect, HttpBinding, Operation, PythonBinding
from gateway.contract.upstream import UpstreamRequest
from gateway.contract.violation import Violation
from gateway.errors import (
    InternalError,
    InvalidArguments,
    ToolFailed,
    UpstreamTimeout,
    UpstreamUnavailable,
)

_MAY_HAVE_HAPPENED: Final = "The call may have happened all the same: look before repeating it."


class _Exchange(Struct, frozen=True):
    arguments: dict[str, Any]
    call: CallFacts
    timeout_seconds: float


class Dispatcher:
    """Knows every upstream's backend and how to read its replies."""

    def __init__(
        self, backends: Mapping[str, Backend], replies: Mapping[str, ReplyReader], clock: Clock
    ) -> None:
        self._backends = backends
        self._replies = replies
        self._clock = clock

    def backend_of(self, operation: Operation) -> BackendName:
        """Who answers the calls of `operation`."""
        match operation.binding:
            case PythonBinding():
                return "python"
            case HttpBinding(upstream=upstream):
                return self._backends[upstream].name

    async def dispatch(self, permit: Permit, arguments: Arguments, call: Call) -> Outcome:
        """Run the permitted operation within its timeout.

        Raises what the contract declares. The error of a call that is no read and may have happened
        says so and is not retryable.
        """
        operation = permit.entry.operation
        try:
            return await self._timed(operation, arguments, call)
        except ToolFailed as error:
            raise _declared(operation, error) from error
        except (UpstreamTimeout, UpstreamUnavailable) as error:
            if operation.effect is Effect.READ or not error.is_sent:
                raise
            raise _doubtful(error) from error

    async def _timed(self, operation: Operation, arguments: Arguments, call: Call) -> Outcome:
        limit = asyncio.timeout(operation.timeout_seconds)
        try:
            async with limit:
                return await self._run(operation, arguments, call)
        except TimeoutError:
            if not limit.expired():
                # A handler's own, and so its defect: the tool's time was not up.
                raise
            raise UpstreamTimeout(f"No answer in {operation.timeout_seconds:g} seconds.") from None

    async def _run(self, operation: Operation, arguments: Arguments, call: Call) -> Outcome:
        match operation.binding:
            case PythonBinding(run=run):
                return Outcome(await run(arguments.values), "python")
            case HttpBinding() as binding:
                facts = CallFacts(id=call.request_id, now=rfc3339(self._clock.now()))
                exchange = _Exchange(arguments.values, facts, operation.timeout_seconds)
                return await self._exchange(binding, exchange)

    async def _exchange(self, binding: HttpBinding, exchange: _Exchange) -> Outcome:
        backend = self._backends[binding.upstream]
        started = self._clock.monotonic()
        reply = await backend.send(
            _request(binding, exchange), timeout_seconds=exchange.timeout_seconds
        )
        if binding.fallback is not None and str(reply.status) in binding.fallback_on:
            return await self._exchange(binding.fallback, exchange)
        elapsed_ms = round((self._clock.monotonic() - started) * 1000)
        reader = self._replies[binding.upstream]
        values = reader.read(binding, reply, exchange.arguments, exchange.call, elapsed_ms)
        return Outcome(values, backend.name)


def _request(binding: HttpBinding, exchange: _Exchange) -> UpstreamRequest:
    try:
        return binding.request(exchange.arguments, exchange.call)
    except Unmappable as error:
        violation = Violation(pointer=error.pointer, keyword="binding", detail=error.detail)
        raise InvalidArguments([violation]) from error


def _doubtful(
    error: UpstreamTimeout | UpstreamUnavailable,
) -> UpstreamTimeout | UpstreamUnavailable:
    known = type(error)(f"{error.detail} {_MAY_HAVE_HAPPENED}")
    known.is_retryable = False
    return known


def _declared(operation: Operation, error: ToolFailed) -> Exception:
    """The error with its contract's status; an undeclared one is a defect of the handler."""
    for declared in operation.errors:
        if declared.reason == error.reason:
            known = ToolFailed(declared.reason, error.explanation or declared.title)
            known.status = declared.status
            return known
    return InternalError(f"{operation.id} failed with the undeclared error {error.reason!r}")
