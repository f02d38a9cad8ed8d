"""Drafts an event of a webhook provider: a new provider, or one more event of a known one."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import fields

from gateway.contracts.names import payload_stem
from gateway.contracts.sources.tree import WEBHOOKS, SourceTree, WebhookFile
from gateway.errors import ConfigurationError
from gateway.project.drafts.listing import DraftPart, listed_parts
from gateway.project.drafts.names import check_connector, words
from gateway.project.drafts.texts import inline, rendered, schema_text
from gateway.project.merging import with_nested
from gateway.project.placing import Files
from gateway.project.staging import Project, read_text
from gateway.signatures.registry import DELIVERIES, SCHEMES, scheme_of
from gateway.signatures.scheme import SignatureScheme

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
