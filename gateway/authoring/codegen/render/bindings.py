"""Renders bindings of tools and webhooks: modules compiled from their maps."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import fields

from gateway.authoring.codegen.ir import (
    Contracts,
    ContractSource,
    PayloadContract,
    ToolContract,
    UpstreamContract,
    WebhookContract,
)
from gateway.authoring.codegen.render.artifact import (
    Artifact,
    docstring,
    document,
    joint_source,
    literal,
    python,
    quoted,
)
from gateway.authoring.contracts.cache import Remember
from gateway.authoring.contracts.names import identifier
from gateway.authoring.mapping.event_language import EventBasis
from gateway.authoring.mapping.event_maps import Declared, basis_of, compile_event
from gateway.authoring.mapping.fields import BindingSource, compile_binding
from gateway.contract.rows.entity import Entity
from gateway.contract.webhook import (
    BodyForm,
    Challenge,
    MessagePart,
    Profile,
    SourceRate,
    WebhookSetting,
    WebhookSource,
)
from gateway.signatures.received import RequestPlace, TimePlace
from gateway.signatures.registry import SCHEMES, scheme_of

# Renders bindings: one module per tool, compiled from its field map.

_READS: Final = {"get": "get_row", "list": "list_rows"}
"""The functions of `gateway.contract.rows.reads`."""


def binding(tool: ToolContract, contracts: Contracts, package: str, remember: Remember) -> Artifact:
    """`bindings/<connector>/<tool>.py`. Raises `ContractError` if the binding has problems."""
    if "entity" in tool.x_binding:
        body = _of_entity(tool)
        return python(f"bindings/{tool.connector}/{tool.tool}.py", tool.source, body)
    upstream = contracts.upstream_of(tool)
    sources = [tool.source, *([upstream.source] if upstream else [])]
    source = joint_source(str(tool.source.path), sources)
    body = remember(
        "binding",
        f"{package} {source.path} {source.sha256}",
        lambda: compile_binding(binding_source(tool, upstream, package)),
    )
    return python(f"bindings/{tool.connector}/{tool.tool}.py", source, body)


def binding_source(
    tool: ToolContract, upstream: UpstreamContract | None, package: str = "generated"
) -> BindingSource:
    """The parts of the contracts that determine the binding of `tool`."""
    return BindingSource(
        tool_id=tool.id,
        x_binding=tool.x_binding,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        upstream=upstream.upstream if upstream else None,
        declared_errors=frozenset(error.reason for error in tool.errors),
        package=package,
        is_file=bool(tool.file_types),
    )


def _of_entity(tool: ToolContract) -> str:
    """The module of a read tool that an entity declares."""
    kind, function = tool.x_binding["entity"], _READS[tool.x_binding["rows"]]
    return f"""{docstring(f"The binding of {tool.id}: it reads the rows of {kind}.")}

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallContext
from gateway.contract.operation import PythonBinding
from gateway.contract.rows.reads import {function}


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return await {function}({kind!r}, arguments, context.entities)


BINDING: Final = PythonBinding(run=run)
"""


# Renders webhooks: one module per event, compiled from its maps, and one per source.

_FIELD: Final = 4
_USED: Final = frozenset({"tuple"})
_RECORDS: Final[tuple[type, ...]] = (
    *(BodyForm, Challenge, MessagePart, Profile, SourceRate, WebhookSetting, WebhookSource),
    *(RequestPlace, TimePlace),
)
"""The classes of which a source's module has records, beside signature schemes."""
_CALLED: Final = re.compile(r"\b([A-Z][A-Za-z]+)\(")


def webhooks_json(contracts: Contracts) -> Artifact:
    """`webhooks.json`: the payload schemas by provider and event type."""
    found = {
        webhook.provider: {payload.type: payload.schema for payload in webhook.payloads}
        for webhook in contracts.webhooks
    }
    return document("webhooks.json", found)


def event(
    webhook: WebhookContract, payload: PayloadContract, contracts: Contracts, remember: Remember
) -> Artifact:
    """`webhooks/<provider>/<event>.py`. Raises `ContractError` if the event has problems."""
    basis = event_basis(webhook, payload, contracts)
    name = basis.name
    source = joint_source(str(webhook.source.path), _sources(webhook, basis, contracts))
    body = remember("event", f"{name} {source.sha256}", lambda: compile_event(basis))
    return python(f"webhooks/{webhook.provider}/{payload.module}.py", source, body)


def event_basis(
    webhook: WebhookContract, payload: PayloadContract, contracts: Contracts
) -> EventBasis:
    """The parts of the contracts that determine one event of a webhook."""
    payloads = {each.type: each.schema for each in webhook.payloads}
    name = f"{webhook.provider}.{payload.type}"
    return basis_of(name, webhook.x_webhook, payloads, declared_by(contracts))


def declared_by(contracts: Contracts) -> Declared:
    """The contracts that the maps of events may name."""
    return Declared(
        entities={
            each.entity.kind: {**each.entity.schema, "x-entity": _facts_of(each.entity)}
            for each in contracts.entities
        },
        events={each.event.type: each.event.schema for each in contracts.events},
        tools={each.id: each.input_schema for each in contracts.tools},
        upstreams={each.upstream.name: each.upstream for each in contracts.upstreams},
    )


def _facts_of(entity: Entity) -> dict[str, Any]:
    """The members of x-entity that determine which columns an event may set."""
    facts = {"agent": entity.rules.agent, "computed": entity.rules.computed}
    return {
        "key": list(entity.key),
        **{name: list(value) for name, value in facts.items() if value},
    }


def _sources(
    webhook: WebhookContract, basis: EventBasis, contracts: Contracts
) -> Iterable[ContractSource]:
    """The contracts that determine the module."""
    yield webhook.source
    yield from (each.source for each in contracts.entities if each.entity.kind in basis.entities)
    yield from (each.source for each in contracts.events if each.event.type in basis.events)
    yield from (each.source for each in contracts.tools if each.id in basis.tools)
    name = basis.upstream.name if basis.upstream else None
    yield from (each.source for each in contracts.upstreams if each.upstream.name == name)


def source_module(webhook: WebhookContract, package: str) -> Artifact:
    """`webhooks/<provider>/__init__.py`: the source with all its events."""
    modules = [identifier(payload.module, taken=_USED) for payload in webhook.payloads]
    record = _record("WebhookSource", _fields(webhook, modules))
    body = "\n".join(
        (
            docstring(f"The webhook of {webhook.provider}."),
            "",
            "from typing import Final",
            "",
            *_imports(record),
            f"from {package}.webhooks.{webhook.provider} import ({_imported(webhook)})",
            "",
            f"SOURCE: Final = {record}",
            "",
        )
    )
    return python(f"webhooks/{webhook.provider}/__init__.py", webhook.source, body)


def joined(webhooks: Sequence[WebhookContract], package: str) -> Artifact:
    """`webhooks/__init__.py`: every source."""
    providers = [webhook.provider for webhook in webhooks]
    names = [identifier(provider, taken=_USED) for provider in providers]
    pairs = zip(providers, names, strict=True)
    listed = ", ".join(name if name == alias else f"{name} as {alias}" for name, alias in pairs)
    body = "\n".join(
        (
            docstring("The webhooks of every provider."),
            "",
            "from typing import Final",
            "",
            "from gateway.contract.webhook import WebhookSource",
            *([f"from {package}.webhooks import ({listed})"] if names else []),
            "",
            "WEBHOOKS: Final[tuple[WebhookSource, ...]] = (",
            *(f"    {name}.SOURCE," for name in names),
            ")",
            "",
        )
    )
    return python("webhooks/__init__.py", joint_source("openapi.yaml", (), *providers), body)


def _imported(webhook: WebhookContract) -> str:
    names = ((each.module, identifier(each.module, taken=_USED)) for each in webhook.payloads)
    return ", ".join(name if name == alias else f"{name} as {alias}" for name, alias in names)


def _imports(record: str) -> list[str]:
    """A line for each module with classes of which `record` has records."""
    used = set(_CALLED.findall(record))
    modules: dict[str, set[str]] = {}
    for kind in (*_RECORDS, *SCHEMES.values()):
        if kind.__name__ in used:
            modules.setdefault(kind.__module__, set()).add(kind.__name__)
    return [
        f"from {module} import ({', '.join(sorted(names))})"
        for module, names in sorted(modules.items())
    ]


def _fields(webhook: WebhookContract, modules: Sequence[str]) -> Mapping[str, str]:
    rules = webhook.x_webhook
    settings = rules.get("settings", {})
    stored = tuple(name.lower() for name in rules.get("storedHeaders", ()))
    fields = {
        "provider": quoted(webhook.provider),
        "title": literal(webhook.title, column=_FIELD + 6, indent=_FIELD),
        "profiles": _tuple(_profile(name, each) for name, each in rules["profiles"].items()),
        "events": _tuple(f"{module}.EVENT" for module in modules),
        "max_body_bytes": str(rules.get("maxBodyBytes", "")),
        "media_types": _media_types(webhook),
        "is_compressed": "True" if rules.get("contentEncodings") else "",
        "ignored": _tuple(map(quoted, rules["ignore"])) if "ignore" in rules else "",
        "rate": _rate(rules["rate"]) if "rate" in rules else "",
        "stored_headers": _tuple(map(quoted, stored)) if stored else "",
        "settings": _tuple(_setting(*each) for each in settings.items()) if settings else "",
        "contract": quoted(webhook.source.sha256),
    }
    return {name: text for name, text in fields.items() if text}


def _media_types(webhook: WebhookContract) -> str:
    """The media types of the bodies. Empty for JSON alone, which is the default."""
    found = sorted(webhook.path_item["post"]["requestBody"]["content"])
    return "" if found == ["application/json"] else _tuple(map(quoted, found))


def _profile(name: str, rules: Mapping[str, Any]) -> str:
    found = rules.get("messageId")
    fields = {
        "name": quoted(name),
        "authentication": _written(scheme_of(rules["authentication"]), rules["authentication"]),
        "message_id": _message_part(found) if found else "None",
        "event_type": _message_part(rules["eventType"]),
        "body": _body_form(rules.get("body", {})),
        "same_bytes": quoted(rules["sameBytes"]) if "sameBytes" in rules else "",
        "challenge": _challenge(rules["challenge"]) if "challenge" in rules else "",
        "tenant": _place(rules["tenant"]) if "tenant" in rules else "",
    }
    return _record("Profile", {name: text for name, text in fields.items() if text})


def _written(record: Struct, rules: Mapping[str, Any]) -> str:
    """A record with the members that the contract sets. The others have their defaults."""
    given = [each for each in fields(record) if each.encode_name in rules]
    return _record(
        type(record).__name__,
        {each.name: _plain(getattr(record, each.name), rules[each.encode_name]) for each in given},
    )


def _plain(value: object, rule: Any) -> str:
    if isinstance(value, Struct):
        return _written(value, rule)
    if isinstance(value, tuple):
        return _tuple(map(_plain, value, rule))
    return quoted(value) if isinstance(value, str) else repr(value)


def _message_part(rules: Mapping[str, str]) -> str:
    ((name, value),) = rules.items()
    return _record("MessagePart", {name: quoted(value.lower() if name == "header" else value)})


def _place(rules: Mapping[str, Any]) -> str:
    (name,) = rules.keys() - {"is"}
    value = rules[name]
    return _record("RequestPlace", {name: "True" if value is True else quoted(value)})


def _body_form(rules: Mapping[str, Any]) -> str:
    form = rules.get("form")
    members = {
        "is_form": "True" if form else "",
        "field": quoted(form["field"]) if isinstance(form, dict) else "",
        "batch": quoted(rules["batch"].partition("#")[2]) if "batch" in rules else "",
    }
    found = {name: text for name, text in members.items() if text}
    return _record("BodyForm", found) if found else ""


def _challenge(rules: Mapping[str, Any]) -> str:
    answer = rules.get("answer", "text")
    kind, members = ("text", {}) if answer == "text" else next(iter(answer.items()))
    pairs = (f"({quoted(name)}, {quoted(value)})" for name, value in members.items())
    fields = {
        "method": quoted(rules["method"]),
        "when": _place(rules["when"]) if "when" in rules else "",
        "is_": quoted(rules["when"]["is"]) if "when" in rules else "",
        "token": _place(rules["token"]) if "token" in rules else "",
        "secret": _place(rules["secret"]) if "secret" in rules else "",
        "is_signed": "True" if rules.get("signed") else "",
        "answer": quoted(kind) if kind != "text" else "",
        "members": _tuple(pairs) if members else "",
    }
    return _record("Challenge", {name: text for name, text in fields.items() if text})


def _rate(rules: Mapping[str, Any]) -> str:
    facts = SourceRate(per_second=float(rules["perSecond"]), burst=rules["burst"])
    return _record("SourceRate", {"per_second": repr(facts.per_second), "burst": str(facts.burst)})


def _setting(name: str, rules: Mapping[str, Any]) -> str:
    fields = {
        "name": quoted(name),
        "description": literal(rules["description"], column=24, indent=12),
        "default": quoted(rules["default"]) if rules.get("default") else "",
        "pattern": quoted(rules["pattern"]),
    }
    return _record("WebhookSetting", {name: text for name, text in fields.items() if text})


def _record(name: str, fields: Mapping[str, str]) -> str:
    return f"{name}({', '.join(f'{field}={text}' for field, text in fields.items())})"


def _tuple(texts: Iterable[str]) -> str:
    listed = list(texts)
    return f"({', '.join(listed)},)" if listed else "()"
