"""Runs a permitted operation: in a Python handler, or at the upstream through its backend."""

import asyncio
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from gateway.auth.principal import Permit
from gateway.calls.asking import CallQuestions
from gateway.calls.caching.answers import KeptAnswers
from gateway.calls.call import Arguments, BackendName, Call, CallBounds, Outcome, Result
from gateway.calls.changes import (
    MAY_HAVE_HAPPENED,
    CallChanges,
    declared_error,
    doubtful,
    hide_sensitive,
)
from gateway.calls.idempotency import call_id
from gateway.calls.reported_rows import Recorder
from gateway.calls.sending import Sending, Sleep, UpstreamConnection
from gateway.calls.upstreams import CallUpstreams, Locks, SharedState, TimeLimit
from gateway.calls.validation import beside
from gateway.clock import Clock
from gateway.contract.context import CallFacts
from gateway.contract.fields.conversion import rfc3339
from gateway.contract.fields.fieldmap import Unmappable
from gateway.contract.handler import ArgumentsRefused, ModelRefused, violations_of
from gateway.contract.operation import (
    Attempts,
    Effect,
    HttpBinding,
    ImportedBinding,
    Operation,
    PythonBinding,
)
from gateway.contract.refusals import upstream_answer
from gateway.contract.rows.entity import EntityPages
from gateway.contract.rows.reads import NOT_FOUND, NoSuchRow
from gateway.contract.upstream import Reply, UpstreamRequest, status_names
from gateway.contract.values.files import FileContent
from gateway.contract.values.violation import Violation
from gateway.errors import (
    GatewayError,
    InvalidArguments,
    InvalidReply,
    InvalidResult,
    ToolFailed,
    UpstreamError,
    UpstreamRejected,
)


class Dispatcher:
    """Has the connection to every upstream, and access to the rows that webhooks wrote."""

    def __init__(
        self,
        connections: Mapping[str, UpstreamConnection],
        clock: Clock,
        entities: EntityPages,
        sleep: Sleep = asyncio.sleep,
        locks: Locks | None = None,
        recorder: Recorder | None = None,
    ) -> None:
        """`locks`: those of the dispatcher before a reload, whose calls may still hold some.
        `recorder`: writes the rows that successful calls report.
        """
        self._connections = connections
        self._clock = clock
        self._entities = entities
        self._sleep = sleep
        self._shared = SharedState(clock, locks)
        self._recorder = recorder
        self._is_mixed = {each.backend_name for each in connections.values()} >= {"live", "mock"}

    @property
    def replies(self) -> KeptAnswers[Reply]:
        """The kept replies of upstreams."""
        return self._shared.replies

    def backend_of(self, operation: Operation) -> BackendName:
        """The backend that answers calls of `operation`."""
        upstream = operation.upstream
        return "python" if upstream is None else self._connections[upstream].backend_name

    def marked(self, result: Result, permit: Permit) -> Result:
        """`result`, which says that the tool will end, and which of its upstreams are mocked while
        other ones are live."""
        operation = permit.entry.operation
        names = operation.upstreams if self._is_mixed else ()
        mocked = tuple(n for n in names if self._connections[n].backend_name == "mock")
        if not mocked and operation.deprecation is None:
            return result
        return replace(result, mocked=mocked, deprecation=operation.deprecation)

    async def dispatch(self, permit: Permit, arguments: Arguments, call: Call) -> Outcome:
        """Run the permitted operation within its timeout.

        Raises the errors that the contract declares. If the failed call may have changed something,
        the error says this and is not retryable.
        """
        if call.commitment is not None:
            call.commitment.begin()
        operation = permit.entry.operation
        allowed = Allowed.of(operation, call.bounds)
        sending = Sending(
            self._clock,
            allowed,
            arguments.effect,
            self._sleep,
            is_cut_short=allowed.timeout_seconds < operation.timeout_seconds,
            caller=permit.grant.principal.subject,
        )
        try:
            outcome = await self._run(permit, arguments, call, sending)
        except ToolFailed as error:
            hide_sensitive(error, operation, arguments.given)
            raise declared_error(operation, error, sending.changes) from error
        except UpstreamError as error:
            hide_sensitive(error, operation, arguments.given)
            if not sending.changes.are_unknown(error):
                raise
            raise doubtful(error, operation, sending.changes) from error
        if self._recorder is None:
            return outcome
        # Before anything keeps the answer: whoever gets it finds the rows.
        given, made = arguments.values, outcome.values
        lost = await self._recorder.record(operation.id, given, made, call.request_id)
        return replace(outcome, fallbacks=(*outcome.fallbacks, *lost)) if lost else outcome

    async def _run(
        self, permit: Permit, arguments: Arguments, call: Call, sending: Sending
    ) -> Outcome:
        operation = permit.entry.operation
        backend = self.backend_of(operation)
        match operation.binding:
            case PythonBinding() as binding:
                made = await self._handled(binding, permit, arguments, call, sending)
                return _outcome(made, backend, sending)
            case HttpBinding() as binding:
                # It waits for nothing but its requests, which have the deadline of `sending`.
                facts = self._facts(permit, call, self._connections[binding.upstream].settings)
                # When a read escalates to a fallback that writes, only the fallback is a write.
                is_read = operation.effect is Effect.READ and binding.fallback_writes
                effect = Effect.READ if is_read else arguments.effect
                values = await self._exchange(binding, arguments, facts, sending, effect)
                return _outcome(values, backend, sending)
            case ImportedBinding() as binding:
                found = await self._exchange_imported(binding, arguments, call, sending)
                return _outcome(found, backend, sending)

    async def _handled(
        self,
        binding: PythonBinding,
        permit: Permit,
        arguments: Arguments,
        call: Call,
        sending: Sending,
    ) -> dict[str, Any] | FileContent:
        connections = {name: self._connections[name] for name in binding.upstreams}
        # No request shows what a handler changes by itself or in the workspace.
        sending.changes.may_be_unseen = arguments.effect is not Effect.READ and all(
            connection.tables is not None for connection in connections.values()
        )
        context = CallUpstreams(
            self._facts(permit, call),
            connections,
            sending,
            self._shared,
            self._entities,
            is_shared=not call.bounds.are_lower,
        )
        context.report, context.write_log = call.progress, call.log
        context.questions = CallQuestions(
            permit.entry.id, binding.asks, call.asking, sending.changes
        )
        sending.require_open = context.questions.require_open
        try:
            async with TimeLimit(sending.timeout_seconds):
                with context.questions:
                    return await binding.run(arguments.values, context)
        except (ArgumentsRefused, ModelRefused, NoSuchRow) as error:
            raise _of_handler(error, sending.changes) from None

    async def _exchange(
        self,
        binding: HttpBinding,
        arguments: Arguments,
        facts: CallFacts,
        sending: Sending,
        effect: Effect,
    ) -> object:
        """Send the binding's request, then its fallback where needed, and read the reply.

        `effect` is the effect of the binding's own request.
        """
        connection = self._connections[binding.upstream]
        started = self._clock.monotonic()
        request = _request(binding, arguments, facts)
        if not facts.is_id_kept and _has_key(connection, request, facts.id):
            request = replace(request, is_key_ours=True)
        reply = await sending.send(connection, request, effect=effect)
        falls_back = _falls_back(binding, reply.status, arguments.effect)
        if binding.fallback is not None and falls_back and connection.reader.is_own(reply):
            other = binding.fallback
            return await self._exchange(other, arguments, facts, sending, arguments.effect)
        elapsed_ms = round((self._clock.monotonic() - started) * 1000)
        read = connection.reader.read
        size = len(reply.body)
        try:
            values, lacking = arguments.values, sending.left_out
            return await beside(size, read, binding, reply, values, facts, elapsed_ms, lacking)
        except InvalidReply as error:
            # Of a read, what breaks the contract is of no use.
            error.answer = upstream_answer(reply, None) if sending.changes.are_confirmed else None
            raise

    async def _exchange_imported(
        self, binding: ImportedBinding, arguments: Arguments, call: Call, sending: Sending
    ) -> object:
        connection = self._connections[binding.upstream]
        request = binding.request(arguments.values)
        if call.progress is not None and binding.watch is not None:
            request = replace(request, watch=binding.watch(call.progress))
        reply = await sending.send(connection, request)
        try:
            result = await beside(len(reply.body), binding.result, reply)
        except InvalidReply as error:
            # Of a read, what breaks the contract is of no use.
            error.answer = upstream_answer(reply, None) if sending.changes.are_confirmed else None
            raise
        if result is not None:
            return result
        raise _failure(binding, reply, connection.reader.failure(reply))

    def _facts(self, permit: Permit, call: Call, settings: Mapping[str, str] = {}) -> CallFacts:
        now, key = rfc3339(self._clock.now()), call.bounds.idempotency_key
        subject, operation = permit.grant.principal.subject, permit.entry.operation
        known = call.request_id if key is None else call_id(subject, operation.id, key)
        return CallFacts(
            id=known,
            now=now,
            settings=settings,
            is_id_kept=key is not None,
            may_escalate=permit.grant.may_escalate and not operation.cache_seconds,
        )


class Allowed(Struct, frozen=True, kw_only=True):
    """The attempts and the time of a call: the contract's, or less if the caller asked for less."""

    attempts: Attempts
    timeout_seconds: float

    @classmethod
    def of(cls, operation: Operation, bounds: CallBounds) -> "Allowed":
        """For each limit, the smaller of the contract's and the caller's."""
        attempts, seconds = operation.attempts, operation.timeout_seconds
        if bounds.max_attempts is not None and bounds.max_attempts < attempts.max:
            attempts = replace(attempts, max=bounds.max_attempts)
        if bounds.timeout_seconds is not None:
            seconds = min(seconds, bounds.timeout_seconds)
        return cls(attempts=attempts, timeout_seconds=seconds)


def _outcome(found: object, backend: BackendName, sending: Sending) -> Outcome:
    if isinstance(found, FileContent):
        return Outcome(found.facts(), backend, found)
    gaps = tuple(sending.fallbacks), tuple(sending.left_out)
    return Outcome(found, backend, None, sending.received, *gaps)


def _failure(binding: ImportedBinding, reply: Reply, failure: GatewayError) -> GatewayError:
    """The declared error for `reply`, or else `failure`, with what the upstream says."""
    # Credentials, limits and outages are for the operator, whatever the document calls them.
    if isinstance(failure, UpstreamRejected) and reply.status in binding.errors:
        failure = ToolFailed(binding.errors[reply.status])
    failure.answer = binding.refusal(reply)
    return failure


def _request(binding: HttpBinding, arguments: Arguments, facts: CallFacts) -> UpstreamRequest:
    try:
        return binding.request(arguments.values, facts)
    except Unmappable as error:
        violation = Violation(pointer=error.pointer, keyword="binding", detail=error.detail)
        raise InvalidArguments([violation]) from error


def _has_key(connection: UpstreamConnection, request: UpstreamRequest, call_id: str) -> bool:
    """Whether the id of the call is the idempotency key of `request`."""
    header = (connection.operation(request.operation).idempotency_header or "").lower()
    return any(name.lower() == header and value == call_id for name, value in request.headers)


def _falls_back(binding: HttpBinding, status: int, effect: Effect) -> bool:
    """Whether to try the fallback. A call that only reads never uses a fallback that writes."""
    is_admitted = effect is not Effect.READ or not binding.fallback_writes
    return is_admitted and any(name in binding.fallback_on for name in status_names(status))


def _of_handler(
    error: ArgumentsRefused | ModelRefused | NoSuchRow, changes: CallChanges
) -> GatewayError:
    if isinstance(error, ArgumentsRefused):
        return InvalidArguments(error.violations)
    if isinstance(error, NoSuchRow):
        return ToolFailed(NOT_FOUND)
    found = InvalidResult(violations_of(error))
    if changes.have_begun:
        found.detail = f"{found.detail} {MAY_HAVE_HAPPENED}"
    return found
