"""Bindings: one module per tool, compiled from its field map."""

from gateway.codegen.cache import Remember
from gateway.codegen.fieldmap import BindingSource, compile_binding
from gateway.codegen.ir import Contracts, ToolContract, UpstreamContract
from gateway.codegen.render.artifact import Artifact, joint_source, python


def binding(tool: ToolContract, contracts: Contracts, package: str, remember: Remember) -> Artifact:
    """`bindings/<connector>/<tool>.py`. Raises `ContractError` for a binding without meaning."""
    upstream = _upstream_of(tool, contracts)
    sources = [tool.source, *([upstream.source] if upstream else [])]
    source = joint_source(str(tool.source.path), sources)
    body = remember(
        "binding",
        f"{package} {source.path} {source.sha256}",
        lambda: compile_binding(_written(tool, upstream, package)),
    )
    return python(f"bindings/{tool.connector}/{tool.tool}.py", source, body)


def _written(tool: ToolContract, upstream: UpstreamContract | None, package: str) -> BindingSource:
    return BindingSource(
        tool_id=tool.id,
        x_binding=tool.x_binding,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        upstream=upstream.upstream if upstream else None,
        declared_errors=frozenset(error.reason for error in tool.errors),
        package=package,
    )


def _upstream_of(tool: ToolContract, contracts: Contracts) -> UpstreamContract | None:
    name = tool.x_binding.get("upstream")
    return next((each for each in contracts.upstreams if each.upstream.name == name), None)
