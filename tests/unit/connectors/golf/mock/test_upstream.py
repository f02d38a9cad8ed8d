"""The mock of the tee sheet over HTTP, as the contract describes it, through an HTTP client."""

import asyncio
from datetime import date
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.backends.mock.application import MockApplication
from gateway.backends.mock.backend import asgi_app
from gateway.connectors.golf.mock.upstream import BEHAVIOURS, slot_by_id, slots_of
from tests.clocks import ManualClock
from tests.unit import shipped
from tests.unit.connectors.tools import over_asgi

TEE_TIMES = "/v1/courses/course-001/tee-times"
FREE = "tt-course-001-20261201-0830"
GRANT = {
    "grant_type": "client_credentials",
    "client_id": "mock_client",
    "client_secret": "mock_secret",
    "scope": "teetimes.read reservations.read reservations.write",
}


class Sheet:
    """A client with its own token."""

    def __init__(self, http, clock):
        self.http, self.clock = http, clock

    async def authorize(self):
        issued = (await self.http.post("/oauth2/token", data=GRANT)).json()
        self.http.headers["authorization"] = f"Bearer {issued['access_token']}"
        return issued

    async def tee_times(self, day="2026-12-01", **query):
        reply = await self.http.get(TEE_TIMES, params={"date": day, "limit": 100, **query})
        assert reply.status_code == 200, reply.text
        return reply.json()["data"]

    async def book(self, tee_time=FREE, key=None, user="user-1", players=2):
        body = {"teeTimeId": tee_time, "userId": user, "players": players}
        headers = {"Idempotency-Key": key or str(uuid4())}
        return await self.http.post("/v1/reservations", json=body, headers=headers)

    async def reservations(self, user="user-1", **query):
        params = {"user_id": user, **query}
        return (await self.http.get("/v1/reservations", params=params)).json()["data"]


@pytest.fixture
async def sheet():
    clock = ManualClock()
    application = asgi_app(MockApplication(shipped.upstream("golf"), clock))
    async with over_asgi(application) as http:
        sheet = Sheet(http, clock)
        await sheet.authorize()
        yield sheet


def refused(reply):
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json()["status"] == reply.status_code
    return reply.status_code, reply.json()["code"]


def test_every_operation_but_that_of_tokens_has_a_behaviour():
    operations = {operation.id for operation in shipped.upstream("golf").operations}
    assert operations - BEHAVIOURS.keys() == {"issueToken"}


async def test_a_token_is_issued_for_client_credentials(sheet):
    issued = await sheet.authorize()
    assert (issued["token_type"].lower(), issued["expires_in"] > 0) == ("bearer", True)
    refused_ = await sheet.http.post("/oauth2/token", data={**GRANT, "grant_type": "password"})
    assert refused_.status_code == 400


async def test_without_a_token_nothing_is_answered(sheet):
    reply = await sheet.http.get(
        TEE_TIMES, params={"date": "2026-12-01"}, headers={"authorization": "Bearer made-up"}
    )
    assert refused(reply) == (401, "invalid_token")
    assert "invalid_token" in reply.headers["www-authenticate"]


async def test_a_day_has_the_same_sheet_whenever_it_is_asked_for(sheet):
    first = await sheet.tee_times()
    sheet.clock.advance(86_400)
    await sheet.authorize()
    assert await sheet.tee_times() == first
    assert await sheet.tee_times("2026-12-02") != first


async def test_other_players_have_some_of_the_tee_times(sheet):
    spots = [each["spotsAvailable"] for each in await sheet.tee_times()]
    assert {2, 4} == set(spots)
    assert len(spots) < len(list(slots_of("course-001", date(2026, 12, 1))))


async def test_times_and_players_narrow_the_sheet(sheet):
    found = await sheet.tee_times(start_time="08:00", end_time="09:30", players=4)
    assert found
    assert all("08:00" <= each["startsAt"][11:16] <= "09:30" for each in found)
    assert {each["spotsAvailable"] for each in found} == {4}


async def test_pages_follow_each_other(sheet):
    whole, cursor, paged = await sheet.tee_times(), None, []
    while True:
        params = {"date": "2026-12-01", "limit": 7, **({"cursor": cursor} if cursor else {})}
        page = (await sheet.http.get(TEE_TIMES, params=params)).json()
        paged += page["data"]
        cursor = page["nextCursor"]
        if cursor is None:
            break
    assert paged == whole


async def test_a_cursor_of_nobodys_is_refused(sheet):
    params = {"date": "2026-12-01", "cursor": "abc"}
    assert refused(await sheet.http.get(TEE_TIMES, params=params)) == (400, "invalid_request")


async def test_a_booking_takes_places_and_is_listed(sheet):
    made = await sheet.book(players=3)
    assert made.status_code == 201
    tee_time = (await sheet.http.get(f"/v1/tee-times/{FREE}")).json()
    assert (tee_time["spotsTotal"], tee_time["spotsAvailable"]) == (4, 1)
    assert await sheet.reservations() == [made.json()]
    assert await sheet.reservations("user-2") == []
    assert made.json()["total"]["amount"] == "195.00"


async def test_the_same_key_and_body_are_the_same_reservation(sheet):
    key = str(uuid4())
    replies = await asyncio.gather(*(sheet.book(key=key) for _ in range(20)))
    assert {reply.status_code for reply in replies} == {201}
    assert {reply.text for reply in replies} == {replies[0].text}
    assert len(await sheet.reservations()) == 1
    assert (await sheet.book(key=key.upper())).json() == replies[0].json()


async def test_the_same_key_with_another_body_is_refused(sheet):
    key = str(uuid4())
    await sheet.book(key=key)
    assert refused(await sheet.book(key=key, players=1)) == (422, "idempotency_key_reused")


async def test_a_key_is_kept_for_a_day(sheet):
    key = str(uuid4())
    await sheet.book(key=key)
    sheet.clock.advance(86_399)
    await sheet.authorize()
    assert (await sheet.book(key=key)).status_code == 201
    sheet.clock.advance(1)
    assert refused(await sheet.book(key=key)) == (409, "duplicate_reservation")


async def test_a_key_that_booked_nothing_stays_free(sheet):
    key = str(uuid4())
    await sheet.book("tt-course-001-20261201-0730", players=4, user="user-2")
    taken = await sheet.book("tt-course-001-20261201-0730", key=key)
    assert refused(taken) == (409, "tee_time_unavailable")
    assert (await sheet.book(key=key)).status_code == 201


@pytest.mark.parametrize(
    ("players", "status", "code"),
    [(1, 409, "tee_time_unavailable"), (2, 422, "players_exceed_available")],
)
async def test_there_is_no_room_for_more_than_four(sheet, players, status, code):
    await sheet.book(players=4 if players == 1 else 3)
    assert refused(await sheet.book(user="user-2", players=players)) == (status, code)


@pytest.mark.parametrize(
    "tee_time", ["nothing", "tt-course-001-20261201-0831", "tt-c-20261332-0830"]
)
async def test_a_tee_time_that_is_not_on_the_sheet_is_not_found(sheet, tee_time):
    assert refused(await sheet.book(tee_time)) == (404, "tee_time_not_found")
    reply = await sheet.http.get(f"/v1/tee-times/{tee_time}")
    assert refused(reply) == (404, "tee_time_not_found")


@pytest.mark.parametrize("key", ["", "not-a-uuid"])
async def test_a_key_must_be_a_uuid(sheet, key):
    body = {"teeTimeId": FREE, "userId": "user-1", "players": 1}
    headers = {"Idempotency-Key": key} if key else {}
    reply = await sheet.http.post("/v1/reservations", json=body, headers=headers)
    assert refused(reply) == (400, "invalid_request")


async def test_a_request_under_way_can_be_asked_for(sheet):
    """The mock does everything at once, so a fault stands for it."""
    reply = await sheet.http.post(
        "/v1/reservations",
        json={"teeTimeId": FREE, "userId": "user-1", "players": 1},
        headers={"Idempotency-Key": str(uuid4()), "Mock-Fault": "status=409"},
    )
    assert refused(reply) == (409, "request_in_progress")


@pytest.mark.parametrize("day", ["0000-01-01", "0001-01-01", "9999-12-31"])
async def test_every_date_can_be_asked_for(sheet, day):
    assert await sheet.tee_times(day, players=4) == []


async def test_tee_times_are_sold_for_ninety_days(sheet):
    """2026-11-20 and 90 days, where the day begins first, is the 19th of February."""
    assert await sheet.tee_times("2027-02-19", players=1)
    assert await sheet.tee_times("2027-02-20", players=1) == []
    reply = await sheet.book("tt-course-001-20270220-0830")
    assert refused(reply) == (409, "tee_time_unavailable")


async def test_a_tee_time_that_is_over_is_neither_found_nor_booked(sheet):
    """It is 9:30 at the course."""
    today = [each["startsAt"][11:16] for each in await sheet.tee_times("2026-11-20")]
    assert min(today) > "09:30"
    assert refused(await sheet.book("tt-course-001-20250104-0830")) == (409, "tee_time_unavailable")
    assert refused(await sheet.book("tt-course-001-20261120-0930")) == (409, "tee_time_unavailable")
    assert (await sheet.book("tt-course-001-20261120-1030")).status_code == 201


@given(
    day=st.dates(),
    index=st.integers(0, 62),
    course=st.from_regex(r"[a-z0-9][a-z0-9-]{0,20}", fullmatch=True),
)
def test_an_id_names_its_slot_and_no_other(day, index, course):
    slot = list(slots_of(course, day))[index]
    assert slot_by_id(slot.id) == slot
