"""What decides an event's maps, picked from lowered contracts."""

from collections.abc import Mapping
from typing import Any

from gateway.codegen.eventmap.nodes import EventBasis, Schema
from gateway.codegen.ir import Contracts, PayloadContract, WebhookContract


def basis_of(
    webhook: WebhookContract, payload: PayloadContract, contracts: Contracts
) -> EventBasis:
    """The basis of one event: what it names, and nothing else."""
    rules = payload.rules
    kinds = kinds_named(rules)
    tools = {each["tool"] for each in rules.get("notifications", ())}
    emitted = rules.get("emits", {}).get("event")
    upstream = rules.get("fetch", {}).get("upstream")
    return EventBasis(
        name=f"{webhook.provider}.{payload.type}",
        type=payload.type,
        rules=rules,
        payload=payload.schema,
        siblings={each.type: each.schema for each in webhook.payloads if _derives(rules, each)},
        settings=setting_schemas(webhook.x_webhook),
        empty_settings=empty_settings(webhook.x_webhook),
        entities={
            each.entity.kind: {**each.entity.schema, "x-entity": {"key": each.entity.key}}
            for each in contracts.entities
            if each.entity.kind in kinds
        },
        events={
            each.event.type: each.event.schema
            for each in contracts.events
            if each.event.type == emitted
        },
        tools={each.id: each.input_schema for each in contracts.tools if each.id in tools},
        upstream=next(
            (each.upstream for each in contracts.upstreams if each.upstream.name == upstream), None
        ),
    )


def kinds_named(value: Any) -> frozenset[str]:
    """The kinds of rows that the rules of an event write or refer to."""
    if isinstance(value, list):
        return frozenset().union(*map(kinds_named, value))
    if not isinstance(value, dict):
        return frozenset()
    own = {value[word] for word in ("entity", "ref") if isinstance(value.get(word), str)}
    return frozenset(own).union(*map(kinds_named, value.values()))


def setting_schemas(x_webhook: Mapping[str, Any]) -> dict[str, Schema]:
    """What the values of a source's settings look like, by name."""
    rules = x_webhook.get("settings", {})
    return {
        name: {"type": "string", "pattern": rule["pattern"], "minLength": 1}
        for name, rule in rules.items()
    }


def empty_settings(x_webhook: Mapping[str, Any]) -> frozenset[str]:
    """The settings of a source that have no text unless the operator gives one."""
    rules = x_webhook.get("settings", {})
    return frozenset(name for name, rule in rules.items() if not rule.get("default"))


def _derives(rules: Mapping[str, Any], payload: PayloadContract) -> bool:
    return any(each["event"] == payload.type for each in rules.get("derives", ()))
