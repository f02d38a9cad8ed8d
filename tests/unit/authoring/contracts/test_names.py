"""Contract names become Python names, the same way every time."""

import pytest

from gateway.authoring.contracts.names import camel, identifier, shortest_free, singular
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
