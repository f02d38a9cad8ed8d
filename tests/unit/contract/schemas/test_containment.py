"""Containment is decided both ways; a witness is confirmed by a validator that shares no code."""

import functools
from typing import Any, Final

import pytest

from gateway.contract.schemas.claims import Assertion
from gateway.contract.schemas.containment import (
    Contained,
    Undecided,
    Witness,
    containment,
    shrunk,
)
from gateway.contract.schemas.flattening import Steps
from gateway.contract.schemas.models import Models
from gateway.contract.schemas.scalars import EMPTY
from gateway.contract.values.schema import FORMATS
from tests.unit.tables import each_of

STRING: Final = {"type": "string"}
INTEGER: Final = {"type": "integer"}


def text(pattern: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "pattern": pattern, **more}


def members(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def tree(value: Any, **more: Any) -> dict[str, Any]:
    node = {
        "type": "object",
        "properties": {"value": value, "next": {"$ref": "#/$defs/node"}},
        "required": ["value"],
        **more,
    }
    return {"$ref": "#/$defs/node", "$defs": {"node": node}}


def renamed(value: Any) -> dict[str, Any]:
    node = {
        "required": ["value"],
        "type": "object",
        "properties": {"next": {"$ref": "#/$defs/knot"}, "value": value},
    }
    return {"allOf": [{"$ref": "#/$defs/knot"}], "$defs": {"knot": node}}


UUID: Final = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
MAIL: Final = r"[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}"
EVEN: Final = {"type": "integer", "multipleOf": 2}
SIX: Final = {"type": "integer", "multipleOf": 6}
CENTS: Final = {"type": "number", "multipleOf": 0.01}
OPEN: Final = {"a": INTEGER}
CLOSED: Final = {"type": "object", "properties": OPEN, "additionalProperties": False}
SEALED: Final = {"type": "object", "allOf": [members(**OPEN)], "unevaluatedProperties": False}


def tagged(count: int, value: Any, *more: Any, word: str = "oneOf") -> dict[str, Any]:
    """A union of objects that a member names."""
    branches = [
        {
            "type": "object",
            "properties": {"kind": {"const": f"k{at}"}, f"x{at}": value},
            "required": ["kind", f"x{at}"],
        }
        for at in range(count)
    ]
    return {word: [*branches, *more]}


# The outer schema, the inner one, whether it is contained, whether the other way round is.
PAIRS: Final[list[tuple[str, Any, Any, bool, bool]]] = [
    ("types", {"type": ["string", "null"]}, STRING, True, False),
    ("integer in number", {"type": "number"}, INTEGER, True, False),
    ("mixed types", {"type": ["integer", "string"]}, {"enum": [1, "a", 2.0]}, True, False),
    ("1.0 is an integer", INTEGER, {"const": 1.0}, True, False),
    ("true is not 1", {"const": 1}, {"const": True}, False, False),
    ("everything", {}, {"type": "object"}, True, False),
    ("nothing", STRING, {"not": {}}, True, False),
    ("bounds", {"type": "integer", "minimum": 0}, {"type": "integer", "minimum": 1}, True, False),
    ("open bound", {"minimum": 0}, {"exclusiveMinimum": 0}, True, False),
    (
        "open bound of integers",
        {"type": "integer", "minimum": 1},
        {"type": "integer", "exclusiveMinimum": 0},
        True,
        True,
    ),
    ("bignum", {"maximum": 2**70}, {"maximum": 2**70 - 1}, True, False),
    ("bignum constants", {"const": 2**64}, {"const": 2**64 + 1}, False, False),
    ("multiples", EVEN, SIX, True, False),
    ("multiples that meet", SIX, {**EVEN, "allOf": [{"multipleOf": 3}]}, True, True),
    ("decimals", CENTS, {"type": "number", "multipleOf": 0.05}, True, False),
    ("decimal constants", CENTS, {"enum": [0.1, 1.15, 19.99]}, True, False),
    ("not a cent", CENTS, {"const": 1.005}, False, False),
    ("not a multiple", {"not": {"multipleOf": 2}}, {"not": {"multipleOf": 1}}, True, False),
    ("lengths", {"maxLength": 5}, {"maxLength": 4}, True, False),
    ("length by pattern", {"maxLength": 4}, text("^.{1,4}$"), True, False),
    ("pattern by length", text("^[^]{0,4}$".replace("[^]", r"[\s\S]")), text("^a$"), True, False),
    ("longer text", text("^.{1,2000}$"), text("^.{1,1999}$"), True, False),
    ("three or four letters", text("^[A-Z]{3,4}$"), text("^[A-Z]{4}$"), True, False),
    (
        "uuid in lower case",
        text(f"^{UUID.replace('a-f', 'A-Fa-f')}$"),
        text(f"^{UUID}$"),
        True,
        False,
    ),
    ("mail addresses", text("^[^@]+@[^@]+$"), text(f"^{MAIL}$"), True, False),
    ("unanchored", text("b"), text("abc"), True, False),
    ("two patterns", text("ab|ba|a.+b|b.+a"), {"allOf": [text("a"), text("b")]}, False, True),
    (
        "an excluded pattern",
        text("^[^a]*$"),
        {"type": "string", "not": {"pattern": "a"}},
        True,
        True,
    ),
    ("classes", text("^[0-9]+$"), text(r"^\d+$"), True, True),
    ("words", text(r"^\w$"), text("^[a-z_]$"), True, False),
    ("white space", text(r"^\s$"), text("^[ \t\u00a0]$"), True, False),
    (
        "names by pattern",
        {"propertyNames": {"pattern": "^a"}},
        {"propertyNames": {"const": "ab"}},
        True,
        False,
    ),
    ("format", {"type": "string"}, {"type": "string", "format": "date"}, True, False),
    ("an address is one of all letters", {"format": "iri"}, {"format": "uri"}, True, False),
    ("what addresses have", text(":"), {"type": "string", "format": "uri"}, True, False),
    ("an address of a kind", text("^https:"), {"type": "string", "format": "uri"}, False, False),
    (
        "a gap in a range",
        {"enum": list(range(900))},
        INTEGER | {"minimum": 0, "maximum": 900},
        False,
        True,
    ),
    (
        "a gap at the end",
        {"enum": list(range(901))},
        INTEGER | {"minimum": 0, "maximum": 900},
        True,
        True,
    ),
    (
        "many patterns of names",
        {"patternProperties": {f"^{each}": {"type": "number"} for each in "abcdefgh"}},
        {"patternProperties": {f"^{each}": INTEGER for each in "abcdefgh"}},
        True,
        False,
    ),
    (
        "long lists",
        {"type": "array", "maxItems": 5000},
        {"type": "array", "items": INTEGER, "minItems": 5000, "maxItems": 5000},
        True,
        False,
    ),
    ("many branches", tagged(100, {"type": "number"}), tagged(100, INTEGER), True, False),
    ("a branch less", tagged(100, INTEGER), tagged(99, INTEGER), True, False),
    ("one or any of them", tagged(100, INTEGER), tagged(100, INTEGER, word="anyOf"), True, True),
    (
        "a branch that shares its name",
        tagged(3, INTEGER, members(kind={"const": "k1"}, x1={"minimum": 5}), word="anyOf"),
        tagged(3, INTEGER, members(kind={"const": "k1"}, x1={"minimum": 5})),
        True,
        False,
    ),
    (
        "a name that need not be there",
        {"anyOf": [members(kind={"const": "a"}), members(kind={"const": "b"})]},
        {"oneOf": [members(kind={"const": "a"}), members(kind={"const": "b"})]},
        True,
        False,
    ),
    (
        "what has no names",
        {
            "oneOf": [
                {"properties": {"a": {"const": "x"}}, "required": ["a"]},
                {"properties": {"a": {"const": "y"}}, "required": ["a"]},
            ]
        },
        {"type": "null"},
        False,
        False,
    ),
    (
        "names that differ",
        {"not": {}},
        {"required": ["a"], "allOf": [members(a={"const": "x"}), members(a={"enum": ["y"]})]}
        | {"type": "object"},
        True,
        True,
    ),
    ("two formats", {"format": "date"}, {"format": "date-time"}, False, False),
    ("a form of a format", text("^[0-9-]+$"), {"type": "string", "format": "date"}, True, False),
    ("a format's length", {"maxLength": 36}, {"type": "string", "format": "uuid"}, True, False),
    ("required", {"required": ["a"]}, {"required": ["a", "b"]}, True, False),
    ("optional member", members(a=INTEGER), CLOSED, True, False),
    ("narrower member", members(a={"type": "number"}), members(a=INTEGER), True, False),
    (
        "map",
        {"additionalProperties": {"type": "number"}},
        {"additionalProperties": INTEGER},
        True,
        False,
    ),
    (
        "members by pattern",
        {"patternProperties": {"^a": INTEGER}},
        {"patternProperties": {"^[ab]": INTEGER}},
        True,
        False,
    ),
    ("count of members", {"maxProperties": 2}, {**CLOSED, "maxProperties": 3}, True, False),
    ("sealed and closed", CLOSED, SEALED, True, True),
    (
        "sealed by a branch",
        {"propertyNames": {"enum": ["a", "b"]}},
        {"anyOf": [members(a={}), members(b={})], "unevaluatedProperties": False, "type": "object"},
        True,
        False,
    ),
    ("dependent members", {"dependentRequired": {"a": ["b"]}}, {"required": ["b"]}, True, False),
    (
        "dependent schemas",
        {"dependentRequired": {"a": ["b"]}},
        {"dependentSchemas": {"a": {"required": ["b"]}}},
        True,
        True,
    ),
    (
        "dependent chain",
        {"dependentRequired": {"a": ["c"]}},
        {"type": "object", "dependentRequired": {"a": ["b"], "b": ["c"]}},
        True,
        False,
    ),
    ("items", {"items": {"type": "number"}}, {"items": INTEGER}, True, False),
    ("tuples", {"prefixItems": [INTEGER]}, {"items": INTEGER}, True, False),
    (
        "a closed tuple",
        {"maxItems": 2},
        {"type": "array", "prefixItems": [{}, {}], "items": False},
        True,
        False,
    ),
    (
        "contains",
        {"minItems": 2},
        {"type": "array", "contains": INTEGER, "minContains": 2},
        True,
        False,
    ),
    (
        "contains too many",
        {"contains": {}, "maxContains": 2},
        {"type": "array", "maxItems": 2, "minItems": 1},
        True,
        False,
    ),
    (
        "counts",
        {"contains": INTEGER, "maxContains": 3},
        {"contains": INTEGER, "maxContains": 2},
        True,
        False,
    ),
    ("unique", {"uniqueItems": True}, {"type": "array", "maxItems": 1}, True, False),
    (
        "unique constants",
        {"maxItems": 2},
        {"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True},
        True,
        False,
    ),
    (
        "unevaluated items",
        {"maxItems": 1},
        {"type": "array", "allOf": [{"prefixItems": [{}]}], "unevaluatedItems": False},
        True,
        False,
    ),
    (
        "items that are contained",
        {"type": "array", "items": {"type": ["integer", "null"]}},
        {"type": "array", "contains": INTEGER, "unevaluatedItems": {"type": "null"}},
        True,
        False,
    ),
    ("anyOf", {"anyOf": [STRING, INTEGER]}, {"oneOf": [STRING, INTEGER]}, True, True),
    (
        "oneOf that overlaps",
        {"oneOf": [{"minimum": 0}, {"maximum": 5}]},
        {"const": 3},
        False,
        False,
    ),
    ("not", {"not": STRING}, INTEGER, True, False),
    ("double not", {"not": {"not": STRING}}, STRING, True, True),
    (
        "a condition",
        {"if": {"required": ["a"]}, "then": {"required": ["b"]}},
        {"type": "object", "dependentRequired": {"a": ["b"]}},
        True,
        False,
    ),
    (
        "flattened allOf",
        members(a=INTEGER, b=STRING),
        {"type": "object", "allOf": [members(a=INTEGER), members(b=STRING)]},
        True,
        True,
    ),
    ("nullable", {"type": ["string", "null"]}, {"anyOf": [STRING, {"type": "null"}]}, True, True),
    (
        "reordered",
        {"required": ["a", "b"], "type": "object"},
        {"type": "object", "required": ["b", "a"]},
        True,
        True,
    ),
    ("renamed definitions", tree(INTEGER), renamed(INTEGER), True, True),
    ("recursive member", tree({"type": "number"}), tree(INTEGER), True, False),
    ("recursive and closed", tree(INTEGER), tree(INTEGER, additionalProperties=False), True, False),
    (
        "unrolled once",
        tree(INTEGER),
        members(value=INTEGER, next=False) | {"required": ["value"]},
        True,
        False,
    ),
    (
        "a condition that evaluates members",
        {
            "not": {
                "unevaluatedProperties": {"type": "object"},
                "if": {"anyOf": [members(a={"const": "b"}), members(a={}, b={})]},
            }
        },
        {
            "type": "object",
            "allOf": [
                {"properties": {"a": {"const": "ab"}}, "required": ["a"]},
                {"not": {"properties": {"a": {"const": "abc"}}}},
            ],
        },
        False,
        False,
    ),
    (
        "endless",
        {"type": "null"},
        {
            "$ref": "#/$defs/e",
            "$defs": {
                "e": {
                    "type": "object",
                    "required": ["e"],
                    "properties": {"e": {"$ref": "#/$defs/e"}},
                }
            },
        },
        True,
        False,
    ),
]


def is_shown(outer: Any, inner: Any, value: Any) -> bool:
    import jsonschema  # noqa: PLC0415 - it takes two seconds

    gates = [
        jsonschema.Draft202012Validator(each, format_checker=jsonschema.FormatChecker())
        for each in (outer, inner)
    ]
    return not gates[0].is_valid(value) and bool(gates[1].is_valid(value))


@each_of("pair", PAIRS, ids=lambda pair: pair[0])
def test_a_pair_is_decided_both_ways(pair: tuple[str, Any, Any, bool, bool]) -> None:
    _, outer, inner, is_contained, is_other_contained = pair
    for one, other, expected in ((outer, inner, is_contained), (inner, outer, is_other_contained)):
        found = containment(one, other)
        if expected:
            assert found == Contained()
        else:
            assert isinstance(found, Witness)
            assert is_shown(one, other, found.value)


def test_the_table_is_as_long_as_promised() -> None:
    verdicts = [verdict for *_, one, other in PAIRS for verdict in (one, other)]
    assert len(PAIRS) >= 60
    assert verdicts.count(True) >= 60
    assert verdicts.count(False) >= 40


@pytest.mark.parametrize(
    "schema",
    [
        {"prefixItems": [{}, STRING], "items": False, "contains": INTEGER, "minContains": 2},
        {"prefixItems": [{}, False], "minItems": 2},
    ],
)
def test_lists_of_different_items_that_cannot_exist_are_proved_empty(schema: Any) -> None:
    unique = {"type": "array", "uniqueItems": True, **schema}
    assert Models((unique,), Steps()).of(Assertion(True, 0, unique)) is EMPTY


def test_no_address_without_a_colon_is_proved() -> None:
    assert containment({"pattern": ":"}, {"type": "string", "format": "ipv6"}) == Contained()


MAIL_BOX: Final = "A Name <a@b.co>"


PART: Final = "[A-Za-z0-9!#$%&'*+/=^_`{|}~-]+"
NAME: Final = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
ADDRESS: Final = rf"{PART}(?:[.]{PART})*@{NAME}(?:[.]{NAME})*"


@each_of(
    "pattern, most, size",
    [
        (f"^{ADDRESS}$", 255, 255),  # a local part has 64 characters, a name 63
        (f"^{ADDRESS}$", 400, 255),
        (f"{ADDRESS}$", 254, 4),  # ?a@b
        (f"^{ADDRESS}", 254, 0),  # what may follow an address is no part of one
        (f"^{ADDRESS}[.]$", 254, 0),
        (f"^{ADDRESS.replace('[.]', '.')}$", 254, 5),  # a?a@b
    ],
)
def test_addresses_are_compared_by_the_form_of_their_format(
    pattern: str, most: int, size: int
) -> None:
    """`size`: the characters of the witness. 0: there is none."""
    outer = text(f"^{ADDRESS}$", format="email", maxLength=254)

    found = containment(outer, text(pattern, format="email", maxLength=most))

    assert (len(found.value) if isinstance(found, Witness) else 0) == size
    assert isinstance(found, Contained if size == 0 else Witness)


def test_a_long_range_of_counts_is_no_work() -> None:
    """A state is left once, although texts of 250 lengths reach it."""
    cell = "[A-Z]{1,3}[0-9]{0,%d}"
    one, other = (f"^(?:[a-z]{{0,99}}!)?{cell % n}(?::{cell % n})?$" for n in (6, 7))
    bounds = {"minLength": 1, "maxLength": 250}

    assert containment(text(other, **bounds), text(one, **bounds), 10_000) == Contained()
    found = containment(text(one, **bounds), text(other, **bounds), 10_000)
    assert isinstance(found, Witness)
    assert len(found.value) == 8


def test_formats_are_those_that_the_validator_checks() -> None:
    """The library's own check of an address takes a display name around it; ours does not."""
    mail = {"type": "string", "format": "email"}
    assert containment(mail, {"enum": ["a@b.co", MAIL_BOX]}) == Witness(MAIL_BOX)
    assert containment({"not": mail}, {"const": MAIL_BOX}) == Contained()
    assert containment(mail, {"const": "a@b.co"}) == Contained()
    assert containment(mail, {**mail, "maxLength": 9}) == Contained()
    assert isinstance(containment({**mail, "maxLength": 9}, mail), Witness)


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_text_of_no_format_is_found(name: str) -> None:
    plain, formatted = {"type": "string"}, {"type": "string", "format": name}
    assert isinstance(containment(formatted, plain), Witness)
    assert containment(plain, formatted) == Contained()


def test_equal_numbers_are_one_item() -> None:
    inner = {"type": "array", "prefixItems": [{"enum": [1.0, 2]}, {"const": 1}], "minItems": 2}
    assert containment({"not": {}}, {**inner, "uniqueItems": True}) == Witness([2, 1])


WITNESSES: Final[list[tuple[Any, Any, Any]]] = [
    ({"maxLength": 3}, {"type": "string", "minLength": 1}, "aaaa"),
    ({"minimum": 5}, INTEGER, 0),
    (text("^[A-Z]{4}$"), text("^[A-Z]{3,4}$"), "AAA"),
    (
        members(seats={"maximum": 16}),
        {**members(seats={"type": "integer", "maximum": 19}, name=STRING), "required": ["seats"]},
        {"seats": 17},
    ),
    ({"required": ["b"]}, {"type": "object", "required": ["a"]}, {"a": ""}),
    ({"maxItems": 1}, {"type": "array", "items": STRING}, ["", ""]),
    (tree(INTEGER), tree({}), {"value": ""}),
]


@pytest.mark.parametrize(("outer", "inner", "expected"), WITNESSES)
def test_a_witness_is_small(outer: Any, inner: Any, expected: Any) -> None:
    assert containment(outer, inner) == Witness(expected)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "strin"},
        {"pattern": "(?=a)b"},
        {"pattern": "("},
        {"$ref": "#/$defs/none"},
        {"$ref": "https://example.com/other"},
        {"minLength": -1},
        {"properties": []},
        {"$dynamicRef": "#a"},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}},
        {"$ref": "#/$defs/a", "$defs": {"b": {}}},
        {"$ref": "#/$defs/a", "$defs": {"a": 1}},
        {"properties": {"a": {"allOf": 1}}},
        {"$defs": []},
        functools.reduce(lambda inner, _: {"not": inner}, range(2000), {"type": "string"}),
    ],
)
def test_what_cannot_be_read_is_undecided_with_a_reason(schema: Any) -> None:
    for found in (containment(schema, STRING), containment(STRING, schema)):
        assert isinstance(found, Undecided | Witness | Contained)
        if isinstance(found, Undecided):
            assert found.reason
    assert isinstance(containment(schema, STRING), Undecided)


def test_a_hostile_schema_ends_with_undecided() -> None:
    wide = {
        "allOf": [
            {"anyOf": [text(f"a{{{n},40}}b.{{3,{n}}}c"), {"minLength": n}]} for n in range(9, 40)
        ]
    }
    found = containment(
        {"type": "string", "pattern": "^(a|b)*a(a|b){90}$"}, {**wide, "maxLength": 300}, steps=5_000
    )
    assert isinstance(found, Undecided | Witness)


def test_shrinking_a_large_value_ends() -> None:
    tries = 0

    def holds(value: Any) -> bool:
        nonlocal tries
        tries += 1
        return isinstance(value, list) and len(value) > 2

    small = shrunk([{"a": "x" * 5000, "b": list(range(200))} for _ in range(2000)], holds)
    assert len(small) == 3
    assert tries < 5000


def test_large_schemas_are_decided_without_the_algebra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its time and memory grow faster than they do."""

    def asked(outer: Any, inner: Any) -> None:
        raise AssertionError("the algebra was asked")

    monkeypatch.setattr("gateway.contract.schemas.containment.covers", asked)
    wide = members(**{f"member_{number}": text("^[a-z]{1,9}$") for number in range(800)})
    properties = wide["properties"]
    narrow = {**wide, "properties": {**properties, "member_7": text("^[a-z]{1,8}$")}}
    assert containment(wide, narrow) == Contained()
    assert isinstance(containment(narrow, wide), Witness)
