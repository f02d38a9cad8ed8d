"""Opens the generated webhooks, events and entities."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from gateway.catalogue.index import CompiledEvent, DeclaredSource
from gateway.catalogue.reading import reading, table
from gateway.contract.event import EventType
from gateway.contract.rows.entity import Entity
from gateway.contract.values.schema import Validator
from gateway.contract.webhook import WebhookSource
from gateway.errors import ContractError
from gateway.signatures.registry import SCHEMES, is_registered

Schema = dict[str, Any]


def open_webhooks(package: str, folder: Path) -> dict[str, DeclaredSource]:
    """The sources of webhooks by provider. Raises `ContractError`."""
    sources = table(package, "webhooks", "WEBHOOKS", WebhookSource)
    for source in sources:
        _check_schemes(source)
    path = folder / "webhooks.json"
    with reading(path):
        schemas = msgspec.json.decode(path.read_bytes(), type=dict[str, dict[str, Schema]])
        return {source.provider: _webhook(source, schemas) for source in sources}


def _check_schemes(source: WebhookSource) -> None:
    """Raise `ContractError` for a signature scheme that the gateway does not have."""
    for profile in source.profiles:
        if not is_registered(profile.authentication):
            pointer = f"/post/x-webhook/profiles/{profile.name}/authentication/scheme"
            raise ContractError(
                f"webhooks/{source.provider}/webhook.yaml: {pointer}:"
                f" {type(profile.authentication).__name__} is no signature scheme of this gateway;"
                f" name one of {', '.join(SCHEMES)}, and then run `gateway generate`"
            )


def _webhook(source: WebhookSource, schemas: Mapping[str, Mapping[str, Schema]]) -> DeclaredSource:
    payloads = schemas.get(source.provider, {})
    missing = [event.type for event in source.events if event.type not in payloads]
    if missing:
        raise LookupError(f"there is no payload schema for {source.provider}.{missing[0]}")
    validators = {event.type: Validator(payloads[event.type]) for event in source.events}
    return DeclaredSource(source, validators)


def open_events(path: Path) -> dict[str, CompiledEvent]:
    """The event types by name. Raises `ContractError`."""
    with reading(path):
        found = msgspec.json.decode(path.read_bytes(), type=dict[str, EventType])
        return {
            name: CompiledEvent(event, Validator(event.schema)) for name, event in found.items()
        }


def open_entities(path: Path) -> dict[str, Entity]:
    """The entities by name. Raises `ContractError`."""
    with reading(path):
        found = msgspec.json.decode(path.read_bytes(), type=dict[str, Entity])
        for entity in found.values():
            # The columns are compiled again when they are read. An error would not name the file.
            Validator(entity.schema)
        return found
