"""Selects the contracts that determine the maps of an event."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from gateway.contract.upstream import Upstream
from gateway.mapping.events.nodes import EventBasis, Schema
from gateway.mapping.fields.analysis.scope import Tenancy


class Declared(Struct, frozen=True, kw_only=True):
    """The contracts that maps may name. Their schemas are dereferenced."""

    entities: Mapping[str, Schema]
    """Entities with their `x-entity`, by kind."""
    events: Mapping[str, Schema]
    """Schemas of published events, by type."""
    tools: Mapping[str, Schema]
    """Input schemas by operation id."""
    upstreams: Mapping[str, Upstream]


class Named(Struct, frozen=True, kw_only=True):
    """The names of contracts in the rules of an event."""

    entities: frozenset[str]
    events: frozenset[str]
    tools: frozenset[str]
    upstreams: frozenset[str]


def named_in(rules: Mapping[str, Any]) -> Named:
    """The contracts in other files that an event of `x-webhook` names."""
    return Named(
        entities=_kinds(dict(rules)),
        events=frozenset(_text(rules.get("emits"), "event")),
        tools=frozenset(each["tool"] for each in rules.get("notifications", ())),
        upstreams=frozenset(_text(rules.get("fetch"), "upstream")),
    )


def basis_of(
    name: str, x_webhook: Mapping[str, Any], payloads: Mapping[str, Schema], declared: Declared
) -> EventBasis:
    """The basis of the event `name`, `<provider>.<event>`: its rules and the contracts it names."""
    event_type = name.partition(".")[2]
    rules = {k: v for k, v in x_webhook["events"][event_type].items() if k != "payload"}
    named = named_in(rules)
    upstreams = _picked(declared.upstreams, named.upstreams)
    return EventBasis(
        name=name,
        type=event_type,
        rules=rules,
        payload=payloads[event_type],
        siblings=_picked(payloads, frozenset(_derived(rules))),
        settings=_settings(x_webhook),
        empty_settings=_empty_settings(x_webhook),
        tenancy=_tenancy(x_webhook, event_type),
        entities=_picked(declared.entities, named.entities),
        events=_picked(declared.events, named.events),
        tools=_picked(declared.tools, named.tools),
        upstream=next(iter(upstreams.values()), None),
    )


def _kinds(value: Any) -> frozenset[str]:
    """The kinds of entities that are written or referred to."""
    if isinstance(value, list):
        return frozenset().union(*map(_kinds, value))
    if not isinstance(value, dict):
        return frozenset()
    own = frozenset(name for word in ("entity", "ref") for name in _text(value, word))
    return own.union(*map(_kinds, value.values()))


def _text(holder: Any, word: str) -> list[str]:
    found = holder.get(word) if isinstance(holder, dict) else None
    return [found] if isinstance(found, str) else []


def _picked(known: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    return {name: known[name] for name in sorted(names) if name in known}


def _settings(x_webhook: Mapping[str, Any]) -> dict[str, Schema]:
    return {
        name: {"type": "string", "pattern": rule["pattern"], "minLength": 1}
        for name, rule in x_webhook.get("settings", {}).items()
    }


def _tenancy(x_webhook: Mapping[str, Any], event_type: str) -> Tenancy:
    """Derived messages have the tenant of those that they are derived from."""
    events, senders, known = x_webhook["events"], {event_type}, 0
    while len(senders) > known:
        known = len(senders)
        senders |= {name for name, each in events.items() if _derived(each) & senders}
    profiles = {name for each in senders for name in events[each]["profiles"]}
    named = [x_webhook["profiles"].get(name, {}).get("tenant") for name in profiles]
    if not any(named):
        return "none"
    return "all" if all(named) else "some"


def _derived(event: Mapping[str, Any]) -> set[str]:
    return {each["event"] for each in event.get("derives", ())}


def _empty_settings(x_webhook: Mapping[str, Any]) -> frozenset[str]:
    rules = x_webhook.get("settings", {})
    return frozenset(name for name, rule in rules.items() if not rule.get("default"))
