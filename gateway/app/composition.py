"""The composition root: builds every object behind the transports, once and in order."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import partial
from importlib.metadata import version
from typing import Final

from msgspec import Struct, structs

from gateway.app.ingest import configured_sources, open_group_commit, open_sources
from gateway.app.mocks import MockSenders, mock_senders
from gateway.app.upstreams import open_connections
from gateway.app.work import Work, WorkDependencies, build_work
from gateway.audit.facts import ObserveCall
from gateway.audit.lines import log_calls, log_nothing
from gateway.audit.log import AuditLog
from gateway.audit.writebehind import BatchConfig
from gateway.auth.authenticate import Authenticator
from gateway.auth.authorize import Policy
from gateway.auth.keys import ADMINISTRATOR, Keys, NewKey
from gateway.auth.local import LOCAL_SUBJECT
from gateway.auth.principal import Principal
from gateway.calls.admission import Admission
from gateway.calls.cache import ReadCache
from gateway.calls.dispatch import Dispatcher
from gateway.calls.hooks import NO_HOOKS, CallHooks
from gateway.calls.idempotency.once import Once
from gateway.calls.pipeline import Pipeline
from gateway.calls.sending import UpstreamConnection
from gateway.catalogue import Catalogue, open_catalogue
from gateway.clock import Clock
from gateway.job_policy import WORK_POLICY, WorkPolicy
from gateway.limits.buckets import Rate
from gateway.limits.throttle import Throttle, ThrottleLimits
from gateway.observability.metrics.registry import GatewayMetrics
from gateway.publication.view import Views
from gateway.settings import Secret, Settings, SourceSettings
from gateway.store.protocols import Store
from gateway.store.sql.engine import open_store
from gateway.store.sql.store import SqlStore
from gateway.transports.http.asgi import new_request_id
from gateway.transports.http.problems import classify, described
from gateway.transports.operator.guard import OperatorRequest
from gateway.transports.webhooks import WebhookEndpoint
from gateway.webhooks.group_commit import GroupCommit
from gateway.webhooks.ingest import Ingest
from gateway.workspace.database import Workspace


class Components(Struct, frozen=True, kw_only=True):
    """The parts of a running gateway."""

    catalogue: Catalogue
    connections: Mapping[str, UpstreamConnection]
    """By upstream."""
    workspaces: Mapping[str, Workspace]
    """Workspaces by the upstream that they replace."""
    store: Store
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


class OpenOptions(Struct, frozen=True, kw_only=True):
    """Options for a program that embeds the gateway. There are no settings for them."""

    grants: Mapping[str, frozenset[str]] | None = None
    """Agent to the operation ids it may call. They replace the grants of the policies."""
    hooks: CallHooks = NO_HOOKS
    work: WorkPolicy = WORK_POLICY
    """How jobs are processed."""
    catalogue: Catalogue | None = None
    """The generated package of the settings, if it is open already."""


DEFAULT_OPTIONS: Final = OpenOptions()


async def assemble(
    settings: Settings, clock: Clock, stack: AsyncExitStack, options: OpenOptions = DEFAULT_OPTIONS
) -> Components:
    """Build everything. `stack` closes it in reverse order.

    The database is upgraded last: a start that fails for another reason changes nothing. Raises an
    `OperatorError` when a setting, a contract or the store is invalid.
    """
    metrics = GatewayMetrics(version("contract-gateway"))
    needs = settings, clock, stack
    catalogue, connections, workspaces, configured = _checked(*needs, options, metrics)
    store, audit = await _opened(*needs, options.work, metrics.calls.of_operation)
    authenticator, keys = _identification(settings, clock, store, catalogue)
    policy = Policy(catalogue.grants if options.grants is None else options.grants)
    opened = _Opened(catalogue, connections, store, audit, authenticator, policy)
    pipeline = _pipeline(settings, clock, options.hooks, opened)
    sources = open_sources(catalogue, configured, clock)
    for_work = settings, clock, catalogue, store, connections, pipeline, options.work, sources
    work = build_work(WorkDependencies(*for_work), stack)
    group_commit = open_group_commit(store.inbox, work.wake, stack)
    await store.upgrade()
    return Components(
        catalogue=catalogue,
        connections=connections,
        workspaces=workspaces,
        store=store,
        keys=keys,
        identification=authenticator,
        policy=policy,
        views=_views(settings, catalogue),
        audit=audit,
        pipeline=pipeline,
        new_key=await _bootstrap(keys, audit, settings),
        work=work,
        group_commit=group_commit,
        webhook_endpoint=WebhookEndpoint(Ingest(sources, group_commit, clock)),
        mock_senders=partial(mock_senders, catalogue, connections, configured, clock),
        metrics=metrics,
    )


class _Opened(Struct, frozen=True):
    """What a pipeline needs besides settings."""

    catalogue: Catalogue
    connections: Mapping[str, UpstreamConnection]
    store: SqlStore
    audit: AuditLog
    authenticator: Authenticator
    policy: Policy


def _pipeline(settings: Settings, clock: Clock, hooks: CallHooks, opened: _Opened) -> Pipeline:
    return Pipeline(
        identification=opened.authenticator,
        catalogue=opened.catalogue,
        policy=opened.policy,
        admission=Admission(settings.max_concurrent_calls),
        cache=ReadCache(clock),
        dispatcher=Dispatcher(opened.connections, clock, opened.store.entities),
        audit=opened.audit,
        once=Once(opened.store.keyed_calls, described),
        hooks=hooks,
    )


def _views(settings: Settings, catalogue: Catalogue) -> Views:
    return Views(
        catalogue.views,
        settings.list_mode,
        settings.client_profile,
        max_result_tokens=settings.max_result_tokens,
        server_name=settings.server_name,
    )


def _checked(
    settings: Settings,
    clock: Clock,
    stack: AsyncExitStack,
    options: OpenOptions,
    metrics: GatewayMetrics,
) -> tuple[
    Catalogue,
    Mapping[str, UpstreamConnection],
    Mapping[str, Workspace],
    Mapping[str, SourceSettings],
]:
    """Build what needs only contracts, settings and the data folder. Raises an `OperatorError`."""
    catalogue = options.catalogue or open_catalogue(settings.package, settings.handler_packages)
    settings.proxies()  # the server reads it again, but only after the upgrade of the database
    found, workspaces = open_connections(catalogue, settings, clock, stack)
    connections = {
        name: structs.replace(each, observe=metrics.upstreams.of(name))
        for name, each in found.items()
    }
    configured = configured_sources(catalogue, settings, connections)
    return catalogue, connections, workspaces, configured


def _identification(
    settings: Settings, clock: Clock, store: SqlStore, catalogue: Catalogue
) -> tuple[Authenticator, Keys]:
    """The authenticator of callers, and the keys that it uses."""
    authenticator = Authenticator(store.keys, clock, _throttle(settings, clock))
    return authenticator, Keys(store.keys, clock, catalogue.grants.keys(), authenticator.invalidate)


async def _opened(
    settings: Settings,
    clock: Clock,
    stack: AsyncExitStack,
    policy: WorkPolicy,
    observe: ObserveCall,
) -> tuple[SqlStore, AuditLog]:
    """The store, and the audit log that uses it."""
    url = settings.database
    store = await open_store(url, settings.package, clock, policy=policy, is_upgraded=False)
    stack.push_async_callback(store.close)
    on_stored = log_calls if settings.log_calls else log_nothing
    config = _config(settings)
    audit = AuditLog(store.audit, clock, classify, config, on_stored=on_stored, observe=observe)
    stack.push_async_callback(audit.close)
    return store, audit


async def _bootstrap(keys: Keys, audit: AuditLog, settings: Settings) -> NewKey | None:
    """The administrator's key if this start made one. Changes of keys are recorded."""
    before = {key.id: key for key in await keys.list()}
    new_key = await keys.bootstrap(_revealed(settings.bootstrap_key), settings.data)
    after = await keys.list()
    changed = {
        "created": [key.id for key in after if key.id not in before],
        "revoked": [key.id for key in after if key.revoked_at and key != before.get(key.id)],
    }
    if any(changed.values()):
        operation = "operator.keys.bootstrap"
        request = OperatorRequest(request_id=new_request_id(), operation_id=operation)
        async with audit.open(request) as record:
            record.principal = Principal(subject=LOCAL_SUBJECT, agent=ADMINISTRATOR)
            record.facts = changed
    return new_key


def _throttle(settings: Settings, clock: Clock) -> Throttle:
    one, every = (
        settings.unauthenticated_requests_per_second,
        settings.all_unauthenticated_requests_per_second,
    )
    limits = ThrottleLimits(of_one_host=Rate(one, 10 * one), in_all=Rate(every, 10 * every))
    return Throttle(clock, limits)


def _revealed(secret: Secret | None) -> str | None:
    return None if secret is None else secret.reveal()


def _config(settings: Settings) -> BatchConfig:
    return BatchConfig(
        flush_seconds=settings.audit_flush_seconds,
        batch_records=settings.audit_batch_records,
        queue_records=settings.audit_queue_records,
    )
