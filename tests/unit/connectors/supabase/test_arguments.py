"""Whatever callers say of columns, only those of the contract are asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.connectors.supabase.tools import (
    changes_of,
    filters_of,
    new_rows_of,
    selection_of,
)
from gateway.contract.rows.rows import holds_nul, shape_of
from gateway.errors import InvalidArguments
from tests.unit.tables import each_of

MOMENT = {"type": "string", "format": "date-time", "readOnly": True}
SHAPE = shape_of(
    "books",
    {
        "type": "object",
        "required": ["id", "title", "created_at", "updated_at"],
        "properties": {
            "id": {"type": "string"},
            "title": {"type": "string"},
            "price": {"type": ["number", "null"]},
            "stock": {"type": ["integer", "null"]},
            "facts": {"type": ["object", "null"]},
            "sold_at": {"type": ["string", "null"], "format": "date-time"},
            "created_at": MOMENT,
            "updated_at": MOMENT,
        },
    },
)
names = st.text(max_size=30)
scalars = st.one_of(
    st.none(), st.booleans(), st.text(max_size=30), st.integers(), st.floats(allow_nan=False)
)
kinds = {"text": str, "number": int | float, "integer": int, "moment": str}


@given(name=names.filter(lambda name: name not in SHAPE.columns), value=scalars)
def test_a_name_that_is_no_column_is_refused_wherever_it_stands(name, value) -> None:
    for ask in (
        lambda: filters_of(SHAPE, {name: value}),
        lambda: selection_of(SHAPE, {"orderBy": {"column": name}}),
        lambda: selection_of(SHAPE, {"select": f"id,{name}x"}),
        lambda: new_rows_of(SHAPE, {"title": "t", name: value}),
        lambda: changes_of(SHAPE, {name: value}),
    ):
        with pytest.raises(InvalidArguments) as refused:
            ask()
        assert refused.value.violations


@given(
    column=st.sampled_from(sorted(SHAPE.columns)),
    operator=st.sampled_from(["eq", "neq", "gt", "gte", "lt", "lte"]),
    value=scalars,
)
def test_a_condition_that_passes_holds_a_value_of_its_column(column, operator, value) -> None:
    try:
        [made] = filters_of(SHAPE, {column: {operator: value}})
    except InvalidArguments:
        return
    kind = SHAPE.columns[column].kind
    assert made.value is None or isinstance(made.value, kinds[kind])
    assert not isinstance(made.value, bool)
    assert not holds_nul(made.value)


@each_of(
    ("given_", "canonical"),
    [
        ({"price": 10.0}, 10),
        ({"price": -0.0}, 0),
        ({"price": 0.1}, 0.1),
        ({"stock": 3.0}, 3),
        ({"stock": 2**53 + 1}, 2**53 + 1),
        ({"sold_at": "2025-11-01T12:00:00.5+02:00"}, "2025-11-01T10:00:00.500000Z"),
        ({"sold_at": "2025-11-01t12:00:00z"}, "2025-11-01T12:00:00Z"),
        ({"sold_at": "2016-12-31T23:59:60Z"}, "2016-12-31T23:59:59Z"),
        ({"sold_at": None}, None),
        ({"facts": {"a": 1.0}}, {"a": 1.0}),
    ],
)
def test_values_take_one_form(given_, canonical) -> None:
    [value] = changes_of(SHAPE, given_).values()
    assert value == canonical
    assert str(value) == str(canonical)


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 1e300, 1.5, True, "1"])
def test_what_no_integer_column_holds_is_refused(value) -> None:
    with pytest.raises(InvalidArguments):
        filters_of(SHAPE, {"stock": value})


def test_the_refusal_of_an_unknown_column_names_the_known_ones() -> None:
    with pytest.raises(InvalidArguments) as refused:
        filters_of(SHAPE, {"secret_column": "secret value"})

    [violation] = refused.value.violations
    assert violation.pointer == "/filters/secret_column"
    assert violation.detail.startswith("is not a column of books, which has id, title, price,")
    assert "secret" not in violation.detail


def test_every_column_is_selected_once_in_the_order_asked_for() -> None:
    assert selection_of(SHAPE, {"select": "title , id,title"}).columns == ("title", "id")
    assert selection_of(SHAPE, {}).columns == ()
    assert selection_of(SHAPE, {"select": "*"}).columns == ()
