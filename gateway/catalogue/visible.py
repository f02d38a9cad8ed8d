"""The published documents for one caller, without the tools that its key may not call."""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from gateway.contract.credentials import EVENTS
from gateway.contract.operation import JOBS
from gateway.contract.policies.grants import Narrowing

_TOOL_PATH: Final = re.compile(r"/v1/([^/]+)/([^/]+)")
_REFERENCE: Final = re.compile(rb'"\$ref"\s*:\s*("(?:[^"\\]|\\.)*")')
"""In JSON text, these bytes are a member: within a string, each quotation mark is escaped."""
_NOTHING: Final = Raw(b"{}")
_JSON: Final = "application/json"
_HINT: Final = "This part needs no key. Authorize with a key to see the tools that it may call."


class _Tagged(Struct, frozen=True):
    tags: tuple[str, ...] = ()


MayCall = Callable[[str], bool]
"""Returns whether the caller has a grant for the operation or the scope with this id."""


NarrowingOf = Callable[[str], Narrowing | None]
"""Returns what restricts the caller's arguments of the operation with this id."""


def openapi_for(
    text: bytes, may_call: MayCall | None, narrowing_of: NarrowingOf = lambda _: None
) -> bytes:
    """The OpenAPI document for a caller. `may_call` is None for a caller without a key.

    Schemas and tags that no visible part needs are removed, because their names reveal tools.
    Schemas of arguments are narrowed to those that the caller is granted.
    """
    # The document of ten thousand tools has 50 MB. So its parts are not decoded, but copied.
    whole = _members(text)
    all_paths = _members(whole.get("paths", _NOTHING))
    paths = {path: item for path, item in all_paths.items() if _is_visible(path, may_call)}
    narrowed = {path: found for path in paths if (found := _narrowing(path, narrowing_of))}
    for path, narrowing in narrowed.items():
        paths[path] = _narrowed(paths[path], narrowing)
    visible: dict[str, Any] = {**whole, "paths": paths}
    if may_call is None or not may_call(EVENTS):
        visible.pop("webhooks", None)
    if not narrowed and len(paths) == len(all_paths) and visible.keys() == whole.keys():
        return text
    _prune(visible)
    return _encoded(visible, is_public=may_call is None)


def narrowed_contract(text: bytes, path: str, narrowing: Narrowing) -> bytes:
    """The OpenAPI document `text` of the operation at `path`, for arguments that are granted."""
    whole = _members(text)
    paths = _members(whole["paths"])
    return msgspec.json.encode({**whole, "paths": {path: _narrowed(paths[path], narrowing)}})


def contract_of(text: bytes, path: str) -> bytes:
    """The OpenAPI document with nothing but `path` and what it needs."""
    whole = _members(text)
    paths = _members(whole.get("paths", _NOTHING))
    alone: dict[str, Any] = {**whole, "paths": {path: paths[path]} if path in paths else {}}
    alone.pop("webhooks", None)
    _prune(alone)
    return _encoded(alone, is_public=False)


def asyncapi_for(text: bytes, may_call: MayCall | None, _: NarrowingOf) -> bytes:
    """The AsyncAPI document for a caller: all of it with the grant for events, else its head."""
    if may_call is not None and may_call(EVENTS):
        return text
    whole = _members(text)
    visible: dict[str, Any] = {**whole, "channels": {}, "operations": {}}
    visible.pop("components", None)
    return _encoded(visible, is_public=may_call is None)


def _is_visible(path: str, may_call: MayCall | None) -> bool:
    if may_call is None:
        return False
    tool = _TOOL_PATH.fullmatch(path)
    return tool is None or tool[1] == JOBS or may_call(f"{tool[1]}.{tool[2]}")


def _narrowing(path: str, narrowing_of: NarrowingOf) -> Narrowing | None:
    tool = _TOOL_PATH.fullmatch(path)
    return None if tool is None or tool[1] == JOBS else narrowing_of(f"{tool[1]}.{tool[2]}")


def _narrowed(item: Raw, narrowing: Narrowing) -> Raw:
    """The Path Item of a tool, with the schemas and examples of what `narrowing` leaves."""
    value: dict[str, Any] = msgspec.json.decode(item)
    body = value.get("post", {}).get("requestBody", {}).get("content", {}).get(_JSON)
    if body is not None:
        body["schema"] = {"allOf": [body["schema"], *narrowing.schemas]}
        examples = {
            name: each
            for name, each in body.pop("examples", {}).items()
            if not narrowing.violations(each.get("value"))
        }
        body |= {"examples": examples} if examples else {}
    for parameter in value.get("get", {}).get("parameters", ()):
        wanted = [each.get("properties", {}).get(parameter["name"]) for each in narrowing.schemas]
        if conditions := [each for each in wanted if each is not None]:
            parameter["schema"] = {"allOf": [parameter["schema"], *conditions]}
    return Raw(msgspec.json.encode(value))


def _prune(document: dict[str, Any]) -> None:
    """Remove the schemas that nothing references any more, and the tags that nothing has."""
    components = _members(document.get("components", _NOTHING))
    schemas = _members(components.get("schemas", _NOTHING))
    paths = document["paths"].values()
    others = (part for name, part in document.items() if name not in {"components", "paths"})
    used: set[str] = set()
    waiting = [name for part in (*paths, *others) for name in _references(part)]
    while waiting:
        name = waiting.pop()
        if name not in used and name in schemas:
            used.add(name)
            waiting.extend(_references(schemas[name]))
    kept = {name: schema for name, schema in schemas.items() if name in used}
    if components:
        document["components"] = {**components, "schemas": kept}
    tags = {tag for path in paths for tag in _tags(path)}
    if "tags" in document:
        listed: list[dict[str, Any]] = msgspec.json.decode(document["tags"])
        document["tags"] = [tag for tag in listed if tag["name"] in tags]


def _references(part: Raw) -> Iterator[str]:
    """The names of the schemas to which the JSON text `part` refers."""
    for found in _REFERENCE.findall(part):
        reference: str = msgspec.json.decode(found)
        yield reference.removeprefix("#/components/schemas/").partition("/")[0]


def _tags(item: Raw) -> Iterator[str]:
    for operation in _members(item).values():
        if bytes(operation).startswith(b"{"):
            yield from msgspec.json.decode(operation, type=_Tagged).tags


def _members(text: bytes | Raw) -> dict[str, Raw]:
    return msgspec.json.decode(text, type=dict[str, Raw])


def _encoded(document: dict[str, Any], *, is_public: bool) -> bytes:
    if is_public:
        info = msgspec.json.decode(document.get("info", _NOTHING))
        description = " ".join(filter(None, (info.get("description"), _HINT)))
        document = {**document, "info": {**info, "description": description}}
    return msgspec.json.encode(document)
