"""Reads vendors' descriptions of their interfaces into one form.

There are three kinds: Google discovery documents, Swagger 2.0, and OpenAPI 3. Schemas are read
lazily, because some are recursive.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import Struct

Node = Mapping[str, Any]
METHODS: Final = ("get", "head", "post", "put", "patch", "delete")


class Shape(Struct, frozen=True):
    """The parts of a schema that are compared."""

    types: frozenset[str] | None
    """None for any type."""
    values: tuple[Any, ...] | None = None
    members: Mapping[str, Node] = {}
    required: frozenset[str] = frozenset()
    items: Node | None = None


class Parameter(Struct, frozen=True):
    """One parameter, in `path`, `query` or `header`."""

    is_required: bool
    schema: Node


class Operation(Struct, frozen=True, kw_only=True):
    """One operation; the path begins at the root of the host."""

    method: str
    path: str
    parameters: Mapping[tuple[str, str], Parameter]
    """By location and name; path parameters by their order from 0."""
    request: Node | None = None
    replies: Mapping[str, Node | None] = {}
    """By status, or `2XX` if the vendor describes only success."""


class Document(Struct, frozen=True):
    """One description."""

    operations: tuple[Operation, ...]
    target: Callable[[str], Any]
    """Resolves a `$ref` of the document."""

    def shape(self, node: Node) -> Shape:
        """The shape of `node`, with references resolved and compositions merged."""
        seen: set[str] = set()
        while "$ref" in node:
            if node["$ref"] in seen:
                return Shape(None)
            seen.add(node["$ref"])
            node = self.target(node["$ref"])
        parts = [self.shape(part) for part in node.get("allOf", ())]
        choices = [self.shape(part) for key in ("oneOf", "anyOf") for part in node.get(key, ())]
        return _merged(_own(node), parts, choices)


def open_document(text: str) -> Document:
    """The description in `text`, JSON of any of the three kinds."""
    document = json.loads(text)
    if "discoveryVersion" in document:
        return _discovery(document)
    return _openapi(document)


def open_folder(folder: Path) -> list[Document]:
    """The descriptions in `folder`, sorted by name."""
    return [open_document(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))]


def _own(node: Node) -> Shape:
    values = [node["const"]] if "const" in node else node.get("enum")
    return Shape(
        _types(node),
        None if values is None else tuple(values),
        node.get("properties", {}),
        frozenset(required if isinstance(required := node.get("required"), list) else ()),
        node.get("items"),
    )


def _types(node: Node) -> frozenset[str] | None:
    declared = node.get("type")
    if isinstance(declared, list):
        return frozenset(declared)
    if declared is None and {"properties", "additionalProperties"} & node.keys():
        return frozenset({"object"})
    return None if declared in {None, "any"} else frozenset({declared})


def _merged(own: Shape, parts: list[Shape], choices: list[Shape]) -> Shape:
    """`own` and all of `parts`, and one of `choices`."""
    every = [own, *parts]
    types = next((part.types for part in every if part.types is not None), None)
    if types is None and choices and all(choice.types is not None for choice in choices):
        types = frozenset(name for choice in choices for name in choice.types or ())
    return Shape(
        types,
        next((part.values for part in every if part.values is not None), None),
        {name: node for part in [*choices, *every] for name, node in part.members.items()},
        frozenset(name for part in every for name in part.required),
        next((part.items for part in [*every, *choices] if part.items is not None), None),
    )


def _discovery(document: Node) -> Document:
    return Document(tuple(_google_operations(document, document)), document["schemas"].__getitem__)


def _google_operations(document: Node, resource: Node) -> Iterator[Operation]:
    for method in resource.get("methods", {}).values():
        yield _google_operation(document, method, document["servicePath"] + method["path"])
        media = method.get("mediaUpload", {}).get("protocols", {}).get("simple")
        if media is not None:
            yield _google_operation(document, {**method, "request": None}, media["path"])
    for inner in resource.get("resources", {}).values():
        yield from _google_operations(document, inner)


def _google_operation(document: Node, method: Node, path: str) -> Operation:
    path = f"/{path.lstrip('/')}"
    written = {**document.get("parameters", {}), **method.get("parameters", {})}
    parameters = [
        (facts["location"], name, Parameter(facts.get("required", False), _google_schema(facts)))
        for name, facts in written.items()
    ]
    return Operation(
        method=method["httpMethod"],
        path=path,
        parameters=_placed(path, parameters),
        request=method.get("request"),
        replies={"2XX": method.get("response")},
    )


def _google_schema(facts: Node) -> Node:
    """The JSON Schema of a parameter: `required` is a boolean, and `repeated` makes an array."""
    one = {key: value for key, value in facts.items() if key in {"type", "enum"}}
    return {"type": "array", "items": one} if facts.get("repeated") else one


def _openapi(document: Node) -> Document:
    base = document.get("basePath", "")
    if "openapi" in document:
        base = urlsplit(document.get("servers", [{"url": ""}])[0]["url"]).path

    def target(reference: str) -> Any:
        found: Any = document
        for step in reference.removeprefix("#/").split("/"):
            found = found[step.replace("~1", "/").replace("~0", "~")]
        return found

    operations = [
        _operation(f"{base.rstrip('/')}{path}", method, item[method], item, target)
        for path, item in document["paths"].items()
        for method in METHODS
        if method in item
    ]
    return Document(tuple(operations), target)


def _operation(
    path: str, method: str, operation: Node, item: Node, target: Callable[[str], Any]
) -> Operation:
    def whole(node: Node) -> Node:
        return target(node["$ref"]) if "$ref" in node else node

    written = [
        whole(each) for each in (*item.get("parameters", ()), *operation.get("parameters", ()))
    ]
    bodies = [each["schema"] for each in written if each["in"] == "body"]
    content = whole(operation.get("requestBody", {})).get("content", {})
    parameters = [
        (each["in"], each["name"], Parameter(each.get("required", False), each.get("schema", each)))
        for each in written
        if each["in"] in {"path", "query", "header"}
    ]
    return Operation(
        method=method.upper(),
        path=path,
        parameters=_placed(path, parameters),
        request=bodies[0] if bodies else _json_schema(content),
        replies={
            status: reply.get("schema") or _json_schema(reply.get("content", {}))
            for status, reply in (
                (key, whole(each)) for key, each in operation["responses"].items()
            )
        },
    )


def _json_schema(content: Node) -> Node | None:
    for media_type, facts in content.items():
        if media_type.partition(";")[0].endswith("json"):
            schema: Node | None = facts.get("schema")
            return schema
    return None


def _placed(
    path: str, parameters: list[tuple[str, str, Parameter]]
) -> dict[tuple[str, str], Parameter]:
    """The parameters by location and name. Path parameters are matched by position, not by name."""
    order = [part.split("}")[0] for part in path.replace("{+", "{").split("{")[1:]]
    return {
        (place, str(order.index(name)) if place == "path" and name in order else name): parameter
        for place, name, parameter in parameters
    }
