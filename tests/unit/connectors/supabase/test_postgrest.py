"""What PostgREST is asked, and what its answers become."""

from typing import Any

import pytest

from gateway.connectors.supabase.tools import PostgrestTables, conditions, ordering
from gateway.contract.rows.tables import Filter, Order, RowConflict, Selection, TooManyRows
from gateway.contract.upstream import Reply, UpstreamRequest
from gateway.contract.values.jsontext import encode
from gateway.errors import (
    InvalidReply,
    UpstreamNotSetUp,
    UpstreamRateLimited,
    UpstreamRefusedCredentials,
    UpstreamRejected,
    UpstreamUnavailable,
)
from tests.postgrest import backends
from tests.unit.tables import each_of

JSON = {"content-type": "application/json; charset=utf-8"}
MINE = [Filter(column="id", operator="eq", value="a")]


class Answering:
    """A backend that gives one answer for ever."""

    name = "live"
    problem = None

    def __init__(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        text = body if isinstance(body, bytes) else encode(body)
        self.reply = Reply(status=status, headers=headers or JSON, body=text)
        self.sent: list[UpstreamRequest] = []

    async def send(
        self, request: UpstreamRequest, *, timeout_seconds: float, is_cut_short: bool = False
    ) -> Reply:
        self.sent.append(request)
        return self.reply

    async def close(self) -> None:
        """Nothing is held."""


def tables(backend: Answering, tool: str = "supabase.update") -> PostgrestTables:
    context = backends.context(backends.StepClock(), backend, None, tool, lying=backends.shapes())
    return PostgrestTables(context)


def error(code: str | None, message: str = "secret of the caller") -> dict[str, Any]:
    return {"code": code, "message": message, "details": None, "hint": None}


def said(operator: str, value: Any) -> str:
    [[text]] = conditions([Filter(column="c", operator=operator, value=value)]).values()
    return text


@each_of(
    ("operator", "value", "text"),
    [
        ("eq", "a", "eq.a"),
        ("eq", "a,b.(c)", "eq.a,b.(c)"),
        ("eq", "null", "eq.null"),
        ("eq", None, "is.null"),
        ("is", None, "is.null"),
        ("neq", None, "not.is.null"),
        ("is", True, "is.true"),
        ("eq", False, "eq.false"),
        ("gt", 10, "gt.10"),
        ("gt", 0.1, "gt.0.1"),
        ("lte", 1e300, "lte.1e+300"),
        ("like", "a%_\\%", "like.a%_\\%"),
        ("in", ("a", 'b"c', "d\\e", "f,g)", ""), 'in.("a","b\\"c","d\\\\e","f,g)","")'),
        ("in", (1, 2.5), 'in.("1","2.5")'),
    ],
)
def test_a_condition_is_an_operator_and_its_operand(operator, value, text) -> None:
    assert said(operator, value) == text


def test_conditions_of_one_column_repeat_its_parameter() -> None:
    low, high = (
        Filter(column="rank", operator="gte", value=1),
        Filter(column="rank", operator="lt", value=4),
    )

    assert conditions([low, *MINE, high]) == {"rank": ["gte.1", "lt.4"], "id": ["eq.a"]}


def test_rows_are_sorted_by_the_key_last() -> None:
    rank, key = Order(column="rank", is_ascending=False), Order(column="id", is_ascending=False)

    assert ordering([]) == "id.asc.nullslast"
    assert ordering([rank]) == "rank.desc.nullslast,id.asc.nullslast"
    assert ordering([key, rank]) == "id.desc.nullslast,rank.desc.nullslast"


async def test_a_change_is_bounded_and_answers_the_columns_of_the_contract() -> None:
    backend = Answering(200, [])

    await tables(backend).update("quotes", MINE, {"notes": "x"})

    [request] = backend.sent
    assert (request.method, request.path, request.body) == ("PATCH", ("quotes",), {"notes": "x"})
    query = dict(request.query)
    assert query["id"] == "eq.a"
    assert query["select"].split(",") == list(backends.shapes()["quotes"].columns)
    assert dict(request.headers)["Prefer"] == (
        "return=representation, handling=strict, max-affected=1000"
    )


async def test_a_new_row_leaves_the_defaults_to_the_database() -> None:
    backend = Answering(409, error("23505"))

    with pytest.raises(RowConflict):
        await tables(backend).insert(
            "quotes", [{"id": "a", "notes": "x"}, {"id": "b", "rfp_id": "r"}]
        )

    [request] = backend.sent
    assert dict(request.query)["columns"] == "id,rfp_id,notes"
    assert dict(request.headers)["Prefer"] == "return=representation, missing=default"


@each_of(
    ("status", "body", "kind"),
    [
        (409, error("23505"), RowConflict),
        (409, error("23503"), RowConflict),
        (400, error("PGRST124"), TooManyRows),
        (400, error("22P02"), UpstreamRejected),
        (400, {"message": "from another gateway"}, UpstreamNotSetUp),
        (401, error("PGRST301"), UpstreamRefusedCredentials),
        (401, {"message": "Invalid API key", "hint": "Double check"}, UpstreamRefusedCredentials),
        (401, {"message": "Who are you?"}, UpstreamNotSetUp),
        (403, error("42501"), UpstreamNotSetUp),
        (404, error("PGRST205"), UpstreamNotSetUp),
        (416, error("PGRST103"), UpstreamRejected),
        (429, error(None), UpstreamRateLimited),
        (500, error("40001"), UpstreamUnavailable),
        (500, error("40P01"), UpstreamUnavailable),
        (500, error("57014"), UpstreamUnavailable),
        (500, error("42P17"), UpstreamNotSetUp),
        (503, error("PGRST002"), UpstreamUnavailable),
        (504, error("PGRST003"), UpstreamUnavailable),
        (200, b"[{", InvalidReply),
        (200, {"id": "a"}, InvalidReply),
        (200, [{"id": 7}], InvalidReply),
        (200, [{"id": "a", "secret": 1}], InvalidReply),
        (200, [{"id": "a"}], InvalidReply),
        (204, b"", InvalidReply),
    ],
)
async def test_every_answer_becomes_the_right_error(status, body, kind) -> None:
    with pytest.raises(kind) as failed:
        await tables(Answering(status, body)).update("quotes", MINE, {"notes": "x"})

    assert "secret of the caller" not in str(failed.value)


async def test_an_answer_that_is_no_json_is_refused() -> None:
    page = Answering(200, b"<html>", {"content-type": "text/html"})

    with pytest.raises(InvalidReply):
        await tables(page, "supabase.query").select(Selection(table="quotes"))


async def test_the_code_of_a_refusal_is_reported() -> None:
    with pytest.raises(UpstreamRejected) as failed:
        await tables(Answering(400, error("22P02"))).delete("quotes", MINE)

    assert failed.value.detail == "The upstream answered 400: 22P02."


@pytest.mark.parametrize(
    ("row", "pointer"),
    [
        ({"id": "b", "secret": 1}, "/1/secret"),
        ({"id": "b", "created_at": "0001-01-01T00:00:00Z"}, "/1/created_at"),
    ],
)
async def test_a_broken_row_costs_that_row_and_is_pointed_at(row, pointer) -> None:
    wanted = Selection(table="quotes", columns=("id",))
    context = backends.context(
        backends.StepClock(),
        Answering(200, [{"id": "a"}, row]),
        None,
        "supabase.query",
        lying=backends.shapes(),
    )

    rows = await PostgrestTables(context).select(wanted)

    assert [each["id"] for each in rows] == ["a"]
    [told] = context._sending.left_out
    assert told.startswith(f"{pointer}: ")


async def test_where_every_row_is_broken_the_reply_is() -> None:
    page = Answering(200, [{"id": 1}, {"id": 2}])

    with pytest.raises(InvalidReply) as failed:
        await tables(page, "supabase.query").select(Selection(table="quotes", columns=("id",)))

    assert "/0/id" in [violation.pointer for violation in failed.value.violations]


async def test_an_insert_that_shows_no_row_that_was_sent_is_refused() -> None:
    with pytest.raises(InvalidReply):
        await tables(Answering(201, []), "supabase.insert").insert("quotes", [{"id": "a"}])
