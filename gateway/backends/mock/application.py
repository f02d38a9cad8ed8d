"""A mock of an upstream, built from its contract.

The contract defines the requests and the replies. A behaviour module (`gateway.contract.mock`) can
compute replies and keep state. An operation without a behaviour returns its contract's example.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from gateway.backends.mock.credentials import CredentialCheck
from gateway.backends.mock.damage import damaged
from gateway.backends.mock.faults import (
    FAULT_HEADER,
    Fault,
    NotAFault,
    Scenario,
    ScenarioStep,
    requested_fault,
)
from gateway.backends.mock.requests import MockArguments, RequestReader, RequestRefused
from gateway.backends.mock.router import Router
from gateway.backends.mock.slots import SlotCheck
from gateway.backends.mock.state import StoredState
from gateway.backends.mock.tokens import TokenIssuer, plain_token_refusal
from gateway.backends.wire import WireReply, WireRequest
from gateway.clock import Clock
from gateway.contract.connector import faults, import_named
from gateway.contract.mock import (
    Behaviour,
    MockMessage,
    MockRefusal,
    MockReply,
    MockRequest,
)
from gateway.contract.upstream import Upstream, UpstreamOperation, status_names
from gateway.contract.values import jsontext
from gateway.encoding.replies.tolerance import ReplySchema
from gateway.errors import ContractError

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


class UpstreamApplication:
    """Answers requests like the upstream. It stores its state in `state`, or else in memory.

    The same seed, with the same calls in the same order at the same times, gives the same replies.
    Raises `ContractError` if the behaviour module cannot be used.
    """

    def __init__(
        self,
        upstream: Upstream,
        clock: Clock,
        *,
        options: MockOptions | None = None,
        state: StoredState | None = None,
        scenario: Sequence[ScenarioStep] = (),
    ) -> None:
        self._upstream = upstream
        self.clock = clock
        """The mock's own clock."""
        self._options = options = options or MockOptions()
        self._scenario = Scenario(scenario)
        self._state = state or StoredState()
        self._router = Router(upstream.operations)
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
        module = None if upstream.mock is None else _behaviour_module(upstream.mock)
        self._behaviours = _NO_BEHAVIOURS if module is None else module.BEHAVIOURS
        self._refuse = _plain_refusal if module is None else module.refuse
        self._finish = _unfinished if module is None else module.finish
        vendors_url = getattr(module, "BASE_URL", upstream.base_url)
        self.base_url = options.base_url or vendors_url
        # Whoever is told the vendor's URL keeps its path, and changes the host.
        self._prefix = urlsplit(vendors_url or "").path.rstrip("/")
        refuse_token = getattr(module, "refuse_token", plain_token_refusal)
        self._issuer = TokenIssuer(upstream, clock, options.seed, refuse_token)
        self._credentials = CredentialCheck(upstream, self._issuer)

    async def handle(self, request: WireRequest) -> WireReply:
        """The reply to `request`.

        Raises `MockBrokeContract`, and `ConfigurationError` if the state's file cannot be used.
        """
        operation: UpstreamOperation | None = None
        fault = Fault()
        try:
            request = self._relative(request)
            operation, path = self._router.find(request.method, request.target)
            fault = self._fault(operation, request)
            await asyncio.sleep(self._options.latency_seconds + fault.latency_seconds)
            if not self._issuer.serves(operation.id):
                self._credentials.check(request)
                self._slots.check(operation.slots, request)
            reply = self._answer(operation, self._readers[operation.id].read(request, path), fault)
        except RequestRefused as refused:
            reply = self._refused(operation, refused)
        finished = self._finish(reply)
        self._check(operation, finished)
        return self._committed(fault, operation, finished)

    def _relative(self, request: WireRequest) -> WireRequest:
        """`request` without the path of the vendor's base URL, if it has it."""
        if not self._prefix or not request.target.startswith(f"{self._prefix}/"):
            return request
        return replace(request, target=request.target.removeprefix(self._prefix))

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

    def _fault(self, operation: UpstreamOperation, request: WireRequest) -> Fault:
        scripted = self._scenario.next_for(operation.id)
        try:
            return requested_fault(request.headers) or scripted
        except NotAFault as error:
            refusal = MockRefusal(status=400, title=f"{error}.", path=FAULT_HEADER)
            raise RequestRefused(refusal) from error

    def _answer(
        self, operation: UpstreamOperation, arguments: MockArguments, fault: Fault
    ) -> MockReply:
        if fault.status is not None:
            refusal = MockRefusal(status=fault.status, title="A fault of the mock was requested.")
            return self._refused(operation, RequestRefused(refusal))
        if self._issuer.serves(operation.id):
            return self._issuer.answer(operation, arguments.body or {})
        behaviour = self._behaviours.get(operation.id)
        if behaviour is None:
            return _example(operation)
        request = self._request(operation, arguments)
        with self._state.transaction(request.now):
            return behaviour(request, self._state)

    def _request(self, operation: UpstreamOperation, arguments: MockArguments) -> MockRequest:
        content = [operation.id, arguments.path, arguments.query, arguments.body]
        content += [arguments.filters] if arguments.filters else []
        return MockRequest(
            operation=operation.id,
            path=arguments.path,
            query=arguments.query,
            filters=arguments.filters,
            tables=self._upstream.tables,
            headers=arguments.headers,
            body=arguments.body,
            now=self.clock.now(),
            speed=self._options.speed or 1.0,
            seed=self._options.seed,
            base_url=self.base_url or "",
            fingerprint=json.dumps(content, sort_keys=True),
        )

    def _refused(self, operation: UpstreamOperation | None, refused: RequestRefused) -> MockReply:
        headers = {"allow": ", ".join(refused.allow)} if refused.allow else {}
        refusal = refused.refusal
        if operation is not None and self._issuer.serves(operation.id):
            return self._issuer.failed(refusal.status, refusal.title)
        return MockReply(status=refusal.status, headers=headers, body=self._refuse(refusal))

    def _check(self, operation: UpstreamOperation | None, reply: MockReply) -> None:
        if operation is None:
            return  # The contract does not define replies for unknown paths and methods.
        validator = self._validator_of(operation, reply.status)
        if validator is None:
            _check_declared(operation, reply)
        elif not validator.admits(reply.body):
            found = validator.violations(reply.body)
            raise MockBrokeContract(f"{operation.id} answered {reply.status}: {found}")

    def _validator_of(self, operation: UpstreamOperation, status: int) -> ReplySchema | None:
        found = (self._validators.get((operation.id, name)) for name in status_names(status))
        return next(filter(None, found), None)

    def _committed(
        self, fault: Fault, operation: UpstreamOperation | None, reply: MockReply
    ) -> WireReply:
        validator = None if operation is None else self._validator_of(operation, reply.status)
        body = b"" if reply.body is None else jsontext.encode(reply.body)
        return WireReply(
            status=reply.status,
            headers=self._headers(fault, reply),
            body=damaged(body, fault.damage, validator),
            is_cut=fault.damage == "close",
            body_delay_seconds=fault.body_latency_seconds,
        )

    def _headers(self, fault: Fault, reply: MockReply) -> dict[str, str]:
        headers = dict(reply.headers)
        if reply.body is not None:
            headers.setdefault("content-type", "application/json")
        if fault.retry_after_seconds is not None:
            headers["retry-after"] = str(fault.retry_after_seconds)
        if fault.status is not None and 300 <= fault.status < 400:
            headers["location"] = "/"
        rate = self._upstream.rate
        if fault.exhausted_seconds is not None and rate is not None:
            headers[rate.remaining.lower()] = "0"
            headers[rate.reset_seconds.lower()] = str(fault.exhausted_seconds)
        return headers


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


def _check_declared(operation: UpstreamOperation, reply: MockReply) -> None:
    """Check a reply without a schema: a success must be declared, and must have no body."""
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
