"""Names of new contracts: which are possible, and which are taken."""

import keyword
import re
from pathlib import PurePosixPath
from typing import Final

from gateway.contracts.sources.tree import ENTITIES, EVENTS, TOOLS, UPSTREAMS, WEBHOOKS, SourceTree
from gateway.errors import ConfigurationError

MAX_CONNECTOR: Final = 30
MAX_NAME: Final = 60
"""The longest `<connector>_<tool>`, so that a client can add its own prefix within 64."""
_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")
_RESERVED: Final = {
    "gateway": "grants such as gateway.operate begin with it",
    EVENTS: "it is the tag of the gateway's events",
    ENTITIES: "its tools read the rows of entities",
    UPSTREAMS: "gateway.toml has a table of this name",
    WEBHOOKS: "gateway.toml has a table of this name",
    "backend": "settings such as GATEWAY_BACKEND_STORE begin with it",
}


def check_connector(name: str, *, what: str = "connector") -> None:
    """Raise `ConfigurationError` for a name that no connector and no provider can have."""
    if not _NAME.fullmatch(name) or len(name) > MAX_CONNECTOR or keyword.iskeyword(name):
        raise ConfigurationError(
            f"{name!r} cannot be the name of a {what}; begin with a letter, use at most "
            f"{MAX_CONNECTOR} lower-case letters, digits and _, and no keyword of Python"
        )
    if name in _RESERVED:
        raise ConfigurationError(
            f"{name!r} cannot be the name of a {what}: {_RESERVED[name]}; choose another name"
        )


def check_new_connector(tree: SourceTree, name: str) -> None:
    """Raise `ConfigurationError` for a name that is impossible or taken."""
    check_connector(name)
    refuse_imported(tree, name)
    if name in tree.upstreams:
        raise ConfigurationError(
            f"the name {name} is taken by {tree.upstreams[name].path}; "
            f"choose another, or add a tool to it with `gateway new tool {name}.TOOL`"
        )
    if any(tool.connector == name for tool in tree.tools):
        raise ConfigurationError(
            f"the name {name} is taken by the tools in {TOOLS}/{name}; choose another"
        )


def refuse_imported(tree: SourceTree, name: str) -> None:
    """Raise `ConfigurationError` if `name` is the connector of an imported document."""
    if name in tree.imports:
        raise ConfigurationError(
            f"the connector {name} is an imported document, {UPSTREAMS}/{name}; "
            "choose another name, select more of it in import.yaml, or `gateway eject` its tools"
        )


def tool_parts(name: str) -> tuple[str, str]:
    """The connector and the tool of `<connector>.<tool>`. Raises `ConfigurationError`."""
    connector, dot, tool = name.partition(".")
    if not dot:
        raise ConfigurationError(
            f"{name!r} is not CONNECTOR.TOOL; write it like store.find_products"
        )
    check_connector(connector)
    if not _NAME.fullmatch(tool) or keyword.iskeyword(tool):
        raise ConfigurationError(
            f"{tool!r} cannot be the name of a tool; begin with a letter, use lower-case letters, "
            "digits and _, and no keyword of Python"
        )
    if len(f"{connector}_{tool}") > MAX_NAME:
        raise ConfigurationError(
            f"the name {connector}_{tool} is longer than {MAX_NAME} characters, and MCP clients "
            "would refuse it; choose a shorter one"
        )
    return connector, tool


def check_new_tool(tree: SourceTree, connector: str, tool: str) -> None:
    """Raise `ConfigurationError` for a tool whose name is taken."""
    for each in tree.tools:
        mcp = each.operation.get("x-mcp", {})
        name = f"{connector}_{tool}"
        if each.id == f"{connector}.{tool}" or name in {mcp.get("name"), *mcp.get("aliases", ())}:
            raise ConfigurationError(f"the name is taken by {each.path}; choose another")
    for side in ("input", "output"):
        path = PurePosixPath(TOOLS, connector, f"{tool}.{side}.json")
        if path in tree.documents:
            raise ConfigurationError(f"{path} exists; move it elsewhere, or choose another name")


def words(name: str) -> str:
    """`name` as a title: `find_products` becomes `Find products`."""
    return name.replace("_", " ").replace(".", " ").replace("-", " ").strip().capitalize()
