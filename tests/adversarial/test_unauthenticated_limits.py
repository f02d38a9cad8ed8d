"""Hosts without a key that take connections, memory and time: others go on as before."""

from contextlib import AsyncExitStack
from ipaddress import ip_address
from typing import Any

import pytest

from gateway.auth.authenticate import TTL_SECONDS, Authenticator
from gateway.auth.keys import Keys
from gateway.auth.principal import Credentials
from gateway.bounds.rates import Rate, Throttle, ThrottleLimits
from gateway.errors import GatewayError, LimitExceeded, Unauthenticated
from gateway.store.protocols import AgentKey
from gateway.transports.connections.bounds import ConnectionLimits
from gateway.transports.connections.connection import Connection
from tests.adversarial.wire import HOST, connected
from tests.clocks import ManualClock
from tests.interaction.conftest import build_running
from tests.remembered import MemoryKeys

KEY = b"authorization: Bearer gw_administrator-0123456789\r\n"
ALIVE = b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n"
CALL = (
    b"POST /v1/example/greet HTTP/1.1\r\n" + HOST + KEY + b"content-type: application/json\r\n"
    b'content-length: 15\r\n\r\n{"name": "Ada"}'
)
WEBHOOK = b"POST /v1/example/greet HTTP/1.1\r\n" + HOST + b"content-length: 4000\r\n\r\n"
STARTS = [b"G", b"GET / HTTP/1.1\r\nhost: x", WEBHOOK + b"{"]
SOCKETS = 900
PATHS = (
    *("/", "/docs", "/healthz", "/nothing", "/openapi.json", "/asyncapi.json", "/events"),
    *("/mcp", "/mcp/example", "/v1/example/greet", "/v1/nothing", "/tools/execute"),
    *("/operator/jobs", "/webhooks/avinode"),
)
"""Every kind of path."""
ATTACKER = "127.0.0.66"


class CountingKeys(MemoryKeys):
    """Counts what it is asked."""

    questions = 0

    async def find(self, digest: str) -> AgentKey | None:
        self.questions += 1
        return await super().find(digest)


class PatientConnection(Connection):
    """Keeps what is half sent for as long as a test may take."""

    limits = ConnectionLimits(head_deadline_seconds=600)


@pytest.fixture
def connection() -> type[Connection]:
    return PatientConnection


@pytest.mark.attack(
    "900 sockets of one address each send the beginning of a request and no more",
    required="callers from other addresses connect and are answered; the address keeps no more "
    "than its part of the connections",
)
async def test_sockets_that_send_nothing_lock_nobody_out(socket_site: str) -> None:
    async with AsyncExitStack() as held:
        for number in range(SOCKETS):
            wire = await held.enter_async_context(connected(socket_site, ATTACKER))
            wire.writer.write(STARTS[number % len(STARTS)])
        for number in range(2, 22):
            async with connected(socket_site, f"127.0.0.{number}") as honest:
                await honest.send(CALL)
                assert (await honest.answer()).status == 200


@pytest.mark.attack(
    "an address that holds all connections it may have opens another one",
    required="its oldest idle connection is closed, and no other client's",
)
async def test_the_sockets_of_others_outlive_a_flood(socket_site: str) -> None:
    async with AsyncExitStack() as held, connected(socket_site, "127.0.0.2") as honest:
        await honest.send(ALIVE)
        assert (await honest.answer()).status == 200
        for _ in range(SOCKETS):
            wire = await held.enter_async_context(connected(socket_site, ATTACKER))
            wire.writer.write(b"G")
        await honest.send(ALIVE)
        assert (await honest.answer()).status == 200


@pytest.mark.attack(
    "a thousand requests without a key, and a thousand with keys that do not exist",
    required="the audit holds a bounded number of rows, and the number of those without one; the "
    "log holds a bounded number of lines",
)
async def test_denied_requests_write_a_bounded_number_of_rows_and_lines(
    site: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async with site.http(None) as http:
        for number in range(1000):
            await http.post("/v1/example/greet", json={})
            wrong = {"authorization": f"Bearer wrong-key-{number:06}"}
            await http.post("/mcp", json={}, headers=wrong)
    records = await site.records()
    assert len(records) < 200
    assert len([line for line in caplog.records if line.name.startswith("gateway")]) < 50
    assert site.pipeline.audit.denied == 2000


@pytest.mark.attack(
    "keys are guessed, each one a new one, as fast as one address can",
    required="after a burst the database is not asked any more and the answer is 429, while a key "
    "that is valid goes on from the same address, and a new one from another",
)
async def test_guessing_keys_costs_the_database_a_bounded_number_of_questions() -> None:
    clock, store = ManualClock(), CountingKeys()
    limits = ThrottleLimits(
        of_one_host=Rate(1, 20), in_all=Rate(1, 100), delay_seconds=0, apart_seconds=0
    )
    authenticator = Authenticator(store, clock, Throttle(clock, limits))
    keys = Keys(store, clock, {"greeter"}, authenticator.invalidate)
    here, elsewhere = ip_address("192.0.2.1"), ip_address("192.0.2.2")
    known = (await keys.create("greeter", "known")).key
    await authenticator.identify(Credentials(bearer=known, peer=here))
    outcomes, asked = [], store.questions
    for number in range(500):
        try:
            await authenticator.identify(Credentials(bearer=f"guess-{number:012}", peer=here))
        except GatewayError as error:
            outcomes.append(type(error))
    assert outcomes == [Unauthenticated] * 20 + [LimitExceeded] * 480
    assert store.questions - asked == 20
    clock.seconds += TTL_SECONDS
    assert await authenticator.identify(Credentials(bearer=known, peer=here))
    fresh = (await keys._add("a-fresh-key-0123456789", "greeter", "fresh")).key
    assert await authenticator.identify(Credentials(bearer=fresh, peer=elsewhere))


@pytest.mark.attack(
    "pages, paths that do not exist and malformed requests are asked for without end",
    required="after a burst each answer comes late or is 429 with Retry-After; a caller with a key "
    "from the same address goes on",
)
@pytest.mark.parametrize("path", ["/docs", "/nothing", "/mcpx", "/v1/x%2fy", "/operator/nothing"])
async def test_what_needs_no_key_is_limited_too(path: str) -> None:
    clock = ManualClock()
    limits = ThrottleLimits(of_one_host=Rate(1, 5), in_all=Rate(1, 100), delay_seconds=0.01)
    running = build_running(throttle=Throttle(clock, limits))
    async with running.http(None) as http:
        statuses = [(await http.get(path)).status_code for _ in range(5)]
        assert 429 not in statuses
        refused = await http.get("/docs")
    assert refused.status_code == 429
    assert refused.headers["retry-after"] == "1"
    assert refused.json()["code"] == "RATE_LIMIT_ERROR"
    async with running.http() as http:
        assert (await http.post("/v1/example/greet", json={"name": "Ada"})).status_code == 200


@pytest.mark.attack(
    "a client without a valid key sends OPTIONS requests without end, to every kind of path",
    required="after a burst the answer is 429, also if the requests have an Authorization header, "
    "which nothing checks",
)
@pytest.mark.parametrize("headers", [{}, {"authorization": "x"}], ids=["no key", "any key"])
async def test_options_requests_are_limited(headers: dict[str, str]) -> None:
    clock = ManualClock()
    limits = ThrottleLimits(of_one_host=Rate(1, 5), in_all=Rate(1, 100), delay_seconds=0)
    running = build_running(throttle=Throttle(clock, limits))
    async with running.http(None) as http:
        for path in PATHS:
            found = [
                (await http.request("OPTIONS", path, headers=headers)).status_code for _ in range(6)
            ]
            assert (429 in found[:5], found[5]) == (False, 429), path
            clock.advance(1000)


@pytest.mark.attack(
    "a client without a key and a caller without the grant ask by OPTIONS and wrong methods which "
    "tools there are and which of them only read",
    required="tools that are not granted answer as tools that do not exist, by every method",
)
@pytest.mark.parametrize("key", [None, "gw_greeter-0123456789"])
async def test_methods_report_nothing_of_tools_without_a_grant(site: Any, key: str | None) -> None:
    hidden = {"x-request-id"}
    for method in ("GET", "HEAD", "OPTIONS", "PUT", "DELETE", "POST"):
        async with site.http(key) as http:
            there = await http.request(method, "/v1/example/crash")
            nowhere = await http.request(method, "/v1/example/nothing")
        assert there.status_code == nowhere.status_code, method
        assert {k: v for k, v in there.headers.items() if k not in hidden} == {
            k: v for k, v in nowhere.headers.items() if k not in hidden
        }, method


@pytest.mark.attack(
    "a client without a key reads the documents, the pages and the error answers for names of "
    "tools, providers and events",
    required="none of them names one; with a key, the documents name what the key may call",
)
async def test_no_page_names_a_tool_to_an_unauthenticated_client(site: Any) -> None:
    pages = ("/", "/docs", "/openapi.json", "/asyncapi.json", "/nothing", "/v1/nothing", "/mcp")
    async with site.http(None) as http:
        texts = {page: (await http.get(page)).text for page in pages}
    hidden = ("example", "greet", "misbehave", "desk", "gateway.x.v1")
    assert [(page, name) for page, text in texts.items() for name in hidden if name in text] == []
    async with site.http() as http:
        whole = (await http.get("/openapi.json")).text
        events = (await http.get("/asyncapi.json")).text
    assert "misbehave" in whole
    assert "gateway.x.v1" in events
