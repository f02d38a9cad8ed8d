"""Tools of one connector as the gateway runs them, against its mock in process."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

import generated
from gateway.auth.principal import Credentials, Grant, Permit, Principal
from gateway.backends.faults import parse_step
from gateway.backends.mock import MockBackend
from gateway.backends.upstream_app import UpstreamApplication
from gateway.calls.call import Arguments, Call
from gateway.calls.delivery import Line
from gateway.calls.dispatch import Dispatcher
from gateway.calls.replies import ReplyReader
from gateway.catalogue import Entry, open_catalogue
from gateway.contract.operation import Effect
from gateway.contract.upstream import Reply, UpstreamRequest

ATTEMPT_SECONDS = 5.0
"""For one attempt; a test that waits for one to end makes it short."""
CATALOGUE = open_catalogue(generated.__name__)


class ToolClock:
    """Wall and monotonic time that only tests move."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 11, 20, 14, 30, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment

    def monotonic(self) -> float:
        return self.moment.timestamp()

    def advance(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)


def _hasty(entry: Entry) -> Entry:
    """The same tool without waits between attempts."""
    replace = msgspec.structs.replace
    attempts = replace(
        entry.operation.attempts, backoff_seconds=(0.0,), timeout_seconds=ATTEMPT_SECONDS
    )
    return replace(entry, operation=replace(entry.operation, attempts=attempts))


class ConnectorTools:
    """Calls tools, checks results against output schemas, and keeps the requests.

    `steps` are the faults of the mock, written as for `gateway mock --fault`. Requests are tried
    again as the contracts say, but without waiting.
    """

    def __init__(self, connector: str, *steps: str, seed: str = "0", **credentials: str) -> None:
        self._connector = connector
        self.clock = ToolClock()
        self.requests: list[UpstreamRequest] = []
        upstream = CATALOGUE.upstreams[connector]
        self.application = UpstreamApplication(
            upstream, self.clock, seed=seed, scenario=list(map(parse_step, steps))
        )
        backend = MockBackend(
            upstream, self.clock, credentials=credentials, application=self.application
        )
        self._send = backend.send
        backend.send = self._recorded  # type: ignore[method-assign]  # watched by the tests
        settings = {each.name: each.default or each.mock for each in upstream.settings}
        self.line = Line(upstream, backend, ReplyReader(upstream), settings)
        self._dispatcher = Dispatcher({connector: self.line}, self.clock)

    @property
    def asked(self) -> list[str]:
        """The operations of the upstream that were asked for, in order."""
        return [request.operation for request in self.requests]

    async def call(self, tool: str, /, **arguments: Any) -> Any:
        """The result of one call, which keeps its contract; raises what the call raises."""
        entry = CATALOGUE.find(f"{self._connector}.{tool}")
        assert entry.input.violations(arguments) == ()
        permit = Permit(Grant(Principal(subject="test", agent="administrator"), _hasty(entry)))
        call = Call(
            operation_id=entry.id,
            credentials=Credentials(bearer=None),
            arguments=msgspec.json.encode(arguments),
            transport="local",
            request_id=f"request-{len(self.requests)}",
        )
        escalation = entry.operation.escalation
        is_write = escalation is not None and arguments.get(escalation.when) is True
        effect = Effect.WRITE if is_write else entry.operation.effect
        outcome = await self._dispatcher.dispatch(permit, Arguments(arguments, effect), call)
        assert entry.output.violations(outcome.values) == ()
        return outcome.values

    async def _recorded(self, request: UpstreamRequest, *, timeout_seconds: float) -> Reply:
        self.requests.append(request)
        return await self._send(request, timeout_seconds=timeout_seconds)
