"""Adds the links of replies to the operations: which tool each leads to, with which arguments.

A gateway does not follow links. `gateway test` does, to show that the operations fit together.

Runtime expressions (OpenAPI 3.2 §4.20.5): which argument or part of a result they name.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote

from msgspec import Struct
from msgspec.structs import replace

from gateway.contract.imported import (
    HEADERS,
    ImportedLink,
    ImportedOperation,
    ImportedParameter,
    ImportedReply,
    LinkInput,
    LinkValue,
)
from gateway.contract.values.pointers import child
from gateway.encoding.replies.content import RESULT
from gateway.encoding.shapes import Shapes
from gateway.openapi.lowering.records import OperationSource, Unservable
from gateway.openapi.lowering.view import DocumentView
from gateway.openapi.reading.refusal import PartRefused

_EMBEDDED: Final = re.compile(r"\{(\$[^{}]*)\}")
_BODY: Final = re.compile(r"\$(request|response)\.body(?:#(/.*)?)?", re.DOTALL)
_PARAMETER: Final = re.compile(r"\$(request|response)\.(header|query|path)\.(.+)", re.DOTALL)


class NotEvaluated(Exception):
    """A link or an expression in it cannot be evaluated. The text says why."""


class Expressions:
    """The expressions of links of one reply. Each method raises `NotEvaluated`."""

    def __init__(
        self, operation: ImportedOperation, status: str, definitions: Mapping[str, Any]
    ) -> None:
        self._operation = operation
        self._status = status
        self._definitions = definitions

    def parts(self, value: Any) -> tuple[LinkValue, ...]:
        """The parts of a value of a link: a constant, an expression, or a text that holds some."""
        if not isinstance(value, str):
            self._refuse_nested(value)
            return (LinkValue(source="constant", constant=value),)
        if value.startswith("$"):
            return (self._value(value),)
        return tuple(self._embedded(value)) or (LinkValue(source="constant", constant=value),)

    def _embedded(self, text: str) -> Iterator[LinkValue]:
        for index, part in enumerate(_EMBEDDED.split(text)):
            if index % 2:
                yield self._value(part)
            elif part:
                yield LinkValue(source="constant", constant=part)

    def _refuse_nested(self, value: Any) -> None:
        match value:
            case str() if value.startswith("$") or _EMBEDDED.search(value):
                raise NotEvaluated(f"the expression {value!r} inside another value")
            case dict():
                for each in value.values():
                    self._refuse_nested(each)
            case list():
                for each in value:
                    self._refuse_nested(each)

    def _value(self, expression: str) -> LinkValue:
        if expression == "$method":
            return LinkValue(source="constant", constant=self._operation.method)
        if expression == "$statusCode" and self._status.isdigit():
            return LinkValue(source="constant", constant=int(self._status))
        if found := _BODY.fullmatch(expression):
            in_body = self._in_request if found[1] == "request" else self._in_response
            return in_body(expression, found[2] or "")
        if found := _PARAMETER.fullmatch(expression):
            in_part = self._parameter if found[1] == "request" else self._header
            return in_part(expression, found[2], found[3])
        if expression in {"$url", "$statusCode"}:
            raise _refused(expression, "a result does not show it")
        raise _refused(expression, "it is no runtime expression")

    def _parameter(self, expression: str, location: str, name: str) -> LinkValue:
        for each in self._operation.parameters:
            is_header = location == "header" and each.name.lower() == name.lower()
            if each.location == location and (is_header or each.name == name):
                return LinkValue(source="arguments", pointer=child("", each.member))
        raise _refused(expression, "the operation has no such parameter")

    def _header(self, expression: str, location: str, name: str) -> LinkValue:
        declared = (each for each in self._operation.replies if each.status == self._status)
        names = [header.name for each in declared for header in each.headers]
        for each in names:
            if location == "header" and each.lower() == name.lower():
                return LinkValue(source="result", pointer=child(child("", HEADERS), each))
        raise _refused(expression, "results have only the headers that import.yaml names")

    def _in_request(self, expression: str, pointer: str) -> LinkValue:
        body = self._operation.body
        if body is None:
            raise _refused(expression, "the operation has no body")
        if body.member is not None:
            return LinkValue(source="arguments", pointer=child("", body.member) + pointer)
        first, _, rest = pointer.removeprefix("/").partition("/")
        for member, name in body.members.items():
            if pointer and child("", name) == f"/{first}":
                return LinkValue(
                    source="arguments", pointer=child("", member) + (f"/{rest}" if rest else "")
                )
        raise _refused(expression, "the body is sent by its members, and none has this name")

    def _in_response(self, expression: str, pointer: str) -> LinkValue:
        reply = self._reply()
        if reply is not None and reply.kind == "text" and not pointer:
            return LinkValue(source="result", pointer="/text")
        if reply is None or reply.kind != "json":
            raise _refused(expression, "the reply has no JSON body")
        is_object = "object" in Shapes(self._definitions).types(reply.schema)
        around = "" if is_object else child("", RESULT)
        return LinkValue(source="result", pointer=around + pointer)

    def _reply(self) -> ImportedReply | None:
        declared = [each for each in self._operation.replies if each.status == self._status]
        return min(declared, key=lambda each: each.kind != "json", default=None)


def _refused(expression: str, reason: str) -> NotEvaluated:
    return NotEvaluated(f"the expression {expression!r}: {reason}")


FOLLOWED: Final = "reply/links"
NOT_FOLLOWED: Final = "reply/link-not-tested"
_LOCATIONS: Final = frozenset({"path", "query", "header", "cookie"})


class _Spot(Struct, frozen=True):
    """A link as the document has it."""

    name: str
    status: str
    pointer: str
    node: Any


class Links:
    """Resolves the links of the served operations of one document."""

    def __init__(
        self,
        view: DocumentView,
        operations: Sequence[OperationSource],
        served: Mapping[str, ImportedOperation],
    ) -> None:
        """`operations` are all of the document; `served` has those that are served by key."""
        self._view = view
        self._served = served
        self._sources = {each.key: each for each in operations}
        self._by_id: dict[str, list[str]] = {}
        for each in operations:
            if each.operation_id:
                self._by_id.setdefault(each.operation_id, []).append(each.key)
        self._by_ref = {
            ref: each.key
            for each in operations
            for ref in (each.pointer, child(child("/paths", each.path), each.method.lower()))
        }

    def resolved(self) -> tuple[ImportedOperation, ...]:
        """The served operations with their links, each of which is noted."""
        return tuple(
            replace(each, links=tuple(self._of(self._sources[key], each)))
            for key, each in self._served.items()
        )

    def _of(self, source: OperationSource, operation: ImportedOperation) -> Iterator[ImportedLink]:
        for spot in self._spots(source):
            link = self._link(spot, operation)
            what = f"the link {spot.name!r} of the reply {spot.status} to {source.key}"
            if link.problem is None:
                message = f"{what} is not followed in calls; `gateway test` follows it"
                fix = "no change is needed: agents call the operation that the link names"
                self._view.note(spot.pointer, FOLLOWED, message, fix)
            else:
                message = f"{what} is not followed in calls or tests: {link.problem}"
                fix = "correct the link with an overlay, or leave it"
                self._view.note(spot.pointer, NOT_FOLLOWED, message, fix)
            yield link

    def _spots(self, source: OperationSource) -> Iterator[_Spot]:
        replies = source.value.get("responses")
        for status, node in (replies if isinstance(replies, dict) else {}).items():
            if status.startswith("x-"):
                continue
            reply = self._view.part(node, child(child(source.pointer, "responses"), status))
            links = reply.value.get("links")
            for name, link in (links if isinstance(links, dict) else {}).items():
                if not name.startswith("x-"):
                    place = child(child(reply.pointer, "links"), name)
                    yield _Spot(name, status, place, link)

    def _link(self, spot: _Spot, operation: ImportedOperation) -> ImportedLink:
        status = spot.status if spot.status == "default" else spot.status.upper()
        found = ImportedLink(
            name=spot.name, status=status, pointer=self._view.document.pointer_of(spot.pointer)
        )
        try:
            value, _ = self._view.part(spot.node, spot.pointer)
            target = self._target(value)
            expressions = Expressions(operation, status, self._view.schemas.definitions)
            inputs = tuple(_inputs(value, target, expressions))
        except NotEvaluated as problem:
            return replace(found, problem=str(problem))
        except (Unservable, PartRefused):
            return replace(found, problem="it cannot be read")
        return replace(found, target=target.id, inputs=inputs)

    def _target(self, link: Mapping[str, Any]) -> ImportedOperation:
        if "server" in link:
            raise NotEvaluated("it names a server of its own")
        name, ref = link.get("operationId"), link.get("operationRef")
        if isinstance(name, str) and ref is None:
            keys = self._by_id.get(name, [])
            if len(keys) > 1:
                raise NotEvaluated(f"the operationId {name!r} is not unique")
            key = keys[0] if keys else None
        elif isinstance(ref, str) and name is None:
            if not ref.startswith("#/"):
                raise NotEvaluated(f"the operationRef {ref!r} is in another document")
            key = self._by_ref.get(unquote(ref[1:]))
        else:
            raise NotEvaluated("it needs either operationId or operationRef")
        if key is None:
            raise NotEvaluated(f"there is no operation {name or ref!r}")
        if key not in self._served:
            raise NotEvaluated(f"its target {key} is not served")
        return self._served[key]


def _inputs(
    link: Mapping[str, Any], target: ImportedOperation, expressions: Expressions
) -> Iterator[LinkInput]:
    parameters = link.get("parameters", {})
    if not isinstance(parameters, dict):
        raise NotEvaluated("its parameters are no object")
    for name, value in parameters.items():
        parameter = _parameter(target, name)
        yield LinkInput(member=parameter.member, parts=expressions.parts(value))
    if "requestBody" in link:
        if target.body is None:
            raise NotEvaluated("its target has no body")
        yield LinkInput(member=target.body.member, parts=expressions.parts(link["requestBody"]))


def _parameter(target: ImportedOperation, name: str) -> ImportedParameter:
    """The parameter that a link names, with or without its location: `id` or `path.id`."""
    location, _, rest = name.partition(".")
    found = [each for each in target.parameters if each.name == name]
    if not found and location in _LOCATIONS:
        found = [e for e in target.parameters if (e.location, e.name) == (location, rest)]
    if len(found) != 1:
        what = "no parameter" if not found else "several parameters"
        raise NotEvaluated(f"its target has {what} {name!r}")
    return found[0]
