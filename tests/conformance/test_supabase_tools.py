"""The tools of `supabase` answer alike whichever database holds the rows."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from importlib import import_module
from itertools import product
from typing import Any

import pytest

from gateway.calls.upstreams import CallUpstreams
from gateway.errors import InvalidArguments, ToolFailed
from tests.postgrest import backends

KINDS = [
    "memory",
    pytest.param("postgres", marks=pytest.mark.postgres),
    pytest.param("postgrest", marks=pytest.mark.postgres),
]
Call = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]


@pytest.fixture(params=KINDS)
def place(request) -> tuple[str, str]:
    """Each kind, and where it may lie."""
    kind = {"memory": None, "postgres": "workspace", "postgrest": "upstream"}[request.param]
    url = request.getfixturevalue("prepared_url")(kind) if kind else "memory:"
    return request.param, url


@pytest.fixture
async def call(place) -> AsyncIterator[Call]:
    """Calls a tool on a database without rows, and holds both sides to the contract."""
    kind, url = place
    opening = backends.postgrest if kind == "postgrest" else backends.workspace
    async with opening(url) as context:
        yield caller(context)


def caller(context: CallUpstreams) -> Call:
    async def call(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        entry = backends.catalogue().find(f"supabase.{tool}")
        assert entry.input.violations(arguments) == ()
        result = await import_module(f"generated.bindings.supabase.{tool}").BINDING.run(
            arguments, context
        )
        assert entry.output.violations(result) == ()
        return json.loads(json.dumps(result))

    return call


async def violations(call: Call, tool: str, arguments: dict[str, Any]) -> list[str]:
    with pytest.raises(InvalidArguments) as refused:
        await call(tool, arguments)
    return [each.pointer for each in refused.value.violations]


WORKFLOW = {
    "request_id": "req-123",
    "state": "CREATED",
    "priority": "high",
    "metadata": {"urgency": "urgent"},
}


async def test_work_is_begun_found_and_finished(call: Call) -> None:
    made = await call("insert", {"table": "iso_workflows", "data": WORKFLOW})
    [row] = made["rows"]
    assert made["count"] == 1
    assert {name: row[name] for name in WORKFLOW} == WORKFLOW
    mine = {"request_id": "req-123"}

    seen = await call(
        "query", {"table": "iso_workflows", "filters": mine, "select": "id, state, created_at"}
    )
    assert seen == {
        "rows": [{"id": row["id"], "state": "CREATED", "created_at": row["created_at"]}],
        "count": 1,
    }

    sent_at = "2025-11-01T12:00:00+02:00"
    done = await call(
        "update",
        {
            "table": "iso_workflows",
            "filters": mine,
            "data": {"state": "COMPLETED", "email_sent_at": sent_at, "email_message_id": "m1"},
        },
    )
    assert done["count"] == 1
    assert done["rows"][0]["state"] == "COMPLETED"
    assert done["rows"][0]["email_sent_at"] == "2025-11-01T10:00:00Z"
    assert done["rows"][0]["metadata"] == WORKFLOW["metadata"]

    gone = await call("delete", {"table": "iso_workflows", "filters": {"state": "COMPLETED"}})
    assert gone == done
    assert (await call("query", {"table": "iso_workflows"}))["rows"] == []


async def test_the_best_proposals_come_first(call: Call) -> None:
    rows = [{"id": f"p{rank}", "request_id": "req-123", "rank": rank} for rank in (3, 1, 4, 2)]
    await call("insert", {"table": "ranked_proposals", "data": rows})

    best = await call(
        "query",
        {
            "table": "ranked_proposals",
            "filters": {"request_id": "req-123"},
            "orderBy": {"column": "rank", "ascending": True},
            "limit": 3,
            "select": "rank",
        },
    )

    assert best == {"rows": [{"rank": 1}, {"rank": 2}, {"rank": 3}], "count": 3}


async def test_null_means_that_there_is_no_value(call: Call) -> None:
    rows = [{"id": "a", "email": None}, {"id": "b", "email": "null"}, {"id": "c", "email": "x"}]
    await call("insert", {"table": "client_cache", "data": rows})

    async def ids(condition: Any) -> list[str]:
        asked = {"table": "client_cache", "filters": {"email": condition}}
        return [row["id"] for row in (await call("query", asked))["rows"]]

    assert await ids(None) == ["a"]
    assert await ids({"is": None}) == ["a"]
    assert await ids({"eq": "null"}) == ["b"]
    assert await ids({"neq": None}) == ["b", "c"]
    assert await ids({"neq": "x"}) == ["b"]


async def test_a_taken_id_is_a_conflict(call: Call) -> None:
    data = {"id": "e1", "agent_type": "a", "error_type": "b"}
    await call("insert", {"table": "agent_errors", "data": data})

    with pytest.raises(ToolFailed) as failed:
        await call("insert", {"table": "agent_errors", "data": [{**data, "id": "e2"}, data]})

    assert failed.value.reason == "conflict"
    assert (await call("query", {"table": "agent_errors"}))["count"] == 1


async def test_too_many_rows_are_left_alone(call: Call) -> None:
    row = {"agent_type": "a", "error_type": "b"}
    for size in (500, 500, 1):
        await call("insert", {"table": "agent_errors", "data": [row] * size})

    for tool, arguments in (("update", {"data": {"is_resolved": True}}), ("delete", {})):
        with pytest.raises(ToolFailed) as failed:
            await call(tool, {"table": "agent_errors", "filters": {"agent_type": "a"}, **arguments})
        assert failed.value.reason == "too_many_rows"
    left = {"table": "agent_errors", "filters": {"is_resolved": False}, "limit": 1000}
    assert (await call("query", left))["count"] == 1000


WORKFLOWS = "iso_workflows"
PROPOSALS = "ranked_proposals"
REFUSED = [
    ("query", {"table": "quotes", "filters": {"nowhere": 1}}, ["/filters/nowhere"]),
    ("query", {"table": "quotes", "select": "id, nowhere"}, ["/select"]),
    ("query", {"table": "quotes", "orderBy": {"column": "nowhere"}}, ["/orderBy/column"]),
    ("query", {"table": "quotes", "orderBy": {"column": "details"}}, ["/orderBy/column"]),
    (
        "query",
        {"table": "quotes", "filters": {"total_price_usd": "10"}},
        ["/filters/total_price_usd"],
    ),
    (
        "query",
        {"table": "quotes", "filters": {"flight_minutes": {"gt": 1.5}}},
        ["/filters/flight_minutes/gt"],
    ),
    (
        "query",
        {"table": "quotes", "filters": {"flight_minutes": {"in": [1, "2"]}}},
        ["/filters/flight_minutes/in"],
    ),
    (
        "query",
        {"table": "quotes", "filters": {"flight_minutes": True}},
        ["/filters/flight_minutes"],
    ),
    (
        "query",
        {"table": "quotes", "filters": {"total_price_usd": {"like": "1%"}}},
        ["/filters/total_price_usd/like"],
    ),
    ("query", {"table": "quotes", "filters": {"notes": {"is": True}}}, ["/filters/notes/is"]),
    ("query", {"table": "quotes", "filters": {"notes": {"like": "a*"}}}, ["/filters/notes/like"]),
    (
        "query",
        {"table": "quotes", "filters": {"notes": {"ilike": "a\\"}}},
        ["/filters/notes/ilike"],
    ),
    ("query", {"table": "quotes", "filters": {"notes": "NUL\0"}}, ["/filters/notes"]),
    ("query", {"table": "quotes", "filters": {"notes": {"like": "\0"}}}, ["/filters/notes/like"]),
    ("query", {"table": "quotes", "filters": {"details": {"gt": "a"}}}, ["/filters/details/gt"]),
    ("query", {"table": "quotes", "filters": {"details": "a"}}, ["/filters/details"]),
    (
        "query",
        {"table": "quotes", "filters": {"valid_until": "yesterday"}},
        ["/filters/valid_until"],
    ),
    (
        "query",
        {"table": "quotes", "filters": {"valid_until": {"lt": "2025-11-01"}}},
        ["/filters/valid_until/lt"],
    ),
    (
        "query",
        {"table": "client_cache", "filters": {"last_flight_date": "2025-02-30"}},
        ["/filters/last_flight_date"],
    ),
    (
        "query",
        {"table": "agent_errors", "filters": {"is_resolved": {"gt": False}}},
        ["/filters/is_resolved/gt"],
    ),
    (
        "query",
        {"table": "quotes", "filters": {"a": 1, "notes": 2}},
        ["/filters/a", "/filters/notes"],
    ),
    (
        "insert",
        {"table": WORKFLOWS, "data": {"request_id": "r", "nowhere": 1}},
        ["/data/nowhere"],
    ),
    ("insert", {"table": WORKFLOWS, "data": {"failure_reason": "x"}}, ["/data/request_id"]),
    ("insert", {"table": WORKFLOWS, "data": {"request_id": None}}, ["/data/request_id"]),
    (
        "insert",
        {
            "table": "iso_workflows",
            "data": {"request_id": "r", "created_at": "2025-11-01T00:00:00Z"},
        },
        ["/data/created_at"],
    ),
    (
        "insert",
        {"table": WORKFLOWS, "data": [{"request_id": "r"}, {"request_id": 1}]},
        ["/data/1/request_id"],
    ),
    (
        "insert",
        {"table": WORKFLOWS, "data": [{"id": "a", "request_id": "r"}] * 2},
        ["/data/1/id"],
    ),
    (
        "insert",
        {"table": WORKFLOWS, "data": {"request_id": "r", "failure_reason": "\0"}},
        ["/data/failure_reason"],
    ),
    (
        "insert",
        {"table": WORKFLOWS, "data": {"request_id": "r", "metadata": {"a": ["\0"]}}},
        ["/data/metadata"],
    ),
    (
        "insert",
        {
            "table": "iso_workflows",
            "data": {"request_id": "r", "email_sent_at": "9999-12-31T23:59:59-01:00"},
        },
        ["/data/email_sent_at"],
    ),
    (
        "insert",
        {
            "table": "ranked_proposals",
            "data": {"request_id": "r", "rank": 1, "total_price_usd": -1},
        },
        ["/data/total_price_usd"],
    ),
    (
        "update",
        {"table": WORKFLOWS, "filters": {"id": "a"}, "data": {"id": "b"}},
        ["/data/id"],
    ),
    (
        "update",
        {"table": WORKFLOWS, "filters": {"id": "a"}, "data": {"updated_at": None}},
        ["/data/updated_at"],
    ),
    (
        "update",
        {"table": WORKFLOWS, "filters": {"id": {"gt": 1}}, "data": {"failure_reason": "x"}},
        ["/filters/id/gt"],
    ),
    ("delete", {"table": WORKFLOWS, "filters": {"nowhere": None}}, ["/filters/nowhere"]),
]


@pytest.mark.parametrize(("tool", "arguments", "pointers"), REFUSED)
async def test_what_does_not_fit_the_table_is_refused_before_anything_is_sent(
    tool, arguments, pointers
) -> None:
    """By a context whose backend may not be used, and which has no workspace."""
    context = backends.context(backends.StepClock(), backends.Unused(), None)

    assert await violations(caller(context), tool, arguments) == pointers


REFUSED_BY_SCHEMA = [
    ("query", {"table": "pg_catalog", "select": "*"}),
    ("query", {"table": "quotes", "select": "count(*)"}),
    ("query", {"table": "quotes", "select": "id::text"}),
    ("query", {"table": "quotes", "select": "rel(*)"}),
    ("query", {"table": "quotes", "select": "details->>a"}),
    ("query", {"table": "quotes", "select": "a:id"}),
    ("query", {"table": "quotes", "select": ""}),
    ("query", {"table": "quotes", "limit": 1001}),
    ("query", {"table": "quotes", "limit": 0}),
    ("query", {"table": "quotes", "filters": {"a.b": 1}}),
    ("query", {"table": "quotes", "filters": {"id": {"fts": "x"}}}),
    ("query", {"table": "quotes", "filters": {"id": {"in": []}}}),
    ("query", {"table": "quotes", "filters": {"id": {"gt": None}}}),
    ("query", {"table": "quotes", "filters": {"id": {}}}),
    ("query", {"table": "quotes", "filters": {"id": ["a"]}}),
    ("update", {"table": "quotes", "filters": {}, "data": {"notes": "x"}}),
    ("update", {"table": "quotes", "data": {"notes": "x"}}),
    ("update", {"table": "quotes", "filters": {"id": "a"}, "data": {}}),
    ("delete", {"table": "iso_requests", "filters": {}}),
    ("delete", {"table": "iso_requests"}),
    ("insert", {"table": "quote_scores", "data": []}),
    ("insert", {"table": "quote_scores", "data": [{"rfp_id": "r"}] * 501}),
    ("rpc", {"function": "pg_sleep", "params": {"quotes": []}}),
    ("rpc", {"function": "calculate_quote_scores", "params": {"quotes": [{}]}}),
]


@pytest.mark.parametrize(("tool", "arguments"), REFUSED_BY_SCHEMA)
def test_the_schemas_refuse_what_no_table_could_be_asked(tool, arguments) -> None:
    assert not backends.catalogue().find(f"supabase.{tool}").input.admits(arguments)


def test_rows_are_added_and_removed_only_where_they_are_the_agents_own() -> None:
    """The contract says so, and not only an error when it is tried."""
    tried = (("insert", {"data": {"id": "a"}}), ("delete", {"filters": {"id": "a"}}))
    for (table, shape), (tool, arguments) in product(backends.declared().items(), tried):
        entry = backends.catalogue().find(f"supabase.{tool}")
        is_own = shape.entity is None
        assert entry.input.admits({"table": table, **arguments}) is is_own, (table, tool)


def test_the_contract_names_what_agents_may_change_in_the_rows_of_webhooks() -> None:
    schema = backends.catalogue().find("supabase.update").listing.input_schema
    reported = schema["properties"]["data"]["description"]
    for table, shape in backends.declared().items():
        if shape.entity is not None:
            own = [name for name, owner in shape.owners.items() if owner == "agent"]
            assert f"{table}: {', '.join(own) or 'none'}" in reported


async def test_weights_that_count_nothing_are_refused(call: Call) -> None:
    none = dict.fromkeys(("price", "safety", "speed", "comfort"), 0)
    params = {"quotes": [{"id": "a"}], "weights": none}

    refused = await violations(
        call, "rpc", {"function": "calculate_quote_scores", "params": params}
    )

    assert refused == ["/params/weights"]


async def test_scores_are_those_of_the_contract(call: Call) -> None:
    """The example that the contract shows is what both the function and the database compute."""
    operation = backends.catalogue().openapi
    shown = json.loads(operation)["paths"]["/v1/supabase/rpc"]["post"]
    body = shown["requestBody"]["content"]["application/json"]["examples"]["weighted"]["value"]
    answer = shown["responses"]["200"]["content"]["application/json"]["examples"]["weighted"]

    assert await call("rpc", body) == answer["value"]


async def test_nothing_to_score_is_no_scores(call: Call) -> None:
    answer = await call("rpc", {"function": "calculate_quote_scores", "params": {"quotes": []}})

    assert answer["result"]["scores"] == []
