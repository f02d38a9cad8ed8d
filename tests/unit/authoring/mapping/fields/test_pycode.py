"""Python text: literals that read back, names that stay apart."""

import ast
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gateway.authoring.mapping.fields.pycode import Module, literal, snake
from tests.unit.tables import each_of

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=200),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_a_literal_reads_back_as_the_same_value(value: Any) -> None:
    assert repr(ast.literal_eval(literal(value))) == repr(value)


@given(st.text(alphabet="ab cd", min_size=73, max_size=400))
def test_a_long_text_is_broken_into_short_parts(text: str) -> None:
    parts = ast.parse(literal(text), mode="eval")

    assert ast.literal_eval(parts) == text
    assert all(len(part) <= 75 for part in literal(text)[1:-1].split("' '"))


@each_of(
    ("name", "part"),
    [
        ("maxPax", "max_pax"),
        ("page[size]", "page_size"),
        ("X-Rate-Limit", "x_rate_limit"),
        ("HTTPStatus2", "http_status_2"),
        ("date_range", "date_range"),
        ("$%", "value"),
        ("日本", "value"),
    ],
)
def test_contract_names_become_parts_of_python_names(name: str, part: str) -> None:
    assert snake(name) == part


def test_equal_names_take_as_many_parents_as_they_need() -> None:
    module = Module()

    assert module.constant(("a", "kind"), "1") == "_KIND"
    assert module.constant(("b", "kind"), "2") == "_B_KIND"
    assert module.constant(("b", "kind"), "3") == "_B_KIND_2"
    assert module.function(("quotes",)) == "_quote"


def test_an_imported_name_that_is_taken_goes_by_another() -> None:
    module = Module()

    assert module.use("one.shop", "price") == "price"
    assert module.use("two.store", "price") == "store_price"
    assert module.use("two.store", "price") == "store_price"
    assert module.word("text") == "text"
    assert "from two.store import price as store_price\n" in module.text("S.", "D.", "1")
