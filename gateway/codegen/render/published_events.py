"""What senders and subscribers read: webhooks and events in `openapi.json`, `asyncapi.json`."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gateway.codegen.ir import Contracts, EventContract, WebhookContract
from gateway.codegen.render.artifact import Artifact, document

BASIC: Final = "webhook_basic"
"""The name of the security scheme of senders with a user and a password."""
CLOUD_EVENT: Final = "application/cloudevents+json"
_STANDARD: Final[Mapping[str, str]] = {
    "webhook-id": "The message's id: the same whenever it is sent again.",
    "webhook-timestamp": "When it was sent, in seconds since 1970.",
    "webhook-signature": "`v1,` and the base64 HMAC-SHA256 of id, timestamp and body; several are"
    " separated by blanks.",
}


def webhook_paths(contracts: Contracts) -> dict[str, Any]:
    """The paths of webhooks, each with the headers that prove who sends."""
    return {webhook.route: _path_item(webhook) for webhook in contracts.webhooks}


def event_items(contracts: Contracts) -> dict[str, Any]:
    """The member `webhooks`: what subscribers receive, by type."""
    return {each.event.type: each.path_item for each in contracts.events}


def security_schemes(contracts: Contracts) -> dict[str, Any]:
    """The schemes that paths of webhooks name."""
    if not any(map(_has_basic, contracts.webhooks)):
        return {}
    about = "The user and the password that the operator has agreed with the sender."
    return {BASIC: {"type": "http", "scheme": "basic", "description": about}}


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
    if _has_basic(webhook):
        shown["security"] = [{}, {BASIC: []}]
    return {**webhook.path_item, "post": shown}


def _has_basic(webhook: WebhookContract) -> bool:
    profiles = webhook.x_webhook["profiles"].values()
    return any(each["proof"]["scheme"] == "basic" for each in profiles)


def _headers(webhook: WebhookContract) -> Iterator[tuple[str, str]]:
    """The headers that a sender shows, with their meaning."""
    for profile in webhook.x_webhook["profiles"].values():
        proof = profile["proof"]
        if proof["scheme"] == "standard":
            yield from _STANDARD.items()
        if proof["scheme"] == "hmac":
            yield from _signature(proof)
        for place, about in (("messageId", "The message's id."), ("eventType", "What happened.")):
            header = profile.get(place, {}).get("header")
            if header is not None and header.lower() not in _STANDARD:
                yield header, about


def _signature(proof: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    algorithm, encoding = proof.get("algorithm", "sha256"), proof.get("encoding", "hex")
    prefix = f"`{proof['prefix']}` and the " if proof.get("prefix") else "The "
    signed = "timestamp, a full stop and the body" if "timestampHeader" in proof else "the body"
    yield proof["header"], f"{prefix}{encoding} HMAC-{algorithm.upper()} of {signed}."
    if "timestampHeader" in proof:
        yield proof["timestampHeader"], "When it was sent, in seconds since 1970."


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
