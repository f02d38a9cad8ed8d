"""Tools as the gateway runs them, against mocks in process."""

from collections.abc import Mapping
from itertools import count
from typing import Any

import httpx
import msgspec

from gateway.auth.principal import Credentials, Grant, Permit, Principal
from gateway.backends.mock.application import MockApplication, MockOptions
from gateway.backends.mock.backend import MockBackend
from gateway.backends.mock.faults import parse_step
from gateway.calls.call import Call
from gateway.calls.dispatch import Dispatcher
from gateway.calls.replies import ReplyReader
from gateway.calls.sending import UpstreamConnection
from gateway.calls.validation import decode_arguments
from gateway.contract.upstream import Reply, UpstreamRequest
from tests.clocks import ManualClock
from tests.entity_rows import NoEntities
from tests.unit import shipped


def over_asgi(application: Any, **options: Any) -> httpx.AsyncClient:
    """An HTTP client of `application`, without a socket."""
    transport = httpx.ASGITransport(application)
    return httpx.AsyncClient(transport=transport, base_url="http://mock", **options)


class ConnectorTools:
    """Calls the tools of one connector, checks results against output schemas, keeps the requests.

    `steps` are the faults of its mock, written as for `gateway mock --fault`. Requests are tried
    again as the contracts say; the waits between them pass at once. `also` are other upstreams that
    its tools use; `settings` replace what the contracts say.
    """

    def __init__(
        self,
        connector: str,
        *steps: str,
        seed: str = "0",
        also: tuple[str, ...] = (),
        settings: Mapping[str, str] | None = None,
        **credentials: str,
    ) -> None:
        self._connector = connector
        self._given = settings or {}
        self._numbers = count(1)
        self.clock = ManualClock()
        self.requests: list[UpstreamRequest] = []
        self.waits: list[float] = []
        self.said: list[tuple[float, str]] = []
        """What the calls said of their progress."""
        scenario = list(map(parse_step, steps))
        self.applications = {
            name: MockApplication(
                shipped.upstream(name),
                self.clock,
                options=MockOptions(seed=seed),
                scenario=scenario,
            )
            for name in (connector, *also)
        }
        lines = {name: self._line(name, credentials) for name in self.applications}
        self.line = lines[connector]
        self._dispatcher = Dispatcher(lines, self.clock, NoEntities(), self._wait)

    @property
    def asked(self) -> list[str]:
        """The operations of upstreams that were asked for, in order."""
        return [request.operation for request in self.requests]

    async def call(self, tool: str, /, **arguments: Any) -> Any:
        """The result of one call, which keeps its contract; raises what the call raises.

        `tool` is a name, or an operation id.
        """
        entry = shipped.catalogue().find(tool if "." in tool else f"{self._connector}.{tool}")
        permit = Permit(Grant(Principal(subject="test", agent="administrator"), entry))
        text = msgspec.json.encode(arguments)
        call = Call(
            progress=lambda done, message, _total: self.said.append((done, message)),
            operation_id=entry.id,
            credentials=Credentials(bearer=None),
            arguments=text,
            transport="local",
            request_id=f"request-{next(self._numbers)}",
        )
        arguments = decode_arguments(entry, text)
        outcome = await self._dispatcher.dispatch(permit, arguments, call)
        assert entry.output.violations(outcome.values) == ()
        return outcome.values

    async def on_request(self, request: UpstreamRequest) -> Reply | None:
        """What happens before a request arrives: it is kept. A reply takes the mock's place."""
        self.requests.append(request)
        return None

    def _line(self, name: str, credentials: Mapping[str, str]) -> UpstreamConnection:
        upstream = shipped.upstream(name)
        backend = MockBackend(
            upstream,
            self.clock,
            credentials=credentials if upstream.credentials else {},
            application=self.applications[name],
        )
        send = backend.send

        async def watched(
            request: UpstreamRequest, *, timeout_seconds: float, is_cut_short: bool = False
        ) -> Reply:
            answer = await self.on_request(request)
            return answer or await send(
                request, timeout_seconds=timeout_seconds, is_cut_short=is_cut_short
            )

        backend.send = watched  # type: ignore[method-assign]  # watched by the tests
        settings = {each.name: each.default or each.mock for each in upstream.settings}
        return UpstreamConnection(
            upstream, backend, ReplyReader(upstream), {**settings, **self._given}
        )

    async def _wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.clock.advance(seconds)
