"""Drafts a connector or a tool: its files, and an operation of its upstream or a function."""

import re
from pathlib import PurePosixPath
from typing import Any, Final, Literal

from msgspec import Struct

from gateway.authoring.contracts.document import Document
from gateway.authoring.contracts.names import camel
from gateway.authoring.contracts.tree import TOOLS, UPSTREAMS, SourceTree
from gateway.authoring.project.changes import Files
from gateway.authoring.project.drafts.texts import (
    check_new_connector,
    check_new_tool,
    inline,
    refuse_imported,
    rendered,
    schema_text,
    tool_parts,
    with_listed,
    words,
)
from gateway.authoring.project.merging import settings_text, with_entries, with_nested
from gateway.authoring.project.staging import SETTINGS, Project, read_text
from gateway.contract.upstream import PATH_PARAMETER
from gateway.errors import ConfigurationError

# Drafts a connector: the contract of its upstream.

AUTH_FORMS: Final = "none, bearer, header=NAME or query=NAME"
_CREDENTIAL: Final = "# Which secrets does it need? Their values are settings, and are never here."


class ConnectorWish(Struct, frozen=True, kw_only=True):
    """What is known of a new connector."""

    name: str
    title: str | None = None
    url: str | None = None
    """The base URL. None: the operator sets it."""
    auth: str = "bearer"
    """One of `AUTH_FORMS`."""


def draft_connector(project: Project, tree: SourceTree, wish: ConnectorWish) -> Files:
    """The files of a new connector. Raises `ConfigurationError`."""
    check_new_connector(tree, wish.name)
    title = wish.title or words(wish.name)
    path = PurePosixPath(UPSTREAMS, wish.name, "openapi.yaml")
    values = {
        "NAME": wish.name,
        "VARIABLE": wish.name.upper(),
        "TITLE": inline(title),
        "URL": inline(wish.url),
        "CREDENTIALS": _credentials(wish.auth),
    }
    listed = {"x-upstreams": [f"- ./{path}"]}
    return {
        project.place_of(path): rendered("upstream.yaml", values).encode(),
        **with_listed(project, tree, listed, {wish.name: f"The tools of {title}."}),
        **_settings(project, wish, title),
    }


def _credentials(auth: str) -> str:
    way, equals, name = auth.partition("=")
    if auth == "none":
        return "# It needs no credentials, so it is live only with a setting: GATEWAY_BACKEND_….\n"
    if auth == "bearer":
        secret, place, rule = "token", "headers", ("Authorization", "Bearer {credential.token}")
    elif way in {"header", "query"} and equals and name:
        place = "headers" if way == "header" else "query"
        secret, rule = "api_key", (name, "{credential.api_key}")
    else:
        raise ConfigurationError(f"{auth!r} is no way to authenticate; write {AUTH_FORMS}")
    sent = {"name": rule[0], "template": rule[1]}
    return "\n".join(
        [
            _CREDENTIAL,
            "credentials:",
            f"  - {{name: {secret}, description: From the console of the system.}}",
            f"{place}:",
            f"  - {inline(sent)}",
        ]
    )


def _settings(project: Project, wish: ConnectorWish, title: str) -> Files:
    """The project's `gateway.toml` with a comment about the credentials."""
    if wish.auth == "none":
        return {}
    name = "token" if wish.auth == "bearer" else "api_key"
    upstream = {
        "name": wish.name,
        "title": title,
        "credentials": [{"name": name, "description": "From the console of the system."}],
    }
    file = project.folder / SETTINGS
    text = read_text(file) if file.exists() else ""
    return {SETTINGS: settings_text(text, upstream, project.version).encode()}


# Drafts the operation of an upstream that a new tool is bound to.

METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")
_METHOD_OF: Final = {"read": "GET", "write": "POST", "destroy": "DELETE"}
_BODIES: Final = frozenset({"POST", "PUT", "PATCH"})
_STATUS: Final = {"POST": "201", "DELETE": "204"}
_FAILED: Final = "not_found: {status: 404, title: There is nothing with this id.}"


class DraftOperation(Struct, frozen=True, kw_only=True):
    """What is known of the operation."""

    name: str
    title: str
    effect: str
    method: str
    """Empty: by the effect."""
    path: str | None
    """None: the name."""


class DraftedOperation(Struct, frozen=True, kw_only=True):
    """The operation, and what the tool that is bound to it has of it."""

    files: Files
    arguments: dict[str, Any]
    first: dict[str, Any]
    second: dict[str, Any]
    result: dict[str, Any]
    example: dict[str, Any]
    binding: str
    errors: str
    is_idempotent: bool


class _Shape(Struct, frozen=True, kw_only=True):
    method: str
    path: str
    in_path: tuple[str, ...]
    of_body: tuple[str, ...]
    of_query: tuple[str, ...]

    @property
    def status(self) -> str:
        return _STATUS.get(self.method, "200")


def draft_operation(project: Project, document: Document, wish: DraftOperation) -> DraftedOperation:
    """The operation `wish`, added to the contract `document` of the upstream.

    Raises `ConfigurationError`.
    """
    shape = _shape(wish)
    _refuse_taken(document, wish.name, shape)
    place = project.place_of(document.path)
    text = read_text(project.folder / place)
    lines = _operation_text(wish, shape)
    if shape.path in document.value.get("paths", {}):
        text = with_nested(text, ("paths", shape.path), [lines], str(place))
    else:
        entry = "\n".join([f"{shape.path}:", *(f"  {line}" for line in lines.split("\n"))])
        text = with_entries(text, "paths", [entry], str(place))
    names = (*shape.in_path, *shape.of_query, *shape.of_body)
    is_empty = shape.status == "204"
    return DraftedOperation(
        files={place: text.encode()},
        arguments={name: _argument(name) for name in names},
        first=dict.fromkeys(names, "one"),
        second=dict.fromkeys(names, "another"),
        result=_DONE if is_empty else _THING,
        example={"done": True} if is_empty else {"id": "one", "name": "One"},
        binding=_binding_text(document, wish, shape),
        errors=f"errors:\n  {_FAILED}" if shape.in_path else "",
        is_idempotent=shape.method in {"GET", "PUT", "DELETE"},
    )


_THING: Final[dict[str, Any]] = {
    "id": {"description": "Id of the thing.", "type": "string", "minLength": 1, "maxLength": 64},
    "name": {"description": "Name of the thing.", "type": "string", "maxLength": 200},
}
_DONE: Final[dict[str, Any]] = {
    "done": {"description": "Whether it is done.", "type": "boolean", "const": True}
}


def _argument(name: str) -> dict[str, Any]:
    return {
        "description": f"The {name.replace('_', ' ')}.",
        "type": "string",
        "minLength": 1,
        "maxLength": 200,
    }


def _shape(wish: DraftOperation) -> _Shape:
    method = wish.method or _METHOD_OF[wish.effect]
    path = wish.path or (f"/{wish.name}/{{id}}" if method == "DELETE" else f"/{wish.name}")
    in_path = tuple(PATH_PARAMETER.findall(path))
    bare = PATH_PARAMETER.sub("", path)
    is_named = all(name.isidentifier() and name.isascii() for name in in_path)
    if (
        not path.startswith("/")
        or not path.isprintable()
        or not is_named
        or len(set(in_path)) < len(in_path)
        or any(each in bare for each in "{}?# \"'\\")
    ):
        raise ConfigurationError(
            f"{path!r} is not the path of an operation; begin with /, and write each parameter as "
            "{name}, such as /stations/{station}/tides"
        )
    has_body = method in _BODIES
    more = "query" if wish.effect == "read" else "name"
    more = f"new_{more}" if more in in_path else more
    is_alone = not has_body and bool(in_path)
    return _Shape(
        method=method,
        path=path,
        in_path=in_path,
        of_body=(more,) if has_body else (),
        of_query=() if has_body or is_alone else (more,),
    )


def _refuse_taken(document: Document, name: str, shape: _Shape) -> None:
    for path, item in document.value.get("paths", {}).items():
        for method, operation in item.items():
            if isinstance(operation, dict) and operation.get("operationId") == name:
                raise ConfigurationError(
                    f"{document.path} has an operation {name}, {method.upper()} {path}; choose "
                    "another name for the tool, and bind it to that operation by hand"
                )
        if path == shape.path and shape.method.lower() in item:
            raise ConfigurationError(
                f"{document.path} has {shape.method} {path}; choose another path with --path"
            )


def _operation_text(wish: DraftOperation, shape: _Shape) -> str:
    lines = [
        f"{shape.method.lower()}:",
        f"  operationId: {wish.name}",
        f"  summary: {inline(wish.title)}",
        "  # Did you compare it with the vendor's documentation? Then delete this line.",
        "  x-verified: false",
    ]
    parameters = [(name, "path") for name in shape.in_path]
    parameters += [(name, "query") for name in shape.of_query]
    if parameters:
        lines += ["  # Which parameters does it take? Which are required?", "  parameters:"]
    for name, place in parameters:
        schema = "{type: string, minLength: 1, maxLength: 200}"
        lines.append(f"    - {{name: {name}, in: {place}, required: true, schema: {schema}}}")
    lines += _body_lines(shape) if shape.of_body else []
    lines += _reply_lines(shape)
    return "\n".join(lines)


def _body_lines(shape: _Shape) -> list[str]:
    return [
        "  # What does the body contain?",
        "  requestBody:",
        "    required: true",
        "    content:",
        "      application/json:",
        "        schema:",
        "          type: object",
        f"          required: [{', '.join(shape.of_body)}]",
        "          properties:",
        *(f"            {name}: {{type: string}}" for name in shape.of_body),
    ]


def _reply_lines(shape: _Shape) -> list[str]:
    lines = ["  # What does it reply? The mock returns the examples.", "  responses:"]
    if shape.status == "204":
        lines += ['    "204":', "      description: It is done."]
    else:
        lines += [
            f'    "{shape.status}":',
            "      description: The thing.",
            "      content:",
            "        application/json:",
            "          schema:",
            "            type: object",
            "            required: [id, name]",
            "            properties:",
            "              id: {type: string, minLength: 1, maxLength: 64}",
            "              name: {type: string, maxLength: 200}",
            "          example: {id: one, name: One}",
        ]
    if shape.in_path:
        lines += [
            '    "404":',
            "      description: There is nothing with this id.",
            "      content:",
            "        application/json:",
            "          schema: {type: object, properties: {message: {type: string}}}",
            "          example: {message: There is no such thing.}",
        ]
    return lines


def _binding_text(document: Document, wish: DraftOperation, shape: _Shape) -> str:
    request = {
        "path": {name: f"$inputs.{name}" for name in shape.in_path},
        "query": {name: f"$inputs.{name}" for name in shape.of_query},
        "body": {name: f"$inputs.{name}" for name in shape.of_body},
    }
    lines = [
        "# Which operation is called, and where does each argument go?",
        "x-binding:",
        f"  upstream: {PurePosixPath(document.path).parts[1]}",
        f"  operationId: {wish.name}",
        "  request:",
        *(f"    {part}: {inline(names)}" for part, names in request.items() if names),
        "  # Where in the reply is each member of the result?",
        "  response:",
        f'    "{shape.status}":',
    ]
    if shape.status == "204":
        lines.append("      done: {const: true}")
    else:
        lines += [f"      {name}: $response.body#/{name}" for name in _THING]
    if shape.in_path:
        lines += ["  errors:", '    "404": {reason: not_found}']
    return "\n".join(lines)


# Drafts a tool: its three files, and an operation of its upstream or a Python function.

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
