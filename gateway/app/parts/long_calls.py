"""Calls that become jobs: who stores them, who runs them, and who shows them to their owners."""

import os
import socket
from collections.abc import Callable, Mapping
from functools import partial

from msgspec import Struct

from gateway.audit.log import AuditLog
from gateway.auth.principal import LOCAL_SUBJECT, Principal
from gateway.calls.jobs.accepting import AdoptedCalls, AdoptingParts, LongCallParts, LongCalls
from gateway.calls.jobs.owned import OwnedJobs
from gateway.calls.jobs.running import RunningJobs, TaskRun, TaskRunParts
from gateway.calls.jobs.watching import JobWatches
from gateway.calls.pipeline import Pipeline
from gateway.calls.sending import UpstreamConnection
from gateway.catalogue import Catalogue
from gateway.clock import Clock
from gateway.job_policy import WorkPolicy
from gateway.jobs.completer import JobCompleter, OnDead, OnSettled
from gateway.observability.metrics import JobMetrics
from gateway.observability.spans import Spans
from gateway.settings import Settings
from gateway.store.protocols import KeyStore, Store
from gateway.transports.http.problems import classify, described
from gateway.webhooks.source import OpenSource


class LongWork(Struct, frozen=True, kw_only=True):
    """The parts of long calls."""

    parts: LongCallParts
    owned: OwnedJobs

    def of(self, pipeline: Pipeline, *, has_worker: bool = True) -> LongCalls:
        """Long calls through `pipeline`."""
        identification = pipeline.identification
        return LongCalls(pipeline.invoke, identification, self.parts, has_worker=has_worker)


class WorkDependencies(Struct, frozen=True):
    """What the background work needs."""

    settings: Settings
    clock: Clock
    catalogue: Catalogue
    store: Store
    connections: Mapping[str, UpstreamConnection]
    pipeline: Pipeline
    policy: WorkPolicy
    sources: Mapping[str, OpenSource]
    """The sources of webhooks by provider."""
    audit: AuditLog
    metrics: JobMetrics
    spans: Spans | None = None
    """What makes a span of each attempt of a job. None: nothing does."""


def open_task_run(dependencies: WorkDependencies, watches: JobWatches) -> TaskRun:
    """What workers do with the jobs of long calls."""
    store = dependencies.store
    return TaskRun(
        TaskRunParts(
            tasks=store.tasks,
            invoke=dependencies.pipeline.invoke,
            describe=described,
            classify=classify,
            may_act=partial(_may_act, store.keys),
            running=RunningJobs(watches.wake),
            policy=dependencies.policy.jobs["task"],
        )
    )


class Background(Struct, frozen=True):
    """What the background work gives to long calls."""

    on_dead: OnDead
    on_settled: OnSettled
    wake: Callable[[], None]
    watches: JobWatches


def build_long_work(
    dependencies: WorkDependencies, run: TaskRun, background: Background
) -> LongWork:
    """Build the parts. `run` is what workers do with the jobs."""
    store, running = dependencies.store, run.running
    adopting = AdoptingParts(
        queue=store.queue,
        tasks=store.tasks,
        completer=JobCompleter(store.queue, background.on_dead, background.on_settled),
        describe=described,
        running=running,
        name=process_name(),
        policy=dependencies.policy,
    )
    operations = (entry.operation for entry in dependencies.catalogue.entries)
    parts = LongCallParts(
        operations={each.id: each for each in operations if each.task != "never"},
        tasks=store.tasks,
        limits=dependencies.pipeline.limits,
        adopted=AdoptedCalls(adopting),
        clock=dependencies.clock,
        wake=background.wake,
        on_report=background.watches.wake,
        after_seconds=dependencies.policy.job_after_seconds,
    )
    owned = OwnedJobs(
        store.tasks,
        dependencies.audit,
        described,
        running,
        background.wake,
        background.watches,
    )
    return LongWork(parts=parts, owned=owned)


async def _may_act(keys: KeyStore, principal: Principal) -> bool:
    """Whether the key of the principal is not revoked. Callers in this process have none."""
    return principal.subject == LOCAL_SUBJECT or await keys.is_valid(principal.subject)


def process_name() -> str:
    """The name of this process in claims. A fork has another one."""
    return f"{socket.gethostname()}:{os.getpid()}"
