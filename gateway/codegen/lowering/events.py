"""Converts webhooks, events and entities of a linted tree to records."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from gateway.codegen.ir import (
    EntityContract,
    EventContract,
    PayloadContract,
    WebhookContract,
)
from gateway.codegen.lowering.clients import for_clients
from gateway.codegen.lowering.parts import examples_of, model_at, source_of
from gateway.codegen.lowering.sharing import model, published
from gateway.contract.event import EventType
from gateway.contract.rows.entity import Entity, EntityRules
from gateway.contract.values.pointers import child, follow
from gateway.contracts.names import camel, payload_stem
from gateway.contracts.sources.document import Document
from gateway.contracts.sources.expanding import dereference
from gateway.contracts.sources.refs import closure
from gateway.contracts.sources.tree import EventFile, SourceTree, WebhookFile

CLOUD_EVENT: Final = "/requestBody/content/application~1cloudevents+json"


def lower_entity(tree: SourceTree, kind: str, document: Document) -> EntityContract:
    """The entity that `document` describes."""
    path, facts = document.path, document.value["x-entity"]
    return EntityContract(
        entity=Entity(
            kind=kind,
            key=tuple(facts["key"]),
            filters=tuple(facts["filters"]),
            schema=for_clients(dereference(tree, path)),
            rules=rules_in(facts),
        ),
        model=model(tree, camel(kind), path),
        source=source_of(tree, path, closure(tree, path)),
    )


def rules_in(facts: Mapping[str, Any]) -> EntityRules:
    """The rules of an `x-entity` besides key, filters and tools."""
    rules = {
        name: value for name, value in facts.items() if name not in {"key", "filters", "tools"}
    }
    return msgspec.convert(rules, EntityRules)


def lower_event(tree: SourceTree, event: EventFile) -> EventContract:
    """The type of event that the file `event` describes."""
    operation = event.document.value["post"]
    path_item, components = published(tree, event.path)
    schema = dereference(tree, event.path, f"/post{CLOUD_EVENT}/schema")
    return EventContract(
        event=EventType(
            type=event.type,
            title=operation["summary"],
            description=operation["description"].strip(),
            schema=for_clients(schema),
        ),
        model=model_at(tree, event.path, camel(event.path.stem), f"/post{CLOUD_EVENT}/schema"),
        path_item=for_clients(path_item),
        components={name: for_clients(each) for name, each in components.items()},
        examples=tuple(examples_of(follow(operation, CLOUD_EVENT))),
        source=source_of(tree, event.path, closure(tree, event.path)),
    )


def lower_webhook(tree: SourceTree, webhook: WebhookFile) -> WebhookContract:
    """The webhook that the file `webhook` describes."""
    operation = webhook.document.value["post"]
    path_item, components = published(tree, webhook.path)
    return WebhookContract(
        provider=webhook.provider,
        title=operation["summary"],
        description=operation["description"].strip(),
        x_webhook=webhook.rules,
        payloads=tuple(_payload(tree, webhook, name) for name in webhook.rules["events"]),
        path_item=for_clients(path_item),
        components={name: for_clients(each) for name, each in components.items()},
        source=source_of(tree, webhook.path, closure(tree, webhook.path)),
    )


def _payload(tree: SourceTree, webhook: WebhookFile, event_type: str) -> PayloadContract:
    pointer = child("/post/x-webhook/events", event_type)
    return PayloadContract(
        type=event_type,
        schema=for_clients(dereference(tree, webhook.path, f"{pointer}/payload")),
        model=model_at(tree, webhook.path, camel(payload_stem(event_type)), f"{pointer}/payload"),
    )
