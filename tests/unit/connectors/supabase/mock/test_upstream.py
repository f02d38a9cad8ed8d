"""What the mock of Supabase refuses, as a project would."""

import httpx
import pytest

from gateway.backends.mock.application import MockApplication
from gateway.backends.mock.backend import asgi_app
from gateway.connectors.supabase.mock.upstream import _like
from gateway.contract.values.schema import Validator
from tests.clocks import ManualClock
from tests.unit import shipped
from tests.unit.connectors.tools import over_asgi

KEY = {"apikey": "sb_secret_0123456789"}
STRICT = {"Prefer": "return=representation, handling=strict, max-affected=1"}
ERROR = {"agent_type": "flight_search", "error_type": "timeout"}
PLACES = "/rest/v1/agent_errors"


@pytest.fixture
async def http():
    application = MockApplication(shipped.upstream("supabase"), ManualClock())
    async with over_asgi(asgi_app(application), headers=KEY) as client:
        yield client


def refused(reply: httpx.Response) -> tuple[int, str | None]:
    body = reply.json()
    operation = next(e for e in shipped.upstream("supabase").operations if e.id == "selectRows")
    schema = operation.replies["5XX" if reply.status_code >= 500 else "4XX"]
    assert Validator(schema).admits(body)
    return reply.status_code, body.get("code")


async def add(http, **values):
    reply = await http.post(PLACES, json=[{**ERROR, **values}])
    assert reply.status_code == 201, reply.text
    return reply.json()[0]


async def test_a_row_has_the_defaults_of_its_table(http):
    row = await add(http)
    assert (row["retry_count"], row["is_resolved"]) == (0, False)
    assert row["created_at"] == row["updated_at"] == "2026-11-20T14:30:00.000Z"
    assert (await http.get(PLACES)).json() == [row]
    assert (await http.get("/agent_errors?select=id&retry_count=eq.0")).json() == [
        {"id": row["id"]}
    ]


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("nothing=eq.1", 400, "42703"),
        ("select=id,nothing", 400, "42703"),
        ("order=nothing.asc", 400, "42703"),
        ("order=id.sideways", 400, "PGRST100"),
        ("retry_count=like", 400, "PGRST100"),
        ("retry_count=about.3", 400, "PGRST100"),
        ("retry_count=eq.three", 400, "22P02"),
        ("retry_count=in.(1,three)", 400, "22P02"),
        ("retry_count=in.1,2", 400, "PGRST100"),
        ("occurred_at=gt.yesterday", 400, "22P02"),
        ("limit=-1", 400, "PGRST100"),
    ],
)
async def test_a_question_that_is_none_is_refused(http, query, status, code):
    assert refused(await http.get(f"{PLACES}?{query}")) == (status, code)


@pytest.mark.parametrize(
    ("values", "status", "code"),
    [
        ({"agent_type": None}, 400, "23502"),
        ({"retry_count": "three"}, 400, "22P02"),
        ({"nothing": 1}, 400, "42703"),
        ({"id": "e-1"}, 409, "23505"),
        ({"agent_type": "x" * 10_000}, 400, "23514"),
    ],
)
async def test_a_row_that_breaks_its_table_is_refused_and_none_is_stored(
    http, values, status, code
):
    await add(http, id="e-1")
    two = [{**ERROR, "id": "e-2"}, {**ERROR, **values}]
    assert refused(await http.post(PLACES, json=two)) == (status, code)
    assert [row["id"] for row in (await http.get(PLACES)).json()] == ["e-1"]


async def test_a_change_of_more_rows_than_allowed_changes_none(http):
    await add(http)
    await add(http)
    everywhere = f"{PLACES}?agent_type=eq.flight_search"
    reply = await http.patch(everywhere, json={"retry_count": 1}, headers=STRICT)
    assert refused(reply) == (400, "PGRST124")
    assert refused(await http.delete(everywhere, headers=STRICT)) == (400, "PGRST124")
    assert [row["retry_count"] for row in (await http.get(PLACES)).json()] == [0, 0]
    odd = {"Prefer": "handling=strict, colour=blue"}
    assert refused(await http.delete(everywhere, headers=odd)) == (400, "PGRST122")


async def test_a_table_that_is_none_and_a_missing_key_are_refused(http):
    assert refused(await http.get("/rest/v1/flights")) == (404, "PGRST205")
    assert refused(await http.get(PLACES, headers={"apikey": ""})) == (401, None)
    bearer = {"Authorization": f"Bearer {KEY['apikey']}"}
    assert refused(await http.get(PLACES, headers=bearer)) == (401, "PGRST301")


async def test_row_level_security_hides_rows_from_a_public_key(http):
    row = await add(http)
    public = {"apikey": "mock_anon"}
    assert (await http.get(PLACES, headers=public)).json() == []
    assert refused(await http.post(PLACES, json=[ERROR], headers=public)) == (403, "42501")
    one = f"{PLACES}?id=eq.{row['id']}"
    assert (await http.patch(one, json={"retry_count": 9}, headers=public)).json() == []
    assert (await http.delete(one, headers=public)).json() == []
    assert (await http.get(PLACES)).json() == [row]


async def test_a_database_that_is_away_can_be_played(http):
    reply = await http.get(PLACES, headers={"Mock-Fault": "status=503"})
    assert refused(reply) == (503, "PGRST000")


@pytest.mark.parametrize(
    ("pattern", "text", "is_like"),
    [
        ("%", "", True),
        ("a%c", "abbc", True),
        ("a%c", "abcd", False),
        ("_", "", False),
        ("a\\%", "a%", True),
        ("a\\%", "ab", False),
        ("%a%b%", "xaybz", True),
        ("%" * 2_000 + "b", "a" * 20_000, False),
    ],
)
def test_like_is_that_of_sql_and_takes_no_longer_than_its_texts(pattern, text, is_like):
    assert _like(pattern, False)(text) is is_like
