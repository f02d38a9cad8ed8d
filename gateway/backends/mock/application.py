"""The mock of an upstream, by its contract or by an imported document.

A contract defines the requests and the replies. A behaviour module (`gateway.contract.mock`) can
compute replies and keep state. An operation without a behaviour returns its contract's example. The
operations of a document need no behaviours: see `documents`.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from gateway.backends.mock.credentials import (
    CredentialCheck,
    SlotCheck,
    TokenIssuer,
    plain_token_refusal,
)
from gateway.backends.mock.documents import DocumentMock
from gateway.backends.mock.faults import (
    FAULT_HEADER,
    NO_FAULT,
    Fault,
    MadeReply,
    NotAFault,
    Scenario,
    ScenarioStep,
    faulty,
    requested_fault,
)
from gateway.backends.mock.requests import RequestReader, RequestRefused, Router
from gateway.backends.mock.state import StoredState
from gateway.backends.wire import WireReply, WireRequest
from gateway.clock import Clock, MockClock
from gateway.contract.connector import faults, import_named
from gateway.contract.imported import ImportedConnector, ImportedOperation
from gateway.contract.mock import (
    Behaviour,
    MockMessage,
    MockRefusal,
    MockReply,
    MockRequest,
    answer_of,
)
from gateway.contract.upstream import (
    Upstream,
    UpstreamOperation,
    status_names,
)
from gateway.contract.values import jsontext
from gateway.encoding.replies.content import ReplySchema
from gateway.errors import ContractError
from gateway.threads import in_thread

_NO_BEHAVIOURS: Final[Mapping[str, Behaviour]] = {}


class MockOptions(Struct, frozen=True, kw_only=True):
    """The options of a mock."""

    seed: str = "0"
    """The seed of its random values."""
    speed: float = 1.0
    """How many times faster than real people its simulated people answer; 0 counts as 1."""
    latency_seconds: float = 0.0
    """A delay before every reply, in addition to the latency of faults."""
    base_url: str | None = None
    """The URL at which it is served, for links to it. If None, the vendor's URL."""


class MockBrokeContract(Exception):
    """The mock made a reply that its contract does not allow. This is a defect of the mock."""


class UpstreamMock:
    """What is answered by the contract of an upstream."""

    headers_at = ""
    """What refusals put before the name of a header."""
    is_slow = False
    """Whether others choose how long an answer takes. Such answers are made in threads."""

    def __init__(self, upstream: Upstream, clock: Clock, seed: str, state: StoredState) -> None:
        self._router = Router(upstream.operations)
        self.tables = upstream.tables
        rate = upstream.rate
        self.rate = None if rate is None else (rate.remaining.lower(), rate.reset_seconds.lower())
        self._state = state
        module = None if upstream.mock is None else _behaviour_module(upstream.mock)
        self._behaviours = _NO_BEHAVIOURS if module is None else module.BEHAVIOURS
        self._refuse = _plain_refusal if module is None else module.refuse
        self._finish = _unfinished if module is None else module.finish
        self.base_url = getattr(module, "BASE_URL", upstream.base_url)
        refuse_token = getattr(module, "refuse_token", plain_token_refusal)
        self._issuer = TokenIssuer(upstream, clock, seed, refuse_token)
        self._credentials = CredentialCheck(upstream, self._issuer)
        self._slots = SlotCheck(upstream.slots)
        ignored = frozenset(rule.name for rule in upstream.query) | self._slots.secret_names
        is_open = bool(upstream.tables)
        self._readers = {
            each.id: RequestReader(each, ignored, is_open=is_open) for each in upstream.operations
        }
        self._validators = {
            (operation.id, status): ReplySchema(schema, operation.rows)
            for operation in upstream.operations
            for status, schema in operation.replies.items()
            if schema is not None
        }

    def find(self, request: WireRequest) -> tuple[UpstreamOperation, dict[str, str]]:
        """The operation and its path parameters. Raises `RequestRefused`."""
        return self._router.find(request.method, request.target)

    def read(
        self,
        operation: UpstreamOperation,
        request: WireRequest,
        path: dict[str, str],
        here: MockRequest,
    ) -> MockRequest:
        """`here` with the arguments. Raises `RequestRefused`, also for credentials."""
        if not self._issuer.serves(operation.id):
            self._credentials.check(request)
            self._slots.check(operation.slots, request)
        return self._readers[operation.id].read(request, path, here)

    def answer(self, operation: UpstreamOperation, asked: MockRequest) -> MadeReply:
        """The reply to a valid request. Raises `MockBrokeContract`."""
        behaviour = self._behaviours.get(operation.id)
        if self._issuer.serves(operation.id):
            reply = self._issuer.answer(operation, asked.body or {})
        elif behaviour is None:
            reply = _example(operation)
        else:
            with self._state.transaction(asked.now):
                reply = answer_of(behaviour, asked, self._state)
        return self._made(operation, reply)

    def refuse(self, operation: UpstreamOperation | None, refused: RequestRefused) -> MadeReply:
        """The reply to a request that is refused, in the vendor's form."""
        headers = {"allow": ", ".join(refused.allow)} if refused.allow else {}
        refusal = refused.refusal
        if operation is not None and self._issuer.serves(operation.id):
            reply = self._issuer.failed(refusal.status, refusal.title)
        else:
            reply = MockReply(status=refusal.status, headers=headers, body=self._refuse(refusal))
        return self._made(operation, reply)

    def _made(self, operation: UpstreamOperation | None, reply: MockReply) -> MadeReply:
        reply = self._finish(reply)
        validator = None
        if operation is not None:  # No contract defines replies for unknown paths and methods.
            names = ((operation.id, name) for name in status_names(reply.status))
            validator = next(filter(None, map(self._validators.get, names)), None)
            _check(operation, reply, validator)
        headers = dict(reply.headers)
        if reply.body is not None:
            headers.setdefault("content-type", "application/json")
        body = b"" if reply.body is None else jsontext.encode(reply.body)
        return MadeReply(status=reply.status, headers=headers, body=body, validator=validator)


Mocked: TypeAlias = UpstreamMock | DocumentMock


class MockApplication:
    """Answers requests like an upstream. It stores its state in `state`, or else in memory.

    The same seed, with the same calls in the same order at the same times, gives the same replies.
    A gateway with many documents uses few of their mocks, so a document is read by the first
    request. Raises `ContractError` if the behaviour module of an upstream cannot be used.
    """

    def __init__(
        self,
        mocked: Upstream | ImportedConnector | Callable[[], ImportedConnector],
        clock: Clock,
        *,
        options: MockOptions | None = None,
        state: StoredState | None = None,
        scenario: Sequence[ScenarioStep] = (),
    ) -> None:
        self.clock = clock
        """The mock's own clock."""
        self._options = options = options or MockOptions()
        self._scenario = Scenario(scenario)
        self._state = state = state or StoredState()
        self._one = asyncio.Lock()
        self._mocked: Mocked | None = None
        self._open: Callable[[], Mocked]
        self.base_url = options.base_url
        """The URL in the mock's links to itself."""
        if isinstance(mocked, Upstream):
            self._mocked = UpstreamMock(mocked, clock, options.seed, state)
            self.base_url = self.base_url or self._mocked.base_url
        elif isinstance(mocked, ImportedConnector):
            self._open = lambda: DocumentMock(mocked, options.seed, state)
            self.base_url = self.base_url or mocked.base_url
        else:
            self._open = lambda: DocumentMock(mocked(), options.seed, state)

    async def handle(self, request: WireRequest) -> WireReply:
        """The reply to `request`.

        Raises `MockBrokeContract`, and `ConfigurationError` if the state's file cannot be used.
        """
        mocked = self._mocked or await self._opened()
        operation, fault = None, NO_FAULT
        try:
            request, operation, path = _found(mocked, request)
            fault = self._fault(mocked, operation, request)
            await asyncio.sleep(self._options.latency_seconds + fault.latency_seconds)
            work = partial(self._answer, mocked, operation, request, path, fault)
        except RequestRefused as refused:
            work = partial(mocked.refuse, operation, refused)
        return faulty(await self._worked(mocked, work), fault, mocked.rate)

    def messages_due(self) -> list[MockMessage]:
        """The messages that the upstream would have sent to its listeners by now, each once.

        Messages that are not passed to `message_sent` are returned again after a restart.
        """
        return self._state.due(self.clock.now())

    def message_sent(self, message: MockMessage) -> None:
        """Remove a message, because a listener accepted it or none will."""
        self._state.sent(message)

    def close(self) -> None:
        """Close the state."""
        self._state.close()

    async def _opened(self) -> Mocked:
        async with self._one:
            if self._mocked is None:
                # To read a thousand operations takes a while, in which other calls go on.
                self._mocked = await asyncio.to_thread(self._open)
            return self._mocked

    async def _worked(self, mocked: Mocked, work: Callable[[], MadeReply]) -> MadeReply:
        if not mocked.is_slow:
            return work()
        # One at a time, because each is a transaction.
        async with self._one:
            return await in_thread(work)

    def _fault(self, mocked: Mocked, operation: Any, request: WireRequest) -> Fault:
        tool = operation.tool if isinstance(operation, ImportedOperation) else operation.id
        scripted = self._scenario.next_for(operation.id, tool)
        try:
            return requested_fault(request.headers) or scripted
        except NotAFault as error:
            path = mocked.headers_at + FAULT_HEADER
            raise RequestRefused(MockRefusal(status=400, title=f"{error}.", path=path)) from error

    def _answer(
        self,
        mocked: Mocked,
        operation: Any,
        request: WireRequest,
        path: dict[str, str],
        fault: Fault,
    ) -> MadeReply:
        try:
            asked = mocked.read(operation, request, path, self._here(mocked))
            _refuse_requested(fault)
            return mocked.answer(operation, asked)
        except RequestRefused as refused:
            return mocked.refuse(operation, refused)

    def _here(self, mocked: Mocked) -> MockRequest:
        """What requests have in common, at this time."""
        return MockRequest(
            operation="",
            tables=mocked.tables,
            now=self.clock.now(),
            speed=self._options.speed or 1.0,
            seed=self._options.seed,
            base_url=self.base_url or "",
            fingerprint="",
        )


def open_mock(
    mocked: Upstream | ImportedConnector | Callable[[], ImportedConnector],
    clock: Clock,
    *,
    file: Path | None,
    start: datetime | None,
    options: MockOptions,
    scenario: Sequence[ScenarioStep] = (),
) -> MockApplication:
    """A mock that stores its state in `file`, or in memory if that is None.

    Without `start`, its clock is `clock`. With `start`, its clock starts then, or at the latest
    change of the state if that is later. At speed 0 the clock stands still. The options for a
    document have its base URL. Raises `ConfigurationError` if the file cannot be used.
    """
    state = StoredState(file)
    # Read also without `start`, so that a file that cannot be used is refused now.
    latest = state.latest()
    if start is not None:
        start = max(start, latest or start)
    mock_clock = MockClock(clock, start, is_still=not options.speed)
    return MockApplication(mocked, mock_clock, options=options, state=state, scenario=scenario)


def _found(mocked: Mocked, request: WireRequest) -> tuple[WireRequest, Any, dict[str, str]]:
    """The request relative to the API, the operation and the path parameters.

    Whoever is told the vendor's URL keeps its path, and changes the host. Raises `RequestRefused`.
    """
    prefix = urlsplit(mocked.base_url or "").path.rstrip("/")
    if prefix and request.target.startswith(f"{prefix}/"):
        # The paths of an API may begin like its base URL.
        with suppress(RequestRefused):
            return request, *mocked.find(request)
        request = replace(request, target=request.target.removeprefix(prefix))
    return request, *mocked.find(request)


def _refuse_requested(fault: Fault) -> None:
    if fault.status is not None:
        title = "A fault of the mock was requested."
        raise RequestRefused(MockRefusal(status=fault.status, title=title))


def _behaviour_module(name: str) -> Any:
    try:
        module: Any = import_named(name)
    except ImportError as error:
        raise ContractError(f"x-upstream.mock: {error}") from error
    for fault in faults(module, "", "mock"):
        raise ContractError(f"x-upstream.mock: {fault}")
    missing = [each for each in ("refuse", "finish") if not hasattr(module, each)]
    if missing:
        raise ContractError(f"x-upstream.mock: {name} has no {' and no '.join(missing)}")
    return module


def _check(operation: UpstreamOperation, reply: MockReply, validator: ReplySchema | None) -> None:
    """Raise `MockBrokeContract`. Without a schema, a success is declared, and has no body."""
    if validator is not None:
        if not validator.admits(reply.body):
            found = validator.violations(reply.body)
            raise MockBrokeContract(f"{operation.id} answered {reply.status}: {found}")
        return
    is_declared = not operation.replies.keys().isdisjoint(status_names(reply.status))
    if reply.status < 300 and (reply.body is not None or not is_declared):
        raise MockBrokeContract(f"{operation.id} answered {reply.status}, which is not declared")


def _example(operation: UpstreamOperation) -> MockReply:
    for status, schema in operation.replies.items():
        if status.startswith("2") and (schema is None or status in operation.examples):
            number = 200 if status == "2XX" else int(status)
            return MockReply(status=number, body=operation.examples.get(status))
    raise MockBrokeContract(f"{operation.id} has neither a behaviour nor an example")


def _plain_refusal(refusal: MockRefusal) -> Any:
    return {"error": {"status": refusal.status, "title": refusal.title, "path": refusal.path}}


def _unfinished(reply: MockReply) -> MockReply:
    return reply
