"""The names and patterns of contracts, and grants for the tools there are."""

from typing import Any

import pytest

from gateway.authoring.contracts.names import camel, identifier, shortest_free, singular
from gateway.authoring.contracts.patterns import shared_form
from gateway.authoring.contracts.policies import GrantableTool, Granted, granted, written_grants
from gateway.contract.operation import Effect
from gateway.contract.policies.grants import ArgumentGrant
from gateway.contract.values.schema import Validator
from tests.unit.tables import each_of


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("search_flights", "SearchFlights"),
        ("pageSize", "PageSize"),
        ("page-size", "PageSize"),
        ("IcaoAirport", "IcaoAirport"),
        ("3d", "Field3d"),
        ("$", "Field"),
    ],
)
def test_any_name_becomes_a_class_name(name: str, expected: str) -> None:
    assert camel(name) == expected
    assert camel(name).isidentifier()


@pytest.mark.parametrize(
    ("name", "expected"), [("import", "import_"), ("call", "call_"), ("greet", "greet")]
)
def test_a_keyword_or_a_taken_name_gets_an_underscore(name: str, expected: str) -> None:
    assert identifier(name, taken={"call"}) == expected


@each_of(
    ("many", "one"),
    [
        ("legs", "leg"),
        ("quotes", "quote"),
        ("entries", "entry"),
        ("addresses", "address"),
        ("boxes", "box"),
        ("matches", "match"),
        ("aircraft", "aircraft"),
        ("status", "status"),
        ("class", "class"),
        ("analysis", "analysis"),
        ("is", "is"),
    ],
)
def test_one_item_of_a_list_has_a_singular_name(many: str, one: str) -> None:
    assert singular(many) == one


def test_a_nested_class_takes_as_few_parents_into_its_name_as_it_needs() -> None:
    path = ["SearchOutput", "leg", "price"]

    assert shortest_free(path, set()) == "Price"
    assert shortest_free(path, {"Price"}) == "LegPrice"
    assert shortest_free(path, {"Price", "LegPrice"}) == "SearchOutputLegPrice"
    assert shortest_free(path, {"Price", "LegPrice", "SearchOutputLegPrice"}) is None


TOOLS = [
    GrantableTool(id="store.find", effect=Effect.READ, tags=("store", "public")),
    GrantableTool(id="store.order", effect=Effect.WRITE, tags=("store", "staff")),
    GrantableTool(id="store.forget", effect=Effect.DESTROY, tags=("store", "staff")),
    GrantableTool(id="stores.find", effect=Effect.READ, writes_if="reserve"),
]
OTHERS = ["prompts/store.ask"]
CHEAP = {"properties": {"price": {"maximum": 5}}}
NO_RESERVATION = {"properties": {"reserve": {"const": False}}}


def of(*grants: Any) -> Granted:
    return granted(written_grants("buyer", {"grants": [*grants]}), TOOLS, OTHERS)


@pytest.mark.parametrize(
    ("grant", "ids"),
    [
        ("store.forget", ["store.forget"]),
        ("*", ["prompts/store.ask", "store.find", "store.order", "stores.find"]),
        ("store.*", ["store.find", "store.order"]),
        ({"tools": "store.*"}, ["store.find", "store.order"]),
        ({"tools": ["stores.*", "store.order"]}, ["store.order", "stores.find"]),
        ({"tools": "*", "tags": ["staff"]}, ["store.order"]),
        ({"tools": "*", "tags": ["public", "staff"], "effects": ["read"]}, ["store.find"]),
        ({"tools": "store.*", "effects": ["destroy", "write"]}, ["store.forget", "store.order"]),
        ({"tools": "store.forget", "tags": ["public"]}, []),
        ({"tools": "store.forget", "effects": ["read"]}, []),
        ("gateway.events", ["gateway.events"]),
    ],
)
def test_a_grant_is_for_the_tools_that_it_names(grant: Any, ids: list[str]) -> None:
    found = of(grant)
    assert list(found.ids) == ids
    assert found.conditions == ()


def test_a_condition_is_kept_for_the_tools_of_its_grant() -> None:
    found = of({"tools": ["store.order", "stores.find"], "arguments": CHEAP}, "store.find")

    assert found.ids == ("store.find", "store.order", "stores.find")
    assert {(each.tools, each.place) for each in found.conditions} == {
        (frozenset({"store.order"}), "/agents/buyer/grants/0"),
        (frozenset({"stores.find"}), "/agents/buyer/grants/0"),
    }
    assert all(each.arguments == CHEAP for each in found.conditions)


def test_a_read_that_can_write_is_granted_without_the_argument_that_makes_it_write() -> None:
    found = of({"tools": "stores.find", "effects": ["read"]})
    (grant,) = found.conditions
    assert grant == ArgumentGrant(
        place="/agents/buyer/grants/0", tools=frozenset({"stores.find"}), arguments=NO_RESERVATION
    )
    both = of({"tools": "stores.find", "effects": ["read"], "arguments": CHEAP})
    assert both.conditions[0].arguments == {"allOf": [CHEAP, NO_RESERVATION]}
    assert of({"tools": "stores.find", "effects": ["read", "write"]}).conditions == ()


def test_a_grant_without_conditions_leaves_none() -> None:
    found = of({"tools": ["store.order", "stores.find"], "arguments": CHEAP}, "store.*")
    assert [each.tools for each in found.conditions] == [frozenset({"stores.find"})]
    assert found.conditional == {"stores.find"}


SAME = [
    r"^[A-Z]{2}-[0-9]+$",
    r"\bfoo\B",
    r"^(?:a|b)*?$",
    r"^(?<year>[0-9]{4})$",
    r"^[\-a\]]$",
    r"[^\x00-\x7F]",
    r"\u00e9|\u{1F600}|\p{L}|\P{Script=Latin}",
    r"[\w-]",
    r"^\/[\s\S]+\.$",
    r"[a-z-9]",
]
CHANGED = [
    (r"^https\:\/\/", r"^https:\/\/"),
    (r"\-\_\@\#\ \<", "-_@# <"),
    (r"^[a\&b\-\_]$", r"^[a\x26b\-_]$"),
    (r"^[\w-.]+$", r"^[\w\-.]+$"),
    (r"[a-\d]", r"[a\-\d]"),
    ("^[a&&b]$", r"^[a&\x26b]$"),
    ("^[--a]$", r"^[\--a]$"),
    ("^[[a]$", r"^[\[a]$"),
    ("^[]a]$", r"^[\]a]$"),
    ("^[^]$", r"^[\s\S]$"),
    ("[[:alpha:]_]", "[A-Za-z_]"),
    ("^{a}$", r"^\{a\}$"),
    ("^]$", r"^\]$"),
    ("a{ 2, }", "a{2,}"),
    ("a++", "(?:a+)+"),
    ("(a|b){2}{3}", "(?:(a|b){2}){3}"),
    ("^*a", "(?:^)*a"),
    ("(?P<y>[0-9]{4})", "(?:[0-9]{4})"),
    (r"\Aab\z", "^ab$"),
    (r"\pL\p{Latin}", r"\p{L}\p{Script=Latin}"),
    (r"\x{41}\x{20ac}\cA\0", r"\x41\u20ac\x01\x00"),
]


@pytest.mark.parametrize("pattern", SAME)
def test_a_pattern_that_engines_share_is_not_changed(pattern):
    assert shared_form(pattern) == pattern
    Validator({"pattern": pattern})


@pytest.mark.parametrize(("pattern", "form"), CHANGED)
def test_a_pattern_that_only_some_compile_is_rewritten(pattern, form):
    assert shared_form(pattern) == form
    assert shared_form(form) == form
    Validator({"pattern": form})


@pytest.mark.parametrize(
    "pattern",
    [
        *(
            "(?i)abc",
            "(?>a)",
            r"\h",
            r"\R",
            r"\a",
            r"\012",
            r"(a)\1",
            "a{,5}",
            "*a",
            "(a",
            "a)",
            "[]",
        ),
        *(r"\p{IsL}", r"\uD83D", "[a", "[[:of:]]", "a\\"),
    ],
)
def test_a_pattern_without_such_a_form_has_none(pattern):
    assert shared_form(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "texts", "others"),
    [
        (r"^[\w-.]+$", ["a-.", "-"], ["+", ","]),
        ("^[a&&b]$", ["a", "&", "b"], [""]),
        ("^[]a]$", ["]", "a"], ["b", "a]"]),
        ("^{a}$", ["{a}"], ["a"]),
        (r"^\<a\>$", ["<a>"], ["a"]),
        ("^a{ 2 }$", ["aa"], ["a", "a{ 2 }"]),
    ],
)
def test_the_form_admits_what_the_pattern_means(pattern, texts, others):
    validator = Validator({"pattern": shared_form(pattern)})
    assert [validator.admits(each) for each in texts] == [True] * len(texts)
    assert not any(map(validator.admits, others))
