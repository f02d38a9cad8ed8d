"""The composition root: every object behind the doors is built here, once, in reading order."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import partial

from msgspec import Struct

from gateway.assembly.ingest import open_arrivals, open_webhook_door, webhook_secrets
from gateway.assembly.mocks import MockSenders, mock_senders
from gateway.assembly.upstreams import open_lines
from gateway.assembly.work import Grounds, Work, build_work
from gateway.audit.log import AuditLog
from gateway.audit.writebehind import Pace
from gateway.auth.authenticate import Authenticator
from gateway.auth.authorize import Policy
from gateway.auth.keys import Keys, NewKey
from gateway.auth.principal import Identification
from gateway.calls.admission import Admission
from gateway.calls.cache import ReadCache
from gateway.calls.dispatch import Dispatcher
from gateway.calls.pipeline import Pipeline
from gateway.calls.sending import Line
from gateway.catalogue import Catalogue, open_catalogue
from gateway.clock import Clock
from gateway.settings import Secret, Settings
from gateway.store.base import Store
from gateway.store.engine import open_store
from gateway.store.workspace import Workspace
from gateway.transports.problems import classify
from gateway.transports.webhooks import WebhookDoor


class Parts(Struct, frozen=True, kw_only=True):
    """What a running gateway is made of."""

    catalogue: Catalogue
    lines: Mapping[str, Line]
    """By upstream."""
    workspaces: Mapping[str, Workspace]
    """By the upstream in whose place they stand."""
    store: Store
    keys: Keys
    identification: Identification
    policy: Policy
    audit: AuditLog
    pipeline: Pipeline
    new_key: NewKey | None
    """The administrator's key, when this start made one: to be shown once."""
    work: Work
    webhook_door: WebhookDoor
    mock_senders: MockSenders


async def assemble(
    settings: Settings,
    clock: Clock,
    stack: AsyncExitStack,
    grants: Mapping[str, frozenset[str]] | None = None,
) -> Parts:
    """Build everything; `stack` closes it in reverse order. `grants` replace the policies'.

    Raises an `OperatorError` when a setting, a contract or the store is unfit.
    """
    catalogue = open_catalogue(settings.package)
    lines, workspaces = open_lines(catalogue, settings, clock, stack)
    store = await _store(settings, clock, stack)
    audit = _audit(store, settings, clock, stack)
    authenticator = Authenticator(store.keys, clock)
    keys = Keys(store.keys, clock, catalogue.grants.keys(), authenticator.forget)
    policy = Policy(catalogue.grants if grants is None else grants)
    pipeline = Pipeline(
        identification=authenticator,
        catalogue=catalogue,
        policy=policy,
        admission=Admission(settings.max_concurrent_calls),
        cache=ReadCache(clock),
        dispatcher=Dispatcher(lines, clock, store.entities),
        audit=audit,
    )
    work = build_work(Grounds(settings, clock, catalogue, store, lines, pipeline), stack)
    secrets = webhook_secrets(catalogue, settings, lines)
    arrivals = open_arrivals(store.inbox, work.wake, stack)
    return Parts(
        catalogue=catalogue,
        lines=lines,
        workspaces=workspaces,
        store=store,
        keys=keys,
        identification=authenticator,
        policy=policy,
        audit=audit,
        pipeline=pipeline,
        new_key=await keys.bootstrap(_revealed(settings.bootstrap_key), settings.data),
        work=work,
        webhook_door=open_webhook_door(catalogue, settings, secrets, arrivals, clock),
        mock_senders=partial(mock_senders, catalogue, lines, secrets, clock),
    )


async def _store(settings: Settings, clock: Clock, stack: AsyncExitStack) -> Store:
    store = await open_store(settings.database, settings.package, clock)
    stack.push_async_callback(store.close)
    return store


def _audit(store: Store, settings: Settings, clock: Clock, stack: AsyncExitStack) -> AuditLog:
    audit = AuditLog(store.audit, clock, classify, _pace(settings))
    stack.push_async_callback(audit.close)
    return audit


def _revealed(secret: Secret | None) -> str | None:
    return None if secret is None else secret.reveal()


def _pace(settings: Settings) -> Pace:
    return Pace(
        flush_seconds=settings.audit_flush_seconds,
        batch_records=settings.audit_batch_records,
        queue_records=settings.audit_queue_records,
    )
