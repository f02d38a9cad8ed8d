"""Access tokens, by every grant: from the mock in process, and live over a socket from the same."""

import asyncio
import json
from contextlib import asynccontextmanager

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from gateway.backends.http.live import LiveBackend
from gateway.backends.mock.application import MockApplication
from gateway.backends.mock.backend import MockBackend, asgi_app
from gateway.backends.mock.faults import parse_step
from gateway.contract.upstream import (
    CredentialRule,
    HeaderRule,
    TokenRule,
    Upstream,
    UpstreamOperation,
    UpstreamRequest,
)
from gateway.errors import (
    InvalidReply,
    UpstreamRefusedCredentials,
    UpstreamUnavailable,
)
from gateway.testing.asgi_server import serving
from tests.clocks import ManualClock
from tests.eventually import PATIENCE_SECONDS, eventually

TIMEOUT = PATIENCE_SECONDS
REPLIES = {"200": {"type": "object"}, "4XX": {"type": "object"}, "5XX": {"type": "object"}}
TOKEN = {
    "type": "object",
    "required": ["access_token", "expires_in"],
    "properties": {"access_token": {"type": "string"}, "expires_in": {"type": "number"}},
}
GRANTS = ("refresh_token", "client_credentials", "jwt_bearer")
OPEN = UpstreamRequest(operation="openSafe", method="POST", path=("safes", "7"), body={})


def bank(grant, **parts):
    names = ("client_id", "client_secret", "refresh_token", "service_account_key")
    facts = {
        "name": "bank",
        "title": "Bank",
        "base_url": None,
        "credentials": tuple(
            CredentialRule(name=name, description=name, is_required=False) for name in names
        ),
        "headers": (HeaderRule(name="Authorization", template="Bearer {token}"),),
        "tokens": (
            TokenRule(grant=grant, url="/token", operation="issueToken", scopes=("a", "b")),
        ),
        "operations": (
            UpstreamOperation(
                id="openSafe",
                method="POST",
                path="/safes/{id}",
                parameters=(
                    {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}},
                ),
                request_schema={"type": "object"},
                replies=REPLIES,
                examples={"200": {"is_open": True}},
            ),
            UpstreamOperation(
                id="issueToken",
                method="POST",
                path="/token",
                request_schema={"type": "object", "required": ["grant_type"]},
                takes_form=True,
                replies={**REPLIES, "200": TOKEN},
                examples={"200": {"access_token": "x", "expires_in": 600, "token_type": "Bearer"}},
            ),
        ),
    }
    return Upstream(**(facts | parts))


@pytest.fixture(scope="session")
def key_file():
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return json.dumps(
        {
            "type": "service_account",
            "client_email": "robot@bank.example",
            "private_key": pem.decode(),
            "private_key_id": "key-1",
            "token_uri": "https://bank.example/token",
        }
    )


@pytest.fixture
def clock():
    return ManualClock()


class Watched(MockApplication):
    """Remembers which operations were asked for, and with which tokens."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.seen = []

    async def handle(self, request):
        headers = {name.lower(): value for name, value in request.headers}
        self.seen.append((request.target, headers.get("authorization", "").removeprefix("Bearer ")))
        return await super().handle(request)

    @property
    def fetched(self):
        return [target for target, _ in self.seen].count("/token")


@pytest.fixture(params=["mock", "live"])
def kind(request):
    return request.param


@pytest.fixture
def opened(kind, clock, key_file):
    @asynccontextmanager
    async def build(grant, *steps, upstream=None, **credentials):
        upstream = upstream or bank(grant)
        application = Watched(upstream, clock, scenario=list(map(parse_step, steps)))
        given = {"client_id": "mock_i", "client_secret": "mock_s", "refresh_token": "mock_r"}
        given["service_account_key"] = key_file if kind == "live" else "mock_key"
        given |= credentials
        if kind == "mock":
            backend = MockBackend(upstream, clock, credentials=given, application=application)
            yield backend, application
            await backend.close()
            return
        async with serving(asgi_app(application)) as url:
            backend = LiveBackend(
                upstream, clock, base_url=url, token_url=f"{url}/token", credentials=given
            )
            yield backend, application
            await backend.close()

    return build


def send(backend, timeout_seconds=TIMEOUT):
    return backend.send(OPEN, timeout_seconds=timeout_seconds)


@pytest.mark.parametrize("grant", GRANTS)
async def test_a_token_is_fetched_once_and_sent_with_every_request(opened, grant):
    async with opened(grant) as (backend, bank_):
        replies = [await send(backend) for _ in range(3)]
    assert [reply.status for reply in replies] == [200, 200, 200]
    assert bank_.fetched == 1
    assert len({token for target, token in bank_.seen if target != "/token"}) == 1


async def test_forty_callers_at_once_share_one_fetch(opened):
    async with opened("refresh_token", "issueToken 1 latency=10ms") as (backend, bank_):
        replies = await asyncio.gather(*(send(backend) for _ in range(40)))
    assert {reply.status for reply in replies} == {200}
    assert bank_.fetched == 1


async def test_the_first_caller_may_leave_without_failing_the_others(opened):
    async with opened("refresh_token", "issueToken 1 latency=50ms") as (backend, bank_):
        first = asyncio.create_task(send(backend))
        while not bank_.fetched:  # noqa: ASYNC110 - it happens elsewhere
            await asyncio.sleep(0)
        others = [asyncio.create_task(send(backend)) for _ in range(3)]
        # They begin to wait for the token.
        await asyncio.sleep(0)
        first.cancel()
        replies = await asyncio.gather(*others)
    assert {reply.status for reply in replies} == {200}
    assert bank_.fetched == 1


async def test_a_token_is_renewed_before_it_expires(opened, clock):
    """It lives for 600 seconds; a minute before the end is the tenth of its life as well."""
    async with opened("client_credentials") as (backend, bank_):
        await send(backend)
        clock.advance(539)
        await send(backend)
        assert bank_.fetched == 1
        clock.advance(2)
        await send(backend)

        async def renewed() -> bool | None:
            return bank_.fetched == 2 or None

        await eventually(renewed)  # beside the call, which has the old one


async def test_a_token_that_is_refused_is_replaced_and_the_request_sent_again(opened, clock):
    """Also a write: a request that was not let in has done nothing."""
    async with opened("refresh_token", "openSafe 1 status=401") as (backend, bank_):
        reply = await send(backend)
    assert reply.status == 200
    assert [target for target, _ in bank_.seen] == ["/token", "/safes/7", "/token", "/safes/7"]
    assert bank_.seen[1][1] != bank_.seen[3][1]


async def test_a_second_refusal_stands(opened):
    async with opened("refresh_token", "openSafe 2 status=401") as (backend, bank_):
        assert (await send(backend)).status == 401
        assert (bank_.fetched, len(bank_.seen)) == (2, 4)
        assert (await send(backend)).status == 200
        assert bank_.fetched == 2


async def test_refused_together_they_share_one_new_token(opened):
    """A token that was fetched since the refused one was sent is not thrown away with it."""
    async with opened("refresh_token", "openSafe 10 status=401") as (backend, bank_):
        replies = await asyncio.gather(*(send(backend) for _ in range(10)))
    assert {reply.status for reply in replies} <= {200, 401}
    assert bank_.fetched == 2


@pytest.mark.parametrize(
    ("grant", "credentials", "code", "named"),
    [
        ("refresh_token", {"refresh_token": "mock_revoked"}, "invalid_grant", "REFRESH_TOKEN"),
        ("refresh_token", {"client_secret": "mock_revoked"}, "invalid_client", "CLIENT_SECRET"),
        ("client_credentials", {"client_secret": "mock_revoked"}, "invalid_client", "CLIENT_ID"),
    ],
)
async def test_what_is_refused_for_good_is_not_asked_for_again(
    opened, grant, credentials, code, named
):
    async with opened(grant, **credentials) as (backend, bank_):
        assert backend.problem is None
        for _ in range(3):
            with pytest.raises(UpstreamRefusedCredentials, match=code):
                await send(backend)
        assert backend.problem is not None
        assert code in backend.problem
        assert f"GATEWAY_BANK_{named}" in backend.problem
        assert "revoked" not in backend.problem
    assert len(bank_.seen) == 1


@pytest.mark.parametrize("fault", ["status=408", "status=429", "status=500", "status=503", "close"])
async def test_what_may_pass_is_tried_again(opened, fault):
    """Nothing has been sent to the API, so a write may be repeated too."""
    async with opened("client_credentials", f"issueToken 1 {fault}") as (backend, _):
        with pytest.raises(UpstreamUnavailable) as caught:
            await send(backend)
        assert caught.value.is_sent is False
        assert backend.problem is None
        assert (await send(backend)).status == 200


async def test_a_slow_token_endpoint_meets_the_deadline_of_the_call(opened):
    async with opened("client_credentials", "issueToken 1 latency=100ms") as (backend, bank_):
        with pytest.raises(UpstreamUnavailable) as caught:
            await send(backend, timeout_seconds=0.05)
        assert caught.value.is_sent is False
    assert "/safes/7" not in dict(bank_.seen)


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("truncate", InvalidReply),
        ("break-contract", InvalidReply),
        ("status=302", InvalidReply),
        ("status=404", UpstreamRefusedCredentials),
    ],
)
async def test_an_answer_that_is_no_token_is_an_error_and_no_problem_for_good(opened, fault, error):
    async with opened("client_credentials", f"issueToken 1 {fault}") as (backend, _):
        with pytest.raises(error):
            await send(backend)
        assert (await send(backend)).status == 200
        assert backend.problem is None


async def test_a_token_that_the_upstream_has_forgotten_is_replaced(opened):
    """As after a restart of a mock, or on one whose time runs faster than the gateway's."""
    async with opened("refresh_token") as (backend, bank_):
        await send(backend)
        bank_._mocked._issuer._issued.clear()
        assert (await send(backend)).status == 200
    assert bank_.fetched == 2
