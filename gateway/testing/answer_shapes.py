"""The shapes of an upstream's answers, without their values: kept in a file, and compared later.

A shape is a JSON Schema: `type`, `properties`, `required`, `items`, `format`, and the bounds of
lengths. `additionalProperties` is the shape of members whose names are data. Of values, it has only
those that the contract lists (`enum`). `{}` says nothing.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from gateway.amounts import amount
from gateway.authoring.contracts.tree import SHAPES, UPSTREAMS
from gateway.authoring.diff.descent import TwoDefinitions
from gateway.authoring.diff.git import commit_before, is_ref, text_at, unknown
from gateway.authoring.diff.proving import Gap, SchemaComparison
from gateway.contract.values.pointers import child
from gateway.errors import ConfigurationError

Shape = dict[str, Any]
Answers = dict[str, dict[str, Shape]]
"""The shapes of bodies by operation (`GET /pets`) and by status and media type."""

_FORMATS: Final[Mapping[str, re.Pattern[str]]] = {
    "date-time": re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)"),
    "date": re.compile(r"\d{4}-\d\d-\d\d"),
    "uuid": re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
    "uri": re.compile(r"https?://\S+"),
}
_BOUNDS: Final = (("minLength", min), ("maxLength", max), ("minItems", min), ("maxItems", max))
_KINDS: Final[Mapping[type, str]] = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}


def kind_of(value: Any) -> str:
    """The JSON type of `value`. A number with a fraction, even `1.0`, is a `number`."""
    return _KINDS[type(value)]


def scalar_shape(value: Any) -> Shape:
    """The shape of a value that is neither an object nor a list."""
    if not isinstance(value, str):
        return {"type": kind_of(value)}
    found: Shape = {"type": "string", "minLength": len(value), "maxLength": len(value)}
    known = (name for name, pattern in _FORMATS.items() if pattern.fullmatch(value))
    if name := next(known, None):
        found["format"] = name
    return found


def types_of(shape: Shape) -> list[str]:
    """The types of a shape. Empty: it says nothing."""
    types = shape.get("type", [])
    return types if isinstance(types, list) else [types]


def merged(one: Shape | None, other: Shape | None) -> Shape:
    """The shape of what has one of the two shapes. None: nothing was seen."""
    if one is None or other is None:
        return {} if one is other else one or other or {}
    if not one or not other:
        return {}
    types = sorted({*types_of(one), *types_of(other)} - _narrower(one, other))
    found: Shape = {"type": types[0] if len(types) == 1 else types}
    for keyword, least in _BOUNDS:
        known = [each[keyword] for each in (one, other) if keyword in each]
        if known:
            found[keyword] = least(known)
    texts = [each for each in (one, other) if "string" in types_of(each)]
    formats = {each.get("format") for each in texts}
    if len(formats) == 1 and None not in formats:
        found["format"] = formats.pop()
    return found | _listed(one, other) | _members(one, other) | _items(one, other)


def _narrower(one: Shape, other: Shape) -> set[str]:
    """An integer is a number too."""
    return {"integer"} if "number" in (*types_of(one), *types_of(other)) else set()


def _listed(one: Shape, other: Shape) -> Shape:
    """The values of the contract's list that were seen, if nothing else was."""
    lists = [[None] if types_of(each) == ["null"] else each.get("enum") for each in (one, other)]
    if None in lists or lists == [[None], [None]]:
        return {}
    values = {msgspec.json.encode(value): value for each in lists if each for value in each}
    return {"enum": [values[text] for text in sorted(values)]}


def _members(one: Shape, other: Shape) -> Shape:
    objects = [each for each in (one, other) if "object" in types_of(each)]
    if not objects:
        return {}
    named = [each.get("properties", {}) for each in objects]
    names = sorted({name for each in named for name in each})
    required = set.intersection(*(set(each.get("required", ())) for each in objects))
    found: Shape = {"properties": {}, "required": sorted(required)}
    for name in names:
        shapes = [each.get(name) for each in named]
        found["properties"][name] = merged(shapes[0], shapes[-1])
    others = [each["additionalProperties"] for each in objects if "additionalProperties" in each]
    return found | ({"additionalProperties": merged(others[0], others[-1])} if others else {})


def _items(one: Shape, other: Shape) -> Shape:
    found = [each["items"] for each in (one, other) if "items" in each]
    return {"items": merged(found[0], found[-1])} if found else {}


# The file in which the shapes of one upstream are kept.

_MOST_BYTES: Final = 4 * 1024 * 1024
_MARKS: Final = re.compile(rb"^(<<<<<<<|=======|>>>>>>>)", re.MULTILINE)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")


class KeptShapes(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The shapes of the answers of one upstream at one time."""

    upstream: str
    date: str
    """The day on which shapes were kept last."""
    answers: Answers
    sha256: str
    """The digest of the answers: nobody edits them by hand."""


def shapes_file(schemas: Path, upstream: str) -> Path:
    """Where the shapes of an upstream are kept: beside its contract."""
    return schemas / UPSTREAMS / upstream / SHAPES


def read_shapes(schemas: Path, upstream: str, since: str | None = None) -> KeptShapes | None:
    """The shapes that are kept now, or were kept at a commit or at the end of a day.

    None: there are none. Raises an `OperatorError` for a commit that does not exist, and for a
    file that was edited by hand.
    """
    file = shapes_file(schemas, upstream)
    if since is None:
        return _decoded(file, file.read_bytes(), "") if file.is_file() else None
    if not file.parent.is_dir():
        return None
    ref: str | None = since
    if _DATE.fullmatch(since):
        ref = commit_before(since, file)
    elif not is_ref(since, file.parent):
        why = unknown(file.parent, "leave --since out")
        raise ConfigurationError(f"--since {since} is no day like 2026-11-30, and {why}")
    raw = None if ref is None else text_at(ref, file)
    return None if raw is None else _decoded(file, raw, f" at {since}")


def _decoded(file: Path, raw: bytes, at: str) -> KeptShapes:
    fix = "take one whole version from git, or delete it and run `gateway verify --live --keep`"
    if _MARKS.search(raw):
        raise ConfigurationError(f"{file}{at} has the marks of a merge conflict; {fix}")
    try:
        found = msgspec.json.decode(raw[:_MOST_BYTES], type=KeptShapes)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{file}{at} has another form: {error}; {fix}") from None
    if found.sha256 != _digest(found.answers):
        raise ConfigurationError(f"{file}#/sha256{at}: the file was edited by hand; {fix}")
    return found


def keep_shapes(schemas: Path, upstream: str, known: Answers, seen: Answers) -> Path:
    """Write what is `known` with what was `seen`, whole or not at all. Returns the file."""
    answers = {name: dict(known.get(name, {})) for name in sorted({*known, *seen})}
    for name, shapes in seen.items():
        for answer, shape in shapes.items():
            answers[name][answer] = merged(answers[name].get(answer), shape)
    value = {
        "upstream": upstream,
        "date": date.today().isoformat(),  # noqa: DTZ011 - the day of who reads it
        "answers": answers,
        "sha256": _digest(answers),
    }
    file = shapes_file(schemas, upstream)
    draft = file.with_name(f".{file.name}.new")
    draft.write_text(
        json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n", "utf-8"
    )
    draft.replace(file)
    return file


def _digest(answers: Answers) -> str:
    return hashlib.sha256(msgspec.json.encode(answers, order="deterministic")).hexdigest()


# What the answers of today have that earlier ones had not, by the proofs of `gateway diff`.


class Drift(Struct, frozen=True):
    """One difference between two shapes of one answer."""

    place: str
    """As a JSON Pointer. `*` stands for each item, and for names that are data."""
    what: str


def drifts(old: Shape, new: Shape) -> Iterator[Drift]:
    """How answers of the shape `new` are not of the shape `old`, at each place once.

    Lengths and formats are no drift: they differ from call to call.
    """
    outer, inner = _comparable(old, is_new=False), _comparable(new, is_new=True)
    comparison = SchemaComparison(TwoDefinitions({}, {}), {}, outer, inner)
    found: dict[str, Drift] = {}
    for gap in comparison.gaps():
        drift = _drift(gap)
        found.setdefault(drift.place, drift)
    yield from (found[place] for place in sorted(found))


def _comparable(shape: Any, *, is_new: bool) -> Any:
    """A schema that admits what was seen and no more, or, of the old one, what nobody has seen."""
    if not shape:
        return not is_new
    types = types_of(shape)
    found: Shape = {"type": types}
    if "enum" in shape:
        found["enum"] = shape["enum"]
    if "object" in types:
        named = shape.get("properties", {})
        found["properties"] = {
            name: _comparable(each, is_new=is_new) for name, each in named.items()
        }
        found["required"] = shape.get("required", [])
        others = shape.get("additionalProperties")
        found["additionalProperties"] = bool(others) and _comparable(others, is_new=is_new)
    if "array" in types:
        found["items"] = _comparable(shape.get("items"), is_new=is_new)
    return found


def _drift(gap: Gap) -> Drift:
    candidate = gap.candidate
    steps = [link.step for link in candidate.chain if link.step[0] != "same"]
    place = "".join(child("", where if kind == "member" else "*") for kind, where in steps)
    old, new = candidate.outer.schema, candidate.inner.schema
    if candidate.want == "required":
        is_left = candidate.name in new.get("properties", {})
        what = "it is not always there any more" if is_left else "it is gone"
        return Drift(child(place, candidate.name), what)
    if old is False:
        return Drift(place, f"it is new: {worded(new)}")
    more = [each for each in types_of(new) if each not in types_of(old)]
    if more == ["null"]:
        return Drift(place, f"it is null now, and was {worded(old)}")
    if not more and "enum" in new:
        values = [each for each in new["enum"] if each not in old.get("enum", ())]
        shown = ", ".join(json.dumps(each, ensure_ascii=False) for each in values)
        return Drift(place, f"it is {shown} too, which the contract lists and nobody had seen")
    if not more and "enum" in old:
        return Drift(place, "it has other values than the listed ones")
    return Drift(place, f"it is {worded(new)} now, and was {worded(old)}")


def worded(shape: Any) -> str:
    """The types of a shape, for people, with the format or the length of a text."""
    types = types_of(shape) if isinstance(shape, dict) else []
    word = " or ".join(types) or "anything"
    if "string" not in types:
        return word
    if "format" in shape:
        return f"{word}, {shape['format']}"
    if "maxLength" in shape:
        return f"{word} of {amount(shape['maxLength'], 'character')}"
    return word
