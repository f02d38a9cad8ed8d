"""Compares real answers with the contract of their upstream.

No value leaves this module: what is found is a place, a keyword and the shape of the value.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from gateway.authoring.openapi.reading.normalise import NormalDocument
from gateway.authoring.openapi.reading.schemas import Part, resolve_part
from gateway.authoring.openapi.reading.source import PartRefused
from gateway.catalogue import Catalogue
from gateway.contract.imported import ImportedReply
from gateway.contract.upstream import Reply, status_names
from gateway.contract.values import jsontext
from gateway.contract.values.files import shown_type
from gateway.contract.values.pointers import NoSuchPlace, child, steps
from gateway.contract.values.schema import Validator, matcher, with_definitions
from gateway.contract.values.violation import Violation
from gateway.encoding.replies.content import (
    AbsentNulls,
    essence_of,
    is_in_range,
    precision_of,
)
from gateway.testing.answer_shapes import Shape, kind_of, merged, scalar_shape, types_of, worded
from gateway.testing.contract_documents import ContractDocument, is_json

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


def _own_reply(status: str, schema: Any) -> ImportedReply:
    if schema is None:
        return ImportedReply(status=status, kind="empty")
    return ImportedReply(status=status, kind="json", media_type="application/json", schema=schema)


class AnswerContract(ContractDocument):
    """The contract of one upstream, an imported document or one written here."""

    def __init__(self, name: str, schemas: Path, catalogue: Catalogue) -> None:
        """Raises `ContractError` if the contract cannot be read."""
        super().__init__(schemas, name)
        self._validators: dict[tuple[str, int], Validator] = {}
        self._operations = dict(self._read(catalogue))

    def _read(self, catalogue: Catalogue) -> Iterator[tuple[str, _Operation]]:
        found = [*self.operations()]
        if self.is_imported:
            places = {self.normal.pointer_of(e.pointer): e.pointer for e in found}
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
        declared = {(each.method, each.path): each.pointer for each in found}
        for own in catalogue.upstreams[self.name].operations:
            pointer = declared.get((own.method.lower(), own.path), "")
            replies = tuple(_own_reply(*each) for each in own.replies.items())
            label = f"{own.method} {own.path}"
            yield own.id, _Operation(label=label, pointer=pointer, replies=replies)

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
        has_json = is_json(essence) and bool(reply.body)
        # A refusal in plain text may be the API's. A page is that of something before it.
        is_own = (
            declared.kind != "json" if declared else reply.status >= 400 and not _is_page(reply)
        )
        if not has_json and (not reply.body or is_own):
            return replace(found, differences=self._unknown(operation, answer, missing, None))
        if not has_json:
            shown = shown_type(reply.headers.get("content-type", ""))
            return replace(found, problem=f"the answer is not JSON: it has {shown}")
        try:
            value = jsontext.decode(reply.body, jsontext.REPLY)
        except jsontext.NotJson as error:
            return replace(found, problem=f"the body is no valid JSON: {error}")
        look = _Look(self.normal, operation.label, answer)
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
        with suppress(NoSuchPlace, KeyError):
            response = self.response(operation.pointer, [declared.status])
            if response is None:
                return None
            named = declared.media_type
            if not self.is_imported:
                named = next(filter(is_json, response.value.get("content", ())), None)
            media = self.media_type(response, named or "")
            if media is not None:
                return Part(media.value["schema"], child(media.pointer, "schema"))
        return None

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
        self._difference = partial(AnswerDifference, operation=operation, reply=reply)
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
        if isinstance(value, int) and any("number" in types_of(part.value) for part in parts):
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
            self._difference(
                rule="live/not-in-contract",
                place=at,
                pointers=(_holder(parts),),
                keyword="properties",
                text=f"the contract has no such member: {worded(shape)}",
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
            shape = _Look(self._document, "", "").shape(value, [], place)
            return self._difference(
                rule="live/breaks-contract",
                place=place,
                pointers=(_holder(self._parts(around)),) if around else (),
                keyword="properties",
                text=f"is {worded(scalar_shape(value))}, and the contract allows no other members",
                shape=shape,
            )
        return self._wrong(place, value, violation.keyword, entry)

    def _lacking(self, place: str, name: str, around: list[Part]) -> AnswerDifference:
        saying = [e.pointer for e in self._parts(around) if name in e.value.get("required", ())]
        return self._difference(
            rule="live/breaks-contract",
            place=place,
            pointers=tuple(child(each, "required") for each in saying),
            keyword="required",
            text="is missing, and the contract requires it",
        )

    def _wrong(self, place: str, value: Any, keyword: str, entry: list[Part]) -> AnswerDifference:
        parts = self._parts(entry)
        saying = [each for each in parts if keyword in each.value]
        said = saying[0].value[keyword] if saying else None
        if isinstance(said, list):
            said = ", ".join(map(str, said))
        is_short = isinstance(said, str | int | float) and len(str(said)) <= _SHOWN
        rule = f"{keyword} {said}" if is_short else keyword
        pointers = tuple(each.pointer for each in saying) or tuple(e.pointer for e in entry)
        if value is None and keyword in {"type", "enum"}:
            # One change admits null, whichever keyword says it first.
            keyword, pointers = "null", tuple(each.pointer for each in entry)
        return self._difference(
            rule="live/breaks-contract",
            place=place,
            pointers=pointers,
            keyword=keyword,
            text=f"is {worded(scalar_shape(value))}, and the contract says {rule}",
            shape={"type": kind_of(value)},
        )


def _holder(parts: Sequence[Part]) -> str:
    """The schema that gets a new member: the first one that names members, or is an object."""
    naming = [each for each in parts if "properties" in each.value]
    closed = [each for each in parts if each.value.get("additionalProperties") is False]
    objects = (each for each in parts if "object" in types_of(each.value))
    plain = [each for each in objects if not is_union(each.value)]
    return (closed or naming or plain or [*parts])[0].pointer


def is_union(schema: Mapping[str, Any]) -> bool:
    return any(keyword in schema for keyword in _JOINED)


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


# The overlay (OpenAPI Overlay 1.0) with which a contract says what its API answers.

_REMOVED: Final = frozenset(
    {
        *("enum", "const", "pattern", "format", "minLength", "maxLength", "minimum", "maximum"),
        *("exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems"),
        *("uniqueItems", "minProperties", "maxProperties"),
    }
)
"""Keywords that are left out where an answer breaks them."""


def overlay_of(
    contract: AnswerContract, found: Iterable[AnswerDifference]
) -> tuple[dict[str, Any] | None, int]:
    """The overlay that settles `found`, after the actions that the import has already, and for how
    many it has no action: those are changed by hand. None: there is no action."""
    actions: list[dict[str, Any]] = []
    unsaid = 0
    settled: set[tuple[str, ...]] = set()
    types: dict[str, Any] = {}
    for each in found:
        if each.key in settled:
            continue
        settled.add(each.key)
        own = _actions(contract.normal, each, types)
        unsaid += own is None
        actions += own or ()
    if not actions:
        return None, unsaid
    info = {
        "title": f"What {contract.name} answers beside its contract",
        "version": "1.0.0",
    }
    known = contract.overlay.get("actions", [])
    head = {"overlay": "1.0.0", "info": info, **contract.overlay}
    return {**head, "actions": [*known, *actions]}, unsaid


def _actions(
    document: NormalDocument, found: AnswerDifference, types: dict[str, Any]
) -> list[dict[str, Any]] | None:
    """None: an overlay of this document cannot say it. `types`: see `_Place`."""
    actions: list[dict[str, Any]] = []
    for pointer in found.pointers:
        spot = document.spot_of(pointer)
        if spot.file is not document.source.file:
            return None
        query, schema = _query(spot.pointer), _written(document, spot.pointer)
        if isinstance(schema, dict):
            types.setdefault(query, schema.get("type"))
        place = _Place(query=query, schema=schema, version=document.source.version, types=types)
        own = _of_keyword(place, found)
        if own is None:
            return None
        actions += own
    for each in actions[:1]:
        each["description"] = f"{found.answer} at {found.place or '/'}: answered live."
    return actions if found.pointers else None


class _Place(Struct, frozen=True, kw_only=True):
    """What an action changes, as the document has it."""

    query: str
    schema: Any
    version: str
    types: dict[str, Any]
    """By query, what `type` is after the actions so far. None: there is none."""

    @property
    def is_old(self) -> bool:
        """Whether null is `nullable`, and there is one type."""
        return self.version in {"2.0", "3.0"}

    def update(self, value: Any) -> dict[str, Any]:
        return {"target": self.query, "update": value}

    def removal(self, keyword: str) -> dict[str, Any]:
        return {"target": f"{self.query}{_step(keyword)}", "remove": True}


def _of_keyword(place: _Place, found: AnswerDifference) -> list[dict[str, Any]] | None:
    """The actions for what one keyword says. None: there are none for it."""
    keyword = found.keyword
    name = steps(found.place)[-1] if found.place else ""
    if keyword == "properties" and name != "*":
        return [place.update({"properties": {name: _schema(found.shape, is_old=place.is_old)}})]
    if keyword == "required":
        return [{"target": f"{place.query}[?@ == {_step(name)[1:-1]}]", "remove": True}]
    if keyword == "null":
        return _nullable(place)
    if keyword == "type":
        return _wider(place, found.shape["type"])
    if keyword in {"status", "media type"}:
        return [place.update(_response(found, place.version))]
    return [place.removal(keyword)] if keyword in _REMOVED and keyword in place.schema else None


def _written(document: NormalDocument, pointer: str) -> Any:
    """The value as the document has it."""
    value: Any = document.source.value
    for step in steps(pointer):
        value = value[int(step) if isinstance(value, list) else step]
    return value


def _query(pointer: str) -> str:
    """The JSONPath (RFC 9535) of a pointer."""
    return "$" + "".join(map(_step, steps(pointer)))


def _step(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"['{escaped}']"


def _nullable(place: _Place) -> list[dict[str, Any]]:
    if place.is_old:
        return [place.update({"nullable": True})]
    schema = place.schema
    if place.types[place.query] is not None and not is_union(schema) and "$ref" not in schema:
        listed = [place.update({"enum": [None]})] if "enum" in schema else []
        return [*_with_type(place, "null"), *listed]
    found = [place.update({"anyOf": [dict(schema), {"type": "null"}]})]
    return found + [place.removal(keyword) for keyword in schema if keyword != "anyOf"]


def _wider(place: _Place, kind: str) -> list[dict[str, Any]]:
    known = place.types[place.query]
    if known == "integer" and kind == "number":
        place.types[place.query] = kind
        return [place.update({"type": kind})]
    if place.is_old:
        place.types[place.query] = None
        return [] if known is None else [place.removal("type")]
    return _with_type(place, kind)


def _with_type(place: _Place, kind: str) -> list[dict[str, Any]]:
    """One type more. An overlay adds to a list, and replaces a text."""
    known = place.types[place.query]
    listed = known if isinstance(known, list) else [known]
    place.types[place.query] = [*listed, kind]
    return [place.update({"type": [kind] if isinstance(known, list) else [known, kind]})]


def _response(found: AnswerDifference, version: str) -> dict[str, Any]:
    status, _, essence = found.reply.partition(" ")
    response: dict[str, Any] = {"description": "Answered by the live API."}
    schema = _schema(found.shape, is_old=version in {"2.0", "3.0"})
    if version == "2.0" and essence:
        response["schema"] = schema
    elif essence:
        response["content"] = {essence: {"schema": schema} if found.shape else {}}
    return {status: response}


def _schema(shape: Shape, *, is_old: bool) -> dict[str, Any]:
    """A Schema Object that admits the shape: open, and without the bounds that were seen."""
    types = types_of(shape)
    kinds = [each for each in types if each != "null"]
    if not kinds or (is_old and len(kinds) > 1):
        return {}
    found: dict[str, Any] = {"type": kinds[0] if len(kinds) == 1 else kinds}
    if len(types) > len(kinds):
        found |= {"nullable": True} if is_old else {"type": types}
    if "properties" in shape and "object" in kinds:
        named = shape["properties"].items()
        found["properties"] = {name: _schema(each, is_old=is_old) for name, each in named}
    if "array" in kinds:
        found["items"] = _schema(shape.get("items", {}), is_old=is_old)
    if "format" in shape and "string" in kinds:
        found["format"] = shape["format"]
    return found
