"""Shapes of answers hold no value, and what was kept does not drift from itself."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.testing.answer_contract import is_plain
from gateway.testing.answer_shapes import Drift, drifts, kind_of, merged, scalar_shape


def shape(value):
    """The shape of a value that no contract describes."""
    if isinstance(value, dict):
        named = {name: shape(each) for name, each in value.items()}
        return {"type": "object", "properties": named, "required": sorted(named)}
    if not isinstance(value, list):
        return scalar_shape(value)
    found = None
    for each in value:
        found = merged(found, shape(each))
    whole = {"type": "array", "minItems": len(value), "maxItems": len(value)}
    return whole if found is None else whole | {"items": found}


SCALARS = (
    st.none() | st.booleans() | st.integers(0, 9) | st.floats(0, 1) | st.text("xy", max_size=3)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(VALUES, VALUES)
def test_what_was_kept_with_another_answer_has_not_drifted(one, other):
    kept = merged(shape(one), shape(other))
    assert list(drifts(kept, shape(one))) == []
    assert list(drifts(kept, shape(other))) == []
    assert merged(kept, shape(one)) == kept == merged(shape(other), shape(one))


@given(st.text(), st.integers(10**6))
def test_a_shape_has_no_value(text, number):
    written = msgspec.json.encode(shape({"a": f"canary{text}", "b": [number]})).decode()
    assert "canary" not in written
    assert str(number) not in written


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ({"a": 1}, {}, Drift("/a", "it is gone")),
        ({"a": 1}, {"a": 1, "b": "x"}, Drift("/b", "it is new: string")),
        ({"a": 1}, {"a": None}, Drift("/a", "it is null now, and was integer")),
        ({"a": [1]}, {"a": ["x"]}, Drift("/a/*", "it is string now, and was integer")),
        (
            [{"a": {"b": 1}}],
            [{"a": {"b": {}}}],
            Drift("/*/a/b", "it is object now, and was integer"),
        ),
    ],
)
def test_each_kind_of_drift_has_its_place_and_its_words(old, new, found):
    assert list(drifts(shape(old), shape(new))) == [found]


def test_a_listed_value_that_nobody_had_seen_is_named():
    old, new = scalar_shape("free") | {"enum": ["free"]}, scalar_shape("sold") | {"enum": ["sold"]}
    [found] = drifts(old, merged(old, new))
    assert found.what == 'it is "sold" too, which the contract lists and nobody had seen'
    [other] = drifts(old, scalar_shape("lost"))
    assert other.what == "it has other values than the listed ones"


def test_a_name_that_may_be_data_is_not_plain():
    assert all(map(is_plain, ("name", "@id", "dc:title", "address_line_2", "odata.next")))
    assert not any(map(is_plain, ("ann@example.com", "4711", "user_123456", "a b", "x" * 65, "")))


def test_an_integer_is_a_number_beside_a_fraction():
    assert merged(scalar_shape(1), scalar_shape(1.5)) == {"type": "number"}
    assert [kind_of(each) for each in (True, 1, 1.0)] == ["boolean", "integer", "number"]
