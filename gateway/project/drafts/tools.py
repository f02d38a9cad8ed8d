"""Drafts a tool: its three files, and an operation of its upstream or a Python function."""

import re
from pathlib import PurePosixPath
from typing import Any, Final, Literal

from msgspec import Struct

from gateway.contracts.names import camel
from gateway.contracts.sources.tree import TOOLS, SourceTree
from gateway.errors import ConfigurationError
from gateway.project.drafts.listing import with_listed
from gateway.project.drafts.names import (
    check_new_tool,
    refuse_imported,
    tool_parts,
    words,
)
from gateway.project.drafts.operation import DraftOperation, draft_operation
from gateway.project.drafts.texts import inline, rendered, schema_text
from gateway.project.placing import Files
from gateway.project.staging import Project

EffectName = Literal["read", "write", "destroy"]
_IMPERATIVE: Final = re.compile(
    r"(?!This|Tool|Use|When|With|For|By|It)[A-Z][a-z]*(?:[^s\W]|ss|us) "
)
_NO_ERRORS: Final = "# errors: {not_found: {status: 404, title: There is nothing with this id.}}"
_TEXT: Final = {"description": "A text.", "type": "string", "minLength": 1, "maxLength": 200}


class ToolWish(Struct, frozen=True, kw_only=True):
    """What is known of a new tool."""

    name: str
    """`<connector>.<tool>`."""
    effect: EffectName = "read"
    title: str | None = None
    description: str | None = None
    method: str | None = None
    """Of the upstream's operation. None: by the effect."""
    path: str | None = None
    """Of the upstream's operation. None: the name of the tool."""
    is_python: bool = False
    """Whether a Python function is the tool, instead of an operation of the upstream."""


class _Parts(Struct, frozen=True, kw_only=True):
    """What depends on how a tool works."""

    arguments: dict[str, Any]
    first: dict[str, Any]
    second: dict[str, Any]
    result: dict[str, Any]
    example: dict[str, Any]
    binding: str
    errors: str = _NO_ERRORS
    attempts: str = ""
    is_idempotent: bool


def draft_tool(project: Project, tree: SourceTree, wish: ToolWish) -> Files:
    """The files of a new tool. Raises `ConfigurationError`."""
    connector, tool = tool_parts(wish.name)
    refuse_imported(tree, connector)
    check_new_tool(tree, connector, tool)
    if wish.is_python:
        parts, files = _python(project, wish, connector, tool)
    else:
        parts, files = _of_upstream(project, tree, wish, connector, tool)
    path = PurePosixPath(TOOLS, connector, f"{tool}.yaml")
    title = wish.title or words(tool)
    sides = {"input": parts.arguments, "output": parts.result}
    listed = {"paths": [f"/v1/{connector}/{tool}: {{$ref: ./{path}}}"]}
    return {
        project.place_of(path): _tool_text(wish, connector, tool, parts).encode(),
        **{
            project.place_of(path.with_name(f"{tool}.{side}.json")): schema_text(
                _object(f"{title} {side}", properties)
            )
            for side, properties in sides.items()
        },
        **files,
        **with_listed(project, tree, listed, {connector: f"The tools of {words(connector)}."}),
    }


def _of_upstream(
    project: Project, tree: SourceTree, wish: ToolWish, connector: str, tool: str
) -> tuple[_Parts, Files]:
    document = tree.upstreams.get(connector)
    if document is None:
        raise ConfigurationError(
            f"there is no upstream {connector}; make it with `gateway new connector {connector}`, "
            "or write the tool in Python: --python"
        )
    operation = DraftOperation(
        name=tool,
        title=wish.title or words(tool),
        effect=wish.effect,
        method=wish.method or "",
        path=wish.path,
    )
    drafted = draft_operation(project, document, operation)
    parts = _Parts(
        arguments=drafted.arguments,
        first=drafted.first,
        second=drafted.second,
        result=drafted.result,
        example=drafted.example,
        binding=drafted.binding,
        errors=drafted.errors or _NO_ERRORS,
        attempts=_attempts(wish.effect),
        is_idempotent=drafted.is_idempotent,
    )
    return parts, drafted.files


def _attempts(effect: EffectName) -> str:
    if effect == "read":
        return (
            "# After which failures is the request sent again?\n"
            "attempts: {max: 3, backoffSeconds: [0.5, 2], on: [429, 502, 503, 504]}\n"
            "# May a result be used again for the same arguments? Then: cache: {seconds: 300}"
        )
    return (
        "# Does the upstream execute a request with an idempotency key once? Name that header\n"
        "# there, as x-idempotency-header, and write: attempts: {max: 3}"
    )


def _python(project: Project, wish: ToolWish, connector: str, tool: str) -> tuple[_Parts, Files]:
    given = [("method", wish.method), ("path", wish.path)]
    if found := [f"--{name}" for name, value in given if value is not None]:
        raise ConfigurationError(
            f"{' and '.join(found)} describes an operation of the upstream, and a tool in Python "
            "has none; leave it out"
        )
    package = _own_package(project)
    folder = PurePosixPath(*package.split("."))
    module = folder / connector / f"{tool}.py"
    for taken in (module, module.parent.with_suffix(".py")):
        if (project.folder / taken).exists():
            raise ConfigurationError(
                f"{taken} exists, and a new tool would replace or hide it; move it elsewhere, or "
                "choose another name"
            )
    values = {
        "CONNECTOR": connector,
        "TOOL": tool,
        "PACKAGE": project.package,
        "MODEL": camel(tool),
    }
    files = {module: rendered("handler.py", values).encode()}
    marker = module.with_name("__init__.py")
    if not (project.folder / marker).exists():
        files[marker] = f'"""The code of the connector {connector}."""\n'.encode()
    parts = _Parts(
        arguments={"text": _TEXT},
        first={"text": "One"},
        second={"text": "Another"},
        result={"text": _TEXT},
        example={"text": "One"},
        binding=(
            "# Does it need an upstream? Write `upstreams: [name]` here; the function then takes\n"
            "# a second argument, `context: CallContext`.\n"
            f"x-binding:\n  python: {package}.{connector}.{tool}:{tool}"
        ),
        is_idempotent=wish.effect == "read",
    )
    return parts, files


def _own_package(project: Project) -> str:
    for package in project.handler_packages:
        if (project.folder / package.split(".", maxsplit=1)[0]).is_dir():
            return package
    raise ConfigurationError(
        f"none of the packages in handler_packages ({', '.join(project.handler_packages)}) is in "
        f'{project.folder.absolute()}; make the folder handlers, and add "handlers" to the setting'
    )


def _tool_text(wish: ToolWish, connector: str, tool: str, parts: _Parts) -> str:
    title = wish.title or words(tool)
    is_read = wish.effect == "read"
    hints = {
        "readOnlyHint": is_read,
        "destructiveHint": wish.effect == "destroy",
        "idempotentHint": is_read or parts.is_idempotent,
        "openWorldHint": not wish.is_python,
    }
    values = {
        "ID": f"{connector}.{tool}",
        "CONNECTOR": connector,
        "TOOL": tool,
        "SUMMARY": inline(title),
        "DESCRIPTION": inline(wish.description or _description(title, connector, tool)),
        "MCP": f"{connector}_{tool}",
        "ANNOTATIONS": inline(hints),
        "EFFECT": wish.effect,
        "ERRORS": parts.errors,
        "ATTEMPTS": parts.attempts,
        "BINDING": parts.binding,
        "FIRST": inline(parts.first),
        "SECOND": inline(parts.second),
        "RESULT": inline(parts.example),
    }
    return rendered("tool.yaml", values)


def _description(title: str, connector: str, tool: str) -> str:
    """A sentence with an imperative: of the title if that begins with a verb, as it seems."""
    if _IMPERATIVE.match(f"{title} "):
        return f"{title.rstrip('.')} of {words(connector)}."
    return f"Call {tool} of {words(connector)}."


def _object(title: str, properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "title": title,
        "description": f"{title}.",
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }
