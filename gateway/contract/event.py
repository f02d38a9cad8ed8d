"""An event as its contract declares it: what the gateway publishes, as CloudEvents 1.0."""

from typing import Any, Final

from msgspec import Struct

SPEC_VERSION: Final = "1.0"
DEAD_LETTERED: Final = "gateway.webhook.dead_lettered.v1"
QUARANTINED: Final = "gateway.webhook.quarantined.v1"
CONFLICTED: Final = "gateway.webhook.conflicted.v1"
JOB_COMPLETED: Final = "gateway.job.completed.v1"
JOB_FAILED: Final = "gateway.job.failed.v1"
CONTRACT_CHANGED: Final = "gateway.contract.changed.v1"
ENDPOINT_DISABLED: Final = "gateway.endpoint.disabled.v1"
ENDPOINT_TESTED: Final = "gateway.endpoint.tested.v1"
"""Sent to one endpoint at its operator's wish; it never is in the log."""


class EventType(Struct, frozen=True, kw_only=True):
    """A type of event. One member of `events.json`."""

    type: str
    title: str
    description: str
    schema: dict[str, Any]
    """Of the whole CloudEvent in the structured JSON format; self-contained."""


def is_type_meant(pattern: str, event_type: str) -> bool:
    """Whether `pattern`, a type or a prefix that ends with `*`, means `event_type`."""
    if pattern.endswith("*"):
        return event_type.startswith(pattern[:-1])
    return event_type == pattern
