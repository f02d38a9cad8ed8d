"""The published documents for one caller, without the tools that its key may not call."""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from gateway.contract.credentials.scopes import EVENTS

_TOOL_PATH: Final = re.compile(r"/v1/([^/]+)/([^/]+)")
_HINT: Final = "This part needs no key. Authorize with a key to see the tools that it may call."
MayCall = Callable[[str], bool]
"""Returns whether the caller has a grant for the operation or the scope with this id."""


def openapi_for(text: bytes, may_call: MayCall | None) -> bytes:
    """The OpenAPI document for a caller. `may_call` is None for a caller without a key.

    Schemas and tags that no visible part needs are removed, because their names reveal tools.
    """
    whole: dict[str, Any] = msgspec.json.decode(text)
    paths = {p: item for p, item in whole.get("paths", {}).items() if _is_visible(p, may_call)}
    visible = {**whole, "paths": paths}
    if may_call is None or not may_call(EVENTS):
        visible.pop("webhooks", None)
    if visible == whole:
        return text
    _prune(visible)
    return _encoded(visible, is_public=may_call is None)


def asyncapi_for(text: bytes, may_call: MayCall | None) -> bytes:
    """The AsyncAPI document for a caller: all of it with the grant for events, else its head."""
    if may_call is not None and may_call(EVENTS):
        return text
    whole: dict[str, Any] = msgspec.json.decode(text)
    visible = {**whole, "channels": {}, "operations": {}}
    visible.pop("components", None)
    return _encoded(visible, is_public=may_call is None)


def _is_visible(path: str, may_call: MayCall | None) -> bool:
    if may_call is None:
        return False
    tool = _TOOL_PATH.fullmatch(path)
    return tool is None or may_call(f"{tool[1]}.{tool[2]}")


def _prune(document: dict[str, Any]) -> None:
    """Remove the schemas that nothing references any more, and the tags that nothing has."""
    components = document.get("components", {})
    schemas = components.get("schemas", {})
    visible = {name: part for name, part in document.items() if name != "components"}
    used: set[str] = set()
    waiting = list(_references(visible))
    while waiting:
        name = waiting.pop()
        if name not in used and name in schemas:
            used.add(name)
            waiting.extend(_references(schemas[name]))
    kept = {name: schema for name, schema in schemas.items() if name in used}
    if components:
        document["components"] = {**components, "schemas": kept}
    tags = {tag for path in document["paths"].values() for tag in _tags(path)}
    if "tags" in document:
        document["tags"] = [tag for tag in document["tags"] if tag["name"] in tags]


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for each in value:
            yield from _references(each)
    elif isinstance(value, dict):
        for name, each in value.items():
            if name == "$ref" and isinstance(each, str):
                yield each.removeprefix("#/components/schemas/").partition("/")[0]
            else:
                yield from _references(each)


def _tags(item: dict[str, Any]) -> Iterator[str]:
    for operation in item.values():
        if isinstance(operation, dict):
            yield from operation.get("tags", ())


def _encoded(document: dict[str, Any], *, is_public: bool) -> bytes:
    if is_public:
        info = document.get("info", {})
        description = " ".join(filter(None, (info.get("description"), _HINT)))
        document = {**document, "info": {**info, "description": description}}
    return msgspec.json.encode(document)
