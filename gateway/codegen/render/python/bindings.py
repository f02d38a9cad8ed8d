"""Renders bindings: one module per tool, compiled from its field map."""

from typing import Final

from gateway.codegen.ir import Contracts, ToolContract, UpstreamContract
from gateway.codegen.render.artifact import Artifact, docstring, joint_source, python
from gateway.contracts.cache import Remember
from gateway.mapping.fields import BindingSource, compile_binding

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
