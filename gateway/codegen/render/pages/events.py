"""Reference pages of webhooks (one per provider), events and entities."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from gateway.codegen.ir import Contracts, EventContract, PayloadContract, WebhookContract
from gateway.codegen.render.artifact import Artifact, joint_source, pretty
from gateway.codegen.render.pages.fields import fields_of
from gateway.codegen.render.pages.markdown import (
    code,
    fenced,
    inline,
    joined,
    page_header,
    prose,
    table,
)
from gateway.contract.rows.entity import Entity
from gateway.signatures.registry import scheme_of
from gateway.signatures.scheme import SignatureScheme

EVENTS_PAGE: Final = "events"
ROWS_PAGE: Final = "rows"
_ABOUT_EVENTS: Final = (
    "The events that the gateway publishes are CloudEvents 1.0 in the structured JSON format."
    " Followers of `GET /events`, endpoints and MCP subscribers all receive the same object."
)
_ABOUT_ROWS: Final = (
    "Webhooks write these rows, and `entities.<kind>` reads them. An earlier message never "
    "overwrites a later one. A reference may name a row that does not exist yet."
)


def webhook_page(webhook: WebhookContract) -> Artifact:
    """`webhooks/<provider>.md`: how a provider is authenticated, and what its messages do."""
    rules = webhook.x_webhook
    parts = [
        page_header(webhook.source),
        f"# {inline(webhook.title)}",
        prose(webhook.description),
        f"`POST {webhook.route}`; contract {code(f'schemas/{webhook.source.path}')}.",
        "## Profiles",
        "A profile is enabled if its secrets are set. During a rotation, set both.",
        table(("Profile", "Authentication", "Message id", "Type", "Setting"), _profiles(webhook)),
    ]
    if rules.get("settings"):
        parts += ["## Settings", table(("Setting", "Default", "Meaning"), _settings(webhook))]
    parts += ["## Events", table(("Event", "Profiles", "Writes", "Publishes"), _events(webhook))]
    for payload in webhook.payloads:
        parts += _payload(payload)
    return Artifact("docs", PurePosixPath(f"webhooks/{webhook.provider}.md"), joined(parts))


def events_page(contracts: Contracts) -> Artifact:
    """`events.md`: every type of event, with an example."""
    source = joint_source("events/*.yaml", (each.source for each in contracts.events))
    parts = [
        page_header(source),
        "# Events",
        _ABOUT_EVENTS,
        table(("Type", "What happened"), _titles(contracts)),
    ]
    for event in contracts.events:
        parts += _event(event)
    return Artifact("docs", PurePosixPath(f"{EVENTS_PAGE}.md"), joined(parts))


def rows_page(contracts: Contracts) -> Artifact:
    """`rows.md`: every kind of row that webhooks write."""
    source = joint_source("entities/*.json", (each.source for each in contracts.entities))
    parts = [
        page_header(source),
        "# Rows",
        _ABOUT_ROWS,
    ]
    for each in contracts.entities:
        parts += _rows(each.entity)
    return Artifact("docs", PurePosixPath(f"{ROWS_PAGE}.md"), joined(parts))


def _profiles(webhook: WebhookContract) -> Iterator[tuple[str, ...]]:
    for name, profile in webhook.x_webhook["profiles"].items():
        scheme = scheme_of(profile["authentication"])
        setting = f"{_prefix(webhook)}_{name.upper()}_SECRETS"
        identified = _place(profile["messageId"]) if "messageId" in profile else "none"
        yield (
            f"`{name}`",
            _scheme(scheme),
            identified,
            _place(profile["eventType"]),
            f"`{setting}`: {scheme.secret_form}",
        )


def _scheme(scheme: SignatureScheme) -> str:
    headers = _listed(scheme.headers)
    return inline(scheme.title) + (f": {headers}" if headers else "")


def _place(rules: Mapping[str, str]) -> str:
    if "const" in rules:
        return f"always {code(rules['const'])}"
    return f"header {code(rules['header'])}" if "header" in rules else code(rules["pointer"])


def _prefix(webhook: WebhookContract) -> str:
    return f"GATEWAY_WEBHOOKS_{webhook.provider.upper()}"


def _settings(webhook: WebhookContract) -> Iterator[tuple[str, ...]]:
    for name, rule in webhook.x_webhook["settings"].items():
        default = code(rule["default"]) if rule.get("default") else ""
        yield f"`{_prefix(webhook)}_{name.upper()}`", default, inline(rule["description"])


def _events(webhook: WebhookContract) -> Iterator[tuple[str, ...]]:
    for name, rules in webhook.x_webhook["events"].items():
        written = dict.fromkeys(each["entity"] for each in rules.get("effects", ()))
        yield (
            f"[`{name}`](#{_slug(name)})",
            _listed(rules["profiles"]),
            _listed(written),
            _outcome(rules),
        )


def _outcome(rules: Mapping[str, Any]) -> str:
    """The cell of the events that are published or derived, and the tools that are called."""
    emitted = [f"[`{rules['emits']['event']}`](../{EVENTS_PAGE}.md)"] if "emits" in rules else []
    called = [f"then calls `{each['tool']}`" for each in rules.get("notifications", ())]
    found = [f"fetches, and derives `{each['event']}`" for each in rules.get("derives", ())]
    return "; ".join([*emitted, *found, *called])


def _payload(payload: PayloadContract) -> Iterator[str]:
    yield f"### {inline(payload.type)}"
    about = payload.schema.get("description")
    if about:
        yield prose(str(about))
    yield _fields(payload.schema)
    yield from (_fenced(each) for each in payload.schema.get("examples", ())[:1])


def _event(contract: EventContract) -> Iterator[str]:
    yield f"## {contract.event.type}"
    yield prose(contract.event.description)
    data = contract.event.schema["properties"]["data"]
    yield _fields(data)
    yield from (_fenced(each.value) for each in contract.examples[:1])


def _rows(entity: Entity) -> Iterator[str]:
    yield f"## {entity.kind}"
    yield prose(str(entity.schema.get("description", entity.schema["title"])))
    yield f"Key: {_listed(entity.key)}. Filters: {_listed(entity.filters) or 'none'}."
    if owned := [*_owned(entity)]:
        yield " ".join(owned)
    yield _fields(entity.schema)


def _owned(entity: Entity) -> Iterator[str]:
    """Sentences about the columns that the webhook does not own."""
    rules = entity.rules
    if rules.agent:
        yield f"Owned by agents: {_listed(rules.agent)}."
    for name, default in rules.defaults.items():
        value, beside = code(str(default.value)), code(default.beside)
        yield f"{code(name)} is {value} if {beside} has a value and no message set {code(name)}."
    for name, computed in rules.computed.items():
        conditions = " and ".join(
            f"{code(each)} is {code(text)}" for each, text in computed.when.items()
        )
        yield f"`{name}` is computed: `{computed.copy}` where {conditions}."
    if rules.states:
        yield f"`{rules.states.column}` follows a [state machine](states.md#{entity.kind})."


def _fields(schema: Mapping[str, Any]) -> str:
    rows = (
        (
            code(field.path) + (" *(required)*" if field.is_required else ""),
            field.kind,
            inline(field.description),
        )
        for field in fields_of(dict(schema))
    )
    return table(("Name", "Type", "Meaning"), rows)


def _fenced(value: Any) -> str:
    return fenced("json", pretty(value))


def _titles(contracts: Contracts) -> Iterator[tuple[str, str]]:
    for each in contracts.events:
        yield f"[`{each.event.type}`](#{_slug(each.event.type)})", inline(each.event.title)


def _slug(heading: str) -> str:
    """The anchor of a heading in MyST and on GitHub."""
    return heading.replace(".", "")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(code, names))
