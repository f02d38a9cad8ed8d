"""Opens the store, and the audit log that writes to it."""

from contextlib import AsyncExitStack

from gateway.audit.facts import ObserveCall
from gateway.audit.log import AuditLog, log_calls, log_nothing
from gateway.audit.writebehind import BatchConfig
from gateway.clock import Clock
from gateway.errors import ConfigurationError
from gateway.installed import install_command
from gateway.job_policy import WorkPolicy
from gateway.settings import Secret, Settings
from gateway.store.reserving import ReservedUsage
from gateway.store.sql.engine import open_store
from gateway.store.sql.store import SqlStore
from gateway.store.usage import UsageStore
from gateway.transports.http.problems import classify


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
