"""Drafts webhooks of vendors whose way to sign is known."""

import json
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Final

from gateway.contract.values.nearest import hint
from gateway.contract.values.pointers import follow, steps
from gateway.contracts.names import payload_stem
from gateway.contracts.sources.tree import WEBHOOKS, SourceTree, WebhookFile
from gateway.errors import ConfigurationError
from gateway.project.drafts.event import event_part, message_event
from gateway.project.drafts.listing import DraftPart, listed_parts
from gateway.project.drafts.names import check_connector, words
from gateway.project.drafts.presets import Preset, preset_names, preset_of
from gateway.project.drafts.texts import inline, rendered, schema_text
from gateway.project.drafts.webhook import (
    PROFILE,
    WebhookWish,
    draft_webhook,
    free_payload,
    with_event_text,
)
from gateway.project.placing import Files
from gateway.project.staging import Project

_MAX_EVENT: Final = 100
_OTHERWISE: Final = (
    "see `gateway new webhook --help`, or write PROVIDER.EVENT for a provider of your own"
)
_ADDRESSED: Final = ". It signs the address: set public_url"
_ID: Final[Mapping[str, Any]] = {"type": "string", "minLength": 1, "maxLength": 200}


def draft_message(project: Project, tree: SourceTree, wish: WebhookWish) -> Files:
    """The files of a new event of a provider, by the preset of its vendor if there is one.

    Raises `ConfigurationError`.
    """
    vendor = vendor_of(wish)
    if vendor is None:
        return draft_webhook(project, tree, wish)
    return _of_vendor(project, tree, wish, preset_of(vendor))


def vendor_of(wish: WebhookWish) -> str | None:
    """The preset to draft from. Raises `ConfigurationError` if it does not fit the rest."""
    provider = wish.name.partition(".")[0]
    given = [("--scheme", wish.scheme), ("--header", wish.header)]
    named = [name for name, value in given if value is not None]
    if wish.preset is not None and named:
        raise ConfigurationError(f"--preset says how {wish.preset} signs; leave out {named[0]}")
    if wish.preset is None and (named or provider not in preset_names()):
        if not named and provider == wish.name:
            fix = hint(provider, preset_names(), _OTHERWISE)
            raise ConfigurationError(f"there is no preset of a vendor {provider!r}; {fix}")
        return None
    return wish.preset or provider


def _of_vendor(project: Project, tree: SourceTree, wish: WebhookWish, preset: Preset) -> Files:
    """The files of an event of a vendor with a preset, which publishes the whole message."""
    provider, _, event = wish.name.partition(".")
    check_connector(provider, what="provider")
    event = event or preset.event
    if not event.isprintable() or len(event) > _MAX_EVENT:
        raise ConfigurationError(f"{event!r} is no type of an event: 1 to 100 characters")
    rules = preset.profile
    known = next((each for each in tree.webhooks if each.provider == provider), None)
    profile = PROFILE if known is None else _known_profile(project, known, event, preset)
    payload = free_payload(tree, PurePosixPath(WEBHOOKS, provider), payload_stem(event))
    schema = schema_text(_message_schema(event, wish.title, rules, preset.message))
    files = {project.place_of(payload): schema}
    if known is not None:
        text = _published_text(event, provider, profile)
        return {**files, **with_event_text(project, known, event, text)}
    part = _vendor_part(project, provider, event, preset)
    published = event_part(project, tree, message_event(provider))
    return {**files, **listed_parts(project, tree, part, published)}


def _known_profile(project: Project, known: WebhookFile, event: str, preset: Preset) -> str:
    """The profile of a provider that is there already. Raises `ConfigurationError`."""
    provider, file = known.provider, project.place_of(known.path)
    profile, found = next(iter(known.rules["profiles"].items()))
    if found["authentication"] != preset.profile["authentication"]:
        raise ConfigurationError(
            f"{file} already says how {provider} signs, and not as {preset.title} does; choose"
            " another provider: each sender has a path of its own"
        )
    if event in known.rules["events"]:
        raise ConfigurationError(
            f"{file} has the event {event} already; name another one:"
            f" gateway new webhook {provider}.TYPE"
        )
    return str(profile)


def _vendor_part(project: Project, provider: str, event: str, preset: Preset) -> DraftPart:
    path = PurePosixPath(WEBHOOKS, provider, "webhook.yaml")
    reference = f"  schema: {{$ref: ./{payload_stem(event)}.payload.json}}"
    rules = {"settings": dict(preset.settings), "ignore": list(preset.ignore)}
    values = {
        "TITLE": preset.title,
        "DOCS": preset.docs,
        "PROVIDER": provider,
        "SUMMARY": inline(f"Receive messages of {preset.title}"),
        "DESCRIPTION": inline(f"Receives what {preset.title} sends, and publishes it."),
        "SECRET": f"{preset.secret}{_ADDRESSED if preset.public_url else ''}",
        "PROFILE": _lines(preset.profile),
        "RULES": _lines({name: value for name, value in rules.items() if value}),
        "EVENTS": _published_text(event, provider, PROFILE),
        "CONTENT": "\n".join(f"{each}:\n{reference}" for each in preset.content),
    }
    return DraftPart(
        files={project.place_of(path): rendered("vendor_webhook.yaml", values).encode()},
        entries={"paths": [f"/webhooks/{provider}: {{$ref: ./{path}}}"]},
        tags={provider: f"Messages of {preset.title}."},
    )


def _lines(members: Mapping[str, Any]) -> str:
    return "\n".join(f"{name}: {inline(value)}" for name, value in members.items())


def _published_text(event: str, provider: str, profile: str) -> str:
    values = {
        "TYPE": inline(event),
        "PROFILE": profile,
        "STEM": payload_stem(event),
        "EVENT": f"gateway.{message_event(provider).type}.v1",
        "KIND": inline(event),
    }
    return rendered("inbound_event.yaml", values).rstrip("\n")


def _message_schema(
    event: str, title: str | None, profile: Mapping[str, Any], message: Mapping[str, Any]
) -> dict[str, Any]:
    """An open schema of a message: it requires what the profile reads."""
    title = title or words(event)
    schema: dict[str, Any] = {"title": title, "description": f"{title.rstrip('.')}."}
    example = json.loads(json.dumps(message))
    typed = profile["eventType"].get("pointer")
    if typed is not None:
        kind = {"description": "Kind of the message.", "const": event}
        _require(schema, steps(typed), kind)
        _set(example, steps(typed), event)
    place = profile.get("messageId", {}).get("pointer")
    if place is not None:
        is_number = isinstance(follow(example, place), int)
        rule = {"type": "integer"} if is_number else _ID
        _require(schema, steps(place), {"description": "Id of the message.", **rule})
    schema.setdefault("type", "object")
    return {**schema, "examples": [example]}


def _require(schema: dict[str, Any], path: Sequence[str], rule: Mapping[str, Any]) -> None:
    """Add `rule` for a member of objects, which become required."""
    for step in path:
        schema["type"] = "object"
        schema.setdefault("required", [])
        schema["required"] = sorted({*schema["required"], step})
        schema = schema.setdefault("properties", {}).setdefault(step, {})
    schema.update(rule)


def _set(value: dict[str, Any], path: Sequence[str], text: str) -> None:
    """Set a member of objects that exist."""
    for step in path[:-1]:
        value = value[step]
    value[path[-1]] = text
