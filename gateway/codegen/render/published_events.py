"""What senders and subscribers read: webhooks and events in `openapi.json`, `asyncapi.json`."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from gateway.codegen.ir import Contracts, EventContract, WebhookContract
from gateway.codegen.render.artifact import Artifact, document
from gateway.signatures.registry import scheme_of
from gateway.signatures.scheme import SignatureScheme

CLOUD_EVENT: Final = "application/cloudevents+json"


def webhook_paths(contracts: Contracts) -> dict[str, Any]:
    """The paths of webhooks, each with the headers that prove who sends."""
    return {webhook.route: _path_item(webhook) for webhook in contracts.webhooks}


def event_items(contracts: Contracts) -> dict[str, Any]:
    """The member `webhooks`: what subscribers receive, by type."""
    return {each.event.type: each.path_item for each in contracts.events}


def security_schemes(contracts: Contracts) -> dict[str, Any]:
    """The schemes that paths of webhooks name."""
    return dict(entry for webhook in contracts.webhooks for entry in _security(webhook))


def asyncapi_json(contracts: Contracts) -> Artifact:
    """`asyncapi.json`: every event as a channel of `GET /events` (AsyncAPI 3.0.0)."""
    info = contracts.index.document["info"]
    return document(
        "asyncapi.json",
        {
            "asyncapi": "3.0.0",
            "info": {
                "title": info["title"],
                "version": info["version"],
                "description": "Events of the gateway, as Server-Sent Events from `GET /events`.",
            },
            "defaultContentType": CLOUD_EVENT,
            "channels": {each.event.type: _channel(each) for each in contracts.events},
            "operations": {
                f"publish.{each.event.type}": _operation(each) for each in contracts.events
            },
        },
    )


def _path_item(webhook: WebhookContract) -> dict[str, Any]:
    post = webhook.path_item["post"]
    headers = dict(_headers(webhook))
    # Where several profiles are open, a sender shows the headers of one of them.
    is_only_way = len(webhook.x_webhook["profiles"]) == 1
    parameters = [
        {
            "name": name,
            "in": "header",
            "required": is_only_way,
            "description": about,
            "schema": {"type": "string"},
        }
        for name, about in headers.items()
    ]
    shown = {**post, "parameters": parameters}
    named = dict(_security(webhook))
    if named:
        shown["security"] = [{}, *({name: []} for name in named)]
    return {**webhook.path_item, "post": shown}


def _security(webhook: WebhookContract) -> Iterator[tuple[str, Any]]:
    """The security schemes of OpenAPI that its profiles use, by name."""
    for proof in _proofs(webhook):
        if proof.security is not None:
            yield f"webhook_{proof.name}", dict(proof.security)


def _proofs(webhook: WebhookContract) -> Iterable[SignatureScheme]:
    return (scheme_of(each["proof"]) for each in webhook.x_webhook["profiles"].values())


def _headers(webhook: WebhookContract) -> Iterator[tuple[str, str]]:
    """The headers that a sender shows, with their meaning."""
    for profile in webhook.x_webhook["profiles"].values():
        shown = scheme_of(profile["proof"]).headers
        yield from shown.items()
        known = {name.lower() for name in shown}
        for place, about in (("messageId", "The message's id."), ("eventType", "What happened.")):
            header = profile.get(place, {}).get("header")
            if header is not None and header.lower() not in known:
                yield header, about


def _channel(contract: EventContract) -> dict[str, Any]:
    event = contract.event
    message = {
        "name": event.type,
        "title": event.title,
        "summary": event.description,
        "contentType": CLOUD_EVENT,
        "payload": event.schema,
        "examples": [{"name": each.name, "payload": each.value} for each in contract.examples],
    }
    return {"address": "/events", "title": event.title, "messages": {event.type: message}}


def _operation(contract: EventContract) -> dict[str, Any]:
    """The gateway sends what a client has asked for by `types`."""
    event_type = contract.event.type
    query = {"type": "object", "properties": {"types": {"type": "string", "const": event_type}}}
    return {
        "action": "send",
        "channel": {"$ref": f"#/channels/{event_type}"},
        "messages": [{"$ref": f"#/channels/{event_type}/messages/{event_type}"}],
        "bindings": {"http": {"method": "GET", "query": query, "bindingVersion": "0.3.0"}},
    }
