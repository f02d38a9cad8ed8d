"""Parses `x-binding` to records. Every unknown member is a problem."""

import re
from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.operation import NOT_FOUND
from gateway.contract.values.pointers import child
from gateway.mapping.fields.language.nodes import (
    DocumentCall,
    ErrorMeaning,
    HandlerMap,
    HttpMap,
    MappingError,
    Members,
    Read,
    WrittenBinding,
)
from gateway.mapping.fields.language.reader import Reader
from gateway.mapping.fields.language.values import read_members, read_reference

_RULES: Final = frozenset({"operationId", "request", "response", "errors"})
_GROUPS: Final = frozenset({"path", "query", "header", "body"})
_MAPS: Final = frozenset({"request", "response", "fallback"})
_WHOLE: Final = "$response.body"
_SUCCESS: Final = re.compile(r"2(?:XX|[0-9]{2})")
_FAILURE: Final = re.compile(r"[45](?:XX|[0-9]{2})")
_CODE: Final = re.compile(rf"[A-Z][A-Z0-9_]{{2,63}}|{NOT_FOUND}")


def parse(x_binding: Any) -> tuple[WrittenBinding | None, tuple[MappingError, ...]]:
    """The parsed binding and no problems, or None and at least one problem."""
    reader = Reader()
    binding = _binding(reader, x_binding)
    return (None if reader.problems else binding), tuple(reader.problems)


def _binding(reader: Reader, value: Any) -> WrittenBinding | None:
    text = reader.mapping(value, "")
    if reader.problems:
        return None
    if "python" in text:
        reader.mapping(text, "", {"python", "upstreams", "asks", "entities", "context"})
        module, function = read_reference(reader, text["python"], "/python")
        return HandlerMap(
            pointer="/python",
            module=module,
            function=function,
            upstreams=_names(reader, text, "upstreams", "avinode"),
            asks=_names(reader, text, "asks", "elicitation"),
            reads_entities=text.get("entities", False),
            asks_for_context=text.get("context", False),
        )
    if not has_map(text):
        reader.mapping(text, "", {"upstream", "operationId", "errors"})
        return DocumentCall(
            pointer="",
            upstream=reader.text(text, "upstream", ""),
            operation=reader.text(text, "operationId", ""),
            errors=_errors(reader, text.get("errors", {}), "/errors"),
        )
    reader.mapping(text, "", _RULES | {"upstream", "fallback"})
    fallback = _fallback(reader, text["fallback"]) if "fallback" in text else None
    return HttpMap(
        pointer="",
        upstream=reader.text(text, "upstream", ""),
        fallback=fallback,
        **_rules(reader, text, ""),
    )


def has_map(x_binding: Mapping[str, Any]) -> bool:
    """Whether a binding to an upstream maps the request and the reply."""
    return not _MAPS.isdisjoint(x_binding)


def _names(reader: Reader, text: Mapping[str, Any], member: str, example: str) -> tuple[str, ...]:
    names = text.get(member, [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        fix = f'write a list like ["{example}"]'
        reader.refuse(f"/{member}", "is not a list of names", fix)
        return ()
    return tuple(names)


def _fallback(reader: Reader, value: Any) -> HttpMap:
    text = reader.mapping(value, "/fallback", _RULES | {"on", "effect"})
    statuses = text.get("on")
    if not isinstance(statuses, list) or not statuses:
        reader.refuse("/fallback/on", "names no status", 'write a list like ["403"]')
        statuses = []
    for index, status in enumerate(statuses):
        _check_status(reader, status, f"/fallback/on/{index}", _FAILURE)
    effect = text.get("effect", "read")
    if effect not in {"read", "write"}:
        reader.refuse("/fallback/effect", "must be read or write", "write read or write")
    return HttpMap(
        pointer="/fallback",
        fallback_on=tuple(statuses),
        is_write=effect == "write",
        **_rules(reader, text, "/fallback"),
    )


def _rules(reader: Reader, text: dict[str, Any], pointer: str) -> dict[str, Any]:
    request = reader.mapping(text.get("request", {}), f"{pointer}/request", _GROUPS)
    groups: dict[str, Members | None] = {
        name: read_members(reader, request.get(name, {}), f"{pointer}/request/{name}")
        for name in sorted(_GROUPS)
    }
    if "body" not in request:
        groups["body"] = None
    return {
        "operation": reader.text(text, "operationId", pointer),
        "results": _results(reader, text.get("response"), f"{pointer}/response"),
        "errors": _errors(reader, text.get("errors", {}), f"{pointer}/errors"),
        **groups,
    }


def _results(reader: Reader, value: Any, pointer: str) -> dict[str, Members | Read]:
    by_status = reader.mapping(value, pointer)
    for status in by_status:
        _check_status(reader, status, f"{pointer}/{status}", _SUCCESS)
    return {
        status: _result(reader, written, child(pointer, status))
        for status, written in by_status.items()
    }


def _result(reader: Reader, written: Any, pointer: str) -> Members | Read:
    """The members of a result, or the whole body of the reply."""
    if written == _WHOLE:
        return Read(pointer=pointer, source=reader.expression(written, pointer))
    return read_members(reader, written, pointer)


def _errors(reader: Reader, value: Any, pointer: str) -> dict[str, ErrorMeaning]:
    by_name = reader.mapping(value, pointer)
    for name in by_name:
        if not (isinstance(name, str) and _CODE.fullmatch(name)):
            _check_status(reader, name, f"{pointer}/{name}", _FAILURE)
    return {
        name: _meaning(reader, meaning, child(pointer, name)) for name, meaning in by_name.items()
    }


def _meaning(reader: Reader, value: Any, pointer: str) -> ErrorMeaning:
    text = reader.mapping(value, pointer, {"reason", "result"})
    if len(text) != 1:
        reader.refuse(
            pointer, "must have exactly one of reason and result", "keep one of reason and result"
        )
    if "result" in text:
        result = read_members(reader, text["result"], f"{pointer}/result")
        return ErrorMeaning(pointer=pointer, result=result)
    return ErrorMeaning(pointer=pointer, reason=reader.text(text, "reason", pointer))


def _check_status(reader: Reader, status: Any, pointer: str, form: re.Pattern[str]) -> None:
    if not isinstance(status, str) or not form.fullmatch(status):
        expected = 'such as "200" or "2XX"' if form is _SUCCESS else 'such as "404" or "5XX"'
        reader.refuse(pointer, "is not a status that is allowed here", f"write a text {expected}")
