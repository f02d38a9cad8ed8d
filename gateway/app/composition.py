"""The composition root: builds every object behind the transports, once and in order."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import partial
from typing import Final, TypeAlias

from msgspec import Struct, structs

from gateway.app.parts.call_path import Opened, build_pipeline, build_views
from gateway.app.parts.foundation import Foundation
from gateway.app.parts.identity import bootstrap, open_keys
from gateway.app.parts.ingest import (
    configured_sources,
    open_endpoint,
    open_group_commit,
    open_sources,
)
from gateway.app.parts.long_calls import WorkDependencies
from gateway.app.parts.mocks import MockSenders, mock_senders
from gateway.app.parts.results import open_results
from gateway.app.parts.storage import open_usage
from gateway.app.parts.tracing import with_spans
from gateway.app.parts.upstreams import open_connections
from gateway.app.parts.work import Work, build_work
from gateway.audit.log import AuditLog
from gateway.auth.authenticate import Authenticator
from gateway.auth.authorize import Policy, policy_of
from gateway.auth.keys import Keys, NewKey
from gateway.calls.hooks import NO_HOOKS, CallHooks
from gateway.calls.pipeline import Pipeline
from gateway.calls.sending import UpstreamConnection
from gateway.catalogue import Catalogue, open_catalogue
from gateway.clock import Clock
from gateway.job_policy import WORK_POLICY, WorkPolicy
from gateway.observability.metrics.registry import GatewayMetrics
from gateway.publication.view import Views
from gateway.settings import Settings, SourceSettings
from gateway.store.protocols import Store
from gateway.store.reserving import ReservedUsage
from gateway.threads import in_thread
from gateway.transports.mcp.asking.open_questions import OpenQuestions
from gateway.transports.webhooks import WebhookEndpoint
from gateway.webhooks.group_commit import GroupCommit
from gateway.workspace.database import Workspace

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
