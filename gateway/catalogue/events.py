"""The opener of what concerns events: webhooks, the events they become, and the rows they write."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from gateway.catalogue.index import EventContract, WebhookContract
from gateway.catalogue.reading import reading, table
from gateway.contract.entity import Entity
from gateway.contract.event import EventType
from gateway.contract.schema import Gate
from gateway.contract.webhook import WebhookSource

Schema = dict[str, Any]


def open_webhooks(package: str, folder: Path) -> dict[str, WebhookContract]:
    """The sources by provider. Raises `ContractError`."""
    sources = table(package, "webhooks", "WEBHOOKS", WebhookSource)
    path = folder / "webhooks.json"
    with reading(path):
        schemas = msgspec.json.decode(path.read_bytes(), type=dict[str, dict[str, Schema]])
        return {source.provider: _webhook(source, schemas) for source in sources}


def _webhook(source: WebhookSource, schemas: Mapping[str, Mapping[str, Schema]]) -> WebhookContract:
    payloads = schemas.get(source.provider, {})
    lost = [event.type for event in source.events if event.type not in payloads]
    if lost:
        raise LookupError(f"there is no payload schema for {source.provider}.{lost[0]}")
    gates = {event.type: Gate(payloads[event.type]) for event in source.events}
    return WebhookContract(source, gates)


def open_events(path: Path) -> dict[str, EventContract]:
    """The types of events by name. Raises `ContractError`."""
    with reading(path):
        found = msgspec.json.decode(path.read_bytes(), type=dict[str, EventType])
        return {name: EventContract(event, Gate(event.schema)) for name, event in found.items()}


def open_entities(path: Path) -> dict[str, Entity]:
    """The kinds of rows by name. Raises `ContractError`."""
    with reading(path):
        found = msgspec.json.decode(path.read_bytes(), type=dict[str, Entity])
        for entity in found.values():
            # Whoever reads the columns compiles them again, and could not name the file.
            Gate(entity.schema)
        return found
