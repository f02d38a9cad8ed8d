"""Types of published events (CloudEvents 1.0), as their contracts declare them."""

from typing import Any, Final

from msgspec import Struct

SPEC_VERSION: Final = "1.0"
TRACEPARENT: Final = "traceparent"
"""The attribute of CloudEvents' extension for distributed tracing."""
TRACEPARENT_PATTERN: Final = "^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$"
"""Each value that the gateway writes."""
DEAD_LETTERED: Final = "gateway.webhook.dead_lettered.v1"
QUARANTINED: Final = "gateway.webhook.quarantined.v1"
CONFLICTED: Final = "gateway.webhook.conflicted.v1"
JOB_COMPLETED: Final = "gateway.job.completed.v1"
JOB_FAILED: Final = "gateway.job.failed.v1"
CONTRACT_CHANGED: Final = "gateway.contract.changed.v1"
ENDPOINT_DISABLED: Final = "gateway.endpoint.disabled.v1"
ENDPOINT_TESTED: Final = "gateway.endpoint.tested.v1"
"""Sent to one endpoint when its operator tests it. It is never in the event log."""


class EventType(Struct, frozen=True, kw_only=True):
    """A type of event. One member of `events.json`."""

    type: str
    title: str
    description: str
    schema: dict[str, Any]
    """JSON Schema of the whole CloudEvent in the structured JSON format, without references."""

    @property
    def data(self) -> dict[str, Any]:
        """JSON Schema of the event's data. It is empty if that is not one member of `schema`."""
        found = self.schema.get("properties", {}).get("data")
        return found if isinstance(found, dict) else {}


def is_type_meant(pattern: str, event_type: str) -> bool:
    """Whether `pattern` matches `event_type`. It is a type, or a prefix followed by `*`."""
    if pattern.endswith("*"):
        return event_type.startswith(pattern[:-1])
    return event_type == pattern
