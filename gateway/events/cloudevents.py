"""Published events in the form of CloudEvents 1.0, in the structured JSON format."""

from typing import Any, Final

from gateway.contract.event import SPEC_VERSION, TRACEPARENT
from gateway.contract.values import hidden, jsontext
from gateway.store.records import StoredEvent

CLOUD_EVENT: Final = "application/cloudevents+json"
"""The media type of one event."""
CLOUD_EVENTS: Final = "application/cloudevents-batch+json"
"""The media type of a list of events."""


def cloud_event(event: StoredEvent) -> dict[str, Any]:
    """The event's attributes and data (CloudEvents 1.0 §3, JSON format §3).

    An event that belongs to a trace has the `traceparent` of CloudEvents' Distributed Tracing
    extension. The stream, the MCP resource and deliveries all contain this same object.
    """
    subject = {"subject": event.subject} if event.subject else {}  # §3.1: never empty
    traced = {TRACEPARENT: event.trace} if event.trace else {}
    return {
        "specversion": SPEC_VERSION,
        "id": event.id,
        "source": event.source,
        "type": event.type,
        **subject,
        "time": event.time,
        "datacontenttype": "application/json",
        **traced,
        "data": event.data,
    }


def encode_event(event: StoredEvent) -> bytes:
    """The event as JSON text on one line, without hidden characters: the same bytes each time."""
    text = jsontext.encode(cloud_event(event))
    if not hidden.may_hide(text):
        return text
    return jsontext.encode(hidden.visible(jsontext.decode(text))[0])
