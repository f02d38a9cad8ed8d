"""What every home of a tool's tables does: the workspace in three databases, and PostgREST."""

import asyncio
import itertools
import re
from collections.abc import AsyncIterator

import pytest

from gateway.contract.rows.tables import (
    Filter,
    Order,
    RowConflict,
    Selection,
    Tables,
    TooManyRows,
)
from tests.postgres import run
from tests.postgrest import backends

KINDS = [
    "memory",
    "sqlite",
    "mock",
    pytest.param("postgres", marks=pytest.mark.postgres),
    pytest.param("postgrest", marks=pytest.mark.postgres),
]
HOSTILE = [
    "",
    " ",
    "null",
    "true",
    "0",
    "it's",
    'say "hi"',
    "a,b",
    "(a)",
    "a.b:c",
    "not.is.null",
    "eq.1",
    "back\\slash",
    "trailing\\",
    '\\"',
    "100%",
    "a_b",
    "a*b",
    "[a]",
    "?x=1&y=2#z",
    "a+b",
    "line\nbreak",
    "tab\t",
    "'; drop table quotes; --",
    "$1",
    ":name",
    "%(name)s",
    "é",
    "É",
    "ß",
    "日本",
    "😀",
    "\u2028",
    "{a}",
    "\x01",
    "\x7f",
]


@pytest.fixture(params=KINDS)
def kind(request) -> str:
    return request.param


@pytest.fixture
def place(kind, tmp_path, request) -> str:
    """Where the tables of this kind are to lie."""
    if kind in {"memory", "mock"}:
        return "memory:"
    if kind == "sqlite":
        return f"sqlite:///{tmp_path}/workspace.db"
    lying = {"postgres": "workspace", "postgrest": "upstream"}
    return request.getfixturevalue("prepared_url")(lying[kind])


@pytest.fixture
async def tables(kind, place) -> AsyncIterator[Tables]:
    """Empty tables of each kind in turn."""
    opening = {"postgrest": backends.postgrest, "mock": backends.mocked}
    async with opening.get(kind, backends.workspace)(place) as found:
        yield backends.tables_of(found)


def where(column: str, operator: str, value: object) -> Filter:
    return Filter(column=column, operator=operator, value=value)


def quote(number: int, **changes: object) -> dict[str, object]:
    return {"id": f"q{number}", "rfp_id": "rfp-1", **changes}


async def found(tables: Tables, *filters: Filter, **parts: object) -> list[str]:
    """The ids of the quotes that match."""
    asked = Selection(table="quotes", columns=("id",), filters=filters, **parts)
    return [row["id"] for row in await tables.select(asked)]


async def test_a_row_comes_back_with_every_column(tables: Tables) -> None:
    details = {"nested": [1, 2.5, "x", None, True, {"é": "\u2028"}], "empty": {}}
    given = quote(
        1,
        operator_rating=4.8,
        flight_minutes=150,
        valid_until="2025-11-02T08:00:00.250000Z",
        amenities=["wifi", "bed"],
        details=details,
    )

    stored = await tables.insert("quotes", [given])

    [row] = stored
    assert list(row) == list(backends.shapes()["quotes"].columns)
    assert {name: row[name] for name in given} == given
    assert row["status"] == "received"
    assert row["notes"] is None
    assert row["created_at"] == row["updated_at"]
    assert row["created_at"].endswith("Z")
    assert await tables.select(Selection(table="quotes")) == stored


async def test_other_kinds_of_values_come_back_as_they_were(tables: Tables) -> None:
    given = {
        "id": "e1",
        "agent_type": "flight_search",
        "error_type": "timeout",
        "is_resolved": True,
        "retry_count": 100_000,
        "occurred_at": "0001-01-01T00:00:00.000001Z",
    }
    client = {"id": "c1", "last_flight_date": "2024-02-29", "preferred_operators": []}

    [error] = await tables.insert("agent_errors", [given])
    [cached] = await tables.insert("client_cache", [client])

    assert {name: error[name] for name in given} == given
    assert {name: cached[name] for name in client} == client


async def test_rows_are_answered_in_the_order_given(tables: Tables) -> None:
    rows = [quote(number) for number in (3, 1, 2)]

    assert [row["id"] for row in await tables.insert("quotes", rows)] == ["q3", "q1", "q2"]


async def test_rows_that_give_different_columns_keep_the_defaults(tables: Tables) -> None:
    rows = [quote(1, status="accepted"), quote(2, notes="late")]

    stored = await tables.insert("quotes", rows)

    assert [(row["status"], row["notes"]) for row in stored] == [
        ("accepted", None),
        ("received", "late"),
    ]


async def test_of_rows_with_a_conflict_none_is_stored(tables: Tables) -> None:
    await tables.insert("quotes", [quote(1)])

    with pytest.raises(RowConflict):
        await tables.insert("quotes", [quote(2), quote(1), quote(3)])

    assert await found(tables) == ["q1"]


async def test_one_of_many_wins_a_key(tables: Tables) -> None:
    attempts = [tables.insert("quotes", [quote(1, notes=str(each))]) for each in range(12)]

    outcomes = await asyncio.gather(*attempts, return_exceptions=True)

    won = [each for each in outcomes if isinstance(each, list)]
    lost = [each for each in outcomes if isinstance(each, RowConflict)]
    assert (len(won), len(lost)) == (1, 11)
    assert await tables.select(Selection(table="quotes")) == won[0]


FOUND = [
    (("total_price_usd", "eq", 20), "b"),
    (("total_price_usd", "eq", 20.5), ""),
    (("total_price_usd", "neq", 20), "ac"),
    (("total_price_usd", "gt", 10), "bc"),
    (("total_price_usd", "gte", 10.0), "abc"),
    (("total_price_usd", "lt", 30.25), "ab"),
    (("total_price_usd", "lte", 30.25), "abc"),
    (("total_price_usd", "in", (10, 30.25, 99)), "ac"),
    (("total_price_usd", "is", None), "d"),
    (("total_price_usd", "eq", None), "d"),
    (("total_price_usd", "neq", None), "abc"),
    (("flight_minutes", "gte", 90), "bc"),
    (("flight_minutes", "in", (60,)), "a"),
    (("valid_until", "eq", "2025-11-02T08:00:00Z"), "b"),
    (("valid_until", "lt", "2025-11-02T08:00:00Z"), "a"),
    (("valid_until", "gt", "2025-11-02T08:00:00Z"), "c"),
    (("valid_until", "in", ("2025-11-01T08:00:00Z",)), "a"),
    (("operator_name", "eq", "Ärzte"), "c"),
    (("operator_name", "gt", "Z"), "ac"),
    (("operator_name", "lt", "a"), "b"),
    (("operator_name", "neq", "abc"), "bc"),
    (("operator_name", "in", ("abc", "ABC")), "ab"),
    (("operator_name", "like", "%b%"), "a"),
    (("operator_name", "like", "ABC"), "b"),
    (("operator_name", "ilike", "%B%"), "ab"),
    (("operator_name", "ilike", "ärzte"), ""),
    (("operator_name", "like", "_rzte"), "c"),
    (("details", "is", None), "bcd"),
    (("details", "neq", None), "a"),
]


async def test_a_condition_finds_the_rows_it_holds_for(tables: Tables) -> None:
    await tables.insert(
        "quotes",
        [
            {
                "id": "a",
                "rfp_id": "r",
                "total_price_usd": 10,
                "flight_minutes": 60,
                "operator_name": "abc",
                "valid_until": "2025-11-01T08:00:00Z",
                "details": {"a": 1},
            },
            {
                "id": "b",
                "rfp_id": "r",
                "total_price_usd": 20,
                "flight_minutes": 90,
                "operator_name": "ABC",
                "valid_until": "2025-11-02T08:00:00Z",
            },
            {
                "id": "c",
                "rfp_id": "r",
                "total_price_usd": 30.25,
                "flight_minutes": 120,
                "operator_name": "Ärzte",
                "valid_until": "2025-11-02T08:00:00.000001Z",
            },
            {"id": "d", "rfp_id": "r"},
        ],
    )

    for condition, expected in FOUND:
        assert await found(tables, where(*condition)) == list(expected), condition


TRUTHS = [
    (("is_resolved", "is", True), ["e1"]),
    (("is_resolved", "is", False), ["e2"]),
    (("is_resolved", "eq", False), ["e2"]),
    (("is_resolved", "in", (True, False)), ["e1", "e2"]),
]


async def test_truth_is_compared(tables: Tables) -> None:
    common = {"agent_type": "a", "error_type": "b"}
    rows = [{"id": "e1", "is_resolved": True, **common}, {"id": "e2", **common}]
    await tables.insert("agent_errors", rows)

    for condition, expected in TRUTHS:
        answer = await tables.select(
            Selection(table="agent_errors", columns=("id",), filters=(where(*condition),))
        )
        assert [row["id"] for row in answer] == expected, condition


async def test_dates_are_compared(tables: Tables) -> None:
    days = ["2023-12-31", "2024-02-29", None]
    rows = [{"id": f"c{n}", "last_flight_date": day} for n, day in enumerate(days)]
    await tables.insert("client_cache", rows)

    later = (where("last_flight_date", "gt", "2023-12-31"),)
    answer = await tables.select(Selection(table="client_cache", filters=later))

    assert [row["last_flight_date"] for row in answer] == ["2024-02-29"]


async def test_all_conditions_must_hold(tables: Tables) -> None:
    rows = [quote(n, total_price_usd=n * 10, status=s) for n, s in ((1, "x"), (2, "x"), (3, "y"))]
    await tables.insert("quotes", rows)

    both = where("total_price_usd", "gte", 20), where("total_price_usd", "lt", 30)

    assert await found(tables, *both) == ["q2"]
    assert await found(tables, *both, where("status", "eq", "y")) == []


async def test_hostile_text_is_only_text(tables: Tables) -> None:
    rows = [quote(number, notes=text) for number, text in enumerate(HOSTILE)]
    stored = await tables.insert("quotes", rows)
    assert [row["notes"] for row in stored] == HOSTILE

    for number, text in enumerate(HOSTILE):
        assert await found(tables, where("notes", "eq", text)) == [f"q{number}"], text
        assert await found(tables, where("notes", "in", (text, "absent"))) == [f"q{number}"], text
    everything = where("notes", "in", tuple(HOSTILE))
    assert len(await found(tables, everything, limit=1000)) == len(HOSTILE)


async def test_patterns_mean_the_same_everywhere(tables: Tables) -> None:
    alphabet = ["a", "A", "%", "_", "[", "]", "?", "^", "é", "\\"]
    texts = [
        "".join(each) for size in (0, 1, 2) for each in itertools.product(alphabet, repeat=size)
    ]
    await tables.insert("quotes", [quote(n, notes=text) for n, text in enumerate(texts)])
    patterns = ["a", "_", "%", "a%", "%a", "_a", "\\%", "\\_%", "%\\\\", "[a]", "?", "[^a]", "%]%"]

    for pattern, operator in itertools.product(patterns, ("like", "ilike")):
        wanted = {f"q{n}" for n, text in enumerate(texts) if matches(text, pattern, operator)}
        answered = await found(tables, where("notes", operator, pattern), limit=1000)
        assert set(answered) == wanted, (pattern, operator)


def matches(text: str, pattern: str, operator: str) -> bool:
    """LIKE as the SQL standard has it, with `\\` to make a character plain."""
    tokens = re.findall(r"\\.|.", pattern)
    expression = "".join({"%": ".*", "_": "."}.get(token, re.escape(token[-1])) for token in tokens)
    flags = re.DOTALL | (re.IGNORECASE | re.ASCII if operator == "ilike" else 0)
    return re.fullmatch(expression, text, flags) is not None


SORTED = [
    ("total_price_usd", True, ["q3", "q1", "q2", "q4"]),
    ("total_price_usd", False, ["q1", "q2", "q3", "q4"]),
    ("operator_name", True, ["q2", "q1", "q3", "q4"]),
    ("operator_name", False, ["q3", "q1", "q2", "q4"]),
    ("id", False, ["q4", "q3", "q2", "q1"]),
]


async def test_rows_are_sorted_with_nothing_last(tables: Tables) -> None:
    prices = {1: 20, 2: 20, 3: 5, 4: None}
    names = {1: "a", 2: "B", 3: "é", 4: None}
    rows = [quote(n, total_price_usd=prices[n], operator_name=names[n]) for n in (4, 2, 3, 1)]
    await tables.insert("quotes", rows)

    for column, is_ascending, expected in SORTED:
        order = (Order(column=column, is_ascending=is_ascending),)
        assert await found(tables, order=order) == expected, (column, is_ascending)


async def test_without_an_order_rows_follow_their_key(tables: Tables) -> None:
    await tables.insert("quotes", [quote(n) for n in (5, 2, 9, 1)])

    assert await found(tables) == ["q1", "q2", "q5", "q9"]
    assert await found(tables, limit=2) == ["q1", "q2"]
    assert await found(tables, limit=2, offset=3) == ["q9"]
    assert await found(tables, offset=4) == []


async def test_only_the_columns_asked_for_are_answered(tables: Tables) -> None:
    await tables.insert("quotes", [quote(1, notes="x")])

    asked = Selection(table="quotes", columns=("notes", "id"))

    assert [list(row.items()) for row in await tables.select(asked)] == [
        [("notes", "x"), ("id", "q1")]
    ]


async def test_an_update_answers_the_rows_as_they_are_now(tables: Tables) -> None:
    before = await tables.insert("quotes", [quote(n, notes="x") for n in (2, 1, 3)])
    by_id = {row["id"]: row for row in before}

    changed = await tables.update(
        "quotes", [where("id", "in", ("q2", "q1"))], {"status": "accepted", "notes": None}
    )

    assert [(row["id"], row["status"], row["notes"]) for row in changed] == [
        ("q1", "accepted", None),
        ("q2", "accepted", None),
    ]
    for row in changed:
        assert row["created_at"] == by_id[row["id"]]["created_at"]
        assert row["updated_at"] > by_id[row["id"]]["updated_at"]
    assert (await tables.select(Selection(table="quotes")))[2] == by_id["q3"]


async def test_what_matches_nothing_changes_nothing(tables: Tables) -> None:
    await tables.insert("quotes", [quote(1)])

    assert await tables.update("quotes", [where("id", "eq", "q9")], {"status": "x"}) == []
    assert await tables.delete("quotes", [where("id", "eq", "q9")]) == []
    assert await found(tables) == ["q1"]


async def test_deleted_rows_are_answered_and_gone(tables: Tables) -> None:
    stored = await tables.insert("quotes", [quote(n) for n in (1, 2, 3)])

    gone = await tables.delete("quotes", [where("id", "neq", "q2")])

    assert gone == [stored[0], stored[2]]
    assert await found(tables) == ["q2"]


async def test_more_rows_than_can_be_answered_are_left_alone(tables: Tables) -> None:
    for start in (0, 500, 1000):
        rows = [quote(n) for n in range(start, start + 500) if n <= 1000]
        await tables.insert("quotes", rows)
    everything = [where("rfp_id", "eq", "rfp-1")]

    with pytest.raises(TooManyRows):
        await tables.update("quotes", everything, {"status": "x"})
    with pytest.raises(TooManyRows):
        await tables.delete("quotes", everything)
    assert await found(tables, where("status", "eq", "x")) == []
    assert len(await tables.delete("quotes", [where("id", "neq", "q0")])) == 1000
    assert await found(tables) == ["q0"]


@pytest.mark.postgres
async def test_a_server_that_dropped_every_connection_is_asked_again(workspace_url) -> None:
    async with backends.workspace(workspace_url) as context:
        opened = backends.tables_of(context)
        before = await found(opened)
        await run(
            workspace_url,
            "select pg_terminate_backend(pid) from pg_stat_activity "
            "where datname = current_database() and pid <> pg_backend_pid()",
        )

        assert await found(opened) == before


@pytest.mark.postgres
async def test_two_starts_make_the_tables_once(fresh_url) -> None:
    async with backends.workspace(fresh_url) as one, backends.workspace(fresh_url) as other:
        answers = await asyncio.gather(*(found(backends.tables_of(each)) for each in (one, other)))

    assert answers == [[], []]
