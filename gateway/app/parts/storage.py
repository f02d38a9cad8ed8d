"""Opens the store, and the audit log that writes to it."""

from contextlib import AsyncExitStack

from gateway.audit.facts import ObserveCall
from gateway.audit.lines import log_calls, log_nothing
from gateway.audit.log import AuditLog
from gateway.audit.writebehind import BatchConfig
from gateway.clock import Clock
from gateway.job_policy import WorkPolicy
from gateway.settings import Settings
from gateway.store.sql.engine import open_store
from gateway.store.sql.store import SqlStore
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
