"""Parses an event of `x-webhook`, which is valid by the meta-schema, to records."""

from typing import Any

from msgspec.structs import replace

from gateway.mapping.events.nodes import (
    DerivationMap,
    EffectMap,
    EmissionMap,
    EventMap,
    FetchMap,
    NotificationMap,
)
from gateway.mapping.fields.language.nodes import Each, Items, MappingError, Presence
from gateway.mapping.fields.language.reader import Reader
from gateway.mapping.fields.language.values import read_filter, read_members, read_value


def parse(rules: dict[str, Any]) -> tuple[EventMap | None, tuple[MappingError, ...]]:
    """The parsed event and no problems, or None and at least one problem."""
    reader = Reader()
    found = EventMap(
        profiles=tuple(rules["profiles"]),
        occurred_at=rules.get("occurredAt"),
        effects=tuple(
            _effect(reader, each, f"/effects/{index}")
            for index, each in enumerate(rules.get("effects", ()))
        ),
        emission=_emission(reader, rules["emits"], "/emits") if "emits" in rules else None,
        notifications=tuple(
            _notification(reader, each, f"/notifications/{index}")
            for index, each in enumerate(rules.get("notifications", ()))
        ),
        fetch=_fetch(reader, rules["fetch"], "/fetch") if "fetch" in rules else None,
        derives=tuple(
            _derivation(reader, each, f"/derives/{index}")
            for index, each in enumerate(rules.get("derives", ()))
        ),
    )
    return (None if reader.problems else found), tuple(reader.problems)


def _effect(reader: Reader, text: dict[str, Any], pointer: str) -> EffectMap:
    return EffectMap(
        pointer=pointer,
        entity=text["entity"],
        mode=text.get("mode", "upsert"),
        when=reader.optional_expression(text, "when", pointer),
        row=read_members(reader, text["set"], f"{pointer}/set"),
    )


def _emission(reader: Reader, text: dict[str, Any], pointer: str) -> EmissionMap:
    return EmissionMap(
        pointer=pointer,
        event=text["event"],
        subject=read_value(reader, text["subject"], f"{pointer}/subject"),
        data=read_members(reader, text["data"], f"{pointer}/data"),
    )


def _notification(reader: Reader, text: dict[str, Any], pointer: str) -> NotificationMap:
    return NotificationMap(
        pointer=pointer,
        tool=text["tool"],
        when=reader.optional_expression(text, "when", pointer),
        arguments=read_members(reader, text["arguments"], f"{pointer}/arguments"),
    )


def _fetch(reader: Reader, text: dict[str, Any], pointer: str) -> FetchMap:
    return FetchMap(
        pointer=pointer,
        upstream=text["upstream"],
        operation=text["operationId"],
        path=read_members(reader, text.get("path", {}), f"{pointer}/path"),
        query=read_members(reader, text.get("query", {}), f"{pointer}/query"),
        href=text.get("href"),
    )


def _derivation(reader: Reader, text: dict[str, Any], pointer: str) -> DerivationMap:
    return DerivationMap(
        pointer=pointer,
        event=text["event"],
        message_id=text["messageId"],
        payloads=_payloads(reader, text, pointer),
    )


def _payloads(reader: Reader, text: dict[str, Any], pointer: str) -> Each | Items:
    """One payload per item of the list `each`. Without `each`, one payload if `when` is present."""
    item = read_members(reader, text["item"], f"{pointer}/item")
    if "each" not in text:
        when = reader.optional_expression(text, "when", pointer)
        return Items(pointer=pointer, values=(replace(item, presence=Presence(when=when)),))
    return Each(
        pointer=pointer,
        source=reader.expression(text["each"], f"{pointer}/each"),
        item=item,
        keep=read_filter(reader, text, pointer),
        presence=Presence(default=[]),
    )
