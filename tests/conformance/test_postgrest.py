"""The emulator under the tests is what the official client takes for PostgREST."""

from collections.abc import AsyncIterator

import httpx
import pytest
from postgrest import APIError, AsyncPostgrestClient, CountMethod

from gateway.testing.asgi_server import serving
from tests.postgres import run
from tests.postgrest import backends
from tests.postgrest.emulator import SECRET_KEY, SERVICE_ROLE_KEY, Emulator

pytestmark = pytest.mark.postgres
QUOTES = [
    {"id": "a", "rfp_id": "r1", "total_price_usd": 10, "notes": 'say "hi", (you)'},
    {"id": "b", "rfp_id": "r1", "total_price_usd": 20.5, "notes": None},
    {"id": "c", "rfp_id": "r2", "total_price_usd": None, "notes": "100%"},
]


@pytest.fixture
def url(upstream_url) -> str:
    return upstream_url


@pytest.fixture
async def address(url) -> AsyncIterator[str]:
    """The base URL of the Data API."""
    async with serving(Emulator(url).application) as root:
        yield f"{root}/rest/v1"


@pytest.fixture
async def client(address) -> AsyncIterator[AsyncPostgrestClient]:
    """With three quotes behind it."""
    async with AsyncPostgrestClient(address, headers={"apikey": SECRET_KEY}) as opened:
        await opened.from_("quotes").insert(QUOTES, default_to_null=False).execute()
        yield opened


async def test_it_inserts_with_the_defaults_of_the_database(client) -> None:
    rows = [{"rfp_id": "r3"}, {"rfp_id": "r3", "status": "accepted"}]

    made = await client.from_("quotes").insert(rows, default_to_null=False).execute()

    assert [row["status"] for row in made.data] == ["received", "accepted"]
    assert all(row["id"] and row["created_at"] for row in made.data)


async def test_it_selects_filters_sorts_and_pages(client) -> None:
    quotes = client.from_("quotes")

    async def ids(builder) -> list[str]:
        return [row["id"] for row in (await builder.execute()).data]

    assert await ids(quotes.select("id").eq("rfp_id", "r1").order("id", desc=True)) == ["b", "a"]
    assert await ids(quotes.select("id").gt("total_price_usd", 10)) == ["b"]
    assert await ids(quotes.select("id").is_("notes", "null")) == ["b"]
    assert await ids(quotes.select("id").not_.is_("notes", "null").order("id")) == ["a", "c"]
    assert await ids(quotes.select("id").in_("notes", ['say "hi", (you)'])) == ["a"]
    assert await ids(quotes.select("id").in_("id", ["a", "c", "x"]).order("id")) == ["a", "c"]
    assert await ids(quotes.select("id").like("notes", "say%")) == ["a"]
    assert await ids(quotes.select("id").ilike("notes", "SAY*")) == ["a"]
    cheapest_last = quotes.select("id").order("total_price_usd", desc=True, nullsfirst=False)
    assert await ids(cheapest_last) == ["b", "a", "c"]
    assert await ids(quotes.select("id").order("id").range(1, 1)) == ["b"]


async def test_it_counts(client) -> None:
    counted = await client.from_("quotes").select("id", count=CountMethod.exact).limit(2).execute()

    assert (counted.count, len(counted.data)) == (3, 2)


async def test_it_answers_a_single_row_or_refuses(client) -> None:
    quotes = client.from_("quotes")

    assert (await quotes.select("id").eq("id", "a").single().execute()).data == {"id": "a"}
    with pytest.raises(APIError) as refused:
        await quotes.select("id").eq("rfp_id", "r1").single().execute()
    assert refused.value.code == "PGRST116"


async def test_it_updates_and_deletes_what_matches(client) -> None:
    quotes = client.from_("quotes")

    changed = await quotes.update({"status": "accepted"}).eq("rfp_id", "r1").execute()
    gone = await quotes.delete().eq("id", "c").execute()
    nothing = await quotes.update({"status": "x"}).eq("id", "none").execute()

    assert {row["id"]: row["status"] for row in changed.data} == dict.fromkeys("ab", "accepted")
    assert [row["id"] for row in gone.data] == ["c"]
    assert nothing.data == []
    assert len((await quotes.select("id").execute()).data) == 2


async def test_it_calls_functions(client) -> None:
    scored = await client.rpc("calculate_quote_scores", {"quotes": QUOTES}).execute()

    assert [each["quote_id"] for each in scored.data["scores"]] == ["a", "c", "b"]


@pytest.mark.parametrize(
    ("ask", "code"),
    [
        (lambda c: c.from_("quotes").insert({"id": "a", "rfp_id": "r"}), "23505"),
        (lambda c: c.from_("quotes").insert({"id": "z", "rfp_id": None}), "23502"),
        (lambda c: c.from_("quotes").select("nowhere"), "42703"),
        (lambda c: c.from_("quotes").select("id").eq("total_price_usd", "x"), "22P02"),
        (lambda c: c.from_("nowhere").select("*"), "PGRST205"),
        (lambda c: c.rpc("nowhere", {}), "PGRST202"),
    ],
)
async def test_it_refuses_with_the_code_of_the_reason(client, ask, code) -> None:
    with pytest.raises(APIError) as refused:
        await ask(client).execute()

    assert refused.value.code == code


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"apikey": "sb_secret_wrong"}, 401),
        ({"apikey": SECRET_KEY, "authorization": f"Bearer {SECRET_KEY}"}, 401),
        ({"apikey": SECRET_KEY}, 200),
        ({"apikey": SERVICE_ROLE_KEY, "authorization": f"Bearer {SERVICE_ROLE_KEY}"}, 200),
    ],
)
async def test_it_asks_for_a_key(address, headers, status) -> None:
    async with httpx.AsyncClient() as http:
        answer = await http.get(f"{address}/quotes", headers=headers)

    assert answer.status_code == status


async def test_what_exceeds_the_limit_is_undone(address, client) -> None:
    headers = {"apikey": SECRET_KEY, "prefer": "handling=strict, max-affected=1"}
    async with httpx.AsyncClient(headers=headers) as http:
        refused = await http.delete(f"{address}/quotes?rfp_id=eq.r1")
        unknown = await http.delete(
            f"{address}/quotes?id=eq.a", headers={"prefer": "handling=strict, foo"}
        )

    assert (refused.status_code, refused.json()["code"]) == (400, "PGRST124")
    assert (unknown.status_code, unknown.json()["code"]) == (400, "PGRST122")
    assert len((await client.from_("quotes").select("id").execute()).data) == 3


async def test_the_scripts_make_the_tables_that_the_contract_declares(address, url) -> None:
    """Names, types, defaults and what may be empty; run twice, as an operator may."""
    await run(url, backends.scripts())

    async with backends.postgrest(url) as context, backends.workspace(url) as own:
        # The workspace opens no table whose columns differ from the contract's.
        opened = backends.tables_of(own)
        for name in backends.shapes():
            assert await opened.select(backends.everything(name)) == []
            assert await backends.tables_of(context).select(backends.everything(name)) == []
