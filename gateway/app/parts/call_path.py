"""Builds the call path: the pipeline, and the views that list its tools."""

from collections.abc import Mapping
from functools import partial
from weakref import WeakValueDictionary

from msgspec import Struct

from gateway.app.parts.carried import Carried
from gateway.app.parts.results import changing
from gateway.app.traced import TracedPipeline
from gateway.audit.log import AuditLog
from gateway.auth.authenticate import Authenticator
from gateway.auth.authorize import Policy
from gateway.calls.admission.limits import CallLimits, ObserveRefusal
from gateway.calls.admission.places import Admission, Places, UpstreamShare
from gateway.calls.admission.unlimited import NO_LIMITS, CountsCalls
from gateway.calls.caching.reads import ReadCache
from gateway.calls.caching.shared import SharedResults
from gateway.calls.caching.writes import ConnectorWrites
from gateway.calls.dispatch import Dispatcher
from gateway.calls.hooks import CallHooks
from gateway.calls.idempotency.once import Once
from gateway.calls.pipeline import Pipeline
from gateway.calls.reporting.rows import Recorder, ReportingDispatcher
from gateway.calls.sending import UpstreamConnection
from gateway.calls.upstreams import Locks
from gateway.catalogue import Catalogue
from gateway.clock import Clock
from gateway.observability.tracing.spans import Spans
from gateway.publication.view import Views
from gateway.settings import Settings
from gateway.store.reserving import ReservedUsage
from gateway.store.sql.store import SqlStore
from gateway.transports.http.problems import described


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
    dispatcher = ReportingDispatcher(opened.connections, clock, rows, locks=locks)
    dispatcher.recorder = Recorder(opened.catalogue.entities, rows, clock)
    return dispatcher


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
