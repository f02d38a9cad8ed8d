"""What callers say is bound, never written into a statement."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.dialects import postgresql, sqlite

from gateway.contract.rows.rows import shape_of
from gateway.contract.rows.tables import Filter, Order, Selection
from gateway.store.sql.row_statements import Statements, glob
from gateway.workspace import tables_of

DIALECTS = {"sqlite": sqlite.dialect(), "postgresql": postgresql.dialect()}
NOTHING = {"type": "object", "required": ["id"]}
hostile = st.one_of(
    st.text(max_size=20),
    st.sampled_from(["'; drop table t; --", '"', "`", "%(x)s", ":x", "$1", "?", "/*", "\\", "%%"]),
)
operators = st.sampled_from(["eq", "neq", "gt", "gte", "lt", "lte", "like", "ilike"])


def statements(table: str, column: str, dialect: str) -> Statements:
    moment = {"type": "string", "format": "date-time", "readOnly": True}
    properties = {
        "id": {"type": "string"},
        column: {"type": ["string", "null"]},
        "created_at": moment,
        "updated_at": moment,
    }
    shape = shape_of(table, {**NOTHING, "properties": properties})
    return Statements(shape, tables_of([shape])[table], dialect)


def texts(made: Statements, dialect: str, filters: list[Filter], value: str) -> list[str]:
    """The SQL of everything that can be asked with these values."""
    order = (Order(column=filters[0].column),)
    selection = Selection(table=made.insertion.table.name, filters=tuple(filters), order=order)
    changes = {filters[0].column: value}
    asked = [
        made.select(selection),
        made.count(filters),
        made.update(filters, changes),
        made.delete(filters),
        made.insertion,
    ]
    return [str(each.compile(dialect=DIALECTS[dialect])) for each in asked]


@given(values=st.lists(hostile, min_size=3, max_size=3), operator=operators)
def test_the_same_statement_is_made_for_every_value(values, operator) -> None:
    for dialect in DIALECTS:
        made = statements("books", "title", dialect)

        def asked(first: str, second: str, third: str, made=made, dialect=dialect) -> list[str]:
            filters = [
                Filter(column="title", operator=operator, value=first),
                Filter(column="title", operator="in", value=(second, third)),
            ]
            return texts(made, dialect, filters, third)

        assert asked(*values) == asked("a", "b", "c")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_name_that_is_no_plain_word_is_quoted(dialect) -> None:
    """Names are the contract's, and even there none could leave its quotes."""
    name = 'a"b; drop table t; --'
    made = statements("t", name, dialect)

    asked = texts(made, dialect, [Filter(column=name, operator="neq", value=None)], "v")

    assert all('"a""b; drop table t; --"' in each for each in asked if "INSERT" not in each)
    assert all(name not in each.replace('"a""b; drop table t; --"', "") for each in asked)


def test_a_pattern_becomes_a_glob() -> None:
    assert glob("a%b_c") == "a*b?c"
    assert glob("*?[]") == "[*][?][[]]"
    assert glob("\\%\\_\\\\\\*") == "%_\\[*]"
