"""Drafts events: those that webhook providers send, and those that the gateway publishes."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files as resources
from pathlib import PurePosixPath
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import fields

from gateway.authoring.contracts.names import payload_stem
from gateway.authoring.contracts.tree import EVENTS, WEBHOOKS, SourceTree, WebhookFile
from gateway.authoring.project.changes import Files
from gateway.authoring.project.drafts.texts import (
    DraftPart,
    check_connector,
    inline,
    listed_parts,
    rendered,
    schema_text,
    words,
)
from gateway.authoring.project.merging import with_nested
from gateway.authoring.project.staging import Project, read_text
from gateway.contract.event import TRACEPARENT, TRACEPARENT_PATTERN
from gateway.contract.values.nearest import hint
from gateway.contract.values.pointers import follow, steps
from gateway.errors import ConfigurationError
from gateway.signatures.registry import DELIVERIES, SCHEMES, scheme_of
from gateway.signatures.scheme import SignatureScheme

# Drafts an event that the gateway publishes.

_TYPE: Final = re.compile(
    r"(?:gateway\.)?(?P<entity>[a-z][a-z0-9_]*)\.(?P<verb>[a-z][a-z0-9_]*)"
    r"(?:\.v(?P<version>[1-9][0-9]{0,2}))?"
)
_MAX_KIND: Final = 100
"""The longest type of a webhook's event."""


class EventWish(Struct, frozen=True, kw_only=True):
    """What is known of a new event."""

    type: str
    """`<entity>.<verb>`, with or without `gateway.` before it and a version after it."""
    title: str | None = None
    data: Mapping[str, Any] | None = None
    """The schemas of the members of its data. None: an id."""
    example: Mapping[str, Any] | None = None
    """The data of its example, if `data` is given."""


def draft_event(project: Project, tree: SourceTree, wish: EventWish) -> Files:
    """The files of a new event. Raises `ConfigurationError`."""
    return listed_parts(project, tree, event_part(project, tree, wish))


def event_part(project: Project, tree: SourceTree, wish: EventWish) -> DraftPart:
    """A new event, before it is in the index. Raises `ConfigurationError`."""
    stem = _stem(wish.type)
    type_ = f"gateway.{stem}"
    path = PurePosixPath(EVENTS, f"{stem}.yaml")
    if path in tree.documents or path.with_suffix(".json") in tree.documents:
        versions = (
            int(each.type.rpartition(".v")[2])
            for each in tree.events
            if each.type.rpartition(".v")[0] == type_.rpartition(".v")[0]
        )
        higher = max(versions, default=int(stem.rpartition(".v")[2]))
        name = stem.rpartition(".v")[0]
        raise ConfigurationError(
            f"the event {type_} exists, {path}; another meaning needs a new version: "
            f"{name}.v{higher + 1}"
        )
    entity, verb, _ = stem.split(".")
    title = wish.title or f"{words(entity)} {words(verb).lower()}"
    description = f"{title.rstrip('.')}."
    values = {
        "TYPE": type_,
        "STEM": stem,
        "SUMMARY": inline(title),
        "DESCRIPTION": inline(description),
        "EXAMPLE": inline(_example(type_, wish.example)),
    }
    listed = {"webhooks": [f"{type_}: {{$ref: ./{path}}}"]}
    tags = {EVENTS: "Events that the gateway publishes and delivers."}
    schema = schema_text(_event_schema(type_, title, wish.data))
    files = {
        project.place_of(path): rendered("event.yaml", values).encode(),
        project.place_of(path.with_suffix(".json")): schema,
    }
    return DraftPart(files=files, entries=listed, tags=tags)


def message_event(provider: str) -> EventWish:
    """The event that every message becomes, until its author declares better ones."""
    return EventWish(
        type=f"{provider}.received",
        title=f"Message of {provider} received",
        data={
            "kind": {
                "description": "Kind of the message.",
                "type": "string",
                "minLength": 1,
                "maxLength": _MAX_KIND,
            },
            "message": {
                "description": "The message as it was received.",
                "type": "object",
                "additionalProperties": {},
            },
        },
        example={"kind": "one", "message": {"id": "one"}},
    )


def _stem(type_: str) -> str:
    found = _TYPE.fullmatch(type_)
    if found is None or len(type_) > 100:
        raise ConfigurationError(
            f"{type_!r} is not the type of an event; write <entity>.<verb> in lower-case letters, "
            "digits and _, such as order.shipped or order.shipped.v2"
        )
    return f"{found['entity']}.{found['verb']}.v{found['version'] or 1}"


def _text(description: str, **rules: Any) -> dict[str, Any]:
    return {"description": description, "type": "string", **rules}


def _event_schema(type_: str, title: str, members: Mapping[str, Any] | None) -> dict[str, Any]:
    declared = members or {"id": _text("Id of the thing.", minLength=1, maxLength=64)}
    data = {
        "description": "What subscribers get.",
        "type": "object",
        "additionalProperties": False,
        "required": list(declared),
        "properties": dict(declared),
    }
    properties = {
        "specversion": _text("Version of the CloudEvents specification.", const="1.0"),
        "id": _text(
            "Id of the event, the same for each repeated delivery.", minLength=1, maxLength=64
        ),
        "source": _text("Source of the event.", minLength=1, maxLength=200),
        "type": _text("Type of the event.", const=type_),
        "subject": _text("Subject of the event.", minLength=1, maxLength=200),
        "time": _text("Time at which the event was recorded, RFC 3339 in UTC.", format="date-time"),
        "datacontenttype": _text("Media type of `data`.", const="application/json"),
        "traceparent": _text(
            "The trace in which the event came to be, as in W3C Trace Context.",
            maxLength=55,
            pattern=TRACEPARENT_PATTERN,
        ),
        "data": data,
    }
    return {
        "title": title,
        "description": f"{title.rstrip('.')}.",
        "type": "object",
        "additionalProperties": False,
        "required": [name for name in properties if name != TRACEPARENT],
        "properties": properties,
    }


def _example(type_: str, data: Mapping[str, Any] | None) -> dict[str, Any]:
    return {
        "specversion": "1.0",
        "id": "5b2b8f0e-8a44-5f7b-9d1e-0c3a6e9f4b21",
        "source": "/webhooks/example",
        "type": type_,
        "subject": "one",
        "time": "2026-11-20T14:42:01.250Z",
        "datacontenttype": "application/json",
        "data": dict(data or {"id": "one"}),
    }


# Drafts an event of a webhook provider, also of vendors whose way to sign is known.

# What vendors send and how they sign, each as its documentation says: data for drafts.

_ENDING: Final = ".json"


class Preset(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the webhooks of one vendor are received."""

    title: str
    docs: str
    """The page of its documentation about signatures."""
    secret: str
    """What the operator sets as the secret, and where to find it."""
    event: str
    """One of its types of event."""
    profile: Mapping[str, Any]
    """The members of the profile in a contract, with a signed sample."""
    message: Mapping[str, Any]
    """A message of the type `event`."""
    content: tuple[str, ...] = ("application/json",)
    """The media types of its requests."""
    ignore: tuple[str, ...] = ()
    settings: Mapping[str, Any] = {}
    public_url: bool = False
    """Whether it signs the address, so that the gateway must know its own."""


@cache
def preset_names() -> tuple[str, ...]:
    """The vendors, sorted."""
    folder = resources(__package__) / "presets"
    names = (each.name for each in folder.iterdir())
    return tuple(sorted(name.removesuffix(_ENDING) for name in names if name.endswith(_ENDING)))


def preset_of(name: str) -> Preset:
    """The preset of a vendor, which is one of `preset_names`."""
    file = resources(__package__) / "presets" / f"{name}{_ENDING}"
    return msgspec.json.decode(file.read_bytes(), type=Preset)


# Drafts an event of a webhook provider: a new provider, or one more event of a known one.

PROFILE: Final = "signed"
"""The profile of a drafted provider."""
_ALGORITHM: Final = "algorithm"
_HEADER_MEMBER: Final = "header"
"""The member of a scheme that names the header with the signature."""
_EVENT: Final = re.compile(r"[a-z][a-z0-9_]*(?:[.-][a-z0-9_]+)*")
_MAX_EVENT: Final = 64
_CONTENT: Final = ("post", "requestBody", "content")


class WebhookWish(Struct, frozen=True, kw_only=True):
    """What is known of a new event of a provider."""

    name: str
    """`<provider>.<event>`, or a provider alone if it has a preset."""
    preset: str | None = None
    """One of `preset_names`. None: that of the provider's name, or none."""
    scheme: str | None = None
    """One of `SCHEMES`. None: that of the gateway's deliveries, or of the known provider."""
    header: str | None = None
    """The header with the signature, if the scheme does not define it. None: `X-Signature`."""
    title: str | None = None


def draft_webhook(project: Project, tree: SourceTree, wish: WebhookWish) -> Files:
    """The files of a new event of a provider. Raises `ConfigurationError`."""
    provider, event = _parts(wish.name)
    known = next((each for each in tree.webhooks if each.provider == provider), None)
    stem = payload_stem(event)
    folder = PurePosixPath(WEBHOOKS, provider)
    payload = free_payload(tree, folder, stem)
    files = {project.place_of(payload): schema_text(_schema(event, wish.title))}
    if known is not None:
        return {**files, **_with_event(project, known, wish, event)}
    authentication = _authentication(wish.scheme or DELIVERIES.name, wish.header)
    message_id = _message_id(scheme_of(authentication))
    provided = DraftProvider(
        name=provider,
        authentication=authentication,
        message_id=message_id,
        event_type={"pointer": "/type"},
        events={event: _event_text(event, PROFILE)},
    )
    return {**files, **listed_parts(project, tree, provider_part(project, provided))}


def free_payload(tree: SourceTree, folder: PurePosixPath, stem: str) -> PurePosixPath:
    """The file of a new payload. Raises `ConfigurationError` if it exists."""
    payload = folder / f"{stem}.payload.json"
    if payload in tree.documents:
        raise ConfigurationError(f"{payload} exists; choose another name for the event")
    return payload


class DraftProvider(Struct, frozen=True, kw_only=True):
    """What the contract of a new provider contains."""

    name: str
    authentication: Mapping[str, str]
    message_id: Mapping[str, str] | None
    """The place of the id of a message. None: it is a question."""
    event_type: Mapping[str, str]
    """The place of the kind of a message."""
    events: Mapping[str, str]
    """The text of each event, by type."""


def provider_part(project: Project, provided: DraftProvider) -> DraftPart:
    """The contract of a new provider without its payloads, before it is in the index."""
    provider = provided.name
    path = PurePosixPath(WEBHOOKS, provider, "webhook.yaml")
    references = [f"$ref: ./{payload_stem(each)}.payload.json" for each in provided.events]
    if len(references) > 1:
        references = ["anyOf:", *(f"  - {{{each}}}" for each in references)]
    message_id = provided.message_id
    values = {
        "PROVIDER": provider,
        "SUMMARY": f"Receive messages of {provider}",
        "AUTHENTICATION": inline(dict(provided.authentication)),
        "MESSAGE_ID": "" if message_id is None else f"messageId: {inline(dict(message_id))}",
        "EVENT_TYPE": inline(dict(provided.event_type)),
        "EVENTS": "\n".join(provided.events.values()),
        "PAYLOADS": "\n".join(references),
    }
    listed = {"paths": [f"/webhooks/{provider}: {{$ref: ./{path}}}"]}
    return DraftPart(
        files={project.place_of(path): rendered("webhook.yaml", values).encode()},
        entries=listed,
        tags={provider: f"Messages of {provider}."},
    )


def is_event_type(text: str) -> bool:
    """Whether a contract can have an event of this type."""
    return _EVENT.fullmatch(text) is not None and len(text) <= _MAX_EVENT


def _parts(name: str) -> tuple[str, str]:
    provider, _, event = name.partition(".")
    check_connector(provider, what="provider")
    if not is_event_type(event):
        raise ConfigurationError(
            f"{name!r} is not PROVIDER.EVENT; write it like desk.request_noted: lower-case "
            "letters, digits and _, and in the event also . and -"
        )
    return provider, event


def _authentication(name: str, header: str | None) -> dict[str, str]:
    kind = SCHEMES[name]
    has_header = _HEADER_MEMBER in kind.__struct_fields__
    if header is not None and not has_header:
        raise ConfigurationError(
            f"--header {header!r}: the scheme {name} has its own headers; leave it out"
        )
    given = {_HEADER_MEMBER: header or "X-Signature"} if has_header else {}
    required = {each.encode_name for each in fields(kind) if each.required}
    if _ALGORITHM in required:
        given[_ALGORITHM] = "ed25519"
    return {"scheme": name, **given}


def _message_id(scheme: SignatureScheme) -> dict[str, str]:
    """The place of the id of a message: a signed header, if the scheme has one."""
    signed = next((each for each in sorted(scheme.signed_headers) if each.endswith("-id")), None)
    return {"pointer": "/id"} if signed is None else {"header": signed}


def _event_text(event: str, profile: str) -> str:
    values = {"TYPE": inline(event), "PROFILE": profile, "STEM": payload_stem(event)}
    return rendered("webhook_event.yaml", values).rstrip("\n")


def _with_event(project: Project, known: WebhookFile, wish: WebhookWish, event: str) -> Files:
    """The contract of a known provider with the event."""
    given = [("--scheme", wish.scheme), ("--header", wish.header)]
    if named := [name for name, value in given if value is not None]:
        raise ConfigurationError(
            f"{known.path} says how {known.provider} authenticates; leave out {named[0]}"
        )
    profile = next(iter(known.rules["profiles"]))
    return with_event_text(project, known, event, _event_text(event, profile))


def with_event_text(project: Project, known: WebhookFile, event: str, added: str) -> Files:
    """The contract of a known provider with the text of an event. Its other lines stay."""
    if event in known.rules["events"]:
        raise ConfigurationError(f"{known.path} has an event {event}; choose another name")
    place = project.place_of(known.path)
    text = read_text(project.folder / place)
    text = with_nested(text, ("post", "x-webhook", "events"), [added], str(place))
    content = known.document.value["post"]["requestBody"]["content"]
    reference = f"./{payload_stem(event)}.payload.json"
    return {place: _with_payload(text, content, reference, str(place)).encode()}


def _with_payload(text: str, content: dict[str, Any], reference: str, file: str) -> str:
    """`text` with one more reference under the `anyOf` of each media type of the request body."""
    only = next(iter(content.values()))["schema"]
    if "anyOf" in only:
        for media_type in content:
            path = (*_CONTENT, media_type, "schema", "anyOf")
            text = with_nested(text, path, [f"- {{$ref: {reference}}}"], file)
        return text
    written = re.escape(only["$ref"])
    named = rf"""\$ref:\s*["']?{written}["']?"""
    alone = re.compile(
        rf"^(?P<indent> +)schema:\s*(?:\{{\s*{named}\s*\}}|{named})[ \t]*(?P<end>\r?)$",
        re.MULTILINE,
    )
    if len(alone.findall(text)) != len(content):
        raise ConfigurationError(
            f"{file}: the schema of the request body is not on lines of its own; write it as "
            f"anyOf: [{{$ref: {only['$ref']}}}], each on a line below it"
        )

    def both(found: re.Match[str]) -> str:
        indent, end = found["indent"], found["end"]
        lines = [f"{indent}schema:", f"{indent}  anyOf:"]
        lines += [f"{indent}    - {{$ref: {each}}}" for each in (only["$ref"], reference)]
        return f"{end}\n".join(lines) + end

    return alone.sub(both, text)


def _schema(event: str, title: str | None) -> dict[str, Any]:
    title = title or words(event)
    return {
        "title": title,
        "description": f"{title.rstrip('.')}.",
        "type": "object",
        "required": ["type", "timestamp", "id"],
        "properties": {
            "type": {"description": "Kind of the message.", "type": "string", "const": event},
            "timestamp": {
                "description": "Time of the event.",
                "type": "string",
                "format": "date-time",
            },
            "id": {
                "description": "Id of the thing.",
                "type": "string",
                "minLength": 1,
                "maxLength": 64,
            },
        },
        "examples": [{"type": event, "timestamp": "2026-11-20T14:42:00Z", "id": "one"}],
    }


# Drafts webhooks of vendors whose way to sign is known.

_MAX_VENDOR_EVENT: Final = 100
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
    if not event.isprintable() or len(event) > _MAX_VENDOR_EVENT:
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
