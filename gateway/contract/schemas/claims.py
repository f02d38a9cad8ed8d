"""What schemas claim of a value of one kind, taken apart into small conditions.

A claim is that a schema admits a value, or refuses it. For values of one kind (text, number, …),
each keyword of the schema becomes a choice: of several alternatives one has to be true. Negation is
resolved on the way, so that what is left are conditions on numbers, texts, items and members.
"""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import combinations, product
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Struct

from gateway.contract.schemas import tags
from gateway.contract.values import pointers
from gateway.contract.values.schema import FORMATS

KINDS: Final = ("string", "number", "boolean", "null", "object", "array")
"""In the order in which values are looked for: what is simple to read comes first."""
_UNSUPPORTED: Final = frozenset(
    {"$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$anchor", "$id", "dependencies"}
)
_encoder: Final = msgspec.json.Encoder(order="deterministic")


class Unsupported(Exception):
    """A schema has something that is not taken apart."""


class Assertion(Struct, frozen=True):
    """That `schema`, which stands in the document `root`, admits a value; or that it does not."""

    holds: bool
    root: int
    schema: Any

    @property
    def key(self) -> tuple[bool, int, bytes]:
        """What identifies the claim."""
        return self.holds, self.root, _encoder.encode(self.schema)

    def other(self, schema: Any, *, holds: bool = True) -> "Assertion":
        """The claim that a schema of the same document admits, or refuses, a value."""
        return Assertion(holds, self.root, schema)


class Counted(Struct, frozen=True):
    """That from `least` to `most` items from the index `start` on fulfil the claim."""

    claim: Assertion
    start: int
    least: int
    most: int | None


class MemberRules(Struct, frozen=True):
    """What members have to fulfil: by name, by pattern, and all others."""

    root: int
    names: Mapping[str, Any]
    patterns: Mapping[str, Any]
    others: Any = True


class Some(Struct, frozen=True):
    """That a member exists whose name and value are so."""

    wanted: frozenset[str] = frozenset()
    """Patterns that the name matches."""
    unwanted: frozenset[str] = frozenset()
    """Patterns that the name does not match."""
    not_named: frozenset[str] = frozenset()
    naming: tuple[Assertion, ...] = ()
    """What the name has to fulfil."""
    claims: tuple[Assertion, ...] = ()
    """What the value has to fulfil."""


Condition: TypeAlias = tuple[str, Any]
"""A word, and what it says: what a keyword of that meaning says, or one of the records above."""


class Alternative(Struct, frozen=True):
    """Claims and conditions that hold together."""

    claims: tuple[Assertion, ...] = ()
    conditions: tuple[Condition, ...] = ()


Choice: TypeAlias = list[Alternative]
"""One of these holds. Without alternatives: none can."""
_ALWAYS: Final[Choice] = [Alternative()]


def _that(*conditions: Condition) -> Alternative:
    return Alternative((), conditions)


def choices(kind: str, claim: Assertion, documents: "Roots") -> list[Choice]:
    """What has to hold for a value of the kind, so that the claim is true: all of the choices.

    Raises `Unsupported`.
    """
    schema = claim.schema
    if isinstance(schema, bool):
        return [] if schema == claim.holds else [[]]
    if not isinstance(schema, dict):
        raise Unsupported("a schema is neither an object nor true or false")
    if other := _UNSUPPORTED & schema.keys():
        raise Unsupported(f"{min(other)} is not compared")
    closing = _CLOSING.get(kind)
    if closing in schema and schema[closing] is not True:
        return [_unevaluated(kind, claim, documents)]
    if claim.holds:
        return [each for word in schema for each in _positive(kind, word, claim, documents)]
    return [[each for word in schema for each in _negative(kind, word, claim, documents)]]


class Roots:
    """The documents in which claims stand."""

    def __init__(self, *roots: Any) -> None:
        self._roots = roots

    def target(self, claim: Assertion) -> Any:
        """What the `$ref` of the claim's schema refers to. Raises `Unsupported`."""
        reference = claim.schema["$ref"]
        if reference != "#" and not reference.startswith("#/"):
            raise Unsupported("a reference leads out of its schema")
        try:
            return pointers.follow(self._roots[claim.root], reference.lstrip("#"))
        except (LookupError, ValueError, TypeError) as error:
            raise Unsupported(f"{reference} does not exist") from error

    def may_be(self, kind: str, claim: Assertion) -> bool:
        """See `tags.may_be`."""
        return tags.may_be(kind, claim.schema, self._follow(claim.root))

    def are_apart(self, kind: str, claims: list[Assertion]) -> bool:
        """Whether a value of the kind is valid under one of the claims' schemas at most."""
        if len(claims) < 2:
            return True
        schemas = [each.schema for each in claims]
        return kind == "object" and tags.are_apart(schemas, self._follow(claims[0].root))

    def literals(self, claim: Assertion) -> tags.Tags:
        """See `tags.literals`, or `tags.tags` for a claim that does not hold."""
        if not isinstance(claim.schema, dict):
            return {}
        find = tags.literals if claim.holds else tags.tags
        return find(claim.schema, self._follow(claim.root))

    def _follow(self, root: int) -> tags.Follow:
        def followed(schema: Any) -> Any:
            try:
                return self.target(Assertion(True, root, schema))
            except Unsupported:
                return True  # It is reported where it is asked in full.

        return followed


# Keywords that hold, and that do not hold.


def _positive(kind: str, word: str, claim: Assertion, documents: Roots) -> list[Choice]:
    given = claim.schema[word]
    if word == "type":
        return [_typed(kind, given, holds=True)]
    if word == "$ref":
        return [_all([claim.other(documents.target(claim))])]
    if word in _COMBINED:
        return [_combined(kind, word, claim, documents)]
    if word in _SIMPLE.get(kind, {}):
        return [_simple(kind, word, given, holds=True)]
    if kind == "array":
        return _positive_array(word, claim, given)
    return _positive_object(word, claim, given) if kind == "object" else []


def _negative(kind: str, word: str, claim: Assertion, documents: Roots) -> Choice:
    given = claim.schema[word]
    if word == "type":
        return _typed(kind, given, holds=False)
    if word == "$ref":
        return _all([claim.other(documents.target(claim), holds=False)])
    if word in _COMBINED:
        return _not_combined(kind, word, claim, documents)
    if word in _SIMPLE.get(kind, {}):
        return _simple(kind, word, given, holds=False)
    if kind == "array":
        return _negative_array(word, claim, given)
    return _negative_object(word, claim, given) if kind == "object" else []


_COMBINED: Final = frozenset({"enum", "const", "allOf", "anyOf", "oneOf", "not", "if"})


def _combined(kind: str, word: str, claim: Assertion, documents: Roots) -> Choice:
    given = claim.schema[word]
    match word:
        case "allOf":
            return _all(map(claim.other, given))
        case "anyOf":
            return [Alternative((each,)) for each in _possible(kind, claim, given, documents)]
        case "oneOf":
            return _one_of(kind, _possible(kind, claim, given, documents), documents)
        case "not":
            return _all([claim.other(given, holds=False)])
        case "if":
            return _conditional(claim, holds=True)
    return [_that(("values", given if word == "enum" else [given]))]


def _not_combined(kind: str, word: str, claim: Assertion, documents: Roots) -> Choice:
    given = claim.schema[word]
    if word == "allOf":
        return [Alternative((claim.other(each, holds=False),)) for each in given]
    if word in {"anyOf", "oneOf"}:
        held = _possible(kind, claim, given, documents)
        refused = _all(claim.other(each.schema, holds=False) for each in held)
        is_single = word == "anyOf" or documents.are_apart(kind, held)
        return refused if is_single else [*refused, *map(Alternative, combinations(held, 2))]
    if word == "not":
        return _all([claim.other(given)])
    if word == "if":
        return _conditional(claim, holds=False)
    return [_that(("excluded", given if word == "enum" else [given]))]


def _all(claims: Iterable[Assertion]) -> Choice:
    return [Alternative(tuple(claims))]


def _possible(kind: str, claim: Assertion, given: list[Any], documents: Roots) -> list[Assertion]:
    """The branches of a union that a value of the kind may be valid under."""
    return [each for each in map(claim.other, given) if documents.may_be(kind, each)]


def _one_of(kind: str, held: list[Assertion], documents: Roots) -> Choice:
    if documents.are_apart(kind, held):
        return [Alternative((each,)) for each in held]
    return [
        Alternative(
            tuple(each.other(each.schema, holds=at == chosen) for at, each in enumerate(held))
        )
        for chosen in range(len(held))
    ]


def _conditional(claim: Assertion, *, holds: bool) -> Choice:
    schema = claim.schema
    yes, no = claim.other(schema["if"]), claim.other(schema["if"], holds=False)
    return [
        Alternative((yes, claim.other(schema.get("then", True), holds=holds))),
        Alternative((no, claim.other(schema.get("else", True), holds=holds))),
    ]


def _typed(kind: str, given: Any, *, holds: bool) -> Choice:
    names = {given} if isinstance(given, str) else set(given)
    if kind == "number" and "integer" in names and "number" not in names:
        return [_that(("whole", holds))]
    return _ALWAYS if (kind in names) == holds else []


_SIMPLE: Final[Mapping[str, Mapping[str, str]]] = {
    "number": {
        "minimum": "minimum",
        "maximum": "maximum",
        "exclusiveMinimum": "exclusiveMinimum",
        "exclusiveMaximum": "exclusiveMaximum",
        "multipleOf": "multipleOf",
    },
    "string": {
        "minLength": "least",
        "maxLength": "most",
        "pattern": "pattern",
        "format": "format",
    },
    "array": {"minItems": "least", "maxItems": "most", "uniqueItems": "unique"},
    "object": {"minProperties": "least", "maxProperties": "most"},
}
"""Keywords that say one thing of a value, and the word of the condition."""
_OPPOSITE: Final = {
    "minimum": "exclusiveMaximum",
    "maximum": "exclusiveMinimum",
    "exclusiveMinimum": "maximum",
    "exclusiveMaximum": "minimum",
}


def _simple(kind: str, keyword: str, given: Any, *, holds: bool) -> Choice:
    word = _SIMPLE[kind][keyword]
    if word == "format" and given not in FORMATS:
        raise Unsupported(f"the format {given} is not known")
    if word == "unique":
        return [_that((word, holds))] if given else _ALWAYS if holds else []
    if holds:
        return [_that((word, given))]
    if word == "least":
        return [_that(("most", given - 1))] if given > 0 else []
    if word == "most":
        return [_that(("least", given + 1))]
    return [_that((_OPPOSITE.get(word, f"no {word}"), given))]


def _positive_array(word: str, claim: Assertion, given: Any) -> list[Choice]:
    match word:
        case "items":
            start = len(claim.schema.get("prefixItems", ()))
            return [[_that(("items", (start, claim.other(given))))]]
        case "prefixItems":
            each = (("item", (at, claim.other(schema))) for at, schema in enumerate(given))
            return [[_that(*each)]]
        case "contains":
            least, most = _contained(claim)
            return [[_that(("counted", Counted(claim.other(given), 0, least, most)))]]
    return []


def _contained(claim: Assertion) -> tuple[int, int | None]:
    schema = claim.schema
    most = schema.get("maxContains")
    return int(schema.get("minContains", 1)), None if most is None else int(most)


def _negative_array(word: str, claim: Assertion, given: Any) -> Choice:
    match word:
        case "items":
            start = len(claim.schema.get("prefixItems", ()))
            return [_that(("counted", Counted(claim.other(given, holds=False), start, 1, None)))]
        case "prefixItems":
            return [
                _that(("least", at + 1), ("item", (at, claim.other(schema, holds=False))))
                for at, schema in enumerate(given)
            ]
        case "contains":
            (least, most), inner = _contained(claim), claim.other(given)
            few = [_that(("counted", Counted(inner, 0, 0, least - 1)))] if least > 0 else []
            many = [] if most is None else [_that(("counted", Counted(inner, 0, most + 1, None)))]
            return few + many
    return []


_MEMBERS: Final = ("properties", "patternProperties", "additionalProperties")


def _shape(claim: Assertion) -> MemberRules:
    names, patterns, others = (claim.schema.get(each) for each in _MEMBERS)
    return MemberRules(claim.root, names or {}, patterns or {}, True if others is None else others)


def _positive_object(word: str, claim: Assertion, given: Any) -> list[Choice]:
    if word in _MEMBERS:
        first = next(each for each in claim.schema if each in _MEMBERS)
        return [[_that(("shape", _shape(claim)))]] if word == first else []
    match word:
        case "propertyNames":
            return [[_that(("naming", claim.other(given)))]]
        case "required":
            return [[_that(*(("present", name) for name in given))]]
        case "dependentRequired":
            return [
                [_that(("absent", name)), _that(*(("present", each) for each in (name, *needed)))]
                for name, needed in given.items()
            ]
        case "dependentSchemas":
            return [
                [_that(("absent", name)), Alternative((claim.other(each),), (("present", name),))]
                for name, each in given.items()
            ]
    return []


def _negative_object(word: str, claim: Assertion, given: Any) -> Choice:
    match word:
        case "properties" | "dependentSchemas":
            return _negative_member(word, claim, given)
        case "patternProperties" | "additionalProperties":
            return [_that(("some", each)) for each in _broken(word, claim, given)]
        case "propertyNames":
            return [_that(("some", Some(naming=(claim.other(given, holds=False),))))]
        case "required":
            return [_that(("absent", name)) for name in given]
        case "dependentRequired":
            return [
                _that(("present", name), ("absent", other))
                for name, needed in given.items()
                for other in needed
            ]
    return []


def _negative_member(word: str, claim: Assertion, given: Any) -> Choice:
    found: Choice = []
    for name, each in given.items():
        refused = claim.other(each, holds=False)
        if word == "properties":
            found.append(_that(("present", name), ("member", (name, refused))))
        else:
            found.append(Alternative((refused,), (("present", name),)))
    return found


def _broken(word: str, claim: Assertion, given: Any) -> Iterator[Some]:
    """The members that break a keyword."""
    if word == "patternProperties":
        for pattern, each in given.items():
            yield Some(frozenset([pattern]), claims=(claim.other(each, holds=False),))
    else:
        shape = _shape(claim)
        yield _other_than(shape.names, shape.patterns, claim.other(given, holds=False))


def _other_than(names: Iterable[str], patterns: Iterable[str], claim: Assertion) -> Some:
    return Some(unwanted=frozenset(patterns), not_named=frozenset(names), claims=(claim,))


# Members and items that no other keyword has evaluated (JSON Schema 2020-12 §11). Which they are
# depends on which alternatives hold, so each way in which they may hold is one alternative.

_CLOSING: Final = {"array": "unevaluatedItems", "object": "unevaluatedProperties"}
_IN_PLACE: Final = frozenset(
    {"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "$ref", "dependentSchemas"}
)
_MAX_WAYS: Final = 200
_MAX_NESTED: Final = 20


class _Way(Struct, frozen=True):
    """One way in which a schema may hold, and what is evaluated then."""

    claims: tuple[Assertion, ...] = ()
    conditions: tuple[Condition, ...] = ()
    is_all: bool = False
    names: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    start: int = 0
    """The first items, which are evaluated."""
    contained: tuple[Any, ...] = ()
    """Schemas of `contains`: an item of one of them is evaluated."""

    def and_(self, other: "_Way") -> "_Way":
        return _Way(
            self.claims + other.claims,
            self.conditions + other.conditions,
            self.is_all or other.is_all,
            self.names + other.names,
            self.patterns + other.patterns,
            max(self.start, other.start),
            self.contained + other.contained,
        )


def _unevaluated(kind: str, claim: Assertion, documents: Roots) -> Choice:
    keyword = _CLOSING[kind]
    closing = claim.schema[keyword]
    rest = claim.other({name: each for name, each in claim.schema.items() if name != keyword})
    ways = _ways(kind, rest, documents, 0)
    if claim.holds:
        return [
            Alternative(way.claims, (*way.conditions, *_closed(kind, claim.root, way, closing)))
            for way in ways
        ]
    broken = [
        Alternative(way.claims, (*way.conditions, _open(kind, claim, way, closing)))
        for way in ways
        if not way.is_all
    ]
    return [Alternative((rest.other(rest.schema, holds=False),)), *broken]


def _closed(kind: str, root: int, way: _Way, closing: Any) -> list[Condition]:
    """That everything else fulfils the schema `closing`."""
    if way.is_all:
        return []
    if kind == "array":
        schema = {"anyOf": [*way.contained, closing]} if way.contained else closing
        return [("items", (way.start, Assertion(True, root, schema)))]
    names, patterns = dict.fromkeys(way.names, True), dict.fromkeys(way.patterns, True)
    return [("shape", MemberRules(root, names, patterns, closing))]


def _open(kind: str, claim: Assertion, way: _Way, closing: Any) -> Condition:
    """That something else does not."""
    if kind == "array":
        schema = {"anyOf": [*way.contained, closing]} if way.contained else closing
        return "counted", Counted(claim.other(schema, holds=False), way.start, 1, None)
    return "some", _other_than(way.names, way.patterns, claim.other(closing, holds=False))


def _ways(kind: str, claim: Assertion, documents: Roots, depth: int) -> list[_Way]:
    """The ways in which the claim may hold."""
    schema = claim.schema
    if isinstance(schema, bool):
        return [_Way()] if schema else []
    if depth > _MAX_NESTED:
        raise Unsupported(f"{_CLOSING[kind]} leads into itself")
    if _CLOSING[kind] in schema:
        return [_Way(claims=(claim,), is_all=True)]
    found = [_own_way(kind, claim)]
    for word in schema:
        if word in _IN_PLACE:
            more = _ways_of(kind, word, claim, documents, depth + 1)
            found = [one.and_(other) for one in found for other in more]
            if len(found) > _MAX_WAYS:
                raise Unsupported(f"{_CLOSING[kind]} has too many cases")
    return found


def _own_way(kind: str, claim: Assertion) -> _Way:
    schema = claim.schema
    # `minContains` and the like mean nothing without their neighbours, so these stay together.
    own = claim.other({word: each for word, each in schema.items() if word not in _IN_PLACE})
    claims = (own,) if own.schema else ()
    if kind == "array":
        contained = (schema["contains"],) if "contains" in schema else ()
        start = len(schema.get("prefixItems", ()))
        return _Way(claims, (), "items" in schema, start=start, contained=contained)
    names, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    return _Way(claims, (), "additionalProperties" in schema, tuple(names), tuple(patterns))


def _ways_of(kind: str, word: str, claim: Assertion, documents: Roots, depth: int) -> list[_Way]:
    given = claim.schema[word]

    def ways(schema: Any) -> list[_Way]:
        return _ways(kind, claim.other(schema), documents, depth)

    def fails(schema: Any) -> list[_Way]:
        return [_Way(claims=(claim.other(schema, holds=False),))]

    if word in {"$ref", "not"}:
        return fails(given) if word == "not" else ways(documents.target(claim))
    if word == "if":
        yes = _product([ways(given), ways(claim.schema.get("then", True))])
        return [*yes, *_product([fails(given), ways(claim.schema.get("else", True))])]
    if word in {"anyOf", "oneOf"}:
        return _some_ways(list(map(ways, given)), list(map(fails, given)), word)
    if word == "allOf":
        return _product(list(map(ways, given)))
    if word == "dependentSchemas" and kind == "object":
        return _product([_dependent_ways(name, ways(each)) for name, each in given.items()])
    return [_Way()]


def _dependent_ways(name: str, ways: list[_Way]) -> list[_Way]:
    present = _Way(conditions=(("present", name),))
    return [_Way(conditions=(("absent", name),)), *(present.and_(each) for each in ways)]


def _product(several: list[list[_Way]]) -> list[_Way]:
    found = [_Way()]
    for ways in several:
        found = [one.and_(other) for one in found for other in ways]
        if len(found) > _MAX_WAYS:
            raise Unsupported("unevaluated members have too many cases")
    return found


def _some_ways(holding: list[list[_Way]], failing: list[list[_Way]], word: str) -> list[_Way]:
    """Each choice of branches that hold, at least one, and for `oneOf` only one."""
    if 2 ** len(holding) > _MAX_WAYS:
        raise Unsupported("unevaluated members have too many cases")
    found: list[_Way] = []
    for chosen in product((True, False), repeat=len(holding)):
        if (sum(chosen) == 1) if word == "oneOf" else any(chosen):
            pairs = zip(chosen, holding, failing, strict=True)
            found += _product([yes if is_chosen else no for is_chosen, yes, no in pairs])
    return found


def exact(value: float) -> Fraction:
    """A number of a schema or a value, without rounding."""
    return Fraction(str(value))
