"""Opens the connection to each upstream: live, a mock, or a workspace in its place."""

from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack
from functools import partial
from typing import Final

from msgspec.structs import replace

from gateway.app.parts.foundation import Carried, likeness
from gateway.backends.base import Backend
from gateway.backends.http.live import LiveBackend
from gateway.backends.http.replies import ENDS_AT_ONCE, ReplyLimits
from gateway.backends.mock.application import MockApplication, MockOptions, open_mock
from gateway.backends.mock.backend import MockBackend
from gateway.bounds.shares import LoopTurns, ReplyBudget
from gateway.calls.guard import UNGUARDED, Breaker, Guard, UpstreamGuard
from gateway.calls.replies import ReplyReader
from gateway.calls.sending import UpstreamConnection
from gateway.catalogue import Catalogue, StoredDocument
from gateway.clock import Clock, MockClock
from gateway.contract.rows.entity import shapes_of
from gateway.contract.rows.rows import Shape
from gateway.contract.upstream import Upstream
from gateway.settings import Settings, UpstreamSettings, WrongSettings
from gateway.store.sql.engines import MEMORY_URL
from gateway.workspace import Workspace, seeded_keys

MOCKS: Final = "mocks"
"""The folder in the data folder where each mock stores its state, in its own file."""


_REPLIES: Final = 128 * 2**20
"""Bytes of all replies that arrive at the same time."""
_REPLIES_OF_ONE: Final = 48 * 2**20
"""Bytes of those of one upstream. If the settings allow larger replies, at least two of them."""
_REPLIES_OF_CALLER: Final = 64 * 2**20
"""Bytes of those that one key has asked for, likewise."""


def open_connections(
    catalogue: Catalogue,
    settings: Settings,
    clock: Clock,
    stack: AsyncExitStack,
    carried: Carried,
) -> tuple[dict[str, UpstreamConnection], dict[str, Workspace]]:
    """The connection to each upstream, and the workspaces that replace some of them."""
    upstreams = _configured(settings, catalogue)
    workspaces = _workspaces(catalogue, upstreams, settings, clock)
    for workspace in workspaces.values():
        stack.push_async_callback(workspace.close)
    two = 2 * settings.reply_max_bytes
    most, of_caller = max(_REPLIES_OF_ONE, two), max(_REPLIES_OF_CALLER, two)
    sizes = max(_REPLIES, most, of_caller), most, of_caller
    replies = ReplyLimits(
        max_bytes=settings.reply_max_bytes,
        budget=carried.same(lambda: ReplyBudget(*sizes), "replies", sizes),
        turns=carried.same(LoopTurns, "turns of replies"),
        ends=carried.same(partial(LoopTurns, ENDS_AT_ONCE), "ends of calls"),
    )
    connections = {
        name: replace(
            _connection(catalogue, found, settings, clock, workspaces.get(name), replies),
            guard=_guard(catalogue.upstreams[name], found, settings, clock, carried),
        )
        for name, found in upstreams.items()
    }
    for connection in connections.values():
        stack.push_async_callback(connection.backend.close)
    return connections, workspaces


def _configured(settings: Settings, catalogue: Catalogue) -> dict[str, UpstreamSettings]:
    upstreams = settings.for_upstreams(catalogue.upstreams.values())
    for found in upstreams.values():
        if found.problems:
            raise WrongSettings([f"{found.name}: {each}" for each in found.problems])
    return upstreams


def _workspaces(
    catalogue: Catalogue,
    upstreams: Mapping[str, UpstreamSettings],
    settings: Settings,
    clock: Clock,
) -> dict[str, Workspace]:
    """The workspaces, not opened yet."""
    return {
        name: _workspace(_shapes(catalogue, name).values(), found, settings, clock)
        for name, found in upstreams.items()
        if catalogue.upstreams[name].has_workspace and found.backend != "live"
    }


def _workspace(
    shapes: Iterable[Shape], found: UpstreamSettings, settings: Settings, clock: Clock
) -> Workspace:
    """The workspace, not opened yet. A mock's is in memory. Its keys and times depend on the seed
    and the mock's clock."""
    if found.backend != "mock":
        return Workspace(settings.workspace, shapes, clock)
    mock_clock = MockClock(clock, settings.mock_time, is_still=not settings.mock_speed)
    return Workspace(MEMORY_URL, shapes, mock_clock, seeded_keys(str(settings.seed)))


def _connection(
    catalogue: Catalogue,
    found: UpstreamSettings,
    settings: Settings,
    clock: Clock,
    workspace: Workspace | None,
    replies: ReplyLimits,
) -> UpstreamConnection:
    upstream = catalogue.upstreams[found.name]
    return UpstreamConnection(
        upstream,
        _backend(upstream, catalogue.imported.get(found.name), found, settings, clock, replies),
        ReplyReader(upstream),
        found.settings,
        shapes=_shapes(catalogue, found.name),
        tables=workspace,
        substitute_backend="mock" if found.backend == "mock" else "workspace",
    )


def _guard(
    upstream: Upstream, found: UpstreamSettings, settings: Settings, clock: Clock, carried: Carried
) -> Guard:
    """That of a live upstream is carried over if the settings of the upstream are alike."""
    if found.backend != "live":
        return UNGUARDED
    failures, most = settings.breaker_failures, max(1, settings.max_concurrent_calls // 2)
    max_requests = min(settings.upstream_max_requests, most)

    def make() -> UpstreamGuard:
        breaker = Breaker(clock, failures) if failures else None
        return UpstreamGuard(upstream.title, clock, max_requests=max_requests, breaker=breaker)

    key = "guard", upstream.title, likeness(found), failures, max_requests
    return carried.same(make, *key)


def _shapes(catalogue: Catalogue, upstream: str) -> dict[str, Shape]:
    return shapes_of(catalogue.upstreams[upstream].tables, catalogue.entities)


def _backend(
    upstream: Upstream,
    imported: StoredDocument | None,
    found: UpstreamSettings,
    settings: Settings,
    clock: Clock,
    replies: ReplyLimits,
) -> Backend:
    credentials = {name: secret.reveal() for name, secret in found.credentials.items()}
    if found.backend != "live":
        application = _mock(upstream, imported, settings, clock)
        return MockBackend(
            upstream, application.clock, credentials=credentials, application=application
        )
    return LiveBackend(
        upstream,
        clock,
        base_url=found.base_url or "",
        token_url=found.token_url,
        credentials=credentials,
        replies=replies,
        settings=found.settings,
        forwarding=settings.trace_forwarding,
    )


def _mock(
    upstream: Upstream, imported: StoredDocument | None, settings: Settings, clock: Clock
) -> MockApplication:
    """A mock that stores its state in the data folder, so that it survives a restart."""
    options = MockOptions(
        seed=str(settings.seed),
        speed=settings.mock_speed,
        latency_seconds=settings.mock_latency_seconds,
    )
    file = settings.data / MOCKS / f"{upstream.name}.db"
    start = settings.mock_time
    if imported is not None:
        options = replace(options, base_url=imported.base_url)
        return open_mock(imported.whole, clock, file=file, start=start, options=options)
    return open_mock(upstream, clock, file=file, start=start, options=options)


def base_urls(connections: Mapping[str, UpstreamConnection], settings: Settings) -> dict[str, str]:
    """The known base URLs of the upstreams. For a mock, it is the one in the mock's links."""
    configured = {
        name: connection.backend.application.base_url
        if isinstance(connection.backend, MockBackend)
        else settings.for_upstream(connection.upstream).base_url
        for name, connection in connections.items()
    }
    return {name: url for name, url in configured.items() if url is not None}
