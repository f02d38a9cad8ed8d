"""Converts a linted tree of contract files to the records that renderers use."""

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

import msgspec

from gateway.authoring.codegen.ir import (
    Annotations,
    CommonContract,
    Contracts,
    ContractSource,
    EntityContract,
    EventContract,
    Example,
    IndexContract,
    Model,
    PayloadContract,
    PolicyContract,
    ToolContract,
    UpstreamContract,
    WebhookContract,
)
from gateway.authoring.contracts.document import Document
from gateway.authoring.contracts.entity_tools import DIALECT
from gateway.authoring.contracts.expanding import dereference
from gateway.authoring.contracts.names import camel, payload_stem
from gateway.authoring.contracts.policies import granted, written_grants
from gateway.authoring.contracts.refs import INPUT, RefTarget, closure, resolve, schema_name
from gateway.authoring.contracts.tree import (
    COMMON,
    POLICIES,
    EventFile,
    OfferedSource,
    SourceTree,
    ToolSource,
    WebhookFile,
    needs_grant,
    templates_of,
)
from gateway.authoring.contracts.upstreams import lower_upstream
from gateway.authoring.openapi.lowering.connector import SensitiveArguments
from gateway.contract.agent_view import AgentView
from gateway.contract.event import EventType
from gateway.contract.offered import (
    LONGEST_ARGUMENT,
    DeclaredPrompt,
    DeclaredResource,
    FileContents,
    HandlerContents,
    Offered,
    PromptArgument,
    PromptImage,
    PromptMessage,
    PromptResource,
    PromptText,
    Supplied,
    ToolContents,
    Variable,
    placeholders,
)
from gateway.contract.operation import Attempts, DeclaredError, Deprecation, Effect, Escalation
from gateway.contract.policies.limits import AgentLimits, ToolLimits
from gateway.contract.rows.entity import Entity, EntityRules
from gateway.contract.schemas import keywords
from gateway.contract.schemas.keywords import DATA, NAME_MAPS
from gateway.contract.values.files import BLOCKS_TYPE, file_types_of, is_text
from gateway.contract.values.pointers import child, follow, pointer_of, steps
from gateway.errors import ContractError
from gateway.project_folder import INDEX

# Finds the sensitive arguments, which logs, audit records and traces must not contain.

_OPAQUE: Final = frozenset({"propertyNames", "contentSchema"})
"""Keywords whose schemas describe something without a pointer: a name, or the content of a text."""


def sensitive_pointers(schema: Any, path: tuple[str, ...] = ()) -> tuple[str, ...]:
    """JSON Pointers to parts with `writeOnly` or `x-sensitive`. `*` stands for any step.

    Where a schema contains itself, all of the inner value is sensitive if a part of it may be.
    """
    if isinstance(schema, dict) and "$defs" in schema:
        return SensitiveArguments(schema["$defs"]).pointers(schema)
    if not isinstance(schema, dict):
        return ()
    if schema.get("writeOnly") is True or schema.get("x-sensitive") is True:
        return (pointer_of(path),)
    found = [
        pointer
        for keyword, at, member in keywords.branches(schema, "")
        for pointer in _found(keyword, at, member, path)
    ]
    return tuple(dict.fromkeys(found))


def _found(keyword: str, at: str, member: Any, path: tuple[str, ...]) -> Iterator[str]:
    """The pointers of the subschema `member`, which is under `keyword` at the pointer `at`.

    A mark counts for all values, also if its subschema applies only to some of them.
    """
    if keyword in _OPAQUE and sensitive_pointers(member):
        yield pointer_of(path)
    elif keyword in keywords.NAMED_MEMBERS:
        yield from sensitive_pointers(member, (*path, steps(at)[-1]))
    elif keyword in keywords.ANY_MEMBERS:
        yield from sensitive_pointers(member, (*path, "*"))
    elif keyword != "$defs":
        yield from sensitive_pointers(member, path)


# Converts the contracts of resources and prompts to the records of the run time.


def lower_offered(tree: SourceTree) -> Offered:
    """The resources and prompts of a tree without lint errors."""
    return Offered(
        resources=tuple(_resource(tree, each) for each in tree.resources),
        prompts=tuple(_prompt(tree, each) for each in tree.prompts),
    )


def _resource(tree: SourceTree, source: OfferedSource) -> DeclaredResource:
    facts = source.document.value
    annotations = facts.get("annotations", {})
    return DeclaredResource(
        connector=source.connector,
        name=source.path.stem,
        uri=facts.get("uri") or facts["uriTemplate"],
        is_template="uriTemplate" in facts,
        title=facts["title"],
        description=facts["description"].strip(),
        mime_type=facts["mimeType"],
        audience=tuple(annotations.get("audience", ())),
        priority=annotations.get("priority"),
        variables=tuple(
            Variable(name=name, description=each["description"], values=tuple(each.get("enum", ())))
            for name, each in facts.get("variables", {}).items()
        ),
        contents=_contents(tree, source, facts["contents"]),
    )


def _contents(
    tree: SourceTree, source: OfferedSource, facts: Mapping[str, Any]
) -> FileContents | ToolContents | HandlerContents:
    if "file" in facts:
        text, blob = _content(tree, source, facts["file"], source.document.value["mimeType"])
        return FileContents(text=text, blob=blob, size=_size(text, blob))
    if "python" in facts:
        module, _, function = facts["python"].partition(":")
        return HandlerContents(module=module, function=function)
    tool = next(each for each in tree.tools if each.id == facts["tool"])
    properties = dereference(tree, tool.path, INPUT)["properties"]
    return ToolContents(
        operation=facts["tool"],
        arguments={
            name: Supplied(variable=each["variable"], kind=_kind(properties[name]["type"]))
            if "variable" in each
            else Supplied(constant=each["const"])
            for name, each in facts.get("arguments", {}).items()
        },
    )


def _kind(name: str) -> Any:
    # msgspec leaves out a default only if it is the same object, which no text of a file is.
    return None if name == "string" else name


def _size(text: str | None, blob: str | None) -> int:
    return len(base64.b64decode(blob)) if blob is not None else len((text or "").encode())


def _content(
    tree: SourceTree, source: OfferedSource, name: str, mime_type: str
) -> tuple[str | None, str | None]:
    """The text or, in base64, the bytes of a file."""
    content = _bytes(tree, source, name, mime_type)
    return (content.decode(), None) if is_text(mime_type) else (None, _encoded(content))


def _bytes(tree: SourceTree, source: OfferedSource, name: str, mime_type: str) -> bytes:
    content = tree.files[source.file(name)]
    # So that each checkout of a repository gives the same file.
    return content.replace(b"\r\n", b"\n") if is_text(mime_type) else content


def _encoded(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def _prompt(tree: SourceTree, source: OfferedSource) -> DeclaredPrompt:
    facts = source.document.value
    return DeclaredPrompt(
        connector=source.connector,
        name=source.path.stem,
        title=facts["title"],
        description=facts["description"].strip(),
        arguments=tuple(
            PromptArgument(
                name=name,
                description=each["description"],
                is_required=each.get("required", False),
                values=tuple(each.get("enum", ())),
                max_length=each.get("maxLength", LONGEST_ARGUMENT),
                default=each.get("default", ""),
            )
            for name, each in facts.get("arguments", {}).items()
        ),
        messages=tuple(_message(tree, source, each) for each in facts["messages"]),
    )


def _message(tree: SourceTree, source: OfferedSource, facts: Mapping[str, Any]) -> PromptMessage:
    named = (name for _, text in templates_of(facts, "") for name in placeholders(text))
    return PromptMessage(
        role=facts["role"],
        content=_block(tree, source, facts),
        tools=tuple(sorted({name for name in named if "." in name})),
    )


def _block(
    tree: SourceTree, source: OfferedSource, facts: Mapping[str, Any]
) -> PromptText | PromptImage | PromptResource:
    if "text" in facts:
        return PromptText(text=facts["text"])
    if "image" in facts:
        image = facts["image"]
        content = _bytes(tree, source, image["file"], image["mimeType"])
        return PromptImage(mime_type=image["mimeType"], blob=_encoded(content))
    resource = facts["resource"]
    data, blob = (
        _content(tree, source, resource["file"], resource["mimeType"])
        if "file" in resource
        else (None, None)
    )
    return PromptResource(
        uri=resource["uri"],
        mime_type=resource["mimeType"],
        text=resource.get("text"),
        data=data,
        blob=blob,
    )


# Converts a linted tree of contract files to the records that renderers use.
#
# Dereferences schemas for models and for the published OpenAPI document.
#
# A full dereference would repeat a shared schema at every use. Models import it instead, and the
# OpenAPI document refers to a component.

_BARE: Final = frozenset({"$schema", "$id", "$defs", "$comment", "title", "description"})
"""The members that a file of only definitions may have."""


def model(tree: SourceTree, name: str, path: PurePosixPath, pointer: str = "") -> Model:
    """The model `name` of the schema at `pointer` of the file `path`.

    A reference to a shared definition stays, as `common/<file>.json#/$defs/<Name>`. Raises
    `ContractRefused` for a reference that cannot be resolved.
    """
    schema = dereference(tree, path, pointer, _shared_definition)
    document = tree.documents[path]
    where, place, _ = document.place(pointer) if document.declared else (path, pointer, 0)
    return Model(name=name, path=where, pointer=place, schema=schema)


def shared_models(tree: SourceTree, path: PurePosixPath) -> Iterator[Model]:
    """The models of a file of `common/`: its `$defs`, and the file itself if it is a schema.

    Raises `ContractError` if two models have the same class name.
    """
    value = tree.documents[path].value
    names: dict[str, str] = {}
    for key in value.get("$defs", {}):
        name = camel(key)
        if name in names:
            raise _clash(path, f"$defs {names[name]!r}", f"$defs {key!r}", name)
        names[name] = key
        yield model(tree, name, path, child("/$defs", key))
    own = camel(path.stem)
    if value.keys() <= _BARE or value.get("$ref") == f"#{child('/$defs', names.get(own, ''))}":
        return
    if own in names:
        raise _clash(path, f"$defs {names[own]!r}", "the file itself", own)
    yield model(tree, own, path)


def published(
    tree: SourceTree, path: PurePosixPath
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """The Path Item of `path` with schema files as components, and those components by name.

    Raises `ContractRefused` for a reference that cannot be resolved.
    """
    targets: dict[str, RefTarget] = {}

    def component(target: RefTarget) -> str | None:
        if target.document.path.suffix != ".json":
            return None
        name = schema_name(target)
        targets[name] = target
        return f"#/components/schemas/{name}"

    item = dereference(tree, path, keep=component)
    schemas = {
        name: dereference(tree, target.document.path, target.pointer)
        for name, target in targets.items()
    }
    return item, schemas


def _shared_definition(target: RefTarget) -> str | None:
    """The reference to a class of `shared_models`. None if the target is not one."""
    path = target.document.path
    where = steps(target.pointer)
    if path.parts[0] != COMMON or (where and (len(where) != 2 or where[0] != "$defs")):
        return None
    return f"{path}#/$defs/{camel(where[1] if where else path.stem)}"


def _clash(path: PurePosixPath, one: str, other: str, name: str) -> ContractError:
    return ContractError(
        f"schemas/{path}: {one} and {other} have the same Python name {name}; rename one of them"
    )


def source_of(
    tree: SourceTree, path: PurePosixPath, files: Iterable[PurePosixPath]
) -> ContractSource:
    """The source with the main file `path` and the closure `files`.

    Of files that follow from another file, it is that file.
    """
    path = tree.documents[path].source
    members = tuple(sorted({tree.documents[each].source for each in files}))
    lines = [f"{member} {tree.documents[member].text_sha256}\n" for member in members]
    digest = hashlib.sha256("".join(lines).encode()).hexdigest()
    return ContractSource(path=path, closure=members, sha256=digest)


def model_at(tree: SourceTree, path: PurePosixPath, name: str, pointer: str) -> Model:
    """The model of the schema at `pointer`. If it is a reference, the model of its target."""
    schema = follow(tree.documents[path].value, pointer)
    if "$ref" not in schema:
        return model(tree, name, path, pointer)
    target = resolve(tree, path, schema["$ref"], pointer)
    return model(tree, name, target.document.path, target.pointer)


def examples_of(media: Mapping[str, Any]) -> Iterator[Example]:
    """The examples of a Media Type Object."""
    for name, facts in media.get("examples", {}).items():
        yield Example(name=name, summary=facts.get("summary", ""), value=facts["value"])


_PRIVATE: Final = frozenset(
    {"$schema", "$id", "$comment", "x-binding", "x-entity", "x-query", "x-sensitive", "x-webhook"}
)


def for_clients(value: Any) -> Any:
    """A schema or a Path Item without the members that only authors of contracts need."""
    if isinstance(value, list):
        return [for_clients(member) for member in value]
    if not isinstance(value, dict):
        return value
    return {name: _member(name, member) for name, member in value.items() if name not in _PRIVATE}


def _member(name: str, value: Any) -> Any:
    if name in DATA:
        return value
    if name in NAME_MAPS and isinstance(value, dict):
        return {key: for_clients(member) for key, member in value.items()}
    return for_clients(value)


CLOUD_EVENT: Final = "/requestBody/content/application~1cloudevents+json"


def lower_entity(tree: SourceTree, kind: str, document: Document) -> EntityContract:
    """The entity that `document` describes."""
    path, facts = document.path, document.value["x-entity"]
    return EntityContract(
        entity=Entity(
            kind=kind,
            key=tuple(facts["key"]),
            filters=tuple(facts["filters"]),
            schema=for_clients(dereference(tree, path)),
            rules=rules_in(facts),
        ),
        model=model(tree, camel(kind), path),
        source=source_of(tree, path, closure(tree, path)),
    )


def rules_in(facts: Mapping[str, Any]) -> EntityRules:
    """The rules of an `x-entity` besides key, filters and tools."""
    rules = {
        name: value for name, value in facts.items() if name not in {"key", "filters", "tools"}
    }
    return msgspec.convert(rules, EntityRules)


def lower_event(tree: SourceTree, event: EventFile) -> EventContract:
    """The type of event that the file `event` describes."""
    operation = event.document.value["post"]
    path_item, components = published(tree, event.path)
    schema = dereference(tree, event.path, f"/post{CLOUD_EVENT}/schema")
    return EventContract(
        event=EventType(
            type=event.type,
            title=operation["summary"],
            description=operation["description"].strip(),
            schema=for_clients(schema),
        ),
        model=model_at(tree, event.path, camel(event.path.stem), f"/post{CLOUD_EVENT}/schema"),
        path_item=for_clients(path_item),
        components={name: for_clients(each) for name, each in components.items()},
        examples=tuple(examples_of(follow(operation, CLOUD_EVENT))),
        source=source_of(tree, event.path, closure(tree, event.path)),
    )


def lower_webhook(tree: SourceTree, webhook: WebhookFile) -> WebhookContract:
    """The webhook that the file `webhook` describes."""
    operation = webhook.document.value["post"]
    path_item, components = published(tree, webhook.path)
    return WebhookContract(
        provider=webhook.provider,
        title=operation["summary"],
        description=operation["description"].strip(),
        x_webhook=webhook.rules,
        payloads=tuple(_payload(tree, webhook, name) for name in webhook.rules["events"]),
        path_item=for_clients(path_item),
        components={name: for_clients(each) for name, each in components.items()},
        source=source_of(tree, webhook.path, closure(tree, webhook.path)),
    )


def _payload(tree: SourceTree, webhook: WebhookFile, event_type: str) -> PayloadContract:
    pointer = child("/post/x-webhook/events", event_type)
    return PayloadContract(
        type=event_type,
        schema=for_clients(dereference(tree, webhook.path, f"{pointer}/payload")),
        model=model_at(tree, webhook.path, camel(payload_stem(event_type)), f"{pointer}/payload"),
    )


# Not strict: JSON Schema takes 100.0 for a whole number.
def tool_limits(facts: Mapping[str, Any] | None) -> ToolLimits | None:
    """The limits of a tool. None: its contract declares none."""
    return None if facts is None else msgspec.convert(facts, ToolLimits, strict=False)


def agent_limits(agents: Mapping[str, Any]) -> dict[str, AgentLimits]:
    """The limits of the agents that have some, sorted."""
    return {
        agent: msgspec.convert(facts["limits"], AgentLimits, strict=False)
        for agent, facts in sorted(agents.items())
        if "limits" in facts
    }


_WRITTEN: Final = frozenset({"publish/root", "publish/anchor"})
"""The waived rules with which the keywords of a schema matter to its clients."""


def written_input(tree: SourceTree, tool: ToolSource, pointer: str) -> dict[str, Any] | None:
    """The schema at `pointer` with its definitions, if the tool waives a rule about its form.

    None if it does not, and for a schema that refers to other files.
    """
    waived = {each["rule"] for each in tool.operation["x-mcp"].get("waive", ())}
    if waived.isdisjoint(_WRITTEN):
        return None
    reference = follow(tool.document.value, f"{pointer}/$ref")
    target = resolve(tree, tool.path, reference, pointer)
    refs = [holder["$ref"] for _, holder in tree.references(target.document.path)]
    if target.pointer or not all(each.startswith("#") for each in refs):
        return None
    return {"$schema": DIALECT, **for_clients(target.value)}


_REQUEST: Final = "/requestBody/content/application~1json"
_RESULT: Final = "/responses/200/content/application~1json"


def lower(tree: SourceTree) -> Contracts:
    """The contracts of a tree without lint errors.

    Raises `ContractRefused` for a reference that cannot be resolved.
    """
    tools = tuple(_tool(tree, each) for each in sorted(tree.tools, key=lambda tool: tool.id))
    return Contracts(
        index=IndexContract(
            document=tree.documents[INDEX].value, source=source_of(tree, INDEX, [INDEX])
        ),
        common=tuple(_common(tree)),
        tools=tools,
        upstreams=tuple(_upstream(tree, name) for name in sorted(tree.upstreams)),
        policies=_policies(tree, tools),
        entities=tuple(lower_entity(tree, kind, each) for kind, each in tree.entities.items()),
        events=tuple(lower_event(tree, each) for each in tree.events),
        webhooks=tuple(lower_webhook(tree, each) for each in tree.webhooks),
        offered=lower_offered(tree),
    )


def _tool(tree: SourceTree, tool: ToolSource) -> ToolContract:
    operation = tool.operation
    policy, mcp, name = operation["x-policy"], operation["x-mcp"], camel(tool.tool)
    arguments, result = follow(operation, _REQUEST), follow(operation, _RESULT)
    input_schema = dereference(tree, tool.path, f"/post{_REQUEST}/schema")
    path_item, components = published(tree, tool.path)
    output_schema = dereference(tree, tool.path, f"/post{_RESULT}/schema")
    said, path_item = _with_deprecation(operation, path_item)
    return ToolContract(
        id=tool.id,
        connector=tool.connector,
        tool=tool.tool,
        title=operation["summary"],
        effect=Effect(policy["effect"]),
        timeout_seconds=float(policy["timeoutSeconds"]),
        errors=tuple(_declared(policy.get("errors", {}))),
        attempts=_attempts(policy.get("attempts")),
        **_caching(policy.get("cache", {})),
        escalation=_escalation(policy.get("escalation")),
        limits=tool_limits(policy.get("limits")),
        task=policy.get("task", "never"),
        is_query=operation.get("x-query", False),
        mcp_name=mcp["name"],
        aliases=tuple(mcp.get("aliases", ())),
        annotations=_annotations(mcp["annotations"]),
        requires=tuple(mcp.get("requires", ())),
        input_schema=for_clients(input_schema),
        output_schema=for_clients(output_schema),
        input_model=model_at(tree, tool.path, f"{name}Input", f"/post{_REQUEST}/schema"),
        output_model=model_at(tree, tool.path, f"{name}Output", f"/post{_RESULT}/schema"),
        input_examples=tuple(examples_of(arguments)),
        output_examples=tuple(examples_of(result)),
        sensitive=sensitive_pointers(input_schema),
        x_binding=operation["x-binding"],
        **_forms(tree, tool, output_schema),
        **said,
        path_item=for_clients(path_item),
        components={each: for_clients(schema) for each, schema in components.items()},
        source=source_of(tree, tool.path, closure(tree, tool.path)),
    )


def _with_deprecation(
    operation: Mapping[str, Any], path_item: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the tool says of itself and of its versions, and the path item that says the same.

    The note on the end of the tool is first: lists cut long texts at their end.
    """
    facts, description = operation.get("x-deprecation"), operation["description"].strip()
    said = {"description": description, "replaces": tuple(operation.get("x-replaces", ()))}
    if facts is None:
        return said, path_item
    deprecation = Deprecation(**facts)
    text = f"{deprecation.note} {description}"
    post = {**path_item["post"], "description": text, "deprecated": True}
    return said | {"description": text, "deprecation": deprecation}, {**path_item, "post": post}


def _caching(cache: Mapping[str, Any]) -> dict[str, Any]:
    """The members of a tool that say how long its results are used again."""
    return {
        "cache_seconds": float(cache.get("seconds", 0)),
        "stale_seconds": float(cache.get("staleIfErrorSeconds", 0)),
        "is_cache_public": cache.get("scope") == "public",
    }


def _forms(tree: SourceTree, tool: ToolSource, output: Mapping[str, Any]) -> dict[str, Any]:
    """The forms in which a tool's arguments are listed, and in which its results are sent."""
    content = tool.operation["responses"]["200"]["content"]
    file_types, has_blocks = tuple(file_types_of(content)), BLOCKS_TYPE in content
    return {
        "written_input": written_input(tree, tool, f"/post{_REQUEST}/schema"),
        "file_types": file_types,
        "has_blocks": has_blocks,
        "text_member": _text_member(tool.operation, output),
        "has_members": not file_types and not has_blocks,
    }


def _text_member(operation: Mapping[str, Any], output: Mapping[str, Any]) -> str | None:
    """The member that is the plain text of the result. Lint has checked that there is only one."""
    is_text = "text/plain" in operation["responses"]["200"]["content"]
    return next(iter(output["properties"])) if is_text else None


def _declared(errors: Mapping[str, Any]) -> Iterator[DeclaredError]:
    for reason, facts in errors.items():
        yield DeclaredError(reason=reason, status=facts["status"], title=facts["title"])


def _attempts(facts: Mapping[str, Any] | None) -> Attempts:
    return Attempts() if facts is None else msgspec.convert(facts, Attempts)


def _escalation(facts: Mapping[str, Any] | None) -> Escalation | None:
    if facts is None:
        return None
    return Escalation(
        when=facts["when"], grant=facts["grant"], requires=tuple(facts.get("requires", ()))
    )


def _annotations(hints: Mapping[str, bool]) -> Annotations:
    return Annotations(
        read_only=hints["readOnlyHint"],
        destructive=hints["destructiveHint"],
        idempotent=hints["idempotentHint"],
        open_world=hints["openWorldHint"],
    )


def _common(tree: SourceTree) -> Iterator[CommonContract]:
    for path in tree.documents:
        if path.parts[0] == COMMON:
            yield CommonContract(
                name=path.stem,
                models=tuple(shared_models(tree, path)),
                source=source_of(tree, path, closure(tree, path)),
            )


def _upstream(tree: SourceTree, name: str) -> UpstreamContract:
    path = tree.upstreams[name].path
    return UpstreamContract(
        upstream=lower_upstream(tree, name),
        source=source_of(tree, path, closure(tree, path)),
    )


def _policies(tree: SourceTree, tools: tuple[ToolContract, ...]) -> PolicyContract:
    agents = tree.documents[POLICIES].value["agents"]
    line_of = tree.documents[POLICIES].line_of
    written = {
        agent: written_grants(agent, facts, line_of) for agent, facts in sorted(agents.items())
    }
    grantable = [tool.grantable for tool in tools]
    others = [each.grant for each in (*tree.resources, *tree.prompts) if needs_grant(each)]
    return PolicyContract(
        written=written,
        granted={agent: granted(each, grantable, others) for agent, each in written.items()},
        views=_views(agents),
        limits=agent_limits(agents),
        source=source_of(tree, POLICIES, [POLICIES]),
    )


def _views(agents: Mapping[str, Any]) -> dict[str, AgentView]:
    views = (
        (
            agent,
            AgentView(
                list=facts.get("list"),
                profile=facts.get("profile"),
                max_result_tokens=facts.get("maxResultTokens"),
            ),
        )
        for agent, facts in sorted(agents.items())
    )
    return {agent: view for agent, view in views if view != AgentView()}
