"""Webhooks and the work in the background: takes in messages, processes them, delivers events."""

import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from functools import partial
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from gateway.app.calling import OwnCalls
from gateway.app.grace import grace_seconds
from gateway.app.parts.foundation import Carried, Foundation
from gateway.app.parts.long_calls import (
    Background,
    LongWork,
    WorkDependencies,
    build_long_work,
    open_task_run,
    process_name,
)
from gateway.app.parts.tracing import runs_with_spans
from gateway.app.parts.upstreams import base_urls
from gateway.app.traced import TracedIngest
from gateway.audit.log import CutOffCalls
from gateway.backends.http.outbound import Outbound
from gateway.bounds.rates import Rate
from gateway.calls.jobs.running import CallRun
from gateway.calls.jobs.watching import JobWatches
from gateway.calls.sending import UpstreamConnection
from gateway.calls.upstreams import Fetcher
from gateway.catalogue import Catalogue
from gateway.clock import Clock
from gateway.contract.operation import JOB_AFTER_SECONDS, Effect
from gateway.contract.rows.rows import shape_of
from gateway.contract.webhook import WebhookSource
from gateway.errors import ConfigurationError
from gateway.events.address import AddressRules
from gateway.events.deliver import Deliver, DeliverySender
from gateway.events.endpoints import EndpointRegistry
from gateway.events.feed import Feed, FeedLimits, Sequencer, SequencerConfig
from gateway.events.secrets import Keyring, open_keyring
from gateway.job_policy import JobKind
from gateway.jobs.completer import OnSettled
from gateway.jobs.dead_letters import DeadLetters
from gateway.jobs.outcome import Failed, Finished, Outcome, Run
from gateway.jobs.worker import Lookout, Worker
from gateway.observability.metrics import JobMetrics
from gateway.settings import Secret, Settings, SourceSettings
from gateway.store.protocols import Inbox
from gateway.store.records import Changes, Claim
from gateway.store.sql.engines import POSTGRES_PREFIXES
from gateway.transports.webhooks import WebhookEndpoint
from gateway.webhooks.cleaner import Cleaner, Retention
from gateway.webhooks.ingest import GroupCommit, Ingest
from gateway.webhooks.processing import Effects, Pointers, Quarantine, WebhookRun
from gateway.webhooks.source import (
    OpenSource,
    ProfileSecrets,
    SourceBuckets,
    SourceRates,
    made_secret,
)

# Counts the attempts of jobs, for the metrics of operators.

_CRASHED: Final = "crashed"
_CUT_OFF: Final = "cut_off"


def counted_runs(runs: Mapping[JobKind, Run], metrics: JobMetrics) -> dict[JobKind, Run]:
    """`runs`, each attempt of which is counted with its outcome and its time."""
    return {kind: _counted(run, metrics, kind) for kind, run in runs.items()}


def _counted(run: Run, metrics: JobMetrics, kind: JobKind) -> Run:
    async def attempt(claim: Claim) -> Outcome:
        started, outcome = time.perf_counter(), _CUT_OFF
        try:
            ended = await run(claim)
        except Exception:
            outcome = _CRASHED
            raise
        else:
            outcome = _name_of(ended)
            return ended
        finally:
            metrics.attempted(kind, outcome, time.perf_counter() - started)

    return attempt


def _name_of(outcome: Outcome) -> str:
    match outcome:
        case Finished():
            return "completed"
        case Failed(retry_seconds=None):
            return "dead_letter"
        case Failed():
            return "retryable"
        case _:
            return "released"


_IDLE: Final = 40
"""How many times longer than usual the time between two polls may be where nothing happens: all
that adds work wakes what does it, or is noticed by the lookout."""
_SEQUENCING: Final = replace(
    SequencerConfig(), idle_poll_seconds=_IDLE * SequencerConfig().poll_seconds
)


class Work(Struct, frozen=True, kw_only=True):
    """The parts that run in the background, and what wakes them."""

    worker: Worker
    lookout: Lookout | None
    """What looks for work of other processes, if there may be others."""
    sequencer: Sequencer
    feed: Feed
    cleaner: Cleaner
    cut_off_calls: CutOffCalls
    quarantine: Quarantine
    endpoint_registry: EndpointRegistry
    long: LongWork

    def stop(self, *, is_replaced: bool) -> None:
        """End streams and stop claiming jobs. `is_replaced`: see `Feed`."""
        self.feed.close(is_replaced=is_replaced)
        self.long.owned.watches.close()
        self.worker.stop()
        self.long.parts.adopted.stop()

    def wake(self) -> None:
        """Wake what works, because there may be jobs and events."""
        self.worker.wake()
        self.sequencer.wake()


def build_work(dependencies: WorkDependencies, stack: AsyncExitStack) -> Work:
    """Build all parts without starting them. Raises an `OperatorError` for invalid settings."""
    stack.push_async_callback(dependencies.pipeline.once.close)
    dependencies = _as_the_settings_say(dependencies)
    settings, store, clock = dependencies.settings, dependencies.store, dependencies.clock
    keyring, watches = open_keyring(_revealed(settings), settings.data), JobWatches(store.tasks)
    outbound = _open_outbound(settings, stack)
    published = {name: each.event.data for name, each in dependencies.catalogue.events.items()}
    feed = Feed(store.events, FeedLimits(followers_of_one=settings.max_streams_per_agent))

    def on_published() -> None:
        feed.wake()
        worker.wake()

    sequencer = Sequencer(store.events, on_published, _SEQUENCING)
    on_dead, on_settled = DeadLetters(clock.now), _waking(sequencer, watches)
    task_run = open_task_run(dependencies, watches)
    runs = {**_runs(dependencies, outbound, keyring), "task": task_run}
    worker = Worker(
        store.queue,
        counted_runs(runs_with_spans(runs, dependencies.spans), dependencies.metrics),
        name=process_name(),
        on_dead=on_dead,
        on_settled=on_settled,
        policy=dependencies.policy,
    )
    background = Background(on_dead, on_settled, worker.wake, watches)
    long = build_long_work(dependencies, task_run, background)
    stack.push_async_callback(long.parts.adopted.close)
    return Work(
        long=long,
        worker=worker,
        lookout=_lookout(dependencies, worker, sequencer),
        sequencer=sequencer,
        feed=feed,
        cleaner=Cleaner(store, _retention(settings)),
        cut_off_calls=CutOffCalls(store),
        quarantine=Quarantine(store.inbox, dependencies.sources),
        endpoint_registry=EndpointRegistry(store.endpoints, keyring, outbound, clock, published),
    )


def _open_outbound(settings: Settings, stack: AsyncExitStack) -> Outbound:
    outbound = Outbound(AddressRules(settings.endpoint_networks()).refusal)
    stack.push_async_callback(outbound.close)
    return outbound


def _as_the_settings_say(dependencies: WorkDependencies) -> WorkDependencies:
    settings = dependencies.settings
    grace = grace_seconds(settings, dependencies.catalogue)
    own, after_seconds = dependencies.policy, settings.job_after_seconds
    policy = replace(
        own,
        size=max(settings.workers, 1),
        grace_seconds=grace,
        idle_poll_seconds=_IDLE * own.poll_seconds,
        # The policy of a program is its own, unless the operator has chosen.
        job_after_seconds=own.job_after_seconds
        if after_seconds == JOB_AFTER_SECONDS
        else after_seconds,
    )
    return replace(dependencies, policy=policy)


def _lookout(
    dependencies: WorkDependencies, worker: Worker, sequencer: Sequencer
) -> Lookout | None:
    if _is_alone(dependencies.settings):
        return None
    seconds = dependencies.policy.poll_seconds
    return Lookout(dependencies.store.queue, worker.wake, sequencer.wake, seconds)


def _is_alone(settings: Settings) -> bool:
    """Whether only this process adds jobs and events, so that it knows of all."""
    return not settings.database.startswith(POSTGRES_PREFIXES)


def _runs(
    dependencies: WorkDependencies, outbound: Outbound, keyring: Keyring
) -> dict[JobKind, Run]:
    catalogue, store, clock = dependencies.catalogue, dependencies.store, dependencies.clock
    sources = dependencies.sources
    shapes = {kind: shape_of(kind, each.schema) for kind, each in catalogue.entities.items()}
    validators = {name: contract.validator for name, contract in catalogue.events.items()}
    fetcher = Fetcher(dependencies.connections, clock, store.entities)
    effects = Effects(shapes, validators, clock.now)
    pointers = Pointers(fetcher, base_urls(dependencies.connections, dependencies.settings))
    reads = {entry.id for entry in catalogue.entries if entry.operation.effect is Effect.READ}
    rows = dependencies.policy.jobs
    forwarding = dependencies.settings.trace_forwarding
    delivered = dependencies.metrics.delivered
    delivery_sender = DeliverySender(outbound, keyring, clock, forwarding)
    return {
        "webhook": WebhookRun(store.inbox, sources, effects, pointers, clock.now, rows["webhook"]),
        "delivery": Deliver(store.endpoints, delivery_sender, rows["delivery"], delivered),
        "call": CallRun(
            store.queue, OwnCalls(dependencies.pipeline), reads.__contains__, rows["call"]
        ),
    }


def _waking(sequencer: Sequencer, watches: JobWatches) -> OnSettled:
    def wake(changes: Changes) -> None:
        if changes.events:
            sequencer.wake()
        watches.wake()

    return wake


def _retention(settings: Settings) -> Retention:
    return Retention(
        body_days=settings.webhook_days,
        key_days=settings.webhook_id_days,
        event_days=settings.event_days,
        job_days=settings.job_days,
        audit_days=settings.audit_days,
    )


def _revealed(settings: Settings) -> str | None:
    return None if settings.secrets_key is None else settings.secrets_key.reveal()


# Opens the sources of webhooks with their settings, and the group commit.

_ONLY_TENANT: Final = "sample"
"""A mock has one customer, of this name."""


def configured_sources(
    catalogue: Catalogue, settings: Settings, connections: Mapping[str, UpstreamConnection]
) -> dict[str, SourceSettings]:
    """The settings of each source, by provider. A mocked source without secrets has created ones.

    Raises `ConfigurationError` for invalid settings, and `StoreError` if the file of a created
    secret cannot be read or written.
    """
    found = settings.for_webhooks(catalogue.sources)
    return {
        source.provider: _with_secrets(source, found[source.provider], settings, connections)
        for source in catalogue.sources
    }


def open_sources(
    catalogue: Catalogue,
    configured: Mapping[str, SourceSettings],
    clock: Clock,
    carried: Carried,
) -> dict[str, OpenSource]:
    """All sources by provider, to receive and to process messages."""
    sources = {
        name: OpenSource(
            declared,
            clock,
            secrets=_secrets(declared.source, configured[name]),
            networks=configured[name].networks,
            settings=configured[name].settings,
            rates=SourceRates(
                of_source=_rate(configured[name].rate),
                of_address=_rate(configured[name].address_rate),
            ),
        )
        for name, declared in catalogue.webhooks.items()
    }
    for name, source in sources.items():
        found, contract = configured[name], source.contract
        usual = msgspec.json.encode((contract.rate_of_source, contract.rate_of_address)).decode()
        rates = found.rate, found.address_rate, usual
        source.buckets = carried.same(partial(_buckets, source), "source", name, *rates)
    return sources


def open_group_commit(
    inbox: Inbox, on_stored: Callable[[], None], stack: AsyncExitStack
) -> GroupCommit:
    """The group commit. `stack` closes it before the store, so that waiting messages are stored."""
    group_commit = GroupCommit(inbox, on_stored)
    stack.push_async_callback(group_commit.close)
    return group_commit


def _with_secrets(
    source: WebhookSource,
    found: SourceSettings,
    settings: Settings,
    connections: Mapping[str, UpstreamConnection],
) -> SourceSettings:
    if found.problem is not None:
        raise ConfigurationError(found.problem)
    if found.secrets or not _is_mocked(source.provider, connections):
        return found
    created = {
        profile.name: (Secret(made_secret(settings.data, source.provider, profile)),)
        for profile in source.profiles
    }
    tenants = {each.name: (_ONLY_TENANT,) for each in source.profiles if each.tenant is not None}
    return replace(found, secrets=created, tenants=tenants)


def _is_mocked(provider: str, connections: Mapping[str, UpstreamConnection]) -> bool:
    """Whether no real sender is possible: the provider's upstream is not live or, if the provider
    has no upstream, none is live."""
    own = connections.get(provider)
    candidates = [own] if own else connections.values()
    return not any(connection.backend_name == "live" for connection in candidates)


def _buckets(source: OpenSource) -> SourceBuckets:
    return source.buckets


def _secrets(source: WebhookSource, configured: SourceSettings) -> dict[str, ProfileSecrets]:
    """What the operator has set for each profile, by name."""
    found: dict[str, ProfileSecrets] = {}
    for profile in source.profiles:
        secrets = configured.secrets.get(profile.name, ())
        tenants = configured.tenants.get(profile.name) or ("",) * len(secrets)
        keys: dict[str, list[bytes]] = {}
        for tenant, secret in zip(tenants, secrets, strict=True):
            keys.setdefault(tenant, []).append(profile.authentication.key_of(secret.reveal()))
        challenge = configured.challenge_secrets.get(profile.name, ())
        found[profile.name] = ProfileSecrets(
            keys=keys, challenge=tuple(secret.reveal() for secret in challenge)
        )
    return found


def open_endpoint(
    sources: Mapping[str, OpenSource],
    group_commit: GroupCommit,
    clock: Clock,
    foundation: Foundation,
    settings: Settings,
) -> WebhookEndpoint:
    """What receives webhooks and counts them, with a span for each if something makes spans."""
    spans, observe = foundation.spans(settings), foundation.metrics.webhooks.arrived
    if spans is None:
        ingest = Ingest(sources, group_commit, clock, observe)
    else:
        ingest = TracedIngest(sources, group_commit, clock, observe, spans=spans)
    return WebhookEndpoint(ingest, settings.public_url, settings.max_webhook_bytes)


def _rate(per_second: int | None) -> Rate | None:
    """The rate of a setting, with a burst like the usual one."""
    return None if per_second is None else Rate(per_second, 10 * per_second)
