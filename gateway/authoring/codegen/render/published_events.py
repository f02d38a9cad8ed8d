"""Renders webhooks and events for `openapi.json`, and `asyncapi.json`."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from gateway.authoring.codegen.ir import Contracts, EventContract, WebhookContract
from gateway.authoring.codegen.render.artifact import Artifact, document
from gateway.authoring.codegen.render.definitions import SharedDefinitions
from gateway.signatures.registry import scheme_of
from gateway.signatures.scheme import SignatureScheme

CLOUD_EVENT: Final = "application/cloudevents+json"


def webhook_paths(contracts: Contracts) -> dict[str, Any]:
    """The paths of webhooks, with the headers that authenticate the sender."""
    return {webhook.route: _path_item(webhook) for webhook in contracts.webhooks}


def event_items(contracts: Contracts) -> dict[str, Any]:
    """The member `webhooks`: the requests to subscribers, by event type."""
    return {each.event.type: each.path_item for each in contracts.events}


def security_schemes(contracts: Contracts) -> dict[str, Any]:
    """The security schemes that the paths of webhooks name."""
    return dict(entry for webhook in contracts.webhooks for entry in _security(webhook))


def asyncapi_json(contracts: Contracts) -> Artifact:
    """`asyncapi.json`: every event as a channel of `GET /events` (AsyncAPI 3.0.0)."""
    info = contracts.index.document["info"]
    shared = SharedDefinitions()
    channels = {each.event.type: _channel(each, shared) for each in contracts.events}
    components = {"components": {"schemas": shared.found}} if shared.found else {}
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
            "channels": channels,
            "operations": {
                f"publish.{each.event.type}": _operation(each) for each in contracts.events
            },
            **components,
        },
    )


def _path_item(webhook: WebhookContract) -> dict[str, Any]:
    post = webhook.path_item["post"]
    headers = dict(_headers(webhook))
    # With several profiles, a sender sends the headers of one of them.
    is_required = len(webhook.x_webhook["profiles"]) == 1
    parameters = [
        {
            "name": name,
            "in": "header",
            "required": is_required,
            "description": about,
            "schema": {"type": "string"},
        }
        for name, about in headers.items()
    ]
    published = {**post, "parameters": parameters}
    named = dict(_security(webhook))
    if named:
        published["security"] = [{}, *({name: []} for name in named)]
    return {**webhook.path_item, "post": published}


def _security(webhook: WebhookContract) -> Iterator[tuple[str, Any]]:
    """The OpenAPI security schemes of the webhook's profiles, by name."""
    for scheme in _schemes(webhook):
        if scheme.security is not None:
            yield f"webhook_{scheme.name}", dict(scheme.security)


def _schemes(webhook: WebhookContract) -> Iterable[SignatureScheme]:
    return (scheme_of(each["authentication"]) for each in webhook.x_webhook["profiles"].values())


def _headers(webhook: WebhookContract) -> Iterator[tuple[str, str]]:
    """The headers that a sender sends, with their descriptions."""
    for profile in webhook.x_webhook["profiles"].values():
        headers = scheme_of(profile["authentication"]).headers
        yield from headers.items()
        known = {name.lower() for name in headers}
        for member, about in (("messageId", "The message's id."), ("eventType", "What happened.")):
            header = profile.get(member, {}).get("header")
            if header is not None and header.lower() not in known:
                yield header, about


def _channel(contract: EventContract, shared: SharedDefinitions) -> dict[str, Any]:
    event = contract.event
    message = {
        "name": event.type,
        "title": event.title,
        "summary": event.description,
        "contentType": CLOUD_EVENT,
        "payload": shared.without(event.schema),
        "examples": [{"name": each.name, "payload": each.value} for each in contract.examples],
    }
    return {"address": "/events", "title": event.title, "messages": {event.type: message}}


def _operation(contract: EventContract) -> dict[str, Any]:
    """The operation: the gateway sends the events that the client's query `types` names."""
    event_type = contract.event.type
    query = {"type": "object", "properties": {"types": {"type": "string", "const": event_type}}}
    return {
        "action": "send",
        "channel": {"$ref": f"#/channels/{event_type}"},
        "messages": [{"$ref": f"#/channels/{event_type}/messages/{event_type}"}],
        "bindings": {"http": {"method": "GET", "query": query, "bindingVersion": "0.3.0"}},
    }
