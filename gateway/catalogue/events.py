"""The opener of what concerns events: webhooks, the events they become, and the rows they write."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from gateway.catalogue.index import CompiledEvent, CompiledWebhook
from gateway.catalogue.reading import reading, table
from gateway.contract.event import EventType
from gateway.contract.rows.entity import Entity
from gateway.contract.values.schema import Validator
from gateway.contract.webhook import WebhookSource
from gateway.errors import ContractError
from gateway.signatures.registry import SCHEMES, is_registered

Schema = dict[str, Any]


def open_webhooks(package: str, folder: Path) -> dict[str, CompiledWebhook]:
    """The sources by provider. Raises `ContractError`."""
    sources = table(package, "webhooks", "WEBHOOKS", WebhookSource)
    for source in sources:
        _check_schemes(source)
    path = folder / "webhooks.json"
    with reading(path):
        schemas = msgspec.json.decode(path.read_bytes(), type=dict[str, dict[str, Schema]])
        return {source.provider: _webhook(source, schemas) for source in sources}


def _check_schemes(source: WebhookSource) -> None:
    """Raise `ContractError` for a proof that nothing here could verify."""
    for profile in source.profiles:
        if not is_registered(profile.proof):
            place = f"/post/x-webhook/profiles/{profile.name}/proof/scheme"
            raise ContractError(
                f"webhooks/{source.provider}/webhook.yaml: {place}:"
                f" {type(profile.proof).__name__} is no signature scheme of this gateway; name one"
                f" of {', '.join(SCHEMES)}, and then run `gateway generate`"
            )


def _webhook(source: WebhookSource, schemas: Mapping[str, Mapping[str, Schema]]) -> CompiledWebhook:
    payloads = schemas.get(source.provider, {})
    lost = [event.type for event in source.events if event.type not in payloads]
    if lost:
        raise LookupError(f"there is no payload schema for {source.provider}.{lost[0]}")
    validators = {event.type: Validator(payloads[event.type]) for event in source.events}
    return CompiledWebhook(source, validators)


def open_events(path: Path) -> dict[str, CompiledEvent]:
    """The types of events by name. Raises `ContractError`."""
    with reading(path):
        found = msgspec.json.decode(path.read_bytes(), type=dict[str, EventType])
        return {
            name: CompiledEvent(event, Validator(event.schema)) for name, event in found.items()
        }


def open_entities(path: Path) -> dict[str, Entity]:
    """The kinds of rows by name. Raises `ContractError`."""
    with reading(path):
        found = msgspec.json.decode(path.read_bytes(), type=dict[str, Entity])
        for entity in found.values():
            # The reader of the columns compiles them again, and could not name the file.
            Validator(entity.schema)
        return found
