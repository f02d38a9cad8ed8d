"""Parses `x-binding` to records. Every unknown member is a problem; one run reports all."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final, get_args

from msgspec import UNSET
from msgspec.structs import replace

from gateway.authoring.mapping.fields.nodes import (
    Constant,
    Conversion,
    Count,
    DocumentCall,
    Each,
    ErrorMeaning,
    Fallback,
    FieldFunction,
    HandlerMap,
    HttpMap,
    ItemFilter,
    Items,
    MappingError,
    Members,
    Presence,
    Read,
    ReadExpression,
    Reference,
    Root,
    Value,
    WrittenBinding,
)
from gateway.authoring.mapping.fields.scope import leaves_of
from gateway.authoring.mapping.fields.walk import maps
from gateway.contract.operation import NOT_FOUND
from gateway.contract.values.pointers import child, steps

# Reads plain JSON values and collects all problems, so that one run reports all of them.

_POINTER: Final = r"(?P<steps>(?:/(?:[^~/]|~[01])*)*)"
_FORMS: Final[tuple[tuple[Root, re.Pattern[str]], ...]] = (
    ("inputs", re.compile(r"\$inputs(?P<names>(?:\.[A-Za-z0-9_-]+)*)")),
    ("inputs", re.compile(rf"\$inputs#{_POINTER}")),
    ("payload", re.compile(rf"\$request\.body(?:#{_POINTER})?")),
    ("body", re.compile(rf"\$response\.body(?:#{_POINTER})?")),
    ("header", re.compile(r"\$response\.header(?P<names>\.[!#$%&'*+^_`|~0-9A-Za-z-]+)")),
    ("settings", re.compile(r"\$settings(?P<names>\.[a-z][a-z0-9_]*)")),
    ("call", re.compile(r"\$call(?P<names>\.(?:id|now|tenant|elapsed_ms|may_escalate))")),
    ("item", re.compile(rf"@{_POINTER}")),
)


def parse_expression(text: str) -> ReadExpression | None:
    """The parsed expression. None if `text` is not an expression.

    `$inputs` is followed by names with dots, or by `#` and a JSON Pointer (RFC 6901).
    `$request.body`, `$response.body` and `@` are followed by a pointer. Header names (RFC 9110
    tokens) are converted to lower case, as in a reply.
    """
    for root, form in _FORMS:
        if found := form.fullmatch(text):
            parts = found.groupdict()
            if names := parts.get("names"):
                names = names.lower() if root == "header" else names
                return ReadExpression(root, tuple(names[1:].split(".")))
            return ReadExpression(root, tuple(steps(parts.get("steps") or "")))
    return None


_EXPRESSIONS = (
    "write one of $inputs.name, $inputs#/pointer, $response.body#/pointer, $response.header.Name, "
    "$settings.name, $call.id, $call.now, $call.elapsed_ms, $call.may_escalate, @ and @/pointer, "
    "or $request.body#/pointer and $call.tenant of a webhook; "
    "a constant is {const: …}"
)


class Reader:
    """Collects problems. A part with a problem is read as an empty one, and reading continues."""

    def __init__(self) -> None:
        self.problems: list[MappingError] = []

    def refuse(self, pointer: str, message: str, fix: str, rule: str = "shape") -> None:
        problem = MappingError(pointer=pointer, rule=f"binding/{rule}", message=message, fix=fix)
        self.problems.append(problem)

    def mapping(self, value: Any, pointer: str, known: Collection[str] | None = None) -> Any:
        """`value` as a mapping. A name that is not in `known` is a problem."""
        if not isinstance(value, dict):
            self.refuse(pointer, "must be a mapping", "write names with their values")
            return {}
        if not all(isinstance(name, str) for name in value):
            self.refuse(pointer, "contains a name that is not text", "put the name in quotes")
            return {}
        for name in value:
            if known is not None and name not in known:
                fix = f"use only {', '.join(sorted(known))}"
                self.refuse(child(pointer, name), "is not known here", fix)
        return value

    def text(self, holder: dict[str, Any], name: str, pointer: str) -> str:
        value = holder.get(name)
        if not isinstance(value, str) or not value:
            self.refuse(f"{pointer}/{name}", "must be a text", f"write the {name}")
            return ""
        return value

    def expression(self, value: Any, pointer: str) -> ReadExpression:
        source = parse_expression(value) if isinstance(value, str) else None
        if source is None:
            self.refuse(pointer, "is not an expression", _EXPRESSIONS, "expression")
            return ReadExpression("inputs")
        return source

    def condition(self, holder: dict[str, Any], pointer: str) -> ReadExpression | None:
        """What its `when` names."""
        return self.expression(holder["when"], f"{pointer}/when") if "when" in holder else None


# Parses a VALUE of a field map: an expression, or a mapping with exactly one kind of value.

_REFERENCE: Final = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*)", re.ASCII)
_ABSENCE: Final = frozenset({"when", "omitIfAbsent", "default"})
_MODIFIERS: Final[Mapping[str, frozenset[str]]] = {
    "value": _ABSENCE | {"as", "map", "else", "onGap"},
    "const": frozenset({"when"}),
    "object": frozenset({"when", "omitIfAbsent"}),
    "array": frozenset({"when"}),
    "each": _ABSENCE | {"item", "limit", "where"},
    "count": _ABSENCE | {"where"},
    "python": _ABSENCE | {"with"},
    "ref": frozenset({"when", "omitIfAbsent", "key"}),
}
_MAP_FIX: Final = "write each text of the source's values with its result"


def read_value(reader: Reader, value: Any, pointer: str) -> Value:
    """The parsed `value`. Problems are added to `reader`."""
    if isinstance(value, str):
        return Read(pointer=pointer, source=reader.expression(value, pointer))
    kinds = [kind for kind in _KINDS if isinstance(value, dict) and kind in value]
    if len(kinds) != 1:
        reader.refuse(
            pointer,
            "must be an expression or a mapping with exactly one kind of value",
            f"use exactly one of {', '.join(_KINDS)}",
        )
        return Constant(pointer=pointer, value=None)
    kind = kinds[0]
    reader.mapping(value, pointer, _MODIFIERS[kind] | {kind})
    return _KINDS[kind](reader, value, pointer)


def read_members(reader: Reader, value: Any, pointer: str) -> Members:
    """The parsed mapping of member names to VALUEs."""
    members = reader.mapping(value, pointer)
    return Members(
        pointer=pointer,
        values={
            name: read_value(reader, member, child(pointer, name))
            for name, member in members.items()
        },
    )


def read_reference(reader: Reader, value: Any, pointer: str) -> tuple[str, str]:
    """The module and the function of a `python:` reference."""
    found = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        reader.refuse(pointer, "is not a function", "write package.module:function")
        return "", ""
    return found[1], found[2]


def _read(reader: Reader, value: dict[str, Any], pointer: str) -> Read:
    conversion = value.get("as")
    if conversion is not None and conversion not in get_args(Conversion):
        reader.refuse(
            f"{pointer}/as",
            "is not a conversion",
            f"use one of {', '.join(get_args(Conversion))}",
            "unknown-as",
        )
        conversion = None
    return Read(
        pointer=pointer,
        source=reader.expression(value["value"], f"{pointer}/value"),
        conversion=conversion,
        table=_table(reader, value, pointer),
        unmapped=_fallback_of_value(reader, value, "else", pointer),
        gap=_fallback_of_value(reader, value, "onGap", pointer),
        presence=_presence(reader, value, pointer),
    )


def _table(reader: Reader, value: dict[str, Any], pointer: str) -> dict[str, Any] | None:
    if "map" not in value:
        if "else" in value:
            reader.refuse(f"{pointer}/else", "is used without map", "remove it, or add a map")
        return None
    if "as" in value:
        reader.refuse(
            f"{pointer}/as", "cannot be used with map", "write the converted values in map"
        )
    if value.get("else") == "omit" and value.get("onGap", "omit") != "omit":
        reader.refuse(
            f"{pointer}/onGap", "contradicts else: omit", "write omit in both, or only one of them"
        )
    table: dict[str, Any] = reader.mapping(value["map"], f"{pointer}/map")
    if not table:
        reader.refuse(f"{pointer}/map", "must map texts", _MAP_FIX)
    return table


def _fallback_of_value(
    reader: Reader, value: dict[str, Any], name: str, pointer: str
) -> Fallback | None:
    match value.get(name):
        case None:
            return None
        case "error" | "omit" | "skip-item" as kind:
            return Fallback(kind)
        case {"const": constant, **others} if not others:
            return Fallback("const", constant)
        case _:
            reader.refuse(
                f"{pointer}/{name}",
                "is not a fallback",
                "use error, omit, skip-item or {const: …}",
            )
            return None


def _presence(reader: Reader, value: dict[str, Any], pointer: str) -> Presence:
    is_omitted = value.get("omitIfAbsent", False)
    if not isinstance(is_omitted, bool):
        reader.refuse(f"{pointer}/omitIfAbsent", "must be true or false", "write true or false")
    if is_omitted and "default" in value:
        reader.refuse(
            f"{pointer}/default", "contradicts omitIfAbsent", "keep default or omitIfAbsent"
        )
    return Presence(
        when=reader.condition(value, pointer),
        is_omitted_if_absent=is_omitted is True,
        default=value.get("default", UNSET),
    )


def _constant(reader: Reader, value: dict[str, Any], pointer: str) -> Constant:
    presence = _presence(reader, value, pointer)
    return Constant(pointer=pointer, value=value["const"], presence=presence)


def _object(reader: Reader, value: dict[str, Any], pointer: str) -> Members:
    return Members(
        pointer=pointer,
        values=read_members(reader, value["object"], f"{pointer}/object").values,
        presence=_presence(reader, value, pointer),
    )


def _array(reader: Reader, value: dict[str, Any], pointer: str) -> Items:
    values = value["array"]
    if not isinstance(values, list):
        reader.refuse(f"{pointer}/array", "must be a list", "write a list of values")
        values = []
    return Items(
        pointer=pointer,
        values=tuple(
            read_value(reader, member, f"{pointer}/array/{index}")
            for index, member in enumerate(values)
        ),
        presence=_presence(reader, value, pointer),
    )


def _each(reader: Reader, value: dict[str, Any], pointer: str) -> Each:
    limit = value.get("limit")
    if limit is not None and (type(limit) is not int or limit < 1):
        reader.refuse(f"{pointer}/limit", "must be an integer from 1", "write the most items")
        limit = None
    return Each(
        pointer=pointer,
        source=reader.expression(value["each"], f"{pointer}/each"),
        item=_item(reader, value.get("item"), f"{pointer}/item"),
        limit=limit,
        keep=read_filter(reader, value, pointer),
        presence=_list_presence(reader, value, pointer),
    )


def _item(reader: Reader, value: Any, pointer: str) -> Value:
    """The parsed item. A mapping that is not a valid VALUE is read as members of an object.

    `{object: …}` is for an object whose members have the names of a VALUE.
    """
    if isinstance(value, dict) and not any(
        kind in value and value.keys() <= _MODIFIERS[kind] | {kind} for kind in _KINDS
    ):
        return read_members(reader, value, pointer)
    return read_value(reader, value, pointer)


def _count(reader: Reader, value: dict[str, Any], pointer: str) -> Count:
    return Count(
        pointer=pointer,
        source=reader.expression(value["count"], f"{pointer}/count"),
        keep=read_filter(reader, value, pointer),
        presence=_list_presence(reader, value, pointer),
    )


def _list_presence(reader: Reader, value: dict[str, Any], pointer: str) -> Presence:
    """The presence of a list, without `when`: that is a filter of the items."""
    rest = {name: modifier for name, modifier in value.items() if name != "when"}
    return _presence(reader, rest, pointer)


def read_filter(reader: Reader, value: dict[str, Any], pointer: str) -> ItemFilter:
    """The filter of `where` and `when` of a list."""
    allowed: dict[ReadExpression, tuple[Any, ...]] = {}
    where = reader.mapping(value.get("where", {}), f"{pointer}/where")
    for text, values in where.items():
        at = child(f"{pointer}/where", text)
        source = _of_item(reader, reader.expression(text, at), at)
        if not isinstance(values, list) or not values:
            reader.refuse(at, "must be a list of the values to keep", "write a list of values")
            continue
        allowed[source] = tuple(values)
    needed = reader.condition(value, pointer)
    if needed is not None:
        _of_item(reader, needed, f"{pointer}/when")
    return ItemFilter(allowed=allowed, needed=needed)


def _of_item(reader: Reader, source: ReadExpression, pointer: str) -> ReadExpression:
    if source.root != "item":
        reader.refuse(pointer, "does not read the item", "write @ or @/pointer", "expression")
    return source


def _python(reader: Reader, value: dict[str, Any], pointer: str) -> FieldFunction:
    module, function = read_reference(reader, value["python"], f"{pointer}/python")
    arguments = value.get("with", [])
    if not isinstance(arguments, list):
        reader.refuse(f"{pointer}/with", "must be a list", "write a list of expressions")
        arguments = []
    return FieldFunction(
        pointer=pointer,
        module=module,
        function=function,
        arguments=tuple(
            reader.expression(argument, f"{pointer}/with/{index}")
            for index, argument in enumerate(arguments)
        ),
        presence=_presence(reader, value, pointer),
    )


def _reference(reader: Reader, value: dict[str, Any], pointer: str) -> Reference:
    presence = _presence(reader, value, pointer)
    key = read_members(reader, value.get("key"), f"{pointer}/key")
    return Reference(
        pointer=pointer,
        kind=reader.text(value, "ref", pointer),
        key=replace(key, presence=Presence(is_omitted_if_absent=presence.is_omitted_if_absent)),
        presence=presence,
    )


_KINDS: Final[Mapping[str, Callable[[Reader, dict[str, Any], str], Value]]] = {
    "value": _read,
    "const": _constant,
    "object": _object,
    "array": _array,
    "each": _each,
    "count": _count,
    "python": _python,
    "ref": _reference,
}


# Parses `x-binding` to records. Every unknown member is a problem.

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


# Finds the Python functions that a binding names.


def functions(written: WrittenBinding) -> Iterator[tuple[str, str, str]]:
    """Pointer inside `x-binding`, module and name of each function, in contract order."""
    if isinstance(written, HandlerMap):
        yield written.pointer, written.module, written.function
    if not isinstance(written, HttpMap):
        return
    for part in maps(written):
        for members in _groups(part):
            for leaf in leaves_of(members):
                if isinstance(leaf, FieldFunction):
                    yield f"{leaf.pointer}/python", leaf.module, leaf.function


def _groups(written: HttpMap) -> Iterator[Value]:
    yield from (written.path, written.query, written.header)
    if written.body is not None:
        yield written.body
    yield from written.results.values()
    for meaning in written.errors.values():
        if meaning.result is not None:
            yield meaning.result
