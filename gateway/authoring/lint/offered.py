"""Checks of resources and prompts, and of the files that they send."""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from gateway.authoring.contracts.finding import Finding
from gateway.authoring.contracts.refs import INPUT
from gateway.authoring.contracts.tree import (
    TOOLS,
    OfferedSource,
    ToolSource,
    files_of,
    templates_of,
)
from gateway.authoring.lint.draft import Draft
from gateway.authoring.lint.rules import BY_ID
from gateway.contract.offered import LARGEST, LONGEST_ARGUMENT, UriTemplate, filled, placeholders
from gateway.contract.values.files import is_text
from gateway.contract.values.hidden import visible_text
from gateway.contract.values.nearest import did_you_mean
from gateway.contract.values.pointers import child
from gateway.encoding.shapes import PRIMITIVES

# Checks of the names of resources and prompts, and of the files that they send.


def check_names(draft: Draft) -> Iterator[Finding]:
    """offered/name"""
    connectors = {tool.connector for tool in draft.tree.tools} | draft.tree.imports
    for kind in (draft.tree.resources, draft.tree.prompts):
        names: dict[str, OfferedSource] = {}
        for each in kind:
            name = f"{each.connector}_{each.path.stem}"
            if draft.tree.has_unread(PurePosixPath(TOOLS, each.connector)):
                continue
            if each.connector not in connectors:
                message = f"there is no connector {each.connector}"
                yield draft.finding("offered/name", each.document, "", message)
            elif name in names:
                message = f"{names[name].path} is named {name} too"
                yield draft.finding("offered/name", each.document, "", message)
            names.setdefault(name, each)


def check_files(draft: Draft) -> Iterator[Finding]:
    """resource/file"""
    used: set[PurePosixPath] = set()
    for each in (*draft.resources, *draft.prompts):
        for pointer, name, mime_type in files_of(each.document.value):
            path = each.file(name)
            used.add(path)
            if draft.tree.is_unread(path):
                continue
            found = draft.tree.files.get(path)
            if found is None:
                known = [one.name for one in draft.tree.files if one.parent == path.parent]
                fix = did_you_mean(name, known)
                message = f"there is no file {path}"
                yield draft.finding("resource/file", each.document, pointer, message, fix)
            elif (why := _refusal(found, mime_type)) is not None:
                message = f"{path} {why}"
                yield draft.finding("resource/file", each.document, pointer, message)
    if not draft.misshapen:
        yield from _unused(draft, used)


def _refusal(content: bytes, mime_type: str) -> str | None:
    """Why a file cannot be sent. None if it can."""
    if len(content) > LARGEST:
        return f"is larger than {LARGEST} bytes"
    if not is_text(mime_type):
        return None
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        return f"is not valid UTF-8, at byte {error.start}"
    hidden = visible_text(text.replace("\r\n", "\n"))[1]
    return f"contains {hidden} invisible characters" if hidden else None


def _unused(draft: Draft, used: set[PurePosixPath]) -> Iterator[Finding]:
    rule = BY_ID["resource/file"]
    for path in draft.tree.files:
        if path not in used:
            yield Finding(
                path=str(path),
                line=1,
                pointer="",
                rule=rule.id,
                message="no contract beside its folder sends this file",
                fix="Name it under `file`, or delete it.",
            )


# Checks of resources.

_URI: Final = re.compile(
    r"[a-z][a-z0-9+.-]*:(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+"
)
"""The characters of a URI (RFC 3986), with a scheme in lower case."""
_OURS: Final = "gateway"
_SAMPLE: Final = "x"
_OBJECTS: Final = frozenset({"application/json", "text/plain"})
"""The forms of a result that is a JSON object, also where REST may send its text alone."""
_TOOL: Final = "/contents/tool"
_ARGUMENTS: Final = "/contents/arguments"


def check_uris(draft: Draft) -> Iterator[Finding]:
    """resource/uri, resource/duplicate"""
    known: list[tuple[OfferedSource, UriTemplate]] = []
    for each in draft.resources:
        value = each.document.value
        member = "uri" if "uri" in value else "uriTemplate"
        template = UriTemplate(value[member])
        why = _uri_refusal(template, is_template=member == "uriTemplate")
        if why is not None:
            yield draft.finding("resource/uri", each.document, f"/{member}", why)
            continue
        other = next((one for one, of_one in known if template.meets(of_one)), None)
        if other is not None:
            message = f"{other.path} has the same URI, or one of the same URIs"
            yield draft.finding("resource/duplicate", each.document, f"/{member}", message)
        known.append((each, template))


def _uri_refusal(template: UriTemplate, *, is_template: bool) -> str | None:
    text = template.text
    if is_template and not template.variables:
        return "the template has no variables"
    if not is_template and template.variables:
        return "the URI has placeholders"
    sample = filled(text, dict.fromkeys(template.variables, _SAMPLE))
    if not _URI.fullmatch(sample):
        return "it is not an absolute URI"
    if text.partition(":")[0] == _OURS or placeholders(text.partition(":")[0]):
        return f"the scheme {_OURS} is reserved, and a scheme has no variables"
    if not template.is_clear:
        return "a variable stands twice, or two of them have no reserved character between them"
    return None


def check_variables(draft: Draft) -> Iterator[Finding]:
    """resource/variable, resource/handler"""
    for each in draft.resources:
        value = each.document.value
        known = value.get("variables", {})
        if "uriTemplate" not in value or "file" in value["contents"]:
            if known or "uriTemplate" in value:
                message = "only a template has variables, and a file is no template"
                yield draft.finding("resource/handler", each.document, "/contents", message)
            continue
        names = UriTemplate(value["uriTemplate"]).variables
        for name in names:
            if name not in known:
                message = f"{name} is not described"
                yield draft.finding("resource/variable", each.document, "/uriTemplate", message)
        for name in known:
            if name not in names:
                message = f"the template has no variable {name}"
                pointer = child("/variables", name)
                yield draft.finding("resource/variable", each.document, pointer, message)


def check_tools(draft: Draft) -> Iterator[Finding]:
    """resource/tool, resource/argument, resource/variable"""
    tools = {tool.id: tool for tool in draft.tools}
    for each in draft.resources:
        contents = each.document.value["contents"]
        if "tool" not in contents:
            continue
        tool = tools.get(contents["tool"])
        if tool is None:
            is_there = any(one.id == contents["tool"] for one in draft.tree.tools)
            if is_there or draft.tree.is_unread_tool(contents["tool"]):
                continue  # its own file is misshapen, or could not be read
            fix = did_you_mean(contents["tool"], tools)
            message = f"there is no tool {contents['tool']} with a contract file"
            yield draft.finding("resource/tool", each.document, _TOOL, message, fix)
        elif (why := _refusal_of(tool)) is not None:
            yield draft.finding("resource/tool", each.document, _TOOL, f"{tool.id} {why}")
        else:
            if not _is_json(mime_type := each.document.value["mimeType"]):
                message = f"the result is sent as application/json, which {mime_type} is not"
                yield draft.finding("resource/tool", each.document, "/mimeType", message)
            yield from _arguments(draft, each, tool)


def _refusal_of(tool: ToolSource) -> str | None:
    """Why no resource comes from `tool`. None if one may."""
    policy = tool.operation["x-policy"]
    if policy["effect"] != "read" or "escalation" in policy:
        return "may write"
    if policy.get("task", "never") != "never":
        return "may become a job"
    if tool.operation["x-mcp"].get("requires"):
        return "needs something of its client"
    if {*tool.operation["responses"]["200"]["content"]} - _OBJECTS:
        return "answers with files or content blocks"
    return None


def _is_json(mime_type: str) -> bool:
    return mime_type == "application/json" or mime_type.endswith("+json")


def _arguments(draft: Draft, source: OfferedSource, tool: ToolSource) -> Iterator[Finding]:
    schema = draft.expanded(tool.path, INPUT)
    if not isinstance(schema, dict):
        return
    contents: Mapping[str, Any] = source.document.value["contents"]
    given: Mapping[str, Any] = contents.get("arguments", {})
    variables = placeholders(source.document.value.get("uriTemplate", ""))
    properties = schema.get("properties") or {}
    for name in sorted({*(schema.get("required") or ())} - {*given}):
        message = f"{tool.id} requires the argument {name}"
        yield draft.finding("resource/argument", source.document, _ARGUMENTS, message)
    for name, value in given.items():
        if (why := _misfit(name, value, properties, variables)) is not None:
            pointer, fix = child(_ARGUMENTS, name), did_you_mean(name, properties)
            fix = None if name in properties else fix
            yield draft.finding("resource/argument", source.document, pointer, why, fix)
    used = {value.get("variable") for value in given.values()}
    for name in sorted({*variables} - used):
        message = f"{tool.id} does not get the variable {name}"
        yield draft.finding("resource/variable", source.document, "/uriTemplate", message)


def _misfit(
    name: str, value: Mapping[str, Any], properties: Mapping[str, Any], variables: tuple[str, ...]
) -> str | None:
    """What is wrong with the argument `name`. None if nothing is."""
    if name not in properties:
        return f"the tool has no argument {name}"
    if "variable" not in value:
        return None
    if value["variable"] not in variables:
        return f"the template has no variable {value['variable']}"
    return None if _is_scalar(properties[name]) else f"{name} is no text, number or boolean"


def _is_scalar(schema: Any) -> bool:
    kind = schema.get("type") if isinstance(schema, dict) else None
    return isinstance(kind, str) and kind in PRIMITIVES


# Checks of prompts.


def check_placeholders(draft: Draft) -> Iterator[Finding]:
    """prompt/placeholder"""
    tools = {tool.id for tool in draft.tree.tools}
    for each in draft.prompts:
        arguments = each.document.value.get("arguments", {})
        used: set[str] = set()
        for index, message in enumerate(each.document.value["messages"]):
            for pointer, text in templates_of(message, child("/messages", index)):
                names = placeholders(text)
                used.update(names)
                for name in names:
                    if name in arguments or name in tools or _may_be_tool(draft, name):
                        continue
                    what = f"there is no {'tool' if '.' in name else 'argument'} {name}"
                    fix = did_you_mean(name, [*arguments, *tools])
                    yield draft.finding("prompt/placeholder", each.document, pointer, what, fix)
        for name in arguments:
            if name not in used:
                pointer, what = child("/arguments", name), f"no message has {{{name}}}"
                yield draft.finding("prompt/placeholder", each.document, pointer, what)


def _may_be_tool(draft: Draft, name: str) -> bool:
    """Whether it may be a tool that contract files do not show: of an import, or one unread."""
    is_of_import = "." in name and name.partition(".")[0] in draft.tree.imports
    return is_of_import or draft.tree.is_unread_tool(name)


def check_values(draft: Draft) -> Iterator[Finding]:
    """prompt/value"""
    for each in draft.prompts:
        for name, facts in each.document.value.get("arguments", {}).items():
            for pointer, message in _misfits(name, facts):
                where = child("/arguments", name) + pointer
                yield draft.finding("prompt/value", each.document, where, message)


def _misfits(name: str, facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What is wrong with the texts of an argument: each pointer within it, and the message."""
    default, values = facts.get("default"), facts.get("enum", [])
    longest = facts.get("maxLength", LONGEST_ARGUMENT)
    texts = [(child("/enum", index), value) for index, value in enumerate(values)]
    if default is not None and facts.get("required"):
        yield "/default", f"{name} is required, so its default is never used"
    elif default is not None and values and default not in values:
        yield "/default", f"{default!r} is none of the values of {name}"
    elif default is not None:
        texts.append(("/default", default))
    for pointer, text in texts:
        if len(text) > longest:
            yield pointer, f"{text!r} has more than the {longest} characters of {name}"
