"""Header fields of replies as values (OpenAPI 3.2 §4.19 Header Object, style `simple`)."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from gateway.contract.imported import HEADERS, ImportedHeader
from gateway.contract.upstream import Reply
from gateway.contract.values import jsontext
from gateway.contract.values.definitions import with_definitions
from gateway.contract.values.pointers import child
from gateway.contract.values.schema import DeferredValidator
from gateway.contract.values.violation import Violation
from gateway.encoding.shapes import Schema, Shapes

_WHOLE: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,18})")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,18})(?:\.[0-9]{1,30})?")
_TRUTHS: Final = {"true": True, "false": False}


def headers_schema(headers: Sequence[ImportedHeader]) -> dict[str, Any]:
    """The schema of the member `_headers`."""
    return {
        "type": "object",
        "properties": {each.name: each.schema for each in headers},
        "required": [each.name for each in headers if each.is_required],
        "additionalProperties": False,
    }


class HeaderReader:
    """Reads the header fields that one reply declares and its results have."""

    def __init__(self, headers: Sequence[ImportedHeader], definitions: Mapping[str, Any]) -> None:
        self._headers = headers
        self._shapes = Shapes(definitions)
        self._validator = DeferredValidator(
            partial(with_definitions, headers_schema(headers), definitions)
        )

    def read(self, reply: Reply) -> dict[str, Any]:
        """The values of those that the reply has, by their declared names.

        A text that is not of the declared type stays a text, so that `violations` finds it.
        """
        sent = reply.headers
        return {
            each.name: self._value(each, sent[each.name.lower()])
            for each in self._headers
            if each.name.lower() in sent
        }

    def violations(self, values: Mapping[str, Any]) -> tuple[Violation, ...]:
        """How `values` break the document. The pointers begin with the member of the result."""
        if self._validator.admits(values):
            return ()
        place = child("", HEADERS)
        return tuple(each.under(place) for each in self._validator.violations(values))

    def _value(self, header: ImportedHeader, text: str) -> Any:
        if header.is_json:
            try:
                return jsontext.decode(text.encode(), jsontext.REPLY)
            except jsontext.NotJson:
                return text
        kinds = self._shapes.types(header.schema)
        if "string" in kinds or not text:
            return text
        if "array" in kinds:
            items = self._shapes.items(header.schema)
            return [self._scalar(each, items) for each in _pieces(text)]
        if "object" in kinds:
            return self._members(header, text)
        return self._scalar(text, header.schema)

    def _members(self, header: ImportedHeader, text: str) -> Any:
        pieces = _pieces(text)
        if header.explode:
            pairs = [each.partition("=")[::2] for each in pieces]
        elif len(pieces) % 2:
            return text
        else:
            pairs = list(zip(pieces[::2], pieces[1::2], strict=True))
        declared = self._shapes.properties(header.schema)
        return {name: self._scalar(value, declared.get(name, True)) for name, value in pairs}

    def _scalar(self, text: str, schema: Schema) -> Any:
        kinds = self._shapes.types(schema)
        if "string" in kinds:
            return text
        if "integer" in kinds and _WHOLE.fullmatch(text):
            return int(text)
        if "number" in kinds and _NUMBER.fullmatch(text):
            return float(text)
        return _TRUTHS.get(text, text) if "boolean" in kinds else text


def _pieces(text: str) -> list[str]:
    return [each.strip(" \t") for each in text.split(",")]
