"""Renders REST routes: one Litestar handler per tool, with one statement."""

from collections.abc import Sequence
from typing import Final

from gateway.codegen.ir import ToolContract
from gateway.codegen.render.artifact import Artifact, docstring, joint_source, python, quoted
from gateway.contracts.names import identifier

_USED: Final = frozenset({"asgi", "call", "tuple"})
"""Names that the module uses itself and that a tool may also have."""


def routes(connector: str, tools: Sequence[ToolContract]) -> Artifact:
    """`routes/<connector>.py`: the REST routes of one connector."""
    names = {tool.id: identifier(tool.tool, taken=_USED) for tool in tools}
    body = "\n".join(
        (
            docstring(f"The REST routes of {connector}."),
            "",
            "from typing import Final",
            "",
            "from gateway.contract.route import call",
            "from litestar import asgi",
            "from litestar.handlers import ASGIRouteHandler",
            "from litestar.types import Receive, Scope, Send",
            *(_route(tool, names[tool.id]) for tool in tools),
            "",
            "",
            "ROUTES: Final[tuple[ASGIRouteHandler, ...]] = (",
            *(f"    {name}," for name in names.values()),
            ")",
            "",
        )
    )
    source = joint_source(f"tools/{connector}/*.yaml", (tool.source for tool in tools))
    return python(f"routes/{connector}.py", source, body)


def _route(tool: ToolContract, name: str) -> str:
    title = tool.title if tool.title.endswith((".", "!", "?")) else f"{tool.title}."
    return "\n".join(
        (
            "",
            "",
            f"@asgi({quoted(tool.route)}, name={quoted(tool.id)}, copy_scope=False)",
            f"async def {name}(scope: Scope, receive: Receive, send: Send) -> None:",
            f"    {docstring(title, indent=4)}",
            f"    await call({quoted(tool.id)}, scope, receive, send)",
        )
    )
