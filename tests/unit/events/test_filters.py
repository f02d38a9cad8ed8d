"""Filters of endpoints and of followers, by type and by content, and cursors."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.catalogue.opening import open_events
from gateway.errors import InvalidArguments, MalformedRequest
from gateway.events.cloudevents import LogPosition, TypeFilter, position_in
from gateway.events.endpoints import check_filter
from tests.unit.tables import each_of

TYPES = st.lists(
    st.text("abc_.123", min_size=1, max_size=8).flatmap(lambda t: st.sampled_from([t, t + "*"])),
    max_size=4,
)
PLACES = st.builds(LogPosition, st.integers(0, 10**17), st.text(max_size=20))


@given(TYPES, st.text("abc_.123", min_size=1, max_size=12))
def test_a_filter_admits_what_one_of_its_patterns_means(types: list[str], event_type: str) -> None:
    expected = not types or any(
        event_type.startswith(each[:-1]) if each.endswith("*") else each == event_type
        for each in types
    )
    assert TypeFilter.of(types).admits(event_type) is expected


@given(PLACES, TYPES)
def test_a_cursor_reports_its_position_and_the_order_of_types_is_no_matter(
    place: LogPosition, types: list[str]
) -> None:
    cursor = place.cursor(TypeFilter.of(types))
    assert position_in(cursor) == place.position
    assert place.cursor(TypeFilter.of([*types[::-1], *types])) == cursor


@given(PLACES, PLACES, TYPES, TYPES)
def test_another_place_or_another_filter_is_another_cursor(
    one: LogPosition, other: LogPosition, types: list[str], others: list[str]
) -> None:
    first, second = TypeFilter.of(types), TypeFilter.of(others)
    is_same = (one, first) == (other, second)
    assert (one.cursor(first) == other.cursor(second)) is is_same


@given(st.text(max_size=40))
def test_any_text_is_a_position_or_none(text: str) -> None:
    position = position_in(text)
    assert position is None or text.startswith(f"{position}.")


@each_of("types", [[""], ["A"], ["a b"], ["*a"], ["a**"], ["é"], ["a" * 201], ["a"] * 51])
def test_what_cannot_be_a_type_is_refused(types: list[str]) -> None:
    with pytest.raises(MalformedRequest):
        TypeFilter.of(types)


EVENTS = open_events(Path(__file__).parents[3] / "generated" / "events.json")
PUBLISHED = {name: each.event.data for name, each in EVENTS.items()}
QUOTE = "gateway.quote.received.v1"


def only(name: str, **rule: Any) -> dict[str, Any]:
    return {"properties": {name: rule}, "required": [name]}


def refusal(content: Any, *types: str) -> list[tuple[str, str]]:
    with pytest.raises(InvalidArguments) as caught:
        check_filter(content, types, PUBLISHED)
    return [(each.pointer, each.detail) for each in caught.value.violations]


@pytest.mark.parametrize(
    "content",
    [
        only("operator_id", const="OP-7"),
        only("currency", enum=["EUR", "CHF"]),
        only("currency", **{"not": {"const": "USD"}}),
        {"description": "Euros", **only("currency", const="EUR", type="string")},
        {"properties": {"trip_id": {"const": "T-1"}}},
    ],
)
def test_a_filter_that_some_quotes_meet_is_accepted(content):
    check_filter(content, [QUOTE], PUBLISHED)


def test_a_filter_of_all_types_need_not_be_met_by_each():
    check_filter(only("operator_id", const="OP-7"), [], PUBLISHED)


@pytest.mark.parametrize(
    ("content", "types"),
    [
        (only("operater_id", const="OP-7"), [QUOTE]),
        (only("operator_id", const=7), [QUOTE]),
        (only("currency", const="euro"), [QUOTE]),
        (only("currency", const="EUR"), [QUOTE, "gateway.endpoint.disabled.v1"]),
        (only("currency", const="EUR"), ["gateway.quote.*", "gateway.endpoint.*"]),
        ({"type": "array"}, []),
    ],
)
def test_a_filter_that_no_event_of_a_type_can_meet_is_refused(content, types):
    [(place, detail)] = refusal(content, *types)
    assert place == "/filter"
    of = f" of the type {types[-1]}" if types else ""
    assert detail.startswith(f"no event{of} has such data; ")


def test_a_misspelt_member_is_named_with_the_nearest_one():
    [(_, detail)] = refusal(only("operater_id", const="OP-7"), QUOTE)
    assert detail.endswith("; there is no operater_id: did you mean operator_id?")
    [(_, detail)] = refusal(only("zzzzzz", const=1))
    assert detail == "no event has such data; there is no zzzzzz: see /asyncapi.json"
    [(_, detail)] = refusal(only("currency", const=7), QUOTE)
    assert detail.endswith("; /asyncapi.json has the schemas of events")


@pytest.mark.parametrize(
    "content", [{}, {"type": "object"}, {"properties": {"operater_id": {"const": "OP-7"}}}]
)
def test_a_filter_that_every_event_meets_is_refused(content):
    [(place, detail)] = refusal(content, QUOTE)
    assert place == "/filter"
    assert "excludes nothing" in detail


@pytest.mark.parametrize(
    ("content", "place", "detail"),
    [
        ({"propertys": {}}, "/filter/propertys", "is not a known property; known are"),
        ({"properties": {"a": {"pattern": "x"}}}, "/filter/properties/a/pattern", "known are"),
        ({"anyOf": [{}]}, "/filter/anyOf", "known are"),
        ({"$ref": "https://example.com/"}, "/filter/$ref", "known are"),
        ({"type": "text"}, "/filter/type", ""),
        ({"required": "currency"}, "/filter/required", "array"),
        ({"properties": {"currency": "EUR"}}, "/filter/properties/currency", "object"),
    ],
)
def test_a_filter_with_another_form_names_the_place(content, place, detail):
    found = refusal(content, QUOTE)
    assert found[0][0] == place
    assert detail in found[0][1]


def test_a_filter_is_small():
    [(place, detail)] = refusal(only("currency", enum=[f"{n:04}" for n in range(1000)]))
    assert (place, "4096 bytes" in detail) == ("/filter", True)
