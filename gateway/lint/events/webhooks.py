"""Checks of webhooks: names, payloads, profiles and settings."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Any, Final

from gateway.contract.schemas.algebra import Schema, admits
from gateway.contract.values.nearest import did_you_mean
from gateway.contract.values.pointers import child, steps
from gateway.contract.values.schema import Validator
from gateway.contracts.finding import Finding
from gateway.contracts.names import payload_stem
from gateway.contracts.sources.tree import WEBHOOKS, WebhookFile
from gateway.lint.draft import Draft
from gateway.lint.soundness import is_sound
from gateway.mapping.events.check import text_objection
from gateway.mapping.fields.analysis.scope import Scope
from gateway.mapping.fields.language.nodes import ReadExpression
from gateway.signatures.registry import InvalidScheme, never_stored, scheme_of
from gateway.signatures.scheme import SignatureScheme

_RULES: Final = "/post/x-webhook"
_CONTENT: Final = "/post/requestBody/content"
_CLOSING: Final = ("additionalProperties", "unevaluatedProperties")
_TEXT: Final[Schema] = {"type": "string"}
_IDENTITY: Final[Schema] = {"type": ["string", "integer"]}
_TAKEN: Final = ("allow", "rate", "address_rate")


def check_names(draft: Draft) -> Iterator[Finding]:
    """webhook/name"""
    for webhook in draft.webhooks:
        wanted = f"{webhook.provider}.webhook"
        found = draft.at(webhook.document, "/post/operationId")
        if found != wanted:
            message, fix = f"{found} does not match the file's path", f"Write {wanted}."
            yield draft.finding("webhook/name", webhook.document, "/post/operationId", message, fix)


def check_payload_files(draft: Draft) -> Iterator[Finding]:
    """webhook/payload-file"""
    for webhook in draft.webhooks:
        stems: dict[str, str] = {}
        for name in webhook.rules["events"]:
            pointer = f"{child(f'{_RULES}/events', name)}/payload"
            other = stems.setdefault(payload_stem(name), name)
            if other != name:
                message = f"{other} and {name} have one name in files, {payload_stem(name)}"
                yield draft.finding("webhook/payload-file", webhook.document, pointer, message)
            holder = draft.at(webhook.document, pointer)
            target = draft.target(webhook.document, pointer, holder)
            wanted = webhook.path.with_name(f"{payload_stem(name)}.payload.json")
            if target and (target.document.path, target.pointer) != (wanted, ""):
                message = f"the payload schema of {name} must be in {wanted.name}"
                fix = f"Write {{$ref: ./{wanted.name}}}."
                yield draft.finding("webhook/payload-file", webhook.document, pointer, message, fix)


def check_request_bodies(draft: Draft) -> Iterator[Finding]:
    """webhook/request-body"""
    for webhook in draft.webhooks:
        wanted = [each["payload"]["$ref"] for each in webhook.rules["events"].values()]
        for media_type, content in draft.at(webhook.document, _CONTENT).items():
            body = content["schema"]
            listed = [each["$ref"] for each in body.get("anyOf", [body])]
            if sorted(listed) != sorted(wanted):
                pointer = f"{child(_CONTENT, media_type)}/schema"
                differing = sorted({*listed} ^ {*wanted}) or sorted(listed)
                message = f"the request body and the events differ in {', '.join(differing[:3])}"
                yield draft.finding("webhook/request-body", webhook.document, pointer, message)


def check_openness(draft: Draft) -> Iterator[Finding]:
    """webhook/closed-payload"""
    for node in draft.schemas:
        if node.document.path.parts[0] == WEBHOOKS:
            for keyword in _CLOSING:
                if node.schema.get(keyword) is False:
                    pointer = child(node.pointer, keyword)
                    message = "the object refuses members that a sender may add"
                    rule = "webhook/closed-payload"
                    yield draft.finding(rule, node.document, pointer, message)


def check_profiles(draft: Draft) -> Iterator[Finding]:
    """webhook/unknown-profile, webhook/unused-profile"""
    for webhook in draft.webhooks:
        profiles, used = webhook.rules["profiles"], set()
        for name, event in webhook.rules["events"].items():
            used |= set(event["profiles"])
            for index, profile in enumerate(event["profiles"]):
                if profile not in profiles:
                    pointer = f"{child(f'{_RULES}/events', name)}/profiles/{index}"
                    message, fix = f"there is no profile {profile}", did_you_mean(profile, profiles)
                    yield draft.finding(
                        "webhook/unknown-profile", webhook.document, pointer, message, fix
                    )
        for profile in sorted(profiles.keys() - used):
            pointer, message = child(f"{_RULES}/profiles", profile), "no event names this profile"
            yield draft.finding("webhook/unused-profile", webhook.document, pointer, message)


def check_places(draft: Draft, unsound: frozenset[PurePosixPath]) -> Iterator[Finding]:
    """webhook/message-id, webhook/event-type"""
    for webhook in draft.webhooks:
        is_comparable = is_sound(draft, webhook.path, unsound)
        for name, event in webhook.rules["events"].items() if is_comparable else ():
            pointer = f"{child(f'{_RULES}/events', name)}/payload"
            payload = draft.expanded(webhook.path, pointer)
            for profile in event["profiles"]:
                yield from _place_findings(draft, webhook, name, profile, payload)


def _place_findings(
    draft: Draft, webhook: WebhookFile, name: str, profile: str, payload: Schema
) -> Iterator[Finding]:
    """Findings about the pointers to the message id and the event type in a payload."""
    rules, scope = webhook.rules["profiles"][profile], Scope(payload=payload)
    at = child(f"{_RULES}/profiles", profile)
    identified = rules.get("messageId", {}).get("pointer")
    if identified and (objection := text_objection(scope, identified, _IDENTITY)):
        message = f"{identified} {objection} of {name}"
        yield draft.finding("webhook/message-id", webhook.document, f"{at}/messageId", message)
    typed = rules["eventType"].get("pointer")
    if typed:
        objection = text_objection(scope, typed, _TEXT)
        if not objection and not admits(_schema_at(scope, typed), name):
            objection = "cannot be this type in the payload"
        if objection:
            message = f"{typed} {objection} of {name}"
            yield draft.finding("webhook/event-type", webhook.document, f"{at}/eventType", message)


def _schema_at(scope: Scope, pointer: str) -> Schema:
    return scope.find(ReadExpression("payload", tuple(steps(pointer)))).schema


def _known_schemes(webhook: WebhookFile) -> Iterator[SignatureScheme]:
    """The valid schemes of its profiles. `check_schemes` reports the others."""
    for profile in webhook.rules["profiles"].values():
        with suppress(InvalidScheme):
            yield scheme_of(profile["authentication"])


def check_stored_headers(draft: Draft) -> Iterator[Finding]:
    """webhook/stored-credentials"""
    for webhook in draft.webhooks:
        refused = never_stored(_known_schemes(webhook))
        for index, name in enumerate(webhook.rules.get("storedHeaders", ())):
            if name.lower() in refused:
                pointer = f"{_RULES}/storedHeaders/{index}"
                message = f"{name} authenticates the sender, and must not be stored"
                yield draft.finding(
                    "webhook/stored-credentials", webhook.document, pointer, message
                )


def check_settings(draft: Draft) -> Iterator[Finding]:
    """webhook/setting-refused, webhook/taken-setting"""
    for webhook in draft.webhooks:
        taken = {*_TAKEN, *(f"{name}_secrets" for name in webhook.rules["profiles"])}
        for name, rule in webhook.rules.get("settings", {}).items():
            pointer = child(f"{_RULES}/settings", name)
            if name in taken:
                message = f"the name {name} is reserved: every webhook has this setting"
                yield draft.finding("webhook/taken-setting", webhook.document, pointer, message)
            objection = _setting_objection(rule)
            if objection:
                yield draft.finding(
                    "webhook/setting-refused", webhook.document, f"{pointer}/pattern", objection
                )


def _setting_objection(rule: dict[str, Any]) -> str:
    try:
        validator = Validator({"type": "string", "pattern": rule["pattern"]})
    except ValueError:
        return "the pattern is not a regular expression of linear time"
    default = rule.get("default", "")
    return "" if not default or validator.admits(default) else "the default does not match it"
