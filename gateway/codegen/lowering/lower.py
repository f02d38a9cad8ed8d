"""Converts a linted tree of contract files to the records that renderers use."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from gateway.codegen.ir import (
    Annotations,
    CommonContract,
    Contracts,
    IndexContract,
    PolicyContract,
    ToolContract,
    UpstreamContract,
)
from gateway.codegen.lowering.clients import for_clients
from gateway.codegen.lowering.events import lower_entity, lower_event, lower_webhook
from gateway.codegen.lowering.limits import agent_limits, tool_limits
from gateway.codegen.lowering.offered import lower_offered
from gateway.codegen.lowering.parts import examples_of, model_at, source_of
from gateway.codegen.lowering.sensitive import sensitive_pointers
from gateway.codegen.lowering.sharing import published, shared_models
from gateway.codegen.lowering.written import written_input
from gateway.contract.agent_view import AgentView
from gateway.contract.operation import Attempts, DeclaredError, Effect, Escalation
from gateway.contract.values.blocks import BLOCKS_TYPE
from gateway.contract.values.files import file_types_of
from gateway.contract.values.pointers import follow
from gateway.contracts.grants import granted, written_grants
from gateway.contracts.names import camel
from gateway.contracts.offered import needs_grant
from gateway.contracts.sources.expanding import dereference
from gateway.contracts.sources.refs import closure
from gateway.contracts.sources.tree import COMMON, INDEX, POLICIES, SourceTree, ToolSource
from gateway.contracts.upstreams import lower_upstream

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
    policy, mcp = operation["x-policy"], operation["x-mcp"]
    arguments, result = follow(operation, _REQUEST), follow(operation, _RESULT)
    input_schema = dereference(tree, tool.path, f"/post{_REQUEST}/schema")
    path_item, components = published(tree, tool.path)
    output_schema = dereference(tree, tool.path, f"/post{_RESULT}/schema")
    name = camel(tool.tool)
    return ToolContract(
        id=tool.id,
        connector=tool.connector,
        tool=tool.tool,
        title=operation["summary"],
        description=operation["description"].strip(),
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
        path_item=for_clients(path_item),
        components={each: for_clients(schema) for each, schema in components.items()},
        source=source_of(tree, tool.path, closure(tree, tool.path)),
    )


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
