"""Checks of authorization: a tool that is not granted is a tool that does not exist."""

import json
from base64 import b64encode
from collections.abc import Iterator
from typing import Any, Final

from resource_checks import check, difference, shape
from resource_target import (
    NO_TOOL,
    Answer,
    Endpoint,
    NotApplicable,
    Target,
    execute,
    get,
    handshake,
    modern,
    rest,
)

_UNKNOWN: Final = -32602
_NOT_FOUND: Final = "TOOL_NOT_FOUND"
_NO_ARGUMENT: Final = {"no_such_argument_zz": 1}
"""Arguments that no closed schema accepts, so that the tool does not run."""


def _call(name: str, arguments: Any = None) -> dict[str, Any]:
    return {"name": name, "arguments": arguments or {}}


def _places(target: Target, name: str, path: str) -> Iterator[tuple[Endpoint, str]]:
    """Each way to call the tool with this name and this path, and its name there."""
    _, _, connector, tool = path.split("/", 3)
    for place, called in (("/mcp", name), (f"/mcp/{connector}", tool)):
        yield modern(place, "tools/call", _call(called)), called
        yield handshake(place, "tools/call", _call(called)), called
    yield rest(path, {}), tool
    if target.send(execute(NO_TOOL, {}), key=target.key).media_type == "application/json":
        yield execute(name, {}), name


@check(
    "unknown-tool", "a tool that is not granted is answered as one that does not exist, everywhere"
)
def unknown_tool(target: Target) -> Iterator[str]:
    name, path = target.ungranted()
    connector = path.split("/")[2]
    nothing = f"{connector}_{NO_TOOL}", f"/v1/{connector}/{NO_TOOL}"
    hidden, missing = (_places(target, *tool) for tool in ((name, path), nothing))
    for (one, shown), (other, absent) in zip(hidden, missing, strict=True):
        first, second = (target.send(each, key=target.key) for each in (one, other))
        if shape(first, shown) != shape(second, absent):
            yield f"{first.request}: {difference(shape(first, shown), shape(second, absent))}"
        if not is_unknown(first):
            yield f"{first.request}: {first.status}, which is no refusal of an unknown tool"


def is_unknown(answer: Answer) -> bool:
    """Whether the answer says that there is no such tool."""
    message = answer.message() or {}
    error = message.get("error") or {}
    code = (error.get("data") or {}).get("code") or message.get("code")
    return error.get("code") == _UNKNOWN or code == _NOT_FOUND or error.get("code") == -32001


@check("encoded-name", "`Mcp-Name` in base64 opens nothing, and must agree with the body")
def encoded_name(target: Target) -> Iterator[str]:
    hidden, _ = target.ungranted()
    granted, _ = target.granted()
    for named, called in (
        (_encoded(hidden), hidden),
        (_encoded(granted), hidden),
        (granted, hidden),
        (_encoded(hidden), granted),
        (hidden, granted),
        (f"=?base64?{b64encode(granted.encode()).decode()}", granted),
        ("=?base64?!?=", granted),
        (f"=?BASE64?{b64encode(granted.encode()).decode()}?=", granted),
    ):
        answer = target.send(
            modern("/mcp", "tools/call", _call(called, _NO_ARGUMENT), named), key=target.key
        )
        error = (answer.message() or {}).get("error")
        if answer.status != 400 or not error:
            yield f"{answer.request}: {answer.status} for the header {named} and the body {called}"
        if named == _encoded(hidden) == _encoded(called) and not is_unknown(answer):
            yield f"{answer.request}: {error}, which is no refusal of an unknown tool"


def _encoded(name: str) -> str:
    return f"=?base64?{b64encode(name.encode()).decode()}?="


@check(
    "listed-is-callable", "each tool of a list can be called, over MCP in both eras and over REST"
)
def listed_is_callable(target: Target) -> Iterator[str]:
    listed, paths = target.tools().listed, target.operations()
    closed = [name for name, tool in listed.items() if _is_closed(tool)]
    if not closed:
        raise NotApplicable("no listed tool refuses unknown arguments before it runs")
    for name in closed:
        asked = [
            modern("/mcp", "tools/call", _call(name, _NO_ARGUMENT)),
            handshake("/mcp", "tools/call", _call(name, _NO_ARGUMENT)),
        ]
        if name in paths:
            asked.append(rest(paths[name], _NO_ARGUMENT))
        for each in asked:
            answer = target.send(each, key=target.key)
            if is_unknown(answer) or answer.status >= 500:
                yield f"{answer.request}: {name} is listed and answered with {answer.status}"


def _is_closed(tool: Any) -> bool:
    return tool.get("inputSchema", {}).get("additionalProperties") is False


@check(
    "callable-is-listed", "what a list leaves out cannot be called under any name that others see"
)
def callable_is_listed(target: Target) -> Iterator[str]:
    others = target.tools(target.other("admin")).listed
    hidden = [
        name for name in others if name not in target.tools().listed and _is_closed(others[name])
    ]
    if not hidden:
        raise NotApplicable("the key sees every tool that the admin key sees")
    for name in hidden:
        for each in (
            modern("/mcp", "tools/call", _call(name, _NO_ARGUMENT)),
            handshake("/mcp", "tools/call", _call(name, _NO_ARGUMENT)),
        ):
            answer = target.send(each, key=target.key)
            if not is_unknown(answer):
                yield f"{answer.request}: {name} is not listed and answered with {answer.status}"


@check("same-list", "both eras and REST show a key the same tools")
def same_list(target: Target) -> Iterator[str]:
    listed = set(target.tools().listed)
    message = target.send(handshake("/mcp", "tools/list", {}), key=target.key).message() or {}
    older = {each["name"] for each in message.get("result", {}).get("tools", ())}
    if older != listed:
        yield f"the eras differ in {sorted(older ^ listed)}"
    missing = sorted(set(target.operations()) - listed)
    if missing and not listed & {"search_tools"}:
        yield f"the document shows tools that the list does not: {missing}"


@check("documents", "documents show a key no tool that it may not call")
def documents(target: Target) -> Iterator[str]:
    name, path = target.ungranted()
    for key in (target.key, None):
        text = target.send(get("openapi", "/openapi.json"), key=key).text
        for each in (path, f'"{name}"'):
            if each in text:
                yield f"/openapi.json {'with the key' if key else 'without a key'} has {each}"


@check("operators", "paths of operators do not exist for other keys")
def operators(target: Target) -> Iterator[str]:
    places = [each for each in target.endpoints() if each.name in {"operator", "metrics"}]
    if not places:
        raise NotApplicable("no path of operators is served")
    if target.send(places[0], key=target.key).status == 200:
        raise NotApplicable("the key is an operator's")
    nothing = shape(target.send(get("operator", "/operator/nothing-zz"), key=target.key))
    for each in places:
        answer = target.send(each, key=target.key)
        if shape(answer) != nothing:
            yield f"{answer.request}: {difference(shape(answer), nothing)}"


@check("connectors", "a connector without a granted tool lists nothing and describes nothing")
def connectors(target: Target) -> Iterator[str]:
    own = {path.split("/")[2] for path in target.operations().values()}
    every = {path.split("/")[2] for path in target.operations(target.other("admin")).values()}
    if not every - own:
        raise NotApplicable("the key may call a tool of every connector")
    for connector in sorted(every - own):
        place = f"/mcp/{connector}"
        tools = target.send(modern(place, "tools/list", {}), key=target.key).message() or {}
        if tools.get("result", {}).get("tools"):
            yield f"{place} lists tools"
        hello = target.send(modern(place, "server/discover", {}), key=target.key).message() or {}
        if hello.get("result", {}).get("instructions"):
            yield f"{place} has instructions for a key without its tools"
        card = target.send(get("card", f"{place}/server-card"), key=target.key)
        if card.status not in {401, 404}:
            yield f"{card.request}: {card.status}"


@check("no-token-in-answers", "no answer repeats a key that was sent, not even a wrong one")
def no_token_in_answers(target: Target) -> Iterator[str]:
    keys = {target.key, *target.others.values()}
    for answer in target.answers:
        text = answer.text + json.dumps(answer.headers)
        if any(key in text for key in keys):
            yield f"{answer.request}: the answer has a key"


@check("problems", "each refusal is a problem (RFC 9457) or a JSON-RPC error, and says its status")
def problems(target: Target) -> Iterator[str]:
    for answer in target.answers:
        is_head = answer.request.startswith("HEAD ")
        if answer.status < 400 or is_head or answer.status == 431:
            continue
        message = answer.message()
        if answer.media_type == "application/problem+json":
            wanted = {"type": str, "title": str, "status": int, "code": str}
            for name, kind in wanted.items():
                if not isinstance((message or {}).get(name), kind):
                    yield f"{answer.request}: the problem has no {name}"
            if (message or {}).get("status") not in {None, answer.status}:
                yield f"{answer.request}: the problem of {answer.status} says {message['status']}"
        elif not isinstance(message, dict) or not isinstance(message.get("error"), dict):
            yield f"{answer.request}: {answer.status} with {answer.media_type or 'no body'}"
