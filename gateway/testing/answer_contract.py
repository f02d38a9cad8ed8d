"""Compares real answers with the contract of their upstream.

No value leaves this module: what is found is a place, a keyword and the shape of the value.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from gateway.amounts import amount
from gateway.authoring.contracts.finding import Finding, Severity
from gateway.authoring.openapi.folder import IMPORT_FILE, UPSTREAMS, ImportFolder, read_document_of
from gateway.authoring.openapi.overlay import apply_overlay
from gateway.authoring.openapi.reading.normalise import METHODS, NormalDocument, normalise
from gateway.authoring.openapi.reading.schemas import Part, resolve_part
from gateway.authoring.openapi.reading.source import PartRefused, read_source
from gateway.catalogue import Catalogue
from gateway.contract.imported import ImportedReply
from gateway.contract.upstream import Reply, status_names
from gateway.contract.values import jsontext
from gateway.contract.values.files import shown_type
from gateway.contract.values.pointers import child, steps
from gateway.contract.values.schema import Validator, matcher, with_definitions
from gateway.contract.values.violation import Violation
from gateway.encoding.replies.content import (
    AbsentNulls,
    essence_of,
    is_in_range,
    is_json_essence,
    precision_of,
)
from gateway.testing.answer_shapes import Shape, kind_of, merged, scalar_shape

Rule = Literal["live/breaks-contract", "live/not-in-contract"]

_MOST_NODES: Final = 20_000
"""Values of one answer that are looked at."""
_MOST_NAMES: Final = 50
"""An object with more members that no contract names is a map: their names are data."""
_NAME: Final = re.compile(r"[@$_A-Za-z][A-Za-z0-9_$.:-]{0,63}")
_MOST_DIGITS: Final = 4
_JOINED: Final = ("allOf", "anyOf", "oneOf")
_SURPLUS: Final = frozenset({"additionalProperties", "unevaluatedProperties"})
_SHOWN: Final = 60
_OWN_FINDING: Final = frozenset({401, 403, 429})
"""Refusals for which no argument is to blame."""


class AnswerDifference(Struct, frozen=True, kw_only=True):
    """One place at which an answer is not what the contract says."""

    rule: Rule
    operation: str
    """`GET /pets`."""
    reply: str
    """The status and the media type, `200 application/json`."""
    place: str
    """Where it is in the answer. `*` stands for each item, and for names that are data."""
    pointers: tuple[str, ...]
    """Where the contract says it, in its normal form."""
    keyword: str
    text: str
    shape: Shape = {}
    """That of the value. Of a status or a media type, that of the body."""
    is_refused: bool = False
    """Whether no tool takes the answer: a media type or a redirect that is not declared."""

    @property
    def answer(self) -> str:
        """The operation, the status and the media type."""
        return f"{self.operation} {self.reply}"

    @property
    def key(self) -> tuple[str, ...]:
        """Equal for what one change of the contract settles."""
        at = steps(self.place)[-1:] if self.keyword in {"properties", "required"} else ()
        which = (self.reply,) if self.keyword in {"status", "media type"} else ()
        which = (str(self.shape["type"]),) if self.keyword == "type" else which
        where = self.pointers or (self.answer, self.place)
        return (*where, self.keyword, *at, *which)


class ComparedAnswer(Struct, frozen=True, kw_only=True):
    """What was seen in one answer."""

    operation: str
    """`GET /pets`."""
    answer: str
    """`200 application/json`."""
    shape: Shape | None
    """None: it has no JSON body."""
    differences: tuple[AnswerDifference, ...] = ()
    problem: str | None = None
    """Why the body cannot be read."""


class _Operation(Struct, frozen=True, kw_only=True):
    label: str
    pointer: str
    """In the normal form."""
    replies: tuple[ImportedReply, ...]
    definitions: Mapping[str, Any] = {}
    nulls_are_absent: bool = False


class AnswerContract:
    """The contract of one upstream, an imported document or one written here."""

    def __init__(self, name: str, schemas: Path, catalogue: Catalogue) -> None:
        """Raises `ContractError` if the contract cannot be read."""
        self.name = name
        folder = ImportFolder(schemas=schemas, connector=name)
        self.is_imported = (folder.files / IMPORT_FILE).is_file()
        self.overlay: Mapping[str, Any] = {}
        """The overlay that the import has already."""
        if self.is_imported:
            wishes, _ = folder.wishes()
            source = read_document_of(folder, wishes)
            self._place = folder.path / wishes.document if wishes.entry else folder.path
            if overlay := folder.overlay():
                self.overlay = overlay.value
                source = source.replaced(apply_overlay(overlay, source.value).value)
        else:
            source = read_source(schemas / UPSTREAMS / name / "openapi.yaml", root=schemas)
            self._place = PurePosixPath()
        self.document: NormalDocument = normalise(source)
        self._validators: dict[tuple[str, int], Validator] = {}
        self._operations = dict(self._read(catalogue))

    def _read(self, catalogue: Catalogue) -> Iterator[tuple[str, _Operation]]:
        places = dict(self._places())
        if self.is_imported:
            whole = catalogue.imported[self.name].whole()
            for each in whole.callable_operations:
                yield (
                    each.id,
                    _Operation(
                        label=f"{each.method} {each.path}",
                        pointer=places.get(each.pointer, ""),
                        replies=each.replies,
                        definitions=whole.definitions,
                        nulls_are_absent=each.results == "nulls-absent",
                    ),
                )
            return
        for own in catalogue.upstreams[self.name].operations:
            at = child(child("/paths", own.path), own.method.lower())
            yield (
                own.id,
                _Operation(
                    label=f"{own.method} {own.path}",
                    pointer=places.get(self.document.pointer_of(at), at),
                    replies=tuple(
                        ImportedReply(status=status, kind="empty")
                        if schema is None
                        else ImportedReply(
                            status=status,
                            kind="json",
                            media_type="application/json",
                            schema=schema,
                        )
                        for status, schema in own.replies.items()
                    ),
                ),
            )

    def _places(self) -> Iterator[tuple[str, str]]:
        """The operations: the pointer in the vendor's file, and that in the normal form."""
        for path, item in self.document.value.get("paths", {}).items():
            try:
                found = resolve_part(self.document, item, child("/paths", path))
            except PartRefused:
                continue
            for method in METHODS:
                if method in found.value:
                    at = child(found.pointer, method)
                    yield self.document.pointer_of(at), at

    def finding(
        self, pointers: Sequence[str], rule: str, texts: tuple[str, str], severity: Severity
    ) -> Finding:
        """A finding at the first of `pointers`. `texts` are the message and the fix."""
        found = self.document.finding(pointers[0] if pointers else "", rule, *texts, severity)
        return replace(found, path=str(self._place / found.path))

    def pointer_of(self, operation_id: str) -> str:
        """The operation in the normal form. Empty: it is not found there."""
        found = self._operations.get(operation_id)
        return "" if found is None else found.pointer

    def compared(self, operation_id: str, reply: Reply) -> ComparedAnswer | None:
        """What `reply` is beside the contract. None: the contract does not have the operation, or
        the refusal is a finding of its own, whether the contract declares it or not."""
        operation = self._operations.get(operation_id)
        if operation is None or reply.status in _OWN_FINDING or reply.status >= 500:
            return None
        essence = essence_of(reply)
        answer = f"{reply.status} {essence}".strip()
        found = ComparedAnswer(operation=operation.label, answer=answer, shape=None)
        declared, missing = _declared(operation.replies, reply.status, essence)
        is_json = is_json_essence(essence) and bool(reply.body)
        # A refusal in plain text may be the API's. A page is that of something before it.
        is_own = (
            declared.kind != "json" if declared else reply.status >= 400 and not _is_page(reply)
        )
        if not is_json and (not reply.body or is_own):
            return replace(found, differences=self._unknown(operation, answer, missing, None))
        if not is_json:
            shown = shown_type(reply.headers.get("content-type", ""))
            return replace(found, problem=f"the answer is not JSON: it has {shown}")
        try:
            value = jsontext.decode(reply.body, jsontext.REPLY)
        except jsontext.NotJson as error:
            return replace(found, problem=f"the body is no valid JSON: {error}")
        look = _Look(self.document, operation.label, answer)
        schema = self._schema_part(operation, declared)
        shape = look.shape(value, [] if schema is None else [schema], "")
        differences = [*self._unknown(operation, answer, missing, shape), *look.undeclared]
        if declared is not None and not missing:
            differences += self._forbidden(operation, declared, value, look, schema)
        return replace(found, shape=shape, differences=_without_covered(differences))

    def _unknown(
        self, operation: _Operation, answer: str, missing: str, shape: Shape | None
    ) -> tuple[AnswerDifference, ...]:
        if not missing:
            return ()
        status, _, essence = answer.partition(" ")
        what = f"the status {status}" if missing == "status" else essence or "an empty answer"
        return (
            AnswerDifference(
                rule="live/not-in-contract",
                operation=operation.label,
                reply=answer,
                place="",
                pointers=(child(operation.pointer, "responses"),),
                keyword=missing,
                is_refused=missing == "media type" and status.startswith("2"),
                text=f"the contract does not know {what}",
                shape=shape or {},
            ),
        )

    def _schema_part(self, operation: _Operation, declared: ImportedReply | None) -> Part | None:
        """The Schema Object of a declared reply in the normal form."""
        if declared is None or declared.kind != "json" or not operation.pointer:
            return None
        try:
            item = resolve_part(self.document, *self._at(operation.pointer))
            responses = item.value.get("responses", {})
            names = {name.upper(): name for name in responses}
            name = names[declared.status.upper()]
            at = child(child(item.pointer, "responses"), name)
            response = resolve_part(self.document, responses[name], at)
            content = response.value.get("content", {})
            media = next(
                each
                for each in content
                if each == declared.media_type
                or (not self.is_imported and is_json_essence(each.partition(";")[0].strip()))
            )
            pointer = child(child(response.pointer, "content"), media)
            found = resolve_part(self.document, content[media], pointer)
            return Part(found.value["schema"], child(found.pointer, "schema"))
        except (PartRefused, KeyError, StopIteration):
            return None

    def _at(self, pointer: str) -> tuple[Any, str]:
        value: Any = self.document.value
        for step in steps(pointer):
            value = value[step]
        return value, pointer

    def _forbidden(
        self,
        operation: _Operation,
        declared: ImportedReply,
        value: Any,
        look: "_Look",
        schema: Part | None,
    ) -> Iterator[AnswerDifference]:
        key = (operation.label, operation.replies.index(declared))
        if key not in self._validators:
            whole = with_definitions(declared.schema, operation.definitions)
            self._validators[key] = Validator(whole)
        checked = self._validators[key]
        if operation.nulls_are_absent and not checked.admits(value):
            value = AbsentNulls(operation.definitions).without(value, declared.schema)
        if not checked.admits(value):
            for each in checked.violations(value):
                yield look.forbidden(value, each, [] if schema is None else [schema])


def _is_page(reply: Reply) -> bool:
    return essence_of(reply).endswith(("html", "xhtml+xml"))


def _declared(
    replies: Sequence[ImportedReply], status: int, essence: str
) -> tuple[ImportedReply | None, str]:
    """The reply that the contract declares, and what of it is missing there.

    An undeclared success is read as a declared one, as the gateway reads it.
    """
    names = status_names(status)
    of_status = next(
        (found for name in names if (found := [e for e in replies if e.status.upper() == name])),
        [],
    )
    missing = "" if of_status else "status"
    if not of_status and not 200 <= status < 300:
        of_status = [each for each in replies if each.status == "default"]
        missing = "" if of_status else "status"
    elif not of_status:
        of_status = [each for each in replies if each.is_success]
    ranked = [each for each in of_status if is_in_range(essence, each.media_type)]
    if not ranked:
        return None, missing or "media type"
    return max(ranked, key=lambda each: precision_of(each.media_type)), missing


def _without_covered(found: Iterable[AnswerDifference]) -> tuple[AnswerDifference, ...]:
    """Each place once: what is forbidden goes before what is only unknown."""
    ranked = sorted(found, key=lambda each: each.rule)
    return tuple({(each.place, each.key): each for each in reversed(ranked)}.values())[::-1]


class _Look:
    """One look at one answer, beside the schemas that describe it."""

    def __init__(self, document: NormalDocument, operation: str, reply: str) -> None:
        self._document = document
        self._operation = operation
        self._reply = reply
        self._left = _MOST_NODES
        self.undeclared: list[AnswerDifference] = []

    def shape(self, value: Any, described: Sequence[Part], place: str) -> Shape:
        """The shape of `value`. Members that `described` does not know are noted."""
        self._left -= 1
        if self._left < 0:
            return {}
        if isinstance(value, dict):
            return self._object(value, described, place)
        if isinstance(value, list):
            items = self._items(described)
            found: Shape = {"type": "array", "minItems": len(value), "maxItems": len(value)}
            seen: Shape | None = None
            for each in value:
                seen = merged(seen, self.shape(each, items, f"{place}/*"))
            return found if seen is None else found | {"items": seen}
        return self._scalar(value, described)

    def _scalar(self, value: Any, described: Sequence[Part]) -> Shape:
        parts = self._parts(described)
        if isinstance(value, int) and any(_may_be("number", part.value) for part in parts):
            return scalar_shape(value if isinstance(value, bool) else float(value))
        found = scalar_shape(value)
        if value is not None and any(value in part.value.get("enum", ()) for part in parts):
            return found | {"enum": [value]}
        return found

    def _object(self, value: dict[str, Any], described: Sequence[Part], place: str) -> Shape:
        parts = self._parts(described)
        known = {name: self._member(parts, name) for name in value}
        unknown = [name for name, found in known.items() if found is None]
        is_map = len(unknown) > _MOST_NAMES
        named: Shape = {}
        others: Shape | None = None
        for name, each in value.items():
            found = known[name]
            is_named = bool(found and found[1]) or (not is_map and not found and is_plain(name))
            is_plain_other = found is not None and not found[1] and not _is_map(parts)
            step = name if is_named or (is_plain_other and is_plain(name)) else "*"
            at = child(place, step)
            shape = self.shape(each, found[0] if found else [], at)
            if found is None and parts:
                self._note_undeclared(at, parts, shape)
            if step == "*":
                others = merged(others, shape)
            else:
                named[name] = shape
        whole: Shape = {"type": "object", "properties": named, "required": sorted(named)}
        return whole if others is None else whole | {"additionalProperties": others}

    def _note_undeclared(self, at: str, parts: Sequence[Part], shape: Shape) -> None:
        self.undeclared.append(
            AnswerDifference(
                rule="live/not-in-contract",
                operation=self._operation,
                reply=self._reply,
                place=at,
                pointers=(_holder(parts),),
                keyword="properties",
                text=f"the contract has no such member: {described_shape(shape)}",
                shape=shape,
            )
        )

    def _parts(self, described: Iterable[Part]) -> list[Part]:
        """The schemas that hold together or in part: references are followed, unions opened."""
        found: list[Part] = []
        waiting, passed = [*described], set[str]()
        while waiting:
            part = waiting.pop(0)
            if part.pointer in passed:
                continue
            passed.add(part.pointer)
            try:
                own = resolve_part(self._document, *part)
            except PartRefused:
                continue
            found.append(own)
            for keyword in _JOINED:
                at = child(own.pointer, keyword)
                branches = own.value.get(keyword, ())
                waiting += [Part(e, child(at, i)) for i, e in enumerate(branches)]
        return found

    def _member(self, parts: Sequence[Part], name: str) -> tuple[list[Part], bool] | None:
        """What describes a member, and whether by its name. None: nothing does."""
        by_name, others, is_open = [], [], False
        for part in parts:
            schema, at = part
            if name in schema.get("properties", {}):
                below = child(child(at, "properties"), name)
                by_name.append(Part(schema["properties"][name], below))
                continue
            for pattern, each in schema.get("patternProperties", {}).items():
                fits = matcher(pattern)
                if fits is None or fits(name):
                    others.append(Part(each, child(child(at, "patternProperties"), pattern)))
            more = schema.get("additionalProperties")
            if isinstance(more, dict) and more:
                others.append(Part(more, child(at, "additionalProperties")))
            is_open |= more is True or more == {}
        if by_name:
            return by_name, True
        return (others, False) if others or is_open else None

    def _items(self, described: Sequence[Part]) -> list[Part]:
        return [
            Part(part.value["items"], child(part.pointer, "items"))
            for part in self._parts(described)
            if isinstance(part.value.get("items"), dict)
        ]

    def forbidden(
        self, value: Any, violation: Violation, described: list[Part]
    ) -> AnswerDifference:
        """What a violation says, without values, and where the contract says it."""
        place, names = "", steps(violation.pointer)
        is_lacking = violation.keyword == "required"
        around, entry = described, described
        for left, name in zip(range(len(names))[::-1], names, strict=True):
            around = entry
            if isinstance(value, list):
                value = value[int(name)] if int(name) < len(value) else None
                entry, place = self._items(entry), f"{place}/*"
                continue
            parts = self._parts(entry)
            found = self._member(parts, name)
            is_known = found is not None and found[1]
            is_shown = is_known or (is_plain(name) and not _is_map(parts))
            place = child(place, name if is_shown or (is_lacking and not left) else "*")
            value = value.get(name) if isinstance(value, dict) else None
            entry = found[0] if found else []
        if is_lacking:
            return self._lacking(place, names[-1], around)
        if violation.keyword in _SURPLUS:
            shape = _Look(self._document, self._operation, self._reply).shape(value, [], place)
            return AnswerDifference(
                rule="live/breaks-contract",
                operation=self._operation,
                reply=self._reply,
                place=place,
                pointers=(_holder(self._parts(around)),) if around else (),
                keyword="properties",
                text=f"is {described_value(value)}, and the contract allows no other members",
                shape=shape,
            )
        return self._wrong(place, value, violation.keyword, entry)

    def _lacking(self, place: str, name: str, around: list[Part]) -> AnswerDifference:
        saying = [e.pointer for e in self._parts(around) if name in e.value.get("required", ())]
        return AnswerDifference(
            rule="live/breaks-contract",
            operation=self._operation,
            reply=self._reply,
            place=place,
            pointers=tuple(child(each, "required") for each in saying),
            keyword="required",
            text="is missing, and the contract requires it",
        )

    def _wrong(self, place: str, value: Any, keyword: str, entry: list[Part]) -> AnswerDifference:
        parts = self._parts(entry)
        saying = [each for each in parts if keyword in each.value]
        said = saying[0].value[keyword] if saying else None
        is_short = isinstance(said, str | int | float | list) and len(str(said)) <= _SHOWN
        pointers = tuple(each.pointer for each in saying) or tuple(e.pointer for e in entry)
        if value is None and keyword in {"type", "enum"}:
            # One change admits null, whichever keyword says it first.
            keyword, pointers = "null", tuple(each.pointer for each in entry)
        return AnswerDifference(
            rule="live/breaks-contract",
            operation=self._operation,
            reply=self._reply,
            place=place,
            pointers=pointers,
            keyword=keyword,
            text=f"is {described_value(value)}, and the contract says"
            f" {saying_of(keyword, said) if is_short else keyword}",
            shape={"type": kind_of(value)},
        )


def saying_of(keyword: str, said: Any) -> str:
    """A keyword with its value, for people."""
    word = "type" if keyword == "null" else keyword
    return f"{word} {', '.join(map(str, said)) if isinstance(said, list) else said}"


def _holder(parts: Sequence[Part]) -> str:
    """The schema that gets a new member: the first one that names members, or is an object."""
    naming = [each for each in parts if "properties" in each.value]
    closed = [each for each in parts if each.value.get("additionalProperties") is False]
    plain = [each for each in parts if _may_be("object", each.value) and not is_union(each.value)]
    return (closed or naming or plain or [*parts])[0].pointer


def is_union(schema: Mapping[str, Any]) -> bool:
    return any(keyword in schema for keyword in _JOINED)


def _may_be(kind: str, schema: Mapping[str, Any]) -> bool:
    types = schema.get("type", ())
    return kind in (types if isinstance(types, list) else [types])


def _is_map(parts: Sequence[Part]) -> bool:
    """Whether the names of the members are data: a schema describes others, and none is named."""
    return any(
        isinstance(each.value.get("additionalProperties"), dict)
        or "patternProperties" in each.value
        for each in parts
    )


def is_plain(name: str) -> bool:
    """Whether `name` is a word of an API, and not an id, an address or a key."""
    return (
        _NAME.fullmatch(name) is not None and sum(each.isdigit() for each in name) <= _MOST_DIGITS
    )


def described_value(value: Any) -> str:
    """What a value is, without the value."""
    match value:
        case str():
            return f"a text of {amount(len(value), 'character')}"
        case list():
            return f"a list of {amount(len(value), 'item')}"
        case dict():
            return f"an object with {amount(len(value), 'member')}"
        case None:
            return "null"
        case _:
            return {"integer": "an integer"}.get(kind_of(value), f"a {kind_of(value)}")


def described_shape(shape: Shape) -> str:
    """The types of the shape of one value, with the length of a text."""
    types = shape.get("type", "anything")
    word = " or ".join(types) if isinstance(types, list) else str(types)
    if "format" in shape:
        return f"{word}, {shape['format']}"
    if "maxLength" in shape:
        return f"{word} of {amount(shape['maxLength'], 'character')}"
    return word
