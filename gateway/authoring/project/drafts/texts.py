"""Texts of drafts from templates, the names of new contracts, and their lines in the index."""

import json
import keyword
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files as resources
from pathlib import PurePosixPath
from typing import Any, Final

from msgspec import Struct

from gateway.authoring.contracts.tree import (
    ENTITIES,
    EVENTS,
    TOOLS,
    UPSTREAMS,
    WEBHOOKS,
    SourceTree,
)
from gateway.authoring.project.changes import Files
from gateway.authoring.project.merging import with_entries
from gateway.authoring.project.staging import Project, read_text
from gateway.errors import ConfigurationError
from gateway.project_folder import INDEX

# Makes texts of files from templates, and YAML of values.

_MARK: Final = re.compile(r"@([A-Z_]+)@")
_LINE: Final = re.compile(r"( *)@([A-Z_]+)@")


def rendered(template: str, values: Mapping[str, str]) -> str:
    """The template with `values` for its marks.

    A mark on a line of its own stands for any number of lines, which get its indentation.
    """
    file = resources(__package__) / "templates" / f"{template}.template"
    lines: list[str] = []
    for line in file.read_text("utf-8").splitlines():
        alone = _LINE.fullmatch(line)
        if alone is not None:
            lines += [f"{alone[1]}{each}" for each in values[alone[2]].splitlines()]
        else:
            lines.append(_MARK.sub(lambda mark: values[mark[1]], line))
    return "\n".join([*lines, ""])


def inline(value: Any) -> str:
    """`value` on one line of YAML: names without quotes, all texts with them."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name}: {inline(each)}' for name, each in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(inline(each) for each in value)}]"
    return json.dumps(value, ensure_ascii=False)


def schema_text(schema: Mapping[str, Any]) -> bytes:
    """The text of a JSON Schema file."""
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return f"{json.dumps({**dialect, **schema}, indent=2, ensure_ascii=False)}\n".encode()


# Names of new contracts: which are possible, and which are taken.

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


# Lists new contracts in the index, `openapi.yaml`, without touching its other lines.


class DraftPart(Struct, frozen=True, kw_only=True):
    """Files of a draft, and what the index gets for them."""

    files: Files
    entries: Mapping[str, Sequence[str]]
    """By section."""
    tags: Mapping[str, str]
    """Descriptions by name."""


def listed_parts(project: Project, tree: SourceTree, *parts: DraftPart) -> Files:
    """The files of `parts`, and the index that names them. Raises `ConfigurationError`."""
    files: dict[PurePosixPath, bytes] = {}
    entries: dict[str, Sequence[str]] = {}
    tags: dict[str, str] = {}
    for each in parts:
        files |= each.files
        entries |= {name: [*entries.get(name, ()), *added] for name, added in each.entries.items()}
        tags |= each.tags
    return {**files, **with_listed(project, tree, entries, tags)}


def with_listed(
    project: Project,
    tree: SourceTree,
    entries: Mapping[str, Sequence[str]],
    tags: Mapping[str, str],
) -> dict[PurePosixPath, bytes]:
    """The index with `entries` by section, and with those of `tags` that it does not describe.

    Raises `ConfigurationError`.
    """
    place = project.place_of(INDEX)
    text = read_text(project.schemas / INDEX)
    value = tree.index.value if tree.index else {}
    known = {tag["name"] for tag in value.get("tags", ())}
    new = [
        f"- name: {name}\n  description: {inline(description)}"
        for name, description in tags.items()
        if name not in known
    ]
    text = with_entries(text, "tags", new, str(place))
    for section, lines in entries.items():
        text = with_entries(text, section, lines, str(place))
    return {place: text.encode()}
