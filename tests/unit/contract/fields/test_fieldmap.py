"""The words of generated field maps."""

import json
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.contract.fields.fieldmap import (
    ABSENT,
    SKIP,
    SkipItem,
    Unmappable,
    as_boolean,
    as_date,
    as_date_time,
    as_decimal_2,
    as_integer,
    as_number,
    as_string,
    as_time,
    converted,
    count,
    dig,
    each,
    entity_id,
    guarded,
    joined,
    listed,
    mapped,
    needed,
    not_null,
    or_default,
    or_none,
    pairs,
    present,
    reference,
    repeated,
    stated,
    text,
    whole,
)
from gateway.contract.values.schema import Validator
from tests.unit.tables import each_of

POSITIVE = Validator({"type": "integer", "minimum": 1})


@each_of(
    ("steps", "found"),
    [
        (("a", "b"), 1),
        (("a",), {"b": 1}),
        (("z",), ABSENT),
        (("a", "b", "c"), ABSENT),
        (("n",), None),
        (("n", "b"), ABSENT),
        (("l", 1), 6),
        (("l", 2), ABSENT),
        (("l", "b"), ABSENT),
        (("t", 0), ABSENT),
        ((), {"a": {"b": 1}, "n": None, "l": [5, 6], "t": "text"}),
    ],
)
def test_digging_ends_in_absence_where_a_step_leads_nowhere(
    steps: tuple[str | int, ...], found: Any
) -> None:
    assert dig({"a": {"b": 1}, "n": None, "l": [5, 6], "t": "text"}, *steps) == found


def test_absence_travels_through_every_function() -> None:
    """Only what holds a value may drop it."""
    assert dig(ABSENT, "a") is ABSENT
    assert text(ABSENT) is ABSENT
    assert joined(ABSENT, "") is ABSENT
    assert each(ABSENT, str) is ABSENT
    assert count(ABSENT) is ABSENT
    assert converted(ABSENT, as_date, "") is ABSENT
    assert mapped(ABSENT, {}, "") is ABSENT
    assert guarded(ABSENT, POSITIVE, "") is ABSENT
    assert not_null(ABSENT) is ABSENT


def test_absence_ends_where_something_stands_for_it() -> None:
    assert or_default(ABSENT, []) == []
    assert or_default(None, 1) is None
    assert or_none(ABSENT) is None
    assert needed(ABSENT, "", 0) == 0
    assert not_null(None) is ABSENT
    assert not_null(0) == 0


def test_holders_drop_what_is_absent_and_keep_null_and_falsehood() -> None:
    assert present({"a": None, "b": ABSENT, "c": False}) == {"a": None, "c": False}
    assert present({"a": 0}) == {"a": 0}
    assert listed(1, ABSENT, None) == [1, None]
    assert pairs(("a", "1"), ("b", ABSENT)) == (("a", "1"),)
    assert repeated("t", [1, "b", True]) == (("t", "1"), ("t", "b"), ("t", "true"))
    assert repeated("t", ABSENT) == ()


def test_an_object_is_whole_or_absent() -> None:
    assert whole({"a": 1}, {"b": ABSENT}) == {"a": 1}
    assert whole({"a": 1}, {"b": 2}) == {"a": 1, "b": 2}
    assert whole({"a": 1, "c": ABSENT}, {"b": 2}) is ABSENT
    assert whole({"a": 1}) == {"a": 1}


def test_the_limit_counts_results_not_items() -> None:
    def odd(item: int) -> int:
        return guarded(item, Validator({"not": {"multipleOf": 2}}), "", SKIP)  # type: ignore[no-any-return] # passes its argument on

    assert each([1, 2, 3, 4, 5], odd, limit=2) == [1, 3]
    assert each([1, 2, 3, 4, 5], odd, limit=9, keep=lambda item: item > 2) == [3, 5]
    assert each([], odd, limit=2) == []


def test_mapping_stops_at_the_limit() -> None:
    """Items beyond it are not looked at: they may be refused, and nobody asked for them."""
    assert each([1, 2, "x"], as_integer, limit=2) == [1, 2]


def test_items_are_counted_all_or_by_a_condition() -> None:
    assert count([1, 2, 3]) == 3
    assert count([1, 2, 3], lambda item: item > 1) == 2


@each_of(
    ("value", "written"),
    [
        ("a", "a"),
        (True, "true"),
        (False, "false"),
        (None, "null"),
        (20, "20"),
        (20.0, "20"),
        (-0.0, "0"),
        (2**60 + 1, "1152921504606846977"),
        (0.1, "0.1"),
        (1e300, "1e+300"),
    ],
)
def test_scalars_are_written_as_json_readers_expect(value: Any, written: str) -> None:
    assert text(value) == written


@pytest.mark.parametrize("value", [[], {}])
def test_arrays_and_objects_have_no_text(value: Any) -> None:
    with pytest.raises(Unmappable):
        text(value)


def test_joined_texts_refuse_the_separator_without_repeating_the_value() -> None:
    assert joined(["a", 1], "/t") == "a,1"
    with pytest.raises(Unmappable) as refused:
        joined(["secret,b"], "/t")
    assert refused.value.pointer == "/t"
    assert "secret" not in str(refused.value)


CONVERSIONS: list[tuple[Any, Any, Any]] = [
    (as_integer, 3, 3),
    (as_integer, 3.0, 3),
    (as_integer, "-12", -12),
    (as_number, 1.5, 1.5),
    (as_number, "1.5", 1.5),
    (as_number, "-2", -2),
    (as_number, "1e3", 1000.0),
    (as_boolean, True, True),
    (as_boolean, "true", True),
    (as_boolean, "false", False),
    (as_string, 20.0, "20"),
    (as_string, True, "true"),
    (as_string, "", ""),
    (as_decimal_2, 12, "12.00"),
    (as_decimal_2, 0.1, "0.10"),
    (as_decimal_2, "12.345", "12.34"),
    (as_decimal_2, "12.355", "12.36"),
    (as_decimal_2, -0.001, "0.00"),
    (as_decimal_2, 1e22, "10000000000000000000000.00"),
    (as_decimal_2, "99999999999999999999.99", "99999999999999999999.99"),
    (as_date, "2024-02-29", "2024-02-29"),
    (as_date, "2026-11-20T23:30:00-02:00", "2026-11-21"),
    (as_time, "2026-11-20T23:30:59+01:00", "22:30"),
    (as_date_time, "2026-11-20T10:00:00Z", "2026-11-20T10:00:00Z"),
    (as_date_time, "2026-11-20t10:00:00.5z", "2026-11-20T10:00:00.500000Z"),
    (as_date_time, "2026-11-20T10:00:00.123456789+05:30", "2026-11-20T04:30:00.123456Z"),
    (as_date_time, "2016-12-31T23:59:60Z", "2016-12-31T23:59:59Z"),
    (as_date_time, "0999-01-01T00:00:00Z", "0999-01-01T00:00:00Z"),
    (as_date_time, "0001-01-01T00:00:00+01:00", "0001-01-01T00:00:00Z"),
    (as_date_time, "0001-12-31T23:30:00-01:00", "0002-01-01T00:30:00Z"),
    (as_date_time, "0000-02-29T12:00:00Z", "0001-01-01T00:00:00Z"),
    (as_date_time, "9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"),
    (as_date_time, "9999-12-31T23:30:00-01:00", "9999-12-31T23:59:59.999999Z"),
    (as_date, "0000-01-01", "0001-01-01"),
    (as_date, "9999-12-31T23:30:00-01:00", "9999-12-31"),
    (as_time, "9999-12-31T23:30:00-01:00", "00:30"),
    (as_time, "0001-01-01T00:30:00+01:00", "23:30"),
]


@each_of(("convert", "value", "becomes"), CONVERSIONS)
def test_conversions(convert: Any, value: Any, becomes: Any) -> None:
    result = convert(value)

    assert (result, type(result)) == (becomes, type(becomes))


REFUSED: list[tuple[Any, Any]] = [
    (as_integer, 1.5),
    (as_integer, True),
    (as_integer, None),
    (as_integer, ""),
    (as_integer, " 1"),
    (as_integer, "1_000"),
    (as_integer, "\u0661"),
    (as_integer, "1" * 5000),
    (as_number, "nan"),
    (as_number, "Infinity"),
    (as_number, "1e999"),
    (as_number, False),
    (as_number, []),
    (as_boolean, 1),
    (as_boolean, "True"),
    (as_boolean, None),
    (as_string, None),
    (as_string, {}),
    (as_decimal_2, "1,5"),
    (as_decimal_2, "9" * 500),
    (as_decimal_2, True),
    (as_date, "2026-02-30"),
    (as_date, "20260131"),
    (as_date, 20260131),
    (as_date_time, "2026-11-20T10:00:00"),
    (as_date_time, "2026-11-20 10:00:00Z"),
    (as_date_time, "2026-11-20T10:00Z"),
    (as_date_time, "9999-02-29T00:00:00Z"),
    (as_date_time, None),
    (as_time, "10:00"),
]


@each_of(("convert", "value"), REFUSED)
def test_what_does_not_convert_is_refused_and_not_repeated(convert: Any, value: Any) -> None:
    example = "(, such as 2026-12-01(T15:00:00Z)?)?"
    with pytest.raises(ValueError, match=rf"^(is|has) [a-zA-Z0-9 -]+{example}$"):
        convert(value)
    with pytest.raises(Unmappable) as refused:
        converted(value, convert, "/data/*/x")
    assert refused.value.pointer == "/data/*/x"


@pytest.mark.parametrize(
    "attempt",
    [
        lambda last: converted("x", as_integer, "/p", *last),
        lambda last: mapped("x", {"a": 1}, "/p", *last),
        lambda last: guarded(0, POSITIVE, "/p", *last),
        lambda last: needed(ABSENT, "/p", *last),
    ],
)
def test_every_guard_knows_the_same_last_resorts(attempt: Any) -> None:
    with pytest.raises(Unmappable, match=r"^/p: is "):
        attempt(())
    with pytest.raises(SkipItem):
        attempt((SKIP,))
    assert attempt((ABSENT,)) is ABSENT
    assert attempt((None,)) is None


def test_guards_let_pass_what_has_a_place() -> None:
    assert guarded(1, POSITIVE, "") == 1
    assert mapped(True, {"true": None}, "", 1) is None
    assert mapped(2.0, {"2": "two"}, "") == "two"
    assert mapped({"no": "text"}, {"2": "two"}, "", "other") == "other"
    assert converted("2", as_integer, "") == 2
    assert needed(None, "") is None


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_number_has_an_amount_within_half_a_cent(number: float) -> None:
    amount = as_decimal_2(number)

    whole_part, _, cents = amount.partition(".")
    assert len(cents) == 2
    assert whole_part.lstrip("-").isdigit()
    assert abs(Decimal(amount) - Decimal(str(number))) <= Decimal("0.005")


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.booleans() | st.none())
def test_a_scalars_text_reads_back_as_the_same_json_value(value: Any) -> None:
    read = json.loads(text(value))

    assert read == value
    assert isinstance(read, bool) == isinstance(value, bool)


ZONES = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31), timezones=ZONES))  # noqa: DTZ001 - the zone is drawn too
def test_moments_keep_their_instant(moment: datetime) -> None:
    written = moment.isoformat()

    assert datetime.fromisoformat(as_date_time(written)) == moment
    assert as_date_time(written).startswith(f"{as_date(written)}T{as_time(written)}")


def test_an_unmappable_root_is_named_by_a_slash() -> None:
    assert str(Unmappable("", "is absent")) == "/: is absent"


def test_an_empty_setting_is_absent() -> None:
    assert stated({"topic": "news"}, "topic") == "news"
    assert stated({"topic": ""}, "topic") is ABSENT
    assert stated({}, "topic") is ABSENT


def test_a_reference_is_the_id_of_its_row_or_absent() -> None:
    assert reference("quotes", {"number": "Q-1"}) == entity_id("quotes", {"number": "Q-1"})
    assert reference("quotes", ABSENT) is ABSENT
