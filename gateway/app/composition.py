"""The composition root: builds every object behind the transports, once and in order."""

import logging
import socket
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import parse_qs, urlsplit
from weakref import WeakValueDictionary

from msgspec import Struct, structs

from gateway.app.parts.foundation import (
    Carried,
    Foundation,
    bootstrap,
    likeness,
    open_keys,
    open_usage,
)
from gateway.app.parts.long_calls import WorkDependencies
from gateway.app.parts.tracing import with_spans
from gateway.app.parts.upstreams import open_connections
from gateway.app.parts.work import (
    Work,
    build_work,
    configured_sources,
    open_endpoint,
    open_group_commit,
    open_sources,
)
from gateway.app.traced import TracedPipeline
from gateway.audit.log import AuditLog
from gateway.auth.authenticate import Authenticator
from gateway.auth.authorize import Policy, policy_of
from gateway.auth.keys import Keys, NewKey
from gateway.backends.mock.backend import MockBackend
from gateway.backends.mock.webhooks import Listener, MockSender
from gateway.calls.caching.reads import ConnectorWrites, ReadCache
from gateway.calls.caching.shared import SharedResults
from gateway.calls.dispatch import Dispatcher
from gateway.calls.hooks import NO_HOOKS, CallHooks
from gateway.calls.idempotency import Once
from gateway.calls.pipeline import Pipeline
from gateway.calls.reported_rows import Recorder
from gateway.calls.sending import UpstreamConnection
from gateway.calls.upstreams import Locks
from gateway.catalogue import Catalogue, open_catalogue
from gateway.clock import Clock
from gateway.contract.operation import Effect, Operation
from gateway.job_policy import WORK_POLICY, WorkPolicy
from gateway.limits.counting import NO_LIMITS, CallLimits, CountsCalls, ObserveRefusal
from gateway.limits.places import Admission, Places, UpstreamShare
from gateway.observability.metrics import GatewayMetrics
from gateway.observability.spans import Spans
from gateway.publication.view import Views
from gateway.settings import Secret, Settings, SourceSettings
from gateway.store.protocols import ResultBoard, Store
from gateway.store.reserving import ReservedUsage
from gateway.store.sql.engines import POSTGRES_PREFIXES
from gateway.store.sql.store import SqlStore
from gateway.threads import in_thread
from gateway.transports.http.problems import described
from gateway.transports.mcp.asking import OpenQuestions
from gateway.transports.webhooks import WebhookEndpoint
from gateway.webhooks.ingest import GroupCommit
from gateway.workspace import Workspace

_log: Final = logging.getLogger(__name__)
_MARGIN_SECONDS: Final = 5.0


def changing(catalogue: Catalogue) -> dict[str, float]:
    """The connectors with tools that write, each with the longest time limit of these tools."""
    found: dict[str, float] = defaultdict(float)
    for each in catalogue.entries:
        if _writes(each.operation):
            connector, seconds = each.operation.connector, each.operation.timeout_seconds
            found[connector] = max(found[connector], seconds)
    return dict(found)


def _writes(operation: Operation) -> bool:
    return operation.effect is not Effect.READ or operation.escalation is not None


def open_results(
    settings: Settings, catalogue: Catalogue, clock: Clock, stack: AsyncExitStack
) -> SharedResults | None:
    """None without a Redis, without results to keep, or on SQLite, which has one process."""
    kept = {each.operation.connector for each in catalogue.entries if each.operation.cache_seconds}
    if (
        settings.redis_url is None
        or not kept
        or not settings.database.startswith(POSTGRES_PREFIXES)
    ):
        return None
    # A write takes its time limit at most. It may happen for the same time after it was given up.
    settling = {
        connector: 2 * seconds + _MARGIN_SECONDS
        for connector, seconds in changing(catalogue).items()
        if connector in kept
    }
    shared = SharedResults(
        _board(settings.redis_url, settling),
        clock,
        _secret(settings, catalogue),
        announced=settling,
        homes=_homes(settings, catalogue),
    )
    stack.push_async_callback(shared.close)
    return shared


def _homes(settings: Settings, catalogue: Catalogue) -> Mapping[str, str]:
    """Mocks, and workspaces on SQLite, are those of one data folder on one machine."""
    home = f"{socket.gethostname()}:{settings.data.resolve()}"
    is_common = settings.workspace.startswith(POSTGRES_PREFIXES)
    shared = {"live", "workspace"} if is_common else {"live"}
    found = map(settings.for_upstream, catalogue.upstreams.values())
    return {each.name: home for each in found if each.backend not in shared}


def _secret(settings: Settings, catalogue: Catalogue) -> bytes | None:
    """Equal in processes that would make the same results: of the same contracts, upstreams and
    databases. Without the passwords among them, nobody can make it. None: there are none."""
    if not _has_secrets(settings, catalogue):
        _log.warning(
            "results are not shared with other processes: anybody could guess the secret that "
            "seals them. Set GATEWAY_SECRETS_KEY, or a password in GATEWAY_DATABASE_URL"
        )
        return None
    found = sha256(version("contract-gateway").encode())
    found.update(f" {settings.database} {settings.workspace} {settings.seed}".encode())
    if settings.secrets_key is not None:
        found.update(settings.secrets_key.reveal().encode())
    for upstream in sorted(catalogue.upstreams.values(), key=lambda each: each.name):
        found.update(likeness(settings.for_upstream(upstream)))
    for path, text in _sources((settings.package, *settings.handler_packages)):
        found.update(b"\0%b\0%d\0" % (path.encode(), len(text)) + text)
    return found.digest()


def _has_secrets(settings: Settings, catalogue: Catalogue) -> bool:
    """Whether something that goes into the secret is one."""
    urls = map(urlsplit, (settings.database, settings.workspace))
    passwords = [each.password or parse_qs(each.query).get("password") for each in urls]
    upstreams = map(settings.for_upstream, catalogue.upstreams.values())
    credentials = [secret for each in upstreams for secret in each.credentials.values()]
    return settings.secrets_key is not None or any(passwords) or bool(credentials)


def _sources(packages: Collection[str]) -> Iterator[tuple[str, bytes]]:
    """The files of which contracts and handlers are made, by their paths in the packages."""
    for package in packages:
        for place in _places(package):
            files = sorted(place.rglob("*")) if place.is_dir() else [place]
            for path in files:
                if path.is_file() and "__pycache__" not in path.parts:
                    yield f"{package}/{path.relative_to(place).as_posix()}", path.read_bytes()


def _places(package: str) -> list[Path]:
    """The folders of a package, or the file of a module. A project may not have it."""
    try:
        spec = find_spec(package)
    except ModuleNotFoundError:
        spec = None
    if spec is None:
        return []
    folders = spec.submodule_search_locations
    return [Path(each) for each in ([spec.origin or ""] if folders is None else folders)]


def _board(url: Secret, settling: Mapping[str, float]) -> ResultBoard:
    from gateway.store.redis import RedisResults  # noqa: PLC0415 - needs an optional package

    return RedisResults(url.reveal(), settling)


class Opened(Struct, frozen=True):
    """What a pipeline needs besides settings."""

    catalogue: Catalogue
    connections: Mapping[str, UpstreamConnection]
    store: SqlStore
    audit: AuditLog
    authenticator: Authenticator
    policy: Policy
    observe_refusal: ObserveRefusal
    usage: ReservedUsage
    carried: Carried
    spans: Spans | None = None
    """What makes a span of each call. None: nothing does."""
    results: SharedResults | None = None
    """What shares results with other processes. None: nothing does."""


def build_pipeline(settings: Settings, clock: Clock, hooks: CallHooks, opened: Opened) -> Pipeline:
    build = Pipeline if opened.spans is None else partial(TracedPipeline, spans=opened.spans)
    return build(
        identification=opened.authenticator,
        catalogue=opened.catalogue,
        policy=opened.policy,
        admission=_admission(settings, opened),
        cache=_cache(opened, clock),
        limits=_limits(settings, opened, clock),
        dispatcher=_dispatcher(opened, clock),
        audit=opened.audit,
        once=Once(opened.store.keyed_calls, described),
        hooks=hooks,
    )


def _dispatcher(opened: Opened, clock: Clock) -> Dispatcher:
    locks: Locks = opened.carried.same(WeakValueDictionary, "locks")
    rows = opened.store.entities
    recorder = Recorder(opened.catalogue.entities, rows, clock)
    return Dispatcher(opened.connections, clock, rows, locks=locks, recorder=recorder)


def _cache(opened: Opened, clock: Clock) -> ReadCache:
    """Other processes may use PostgreSQL too. A SQLite file has one server."""
    writes = opened.carried.same(partial(ConnectorWrites, clock), "writes")
    others_write = opened.store.database.is_postgres
    return ReadCache(
        clock,
        changing(opened.catalogue),
        writes,
        others_write=others_write,
        shared=opened.results,
    )


def _admission(settings: Settings, opened: Opened) -> Admission:
    """An upstream that hangs leaves half of the places for other tools. Mocks do not hang."""
    most, same = settings.max_concurrent_calls, opened.carried.same
    shares = {
        name: UpstreamShare(
            connection.upstream.title, max(1, most // 2), same(Places, "places", name)
        )
        for name, connection in opened.connections.items()
        if connection.backend_name == "live"
    }
    return Admission(most, shares, same(Places, "places"), settings.max_calls_per_key)


def _limits(settings: Settings, opened: Opened, clock: Clock) -> CountsCalls:
    if not settings.call_limits:
        return NO_LIMITS
    return CallLimits(opened.usage, opened.catalogue, clock, opened.observe_refusal)


def build_views(settings: Settings, catalogue: Catalogue) -> Views:
    return Views(
        catalogue.views,
        settings.list_mode,
        settings.client_profile,
        max_result_tokens=settings.max_result_tokens,
        server_name=settings.server_name,
    )


MockSenders: TypeAlias = Callable[[str], Iterable[MockSender]]
"""Returns the senders for a gateway that listens at this URL."""


def mock_senders(
    catalogue: Catalogue,
    connections: Mapping[str, UpstreamConnection],
    configured: Mapping[str, SourceSettings],
    clock: Clock,
    url: str,
) -> Iterator[MockSender]:
    """A sender for each mock whose source of webhooks has a secret."""
    for name, declared in catalogue.webhooks.items():
        secrets = configured[name].secrets
        backend = connections[name].backend if name in connections else None
        mock = backend.application if isinstance(backend, MockBackend) else None
        open_profiles = [each for each in declared.source.profiles if secrets.get(each.name)]
        if mock is not None and open_profiles:
            profile = open_profiles[0]
            listener = Listener(
                url=f"{url}/webhooks/{name}",
                source=declared.source,
                profile=profile,
                secret=secrets[profile.name][0].reveal(),
            )
            yield MockSender(mock, listener, clock)


_Built: TypeAlias = tuple[
    Catalogue,
    Mapping[str, UpstreamConnection],
    Mapping[str, Workspace],
    Mapping[str, SourceSettings],
]


class Components(Struct, frozen=True, kw_only=True):
    """The parts of a running gateway."""

    catalogue: Catalogue
    connections: Mapping[str, UpstreamConnection]
    """By upstream."""
    workspaces: Mapping[str, Workspace]
    """Workspaces by the upstream that they replace."""
    store: Store
    usage: ReservedUsage
    """The counters of limits."""
    keys: Keys
    identification: Authenticator
    policy: Policy
    views: Views
    audit: AuditLog
    pipeline: Pipeline
    new_key: NewKey | None
    """The administrator's key, if this start has made one. It is shown only once."""
    work: Work
    group_commit: GroupCommit
    webhook_endpoint: WebhookEndpoint
    mock_senders: MockSenders
    metrics: GatewayMetrics
    questions: OpenQuestions
    """What MCP clients are asked."""


class OpenOptions(Struct, frozen=True, kw_only=True):
    """Options for a program that embeds the gateway. There are no settings for them."""

    grants: Mapping[str, frozenset[str]] | None = None
    """Agent to the operation ids it may call. They replace the grants of the policies."""
    hooks: CallHooks = NO_HOOKS
    work: WorkPolicy = WORK_POLICY
    """How jobs are processed."""
    catalogue: Catalogue | None = None
    """The generated package of the settings, if it is open already."""
    foundation: Foundation | None = None
    """The parts that outlive this gateway. None: it has its own, which close with it."""


DEFAULT_OPTIONS: Final = OpenOptions()


async def assemble(
    settings: Settings, clock: Clock, stack: AsyncExitStack, options: OpenOptions = DEFAULT_OPTIONS
) -> Components:
    """Build everything. `stack` closes it in reverse order. Raises an `OperatorError`.

    The database is upgraded last: a start that fails for another reason changes nothing.
    """
    foundation = options.foundation or Foundation(stack)
    metrics, spans = foundation.metrics, foundation.spans(settings)
    catalogue, connections, tables, found = await _made(settings, clock, stack, options, foundation)
    store, audit = await foundation.storage(settings, clock, options.work)
    authenticator = foundation.authenticator(settings, clock, store)
    keys = open_keys(clock, store, catalogue, authenticator)
    policy = policy_of(catalogue) if options.grants is None else Policy(options.grants)
    usage = open_usage(settings, store, clock, stack)
    known = catalogue, connections, store, audit, authenticator, policy
    results = open_results(settings, catalogue, clock, stack)
    opened = Opened(*known, metrics.calls.limit_refused, usage, foundation.carried, spans, results)
    pipeline = build_pipeline(settings, clock, options.hooks, opened)
    sources = open_sources(catalogue, found, clock, foundation.carried)
    for_work = settings, clock, catalogue, store, connections, pipeline, options.work, sources
    work = build_work(WorkDependencies(*for_work, audit, metrics.jobs, spans), stack)
    group_commit = open_group_commit(store.inbox, work.wake, stack)
    await store.upgrade()
    return Components(
        catalogue=catalogue,
        connections=connections,
        workspaces=tables,
        store=store,
        usage=usage,
        keys=keys,
        identification=authenticator,
        policy=policy,
        views=build_views(settings, catalogue),
        audit=audit,
        pipeline=pipeline,
        new_key=await bootstrap(keys, audit, settings),
        work=work,
        group_commit=group_commit,
        webhook_endpoint=open_endpoint(sources, group_commit, clock, foundation, settings),
        mock_senders=partial(mock_senders, catalogue, connections, found, clock),
        metrics=metrics,
        questions=foundation.questions,
    )


async def _made(
    settings: Settings,
    clock: Clock,
    stack: AsyncExitStack,
    options: OpenOptions,
    foundation: Foundation,
) -> _Built:
    """Build what needs only contracts, settings and the data folder. Raises an `OperatorError`."""
    foundation.report_defects(settings)
    spans = foundation.spans(settings)

    def build() -> _Built:
        catalogue = options.catalogue or open_catalogue(settings.package, settings.handler_packages)
        settings.proxies()  # the server reads it again, but only after the upgrade of the database
        found, workspaces = open_connections(catalogue, settings, clock, stack, foundation.carried)
        observed = {
            name: structs.replace(each, observe=foundation.metrics.upstreams.of(name))
            for name, each in found.items()
        }
        configured = configured_sources(catalogue, settings, observed)
        return catalogue, with_spans(observed, spans, settings), workspaces, configured

    # In a thread: a reload must not stop the calls of the generation before.
    return await in_thread(build)
