"""Renders the reference pages: overview, webhooks, events, entities and state machines."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from gateway.authoring.codegen.ir import (
    Contracts,
    EventContract,
    PayloadContract,
    ToolContract,
    WebhookContract,
)
from gateway.authoring.codegen.render.artifact import Artifact, joint_source, pretty
from gateway.authoring.codegen.render.markdown import (
    code,
    fenced,
    fields_of,
    inline,
    joined,
    page_header,
    prose,
    table,
)
from gateway.contract.operation import Effect
from gateway.contract.rows.entity import Entity, States
from gateway.signatures.registry import scheme_of
from gateway.signatures.scheme import SignatureScheme

# Reference pages of webhooks (one per provider), events and entities.

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


# The reference page of state machines: states, their order, and the messages that report them.

STATES_PAGE: Final = "states"
_ABOUT: Final = (
    "Messages are replayed in the order of the events that they report, not of their arrival. The"
    " message itself says when its event happened. A time after the arrival counts as the time of"
    " arrival."
)
_TABLE: Final = (
    ("A repeated message", "Changes nothing."),
    ("A late message", "Is inserted into the log by the time of its event."),
    (
        "A message about an unknown row",
        "Creates the row with all columns of the message. An initial state is applied.",
    ),
    (
        "A message whose state may not follow",
        (
            "Is not applied: the row keeps its state, and the log contains the message with"
            " `applied: false`. Its other columns are written, and its event is published. It may"
            " be applied later, if a message arrives that makes its state follow."
        ),
    ),
    ("A lost message", "The row has the state that the other messages give."),
)


def states_page(contracts: Contracts) -> Artifact:
    """`states.md`: every state machine as a table."""
    source = joint_source("entities/*.json", (each.source for each in contracts.entities))
    parts = [
        page_header(source),
        "# State machines",
        _ABOUT,
        table(("What arrives", "What happens"), _TABLE),
    ]
    for contract in contracts.entities:
        states = contract.entity.rules.states
        if states is not None:
            reports = [*_reports(contracts, contract.entity, states)]
            parts += _machine(contract.entity, states, reports)
    return Artifact("docs", PurePosixPath(f"{STATES_PAGE}.md"), joined(parts))


def _machine(entity: Entity, states: States, reports: list[tuple[str, str]]) -> Iterator[str]:
    yield f"## {entity.kind}"
    about = inline(entity.schema["properties"][states.column]["description"])
    yield f"`{states.column}`: {about} The log is `{states.log}`."
    rows = (
        (
            code(state) + (" *(initial)*" if state in states.initial else ""),
            _listed(following) or "nothing: it is final",
            _listed(message for message, reported in reports if reported == state),
        )
        for state, following in states.next.items()
    )
    yield table(("State", "May be followed by", "Reported by"), rows)
    order = ", ".join(map(code, states.next))
    yield f"Of two states with the same time, the one that is listed first is the earlier: {order}."
    if states.carries:
        yield f"Only a message whose state is applied writes {_listed(states.carries)}."
    for state, column in states.same.items():
        yield (
            f"A message with {code(state)} is applied only if it has the same `{column}` as the "
            "row, or one of them has none. This holds also if the row is in that state already."
        )


def _reports(contracts: Contracts, entity: Entity, states: States) -> Iterator[tuple[str, str]]:
    """The messages about `entity`, each with the state that it reports."""
    for webhook in contracts.webhooks:
        for name, rules in webhook.x_webhook["events"].items():
            for effect in rules.get("effects", ()):
                reported: Any = effect["set"].get(states.column)
                if effect["entity"] == entity.kind and isinstance(reported, dict):
                    yield f"{webhook.provider}.{name}", str(reported.get("const", ""))


# The index page of the reference: all tools by connector and by agent.

_SOME: Final = " (some arguments)"


def index(contracts: Contracts) -> Artifact:
    """`index.md`."""
    tools, grants = contracts.tools, contracts.policies.grants
    facts = (f"{tool.id} {tool.title} {tool.effect}" for tool in tools)
    sources = [contracts.policies.source, *(each.source for each in contracts.webhooks)]
    source = joint_source("tools/", sources, *facts)
    connectors = contracts.by_connector()
    counted = (_count(tools, "tool"), _count(connectors, "connector"), _count(grants, "agent"))
    parts = [
        page_header(source),
        "# Tools",
        "{} of {}, for {}.".format(*counted),
        "## By connector",
        *_by_connector(contracts),
        "## By agent",
        "An agent sees the tools that `schemas/policies/agents.yaml` grants it, and no others.",
        table(("Agent", "Tools", "Which"), _by_agent(contracts)),
    ]
    parts += _of_events(contracts)
    pages = "\n".join([*(f"{tool.connector}/{tool.tool}" for tool in tools), *_pages(contracts)])
    parts.append(f"```{{toctree}}\n:hidden:\n\n{pages}\n```")
    return Artifact("docs", PurePosixPath("index.md"), joined(parts))


def _of_events(contracts: Contracts) -> Iterator[str]:
    """Links to the pages of webhooks, events and entities."""
    if contracts.webhooks:
        yield "## By event"
        rows = (
            (f"[`POST {each.route}`](webhooks/{each.provider}.md)", inline(each.description))
            for each in contracts.webhooks
        )
        yield table((_count(contracts.webhooks, "webhook"), "What it takes"), rows)
    counted = []
    if contracts.events:
        counted.append(f"[{_count(contracts.events, 'type')} of events]({EVENTS_PAGE}.md)")
    if contracts.entities:
        counted.append(f"[{_count(contracts.entities, 'kind')} of rows]({ROWS_PAGE}.md)")
    if any(each.entity.rules.states for each in contracts.entities):
        counted.append(f"[their state machines]({STATES_PAGE}.md)")
    if counted:
        yield f"There are {' and '.join(counted)}."


def _pages(contracts: Contracts) -> Iterator[str]:
    yield from (f"webhooks/{each.provider}" for each in contracts.webhooks)
    yield from [EVENTS_PAGE] if contracts.events else []
    yield from [ROWS_PAGE] if contracts.entities else []
    yield from [STATES_PAGE] if any(each.entity.rules.states for each in contracts.entities) else []


def _by_connector(contracts: Contracts) -> Iterator[str]:
    tags = {tag["name"]: tag for tag in contracts.index.document.get("tags", ())}
    for connector, tools in contracts.by_connector().items():
        yield f"### {connector}"
        about = tags.get(connector, {}).get("description")
        if about:
            yield prose(about)
        rows = (
            (_link(tool, tool.tool), tool.effect.value, inline(tool.description)) for tool in tools
        )
        yield table((_count(tools, "tool"), "Effect", "What it does"), rows)


def _by_agent(contracts: Contracts) -> Iterator[tuple[str, ...]]:
    tools = {tool.id: tool for tool in contracts.tools}
    harmless = tuple(tool.id for tool in contracts.tools if tool.effect is not Effect.DESTROY)
    for agent, granted in contracts.policies.granted.items():
        ids = tuple(each for each in granted.ids if each in tools)
        scopes = [f"`{each}`" for each in granted.ids if each not in tools]
        some = granted.conditional
        which = [f"{_link(tools[each], each)}{_SOME if each in some else ''}" for each in ids]
        if ids == harmless and not some:
            which = ["all except those that destroy"]
        yield code(agent), str(len(ids)), ", ".join([*which, *scopes])


def _link(tool: ToolContract, text: str) -> str:
    return f"[`{text}`]({tool.connector}/{tool.tool}.md)"


def _count(things: Iterable[object], name: str) -> str:
    number = len(list(things))
    return f"{number} {name}{'' if number == 1 else 's'}"
