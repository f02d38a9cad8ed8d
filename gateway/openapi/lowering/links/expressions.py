"""Runtime expressions (OpenAPI 3.2 §4.20.5): which argument or part of a result they name."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gateway.contract.imported import HEADERS, ImportedOperation, ImportedReply, LinkValue
from gateway.contract.values.pointers import child
from gateway.encoding.replies.content import RESULT
from gateway.encoding.shapes import Shapes

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
