"""Drafts the operation of an upstream that a new tool is bound to."""

from pathlib import PurePosixPath
from typing import Any, Final

from msgspec import Struct

from gateway.contract.upstream import PATH_PARAMETER
from gateway.contracts.sources.document import Document
from gateway.errors import ConfigurationError
from gateway.project.drafts.texts import inline
from gateway.project.merging import with_entries, with_nested
from gateway.project.placing import Files
from gateway.project.staging import Project, read_text

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
