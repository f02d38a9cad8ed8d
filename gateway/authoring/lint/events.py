"""Checks of webhooks, of their senders and maps, and of published events."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Any, Final

import msgspec

from gateway.authoring.contracts.cache import Remember
from gateway.authoring.contracts.document import finding_at
from gateway.authoring.contracts.finding import Finding
from gateway.authoring.contracts.names import payload_stem
from gateway.authoring.contracts.refs import INPUT
from gateway.authoring.contracts.tree import WEBHOOKS, WebhookFile
from gateway.authoring.contracts.upstreams import lower_upstream
from gateway.authoring.lint.draft import Draft, is_sound
from gateway.authoring.mapping.event_language import EventBasis
from gateway.authoring.mapping.event_maps import (
    Declared,
    Named,
    basis_of,
    check,
    named_in,
    text_objection,
)
from gateway.authoring.mapping.fields import MappingError
from gateway.authoring.mapping.fields.nodes import ReadExpression
from gateway.authoring.mapping.fields.scope import Scope
from gateway.contract.event import SPEC_VERSION, TRACEPARENT, TRACEPARENT_PATTERN
from gateway.contract.schemas.algebra import Schema, admits, covers
from gateway.contract.schemas.shapes import member
from gateway.contract.values.nearest import did_you_mean
from gateway.contract.values.pointers import child, steps
from gateway.contract.values.schema import Validator
from gateway.signatures.received import Received
from gateway.signatures.registry import SCHEMES, InvalidScheme, never_stored, scheme_of
from gateway.signatures.scheme import InvalidSecret, SignatureScheme

# Checks of webhooks: names, payloads, profiles and settings.

_RULES: Final = "/post/x-webhook"
_CONTENT: Final = "/post/requestBody/content"
_CLOSING: Final = ("additionalProperties", "unevaluatedProperties")
_TEXT: Final[Schema] = {"type": "string"}
_IDENTITY: Final[Schema] = {"type": ["string", "integer"]}
_TAKEN: Final = ("allow", "rate", "address_rate")


def check_webhook_names(draft: Draft) -> Iterator[Finding]:
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


# Checks of how the senders of webhooks are known: schemes, signed samples and challenges.

PROFILES: Final = "/post/x-webhook/profiles"
_OWN: Final = frozenset({"content", "time"})
"""Members of a signature that nobody but its vendor can tell to be right."""


def check_schemes(draft: Draft) -> Iterator[Finding]:
    """webhook/scheme"""
    for webhook, at, profile in _profiles(draft):
        try:
            scheme_of(profile["authentication"])
        except InvalidScheme as error:
            pointer = f"{at}/authentication/scheme"
            name, message, fix = profile["authentication"]["scheme"], str(error), None
            if name not in SCHEMES:
                fix = did_you_mean(name, list(SCHEMES))
            elif "; " in message:
                message, _, known = message.partition("; ")
                fix = f"{known[0].upper()}{known[1:]}."
            yield draft.finding("webhook/scheme", webhook.document, pointer, message, fix)


def check_samples(draft: Draft) -> Iterator[Finding]:
    """webhook/sample"""
    for webhook, at, profile in _profiles(draft):
        sample = profile.get("sample")
        own = sorted(_OWN & profile["authentication"].keys())
        if sample is None and own:
            message = f"nothing proves that {' and '.join(own)} are what the sender signs"
            pointer = f"{at}/authentication/{own[0]}"
            yield draft.finding("webhook/sample", webhook.document, pointer, message)
        elif sample is not None and (objection := _objection(profile, sample)):
            yield draft.finding("webhook/sample", webhook.document, f"{at}/sample", *objection)


def _objection(
    profile: Mapping[str, Any], sample: Mapping[str, Any]
) -> tuple[str] | tuple[str, str] | None:
    """Why the sample is not authentic, and the fix. None if it is, or if the scheme is invalid."""
    try:
        scheme = scheme_of(profile["authentication"])
        verify = scheme.verifier([scheme.key_of(sample["secret"])])
    except InvalidScheme:
        return None
    except InvalidSecret as error:
        return (f"its secret {error}",)
    fields = sample.get("headers", {}).items()
    received = Received(
        fields=[(name.lower().encode("ascii"), value.encode("utf-8")) for name, value in fields],
        body=sample["body"].encode("utf-8"),
        method=sample.get("method", "POST"),
        url=sample.get("url", ""),
        path=sample.get("path", ""),
        settings=sample.get("settings", {}),
    )
    if verify(received, float(sample.get("at", 0))):
        return None
    sent_at = scheme.sent_at(received)
    if sent_at is not None and verify(received, sent_at):
        said = f"it was sent at {int(sent_at)}"
        wrong = "which is too far from `at`" if "at" in sample else "and has no `at`"
        return f"{said}, {wrong}", f"Write `at: {int(sent_at)}`."
    return ("it is not authentic by this authentication: every genuine message would be refused",)


def check_challenges(draft: Draft) -> Iterator[Finding]:
    """webhook/challenge"""
    for webhook in draft.webhooks:
        known: dict[tuple[str, str], str] = {}
        for name, profile in webhook.rules["profiles"].items():
            challenge = profile.get("challenge")
            if challenge is None:
                continue
            asked = challenge["method"], repr(challenge.get("when"))
            other = known.setdefault(asked, name)
            if other != name:
                pointer = f"{child(PROFILES, name)}/challenge"
                message = f"the challenges of {other} and {name} cannot be told apart"
                yield draft.finding("webhook/challenge", webhook.document, pointer, message)


def check_ignored(draft: Draft) -> Iterator[Finding]:
    """webhook/ignore"""
    for webhook in draft.webhooks:
        for index, text in enumerate(webhook.rules.get("ignore", ())):
            if objection := _pattern_objection(text, webhook.rules["events"]):
                pointer = f"/post/x-webhook/ignore/{index}"
                yield draft.finding("webhook/ignore", webhook.document, pointer, objection)


def _pattern_objection(text: str, events: Mapping[str, Any]) -> str:
    try:
        pattern = re.compile(text)
    except re.error:
        return "it is not a regular expression"
    taken = next((name for name in events if pattern.fullmatch(name)), None)
    return "" if taken is None else f"it matches {taken}, which is under events"


def _profiles(draft: Draft) -> Iterator[tuple[WebhookFile, str, Mapping[str, Any]]]:
    """Each profile, with its file and its pointer."""
    for webhook in draft.webhooks:
        for name, profile in webhook.rules["profiles"].items():
            yield webhook, child(PROFILES, name), profile


# Checks of published events: their names, envelopes and examples.

MEDIA: Final = "/post/requestBody/content/application~1cloudevents+json"
_FULL_TEXT: Final = {"type": "string", "minLength": 1}
_ENVELOPE: Final[Mapping[str, dict[str, Any]]] = {
    "specversion": {"const": SPEC_VERSION},
    "id": _FULL_TEXT,
    "source": _FULL_TEXT,
    "subject": _FULL_TEXT,
    "time": {"type": "string", "format": "date-time"},
    "datacontenttype": {"const": "application/json"},
    "data": {"type": "object"},
}
"""The required schemas of the CloudEvents 1.0 attributes. `type` differs between events."""
_TRACEPARENT: Final = {"type": "string", "maxLength": 55, "pattern": TRACEPARENT_PATTERN}
"""That of the extension for distributed tracing, which not every event has."""


def check_event_names(draft: Draft) -> Iterator[Finding]:
    """event/name, event/schema-file"""
    for event in draft.events:
        found = draft.at(event.document, "/post/operationId")
        if found != event.type:
            message, fix = f"{found} does not match the file's name", f"Write {event.type}."
            yield draft.finding("event/name", event.document, "/post/operationId", message, fix)
        pointer = f"{MEDIA}/schema"
        target = draft.target(event.document, pointer, draft.at(event.document, pointer))
        wanted = event.path.with_suffix(".json")
        if target and (target.document.path, target.pointer) != (wanted, ""):
            message = f"the schema must be in {wanted.name}"
            fix = f"Write {{$ref: ./{wanted.name}}}."
            yield draft.finding("event/schema-file", event.document, pointer, message, fix)


def check_envelopes(draft: Draft, unsound: frozenset[PurePosixPath]) -> Iterator[Finding]:
    """event/envelope"""
    for event in draft.events:
        path = event.path.with_suffix(".json")
        document = draft.tree.documents.get(path)
        if document and is_sound(draft, path, unsound):
            schema = draft.expanded(path, "")
            wanted = {**_ENVELOPE, "type": {"const": event.type}}
            for name, kind in wanted.items():
                if objection := _envelope_objection(schema, name, kind):
                    pointer = child("/properties", name)
                    yield draft.finding("event/envelope", document, pointer, objection)
            if objection := _trace_objection(schema):
                yield draft.finding("event/envelope", document, "/properties", objection)


def _trace_objection(schema: dict[str, Any]) -> str:
    found = member(schema, TRACEPARENT)
    if found is None:
        return f"{TRACEPARENT} is not declared"
    if found.is_required:
        return f"{TRACEPARENT} is required, but an event without a trace has none"
    is_covered = covers(found.schema, _TRACEPARENT) is True
    return "" if is_covered else f"{TRACEPARENT} does not allow what the gateway writes"


def _envelope_objection(schema: dict[str, Any], name: str, wanted: dict[str, Any]) -> str:
    found = member(schema, name)
    if found is None or not found.is_required:
        return f"{name} is not required"
    is_covered = covers(wanted, found.schema) is True
    is_fixed = "const" not in wanted or covers(found.schema, wanted) is True
    return "" if is_covered and is_fixed else f"{name} is not valid for a CloudEvent of this type"


def check_examples(draft: Draft) -> Iterator[Finding]:
    """event/no-example, event/example-refused"""
    for event in draft.events:
        examples = draft.at(event.document, f"{MEDIA}/examples") or {}
        if not examples:
            yield draft.finding("event/no-example", event.document, MEDIA, "there is no example")
        validator = draft.validator(event.path, f"{MEDIA}/schema")
        for name, example in examples.items():
            pointer = child(child(f"{MEDIA}/examples", name), "value")
            for violation in validator.violations(example["value"]) if validator else ():
                message = f"the schema refuses this example: {violation.detail}"
                where = pointer + violation.pointer
                yield draft.finding("event/example-refused", event.document, where, message)


# Checks the events of webhooks against the contracts that they name.
#
# Runs after the other checks, because it needs valid contracts.

_EVENTS: Final = "/post/x-webhook/events"
_CLOUD_EVENT: Final = "/post/requestBody/content/application~1cloudevents+json/schema"
_decoder = msgspec.json.Decoder(tuple[MappingError, ...])


def check_events(
    draft: Draft, unsound: frozenset[PurePosixPath], remember: Remember
) -> Iterator[Finding]:
    """binding/*, webhook/*, for every webhook event that names only sound contracts"""
    webhooks = [each for each in draft.webhooks if is_sound(draft, each.path, unsound)]
    if draft.tree.findings or not webhooks:
        return
    declared, broken = _declared(draft, unsound), _broken(draft, unsound)
    for webhook in webhooks:
        payloads = {
            name: draft.expanded(webhook.path, f"{child(_EVENTS, name)}/payload")
            for name in webhook.rules["events"]
        }
        for name, rules in webhook.rules["events"].items():
            if not _overlap(named_in(rules), broken):
                basis = basis_of(f"{webhook.provider}.{name}", webhook.rules, payloads, declared)
                for problem in _problems(basis, remember):
                    pointer = child(_EVENTS, name) + problem.pointer
                    yield _finding(draft, webhook, pointer, problem, declared)


def _declared(draft: Draft, unsound: frozenset[PurePosixPath]) -> Declared:
    return Declared(
        entities={
            kind: {**draft.expanded(each.path, ""), "x-entity": each.value["x-entity"]}
            for kind, each in draft.entities.items()
            if is_sound(draft, each.path, unsound)
        },
        events={
            each.type: draft.expanded(each.path, _CLOUD_EVENT)
            for each in draft.events
            if is_sound(draft, each.path, unsound)
        },
        tools={
            each.id: draft.expanded(each.path, INPUT)
            for each in draft.tools
            if is_sound(draft, each.path, unsound)
        },
        upstreams={
            name: lower_upstream(draft.tree, name)
            for name, each in draft.upstreams.items()
            if is_sound(draft, each.path, unsound)
        },
    )


def _broken(draft: Draft, unsound: frozenset[PurePosixPath]) -> Named:
    """The contracts that exist and have errors, which other checks report."""
    tree = draft.tree
    return Named(
        entities=frozenset(
            kind
            for kind, each in tree.entities.items()
            if kind not in draft.entities or not is_sound(draft, each.path, unsound)
        ),
        events=frozenset(
            each.type
            for each in tree.events
            if each not in draft.events or not is_sound(draft, each.path, unsound)
        ),
        tools=frozenset(
            each.id
            for each in tree.tools
            if each not in draft.tools or not is_sound(draft, each.path, unsound)
        ),
        upstreams=frozenset(
            name
            for name, each in tree.upstreams.items()
            if name not in draft.upstreams or not is_sound(draft, each.path, unsound)
        ),
    )


def _overlap(one: Named, other: Named) -> bool:
    fields = one.__struct_fields__
    return any(getattr(one, field) & getattr(other, field) for field in fields)


def _problems(basis: EventBasis, remember: Remember) -> tuple[MappingError, ...]:
    """The problems of an event, from the cache if possible: proofs take milliseconds."""
    text: Any = msgspec.json.encode(basis, order="deterministic").decode()
    problems = remember("event-check", text, lambda: msgspec.json.encode(check(basis)).decode())
    return _decoder.decode(problems)


def _finding(
    draft: Draft, webhook: WebhookFile, pointer: str, problem: MappingError, declared: Declared
) -> Finding:
    known = {
        "webhook/unknown-entity": declared.entities,
        "webhook/unknown-event": [*declared.events, *webhook.rules["events"]],
        "webhook/unknown-tool": declared.tools,
    }.get(problem.rule)
    suggestion = did_you_mean(str(draft.at(webhook.document, pointer)), known) if known else None
    fix = suggestion or problem.fix
    return finding_at(webhook.document, pointer, problem.rule, problem.message, fix)
