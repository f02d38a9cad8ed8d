"""Renders bindings: one module per tool, compiled from its field map."""

from gateway.codegen.ir import Contracts, ToolContract, UpstreamContract
from gateway.codegen.render.artifact import Artifact, joint_source, python
from gateway.contracts.cache import Remember
from gateway.mapping.fields import BindingSource, compile_binding


def binding(tool: ToolContract, contracts: Contracts, package: str, remember: Remember) -> Artifact:
    """`bindings/<connector>/<tool>.py`. Raises `ContractError` if the binding has problems."""
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
    )
