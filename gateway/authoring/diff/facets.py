"""The five facets of a contract, and hashes that only a change of their meaning changes."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from gateway.authoring.codegen.ir import (
    Contracts,
    EventContract,
    ToolContract,
    WebhookContract,
)
from gateway.contract.schemas.keywords import SCHEMA_LISTS, SCHEMA_MAPS, SCHEMA_VALUES
from gateway.contract.values.schema import PREFIX

# The canonical form of a value: one text for all spellings of it.


def canonical(value: Any) -> str:
    """JSON text with sorted names, no blanks, and `1` for `1.0`."""
    return json.dumps(
        _plain(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
    )


def digest(value: Any) -> str:
    """The SHA-256 of the canonical form of `value` in hexadecimal."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return value


# The canonical form of a schema: what it says, without its texts and its layout.

_TEXTS: Final = frozenset({"title", "description", "examples"})
"""What a schema says to people and models, which is a facet of its own."""
_LAYOUT: Final = frozenset({"$defs", "$comment", "$schema", "$id"})
_UNORDERED: Final = frozenset({"required", "enum", "type", "allOf", "anyOf", "oneOf"})
_LEVELS: Final = 100
"""How deep a schema that contains itself is unfolded. Contracts nest 32 levels at most, so a
difference is found above this depth."""


def schema_digest(schema: Any) -> str:
    """The hash of what `schema` admits, as it is written.

    Names and places of definitions, the order of members, `title`, `description` and `examples` do
    not matter. `default` does: it says what an argument that is left out means.
    """
    return _Unfolding(schema).of(schema, _LEVELS)


def text_digest(schema: Any) -> str:
    """The hash of the texts in `schema`: what it says to people and models. Empty without any."""
    return _Texts(schema).of(schema, _LEVELS)


class _Unfolding:
    """Hashes a schema as the tree in which each reference is its target."""

    def __init__(self, root: Any) -> None:
        self._definitions = root.get("$defs", {}) if isinstance(root, dict) else {}
        self._known: dict[tuple[int, int], str] = {}

    def of(self, schema: Any, levels: int) -> str:
        """The hash of `levels` levels of `schema`."""
        if not isinstance(schema, dict) or levels == 0:
            return self._leaf(schema)
        if not self._definitions:
            return self._hash(schema, levels)
        key = (id(schema), levels)
        if key not in self._known:
            self._known[key] = self._hash(self._target(schema), levels)
        return self._known[key]

    def _leaf(self, schema: Any) -> str:
        return digest("deeper" if isinstance(schema, dict) else schema)

    def _hash(self, schema: dict[str, Any], levels: int) -> str:
        left_out = _TEXTS | _LAYOUT
        members = {name: each for name, each in schema.items() if name not in left_out}
        return digest({name: self._member(name, each, levels) for name, each in members.items()})

    def _target(self, schema: dict[str, Any]) -> dict[str, Any]:
        """`schema`, or what it refers to with the annotations beside the reference."""
        while "$ref" in schema:
            found = self._definitions[schema["$ref"].removeprefix(PREFIX)]
            schema = {**found, **{name: each for name, each in schema.items() if name != "$ref"}}
        return schema

    def _member(self, name: str, value: Any, levels: int) -> Any:
        made = value
        if name in SCHEMA_MAPS and isinstance(value, dict):
            made = {key: self.of(each, levels - 1) for key, each in value.items()}
        elif name in SCHEMA_LISTS and isinstance(value, list):
            made = [self.of(each, levels - 1) for each in value]
        elif name in SCHEMA_VALUES:
            made = self.of(value, levels - 1)
        elif name == "type" and isinstance(value, str):
            made = [value]
        return _sorted(made) if name in _UNORDERED and isinstance(made, list) else made


class _Texts(_Unfolding):
    """The same, of the texts alone."""

    def _leaf(self, schema: Any) -> str:  # noqa: ARG002 - that of the base
        return ""

    def _hash(self, schema: dict[str, Any], levels: int) -> str:
        said = {name: schema[name] for name in _TEXTS & schema.keys()}
        for name in (SCHEMA_MAPS | SCHEMA_LISTS | SCHEMA_VALUES) & (schema.keys() - _LAYOUT):
            below = self._member(name, schema[name], levels)
            if isinstance(below, dict):
                below = {key: each for key, each in below.items() if each}
            elif isinstance(below, list):
                below = [each for each in below if each]
            if below:
                said[name] = below
        return digest(said) if said else ""


def _sorted(values: list[Any]) -> list[Any]:
    return sorted(values, key=canonical)


# The facets of contracts.


class Facets(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The hashes of one contract. Empty: it has no such facet."""

    input: str = ""
    """What it accepts."""
    output: str = ""
    """What it answers with or sends, its declared errors included."""
    description: str = ""
    """What it says to people and models."""
    annotations: str = ""
    """How it may be called: names, hints, effect, limits; of a webhook, how a sender signs."""
    binding: str = ""
    """What is done behind it."""

    def unlike(self, other: "Facets") -> tuple[str, ...]:
        """The names of the facets that differ."""
        return tuple(name for name in FACETS if getattr(self, name) != getattr(other, name))


FACETS: Final = Facets.__struct_fields__
KINDS: Final = ("tool", "webhook", "event")


def contract_facets(contracts: Contracts) -> dict[tuple[str, str], Facets]:
    """The facets of each tool, webhook and event, by kind and id.

    Tools of imported documents have no contract files: their contract is the vendor's document.
    """
    found = {("tool", each.id): tool_facets(each) for each in contracts.tools}
    found |= {("webhook", each.provider): webhook_facets(each) for each in contracts.webhooks}
    return found | {("event", each.event.type): event_facets(each) for each in contracts.events}


def tool_facets(tool: ToolContract) -> Facets:
    """The facets of a tool."""
    return Facets(
        input=input_digest(tool),
        output=output_digest(tool),
        description=digest(
            [
                tool.title,
                tool.description,
                text_digest(tool.input_schema),
                text_digest(tool.output_schema),
                {each.reason: each.title for each in tool.errors},
            ]
        ),
        annotations=digest(_annotations(tool)),
        binding=digest([tool.x_binding, _members(tool.attempts)]),
    )


def input_digest(tool: ToolContract) -> str:
    """The hash of what a tool accepts."""
    return digest([schema_digest(tool.input_schema), tool.is_query])


def output_digest(tool: ToolContract) -> str:
    """The hash of what a tool answers with."""
    return digest(
        [
            schema_digest(tool.output_schema),
            sorted([each.reason, each.status] for each in tool.errors),
            sorted(tool.file_types),
            tool.text_member,
            tool.has_blocks,
        ]
    )


def _annotations(tool: ToolContract) -> dict[str, Any]:
    return {
        "name": tool.mcp_name,
        "aliases": sorted(tool.aliases),
        "hints": _members(tool.annotations),
        "effect": tool.effect.value,
        "escalation": _members(tool.escalation),
        "requires": sorted(tool.requires),
        "sensitive": sorted(tool.sensitive),
        "tags": sorted(tool.grantable.tags),
        "task": tool.task,
        "timeout": tool.timeout_seconds,
        "limits": _members(tool.limits),
        "cache": [tool.cache_seconds, tool.stale_seconds, tool.is_cache_public],
    }


def webhook_facets(webhook: WebhookContract) -> Facets:
    """The facets of a webhook."""
    rules = webhook.x_webhook
    behind = {name: _without(each, {"payload"}) for name, each in rules["events"].items()}
    return Facets(
        input=digest({each.type: schema_digest(each.schema) for each in webhook.payloads}),
        description=digest(
            [
                webhook.title,
                webhook.description,
                {each.type: text_digest(each.schema) for each in webhook.payloads},
            ]
        ),
        annotations=digest(_without(rules, {"events"})),
        binding=digest(behind),
    )


def event_facets(event: EventContract) -> Facets:
    """The facets of an event."""
    kind = event.event
    return Facets(
        output=schema_digest(kind.schema),
        description=digest([kind.title, kind.description, text_digest(kind.schema)]),
    )


def _without(facts: Mapping[str, Any], names: set[str]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if name not in names}


def _members(record: Any) -> Any:
    """The members of a record of plain values, those of records in it included."""
    if isinstance(record, Struct):
        return {name: _members(getattr(record, name)) for name in record.__struct_fields__}
    return [_members(each) for each in record] if isinstance(record, tuple | list) else record
