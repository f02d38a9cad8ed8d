"""Checks of results that MCP clients get as content blocks: files, and lists of blocks."""

import base64
import binascii
from collections.abc import Iterator
from typing import Any, Final

from gateway.contract.values.files import BLOCKS, BLOCKS_TYPE, file_types_of
from gateway.contract.values.pointers import child
from gateway.contracts import meta
from gateway.contracts.finding import Finding
from gateway.contracts.sources.tree import ToolSource
from gateway.lint.draft import BLOCKS_COPY, Draft

_CONTENT: Final = "/post/responses/200/content"
_RESULT: Final = f"{_CONTENT}/application~1json"
_FILE: Final = {"content_type", "size"}
_DATA: Final = "data"
_KINDS: Final = ("Block", "TextBlock", "ImageBlock", "AudioBlock", "ResourceBlock", "LinkBlock")
_WITH_BLOCKS: Final = ("application/json", BLOCKS_TYPE)
_ANNOTATIONS: Final = {"title", "description"}
_LIST: Final = {"type", "items", "minItems", "maxItems", *_ANNOTATIONS}
MAX_BLOCKS: Final = 20
"""The most blocks of a result."""


def check_files(draft: Draft) -> Iterator[Finding]:
    """tool/file"""
    for tool in draft.tools:
        content = tool.operation["responses"]["200"]["content"]
        types = [*file_types_of(content)]
        if not types:
            continue
        schema = draft.expanded(tool.path, f"{_RESULT}/schema")
        fault = next(_faults(tool, content, types, schema), None)
        if fault is not None:
            yield draft.finding("tool/file", tool.document, *fault)
            continue
        for name, example in content["application/json"].get("examples", {}).items():
            if message := _example_fault(example["value"]):
                pointer = child(child(f"{_RESULT}/examples", name), "value")
                yield draft.finding("tool/file", tool.document, pointer, message)


def check_blocks(draft: Draft) -> Iterator[Finding]:
    """tool/blocks"""
    for tool in draft.tools:
        content = tool.operation["responses"]["200"]["content"]
        if BLOCKS_TYPE not in content:
            continue
        if len(content) > len(_WITH_BLOCKS):
            message = "a result of content blocks has no other form than its JSON"
            where = child(_CONTENT, BLOCKS_TYPE)
            yield draft.finding("tool/blocks", tool.document, where, message)
        elif not _is_of_blocks(draft, draft.expanded(tool.path, f"{_RESULT}/schema")):
            message = "the schema of the result is not that of content blocks"
            where = f"{_RESULT}/schema"
            yield draft.finding("tool/blocks", tool.document, where, message)


def check_blocks_copy(draft: Draft) -> Iterator[Finding]:
    """meta/stale"""
    copy = draft.tree.find(BLOCKS_COPY)
    if copy is not None and copy.value != meta.content_schema():
        message = "the copy has been changed or belongs to another version of the gateway"
        yield draft.finding("meta/stale", copy, "", message)


def _is_of_blocks(draft: Draft, schema: Any) -> bool:
    """Whether each value of `schema` is a list of blocks. True if that cannot be known."""
    if schema is None:
        return True
    if draft.tree.find(BLOCKS_COPY) is None or not isinstance(schema, dict):
        return False
    is_closed = schema.get("additionalProperties") is False
    if not is_closed or [*schema.get("properties", ())] != [BLOCKS]:
        return False
    listed = _object(schema["properties"][BLOCKS])
    known = (draft.expanded(BLOCKS_COPY, f"/$defs/{each}") for each in _KINDS)
    return (
        schema.get("required") == [BLOCKS]
        and {*listed} <= _LIST
        and listed.get("type") == "array"
        and 0 < listed.get("minItems", 0) <= listed.get("maxItems", MAX_BLOCKS + 1) <= MAX_BLOCKS
        and _plain(listed.get("items")) in [_plain(each) for each in known]
    )


def _plain(schema: Any) -> dict[str, Any]:
    return {name: each for name, each in _object(schema).items() if name not in _ANNOTATIONS}


def _faults(
    tool: ToolSource, content: dict[str, Any], types: list[str], schema: Any
) -> Iterator[tuple[str, str]]:
    first = child(_CONTENT, types[0])
    if "python" not in tool.operation["x-binding"]:
        yield first, "only a Python handler can return a file that the contract declares"
    if "text/plain" in content:
        yield child(_CONTENT, "text/plain"), "a result is a file or a text, and not both"
    for each in types:
        if each.endswith(("/json", "+json")):
            yield child(_CONTENT, each), "JSON is no file: it is the result itself"
    if isinstance(schema, dict) and (message := _schema_fault(schema, types)):
        yield f"{_RESULT}/schema", message


def _schema_fault(schema: dict[str, Any], types: list[str]) -> str | None:
    members = schema.get("properties")
    if not isinstance(members, dict) or {*members} != {*_FILE, _DATA}:
        return "the schema of a file has the members content_type, size and data"
    if {*schema.get("required", ())} != _FILE or schema.get("additionalProperties") is not False:
        return "the schema of a file is closed, and requires content_type and size only"
    kind, size, data = (_object(members[each]) for each in ("content_type", "size", _DATA))
    listed = [kind["const"]] if "const" in kind else kind.get("enum", ())
    if {*map(str, listed)} != {*types}:
        return f"the enum of content_type is {', '.join(sorted(types))}"
    if size.get("type") != "integer" or "maximum" not in size or data.get("type") != "string":
        return "size is an integer with a maximum, and data a string"
    return None


def _object(schema: Any) -> dict[str, Any]:
    return schema if isinstance(schema, dict) else {}


def _example_fault(value: Any) -> str | None:
    """Whether the example describes its bytes wrongly. The schema has checked the rest."""
    data = value.get(_DATA) if isinstance(value, dict) else None
    if not isinstance(data, str):
        return None
    try:
        found = base64.b64decode(data, validate=True)
    except binascii.Error:
        return "data is not base64"
    if len(found) != value.get("size"):
        return f"data has {len(found)} bytes, and size says another number"
    return None
