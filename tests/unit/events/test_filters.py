"""Filters and cursors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import MalformedRequest
from gateway.events.cloudevents import LogPosition, TypeFilter, position_in
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
