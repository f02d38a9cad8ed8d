"""The settings that a running gateway cannot change."""

from typing import Final

from gateway.errors import ConfigurationError
from gateway.settings import Settings
from gateway.settings.secret import Secret

FIXED: Final = (
    "host",
    "port",
    "data",
    "database_url",
    "redis_url",
    "schemas",
    "package",
    "handler_packages",
    "trusted_proxies",
    "max_connections",
    "max_connections_per_address",
    "max_connects_per_second",
    "max_bodies_bytes",
    "max_unauthenticated_body_bytes",
    "max_webhook_bytes",
    "unauthenticated_requests_per_second",
    "all_unauthenticated_requests_per_second",
    "audit_flush_seconds",
    "audit_batch_records",
    "audit_queue_records",
    "log_calls",
    "trace_endpoint",
    "trace_sample",
    "sentry_dsn",
    "slow_callback_seconds",
)
"""The listening socket, the database, the audit log, the limits of connections, spans, reports of
defects and the event loop use them as long as the process runs. A generation without a Redis would
not announce its writes to one that has it."""


def refuse_fixed(before: Settings, after: Settings) -> None:
    """Raise `ConfigurationError` if `after` changes a setting that only a restart can change."""
    changed = [key for key in FIXED if _value(before, key) != _value(after, key)]
    if changed:
        raise ConfigurationError(
            f"a reload cannot change {', '.join(changed)}; restart the gateway, or set the old"
            " values again"
        )


def _value(settings: Settings, key: str) -> object:
    found = getattr(settings, key)
    return found.reveal() if isinstance(found, Secret) else found
