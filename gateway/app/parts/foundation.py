"""The parts that last as long as the process, whatever is reloaded."""

import asyncio
import hashlib
import logging
from collections.abc import Callable, Hashable
from contextlib import AsyncExitStack
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakValueDictionary

import msgspec

from gateway.app.parts.tracing import spans_of
from gateway.audit.facts import ObserveCall, OperatorRequest
from gateway.audit.log import AuditLog, log_calls, log_nothing
from gateway.audit.writebehind import BatchConfig
from gateway.auth.authenticate import Authenticator
from gateway.auth.keys import ADMINISTRATOR, Keys, NewKey
from gateway.auth.principal import LOCAL_SUBJECT, Principal
from gateway.bounds.rates import Rate, Throttle, ThrottleLimits
from gateway.calls.guard import SharedBreakers
from gateway.catalogue import Catalogue
from gateway.clock import Clock
from gateway.errors import ConfigurationError
from gateway.installed import install_command
from gateway.job_policy import WorkPolicy
from gateway.observability.defects import DefectHandler
from gateway.observability.metrics import GatewayMetrics
from gateway.observability.spans import Spans
from gateway.settings import Secret, Settings, UpstreamSettings
from gateway.store.reserving import ReservedUsage
from gateway.store.sql.engine import open_store, store_beside
from gateway.store.sql.store import SqlStore
from gateway.store.usage import UsageStore
from gateway.threads import in_thread
from gateway.transports.http.asgi import new_request_id
from gateway.transports.http.problems import classify
from gateway.transports.mcp.asking import OpenQuestions

if TYPE_CHECKING:
    from gateway.observability.sentry import SentryReports

# The store, and the audit log that writes to it.


async def open_storage(
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


def _config(settings: Settings) -> BatchConfig:
    return BatchConfig(
        flush_seconds=settings.audit_flush_seconds,
        batch_records=settings.audit_batch_records,
        queue_records=settings.audit_queue_records,
    )


def open_usage(
    settings: Settings, store: SqlStore, clock: Clock, stack: AsyncExitStack
) -> ReservedUsage:
    """The counters of limits: in Redis, if there is one. Raises `ConfigurationError`."""
    usage = ReservedUsage(_shared_usage(settings, store, stack), clock)
    stack.push_async_callback(usage.close)
    return usage


def _shared_usage(settings: Settings, store: SqlStore, stack: AsyncExitStack) -> UsageStore:
    if settings.redis_url is None:
        return store.usage
    try:
        return _in_redis(settings.redis_url, store, stack)
    except ModuleNotFoundError:
        raise ConfigurationError(
            "redis_url is set, but the package redis is not installed; run "
            f"`{install_command('redis')}`, or remove the setting"
        ) from None


def _in_redis(url: Secret, store: SqlStore, stack: AsyncExitStack) -> UsageStore:
    from gateway.store.redis import RedisUsage  # noqa: PLC0415 - needs an optional package

    usage = RedisUsage(url.reveal(), store.name)
    stack.push_async_callback(usage.close)
    return usage


# What the next generation continues with: what calls hold, and what they have learnt.

_T = TypeVar("_T")


class Carried:
    """Objects that generations share if they would make them alike.

    Each object lasts as long as a generation uses it. So a reload that is refused changes nothing.
    """

    def __init__(self) -> None:
        self._objects: WeakValueDictionary[Hashable, Any] = WeakValueDictionary()

    def same(self, make: Callable[[], _T], *key: Hashable) -> _T:
        """The object that another generation made for `key`, else what `make` returns.

        `key` names the object and all that it depends on.
        """
        found: _T | None = self._objects.get(key)
        if found is None:
            found = self._objects[key] = make()
        return found


def likeness(found: UpstreamSettings) -> bytes:
    """Equal if the settings of two upstreams are equal. Nothing can be read from it."""
    credentials = {name: secret.reveal() for name, secret in found.credentials.items()}
    urls = found.base_url, found.token_url
    facts = found.name, found.backend, urls, credentials, dict(found.settings)
    text = msgspec.json.encode(facts, order="deterministic")
    return hashlib.blake2b(text, digest_size=16).digest()


# Builds what identifies callers, and makes the first administrator's key.


def open_authenticator(settings: Settings, clock: Clock, store: SqlStore) -> Authenticator:
    """The authenticator of callers, with the limits of clients without a key."""
    return Authenticator(store.keys, clock, _throttle(settings, clock))


def open_keys(
    clock: Clock, store: SqlStore, catalogue: Catalogue, authenticator: Authenticator
) -> Keys:
    """The keys of the agents in `catalogue`."""
    return Keys(store.keys, clock, catalogue.grants.keys(), authenticator.invalidate)


async def bootstrap(keys: Keys, audit: AuditLog, settings: Settings) -> NewKey | None:
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


def report_defects(settings: Settings, dsn: Secret, stack: AsyncExitStack) -> None:
    """Report defects to the project of `dsn` until `stack` ends. Raises `ConfigurationError`."""
    try:
        reports = _opened(settings, dsn)
    except ImportError:
        raise ConfigurationError(
            "sentry_dsn: Sentry's SDK is not installed; run "
            f"`{install_command('sentry')}`, or remove the setting"
        ) from None
    # It waits for Sentry, so it must not stop the event loop.
    stack.push_async_callback(partial(asyncio.to_thread, reports.close))
    handler = DefectHandler(reports.send)
    root = logging.getLogger()
    # The first one: the line that others write of the same record has the id of the report.
    root.handlers.insert(0, handler)
    stack.callback(root.removeHandler, handler)


def _opened(settings: Settings, dsn: Secret) -> "SentryReports":
    from gateway.observability.sentry import (  # noqa: PLC0415 - it is optional
        SentryProject,
        open_sentry,
    )

    release = f"contract-gateway@{version('contract-gateway')}"
    return open_sentry(
        SentryProject(dsn=dsn.reveal(), service=settings.server_name, release=release)
    )


class Foundation:
    """The database, the audit log, the metrics and the limits of unknown clients.

    The first gateway on it opens them. Gateways after it share them, also while the first one ends
    its calls. `stack` closes them.
    """

    def __init__(self, stack: AsyncExitStack) -> None:
        self.stack = stack
        self.metrics = GatewayMetrics(version("contract-gateway"))
        self.carried = Carried()
        self.shared_breakers: dict[str, SharedBreakers] = {}
        """By the URL of their Redis."""
        self.questions = OpenQuestions()
        """What MCP clients are asked. A call of one generation is answered in another one."""
        self._storage: tuple[SqlStore, AuditLog] | None = None
        self._authenticator: Authenticator | None = None
        self._spans: Spans | None = None
        self._reports_defects = False

    @property
    def is_open(self) -> bool:
        """Whether a gateway has opened the database."""
        return self._storage is not None

    async def storage(
        self, settings: Settings, clock: Clock, policy: WorkPolicy
    ) -> tuple[SqlStore, AuditLog]:
        """The store, with the entities of the generated package as it is now, and the audit log.

        Raises `StoreError`.
        """
        if self._storage is not None:
            store, audit = self._storage
            beside = await in_thread(partial(store_beside, store, settings.package, policy))
            return beside, audit
        observe = self.metrics.calls.of_operation
        self._storage = await open_storage(settings, clock, self.stack, policy, observe)
        return self._storage

    def authenticator(self, settings: Settings, clock: Clock, store: SqlStore) -> Authenticator:
        """The authenticator of callers."""
        if self._authenticator is None:
            self._authenticator = open_authenticator(settings, clock, store)
        return self._authenticator

    def spans(self, settings: Settings) -> Spans | None:
        """What makes spans, or None without `trace_endpoint`. Raises `ConfigurationError`."""
        if self._spans is None and settings.trace_endpoint is not None:
            self._spans = spans_of(settings, self.stack)
        return self._spans

    def report_defects(self, settings: Settings) -> None:
        """Report defects from now on, if there is a `sentry_dsn`. Raises `ConfigurationError`."""
        if settings.sentry_dsn is not None and not self._reports_defects:
            report_defects(settings, settings.sentry_dsn, self.stack)
            self._reports_defects = True
