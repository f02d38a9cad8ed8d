"""Access tokens: when they are fetched, for whom, over which way, and what is made of answers."""

import asyncio
import json
import logging
import random
import ssl
from contextlib import asynccontextmanager

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.backends.oauth import (
    EARLY_SECONDS,
    MAX_TOKEN_REPLY_BYTES,
    HttpTokenWire,
    TokenForms,
    TokenSource,
    mock_key,
    usable_seconds,
)
from gateway.contract.upstream import Reply, TokenRule, Upstream, UpstreamOperation
from gateway.errors import InvalidReply, UpstreamRefusedCredentials, UpstreamUnavailable
from gateway.testing.asgi_server import serving
from tests.clocks import ManualClock
from tests.unit.tables import each_of

ISSUE = UpstreamOperation(
    id="issueToken", method="POST", path="/token", takes_form=True, replies={"200": {}}
)
BANK = Upstream(name="bank", title="Bank", base_url=None, operations=(ISSUE,))
TRIO = {"client_id": "id-1", "client_secret": "s-1", "refresh_token": "r-1"}


def rule(grant="refresh_token", *scopes):
    return TokenRule(grant=grant, url="/token", operation="issueToken", scopes=scopes)


def answer(status=200, **body):
    return Reply(status=status, headers={}, body=json.dumps(body).encode())


def issued(number, lifetime=600, **more):
    return answer(access_token=f"token-{number}", expires_in=lifetime, **more)


class Endpoint:
    """A token endpoint that answers what the test says, each time after some turns of the loop."""

    def __init__(self, reply=None, turns=lambda: 0):
        self.forms = []
        self.under_way = 0
        self._reply = reply or issued
        self._turns = turns

    async def post(self, form):
        self.forms.append(form.decode())
        self.under_way += 1
        assert self.under_way == 1
        number = len(self.forms)
        try:
            for _ in range(self._turns()):
                await asyncio.sleep(0)
            outcome = self._reply(number)
        finally:
            self.under_way -= 1
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def source(endpoint, clock, grant="refresh_token", credentials=TRIO):
    return TokenSource(BANK, rule(grant), TokenForms(rule(grant), credentials), endpoint, clock)


@given(st.floats(0, 1e9))
def test_a_token_is_used_for_nine_tenths_of_its_life_at_least(lifetime):
    usable = usable_seconds(lifetime)
    assert 0.9 * lifetime - 1e-6 <= usable <= lifetime
    assert lifetime - usable <= EARLY_SECONDS


@pytest.mark.parametrize(("lifetime", "usable"), [(3599, 3539), (600, 540), (60, 54), (0, 0)])
def test_the_margin_is_a_minute_or_a_tenth(lifetime, usable):
    assert usable_seconds(lifetime) == pytest.approx(usable)


@each_of("seed", range(40))
async def test_at_any_moment_one_fetch_serves_all_who_wait(seed):
    """Callers come, leave and throw tokens away at random; nobody gets one that has expired."""
    chance = random.Random(seed)  # noqa: S311 - repeatable by design
    clock = ManualClock()
    lifetime = chance.choice([5, 50, 600])
    born = {}

    def reply(number):
        born[f"token-{number}"] = clock.seconds
        return issued(number, lifetime)

    tokens = source(Endpoint(reply, lambda: chance.randrange(5)), clock)

    async def caller():
        for _ in range(chance.randrange(1, 6)):
            token = await tokens.current()
            assert clock.seconds - born[token] < lifetime
            for _ in range(chance.randrange(4)):
                await asyncio.sleep(0)
            if chance.random() < 0.3:
                tokens.invalidate(token)
            if chance.random() < 0.3:
                clock.advance(chance.randrange(lifetime // 2))

    tasks = [asyncio.create_task(caller()) for _ in range(12)]
    leaving = chance.sample(tasks, 4)
    for task in leaving:
        await asyncio.sleep(0)
        task.cancel()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    stayed = [o for t, o in zip(tasks, outcomes, strict=True) if t not in leaving]
    assert stayed == [None] * 8
    await tokens.close()


async def test_a_failure_is_each_waiters_own(clock):
    """One error for all would be changed by one caller under the eyes of the others."""
    endpoint = Endpoint(lambda _: answer(503), lambda: 3)
    tokens = source(endpoint, clock)
    errors = await asyncio.gather(*(tokens.current() for _ in range(3)), return_exceptions=True)
    assert len({id(error) for error in errors}) == 3
    assert {type(error) for error in errors} == {UpstreamUnavailable}
    assert {error.is_sent for error in errors} == {False}
    assert len(endpoint.forms) == 1


async def test_no_call_waits_for_a_renewal(clock):
    waits = 0
    endpoint = Endpoint(lambda number: issued(number, 600), lambda: waits)
    tokens = source(endpoint, clock)
    assert await tokens.current() == "token-1"
    waits = 10
    clock.advance(541)
    assert {await tokens.current() for _ in range(100)} == {"token-1"}
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(endpoint.forms) == 2
    assert await tokens.current() == "token-2"


async def test_a_token_is_not_used_in_the_last_half_of_the_margin(clock):
    endpoint = Endpoint(lambda number: issued(number, 600))
    tokens = source(endpoint, clock)
    await tokens.current()
    clock.advance(571)
    assert {await tokens.current() for _ in range(100)} == {"token-2"}
    assert len(endpoint.forms) == 2


async def test_only_the_token_that_was_refused_is_thrown_away(clock):
    tokens = source(Endpoint(), clock)
    first = await tokens.current()
    tokens.invalidate(first)
    second = await tokens.current()
    tokens.invalidate(first)
    assert await tokens.current() == second == "token-2"


@pytest.mark.parametrize(
    ("lifetime", "used_for"),
    [("600", 539), (None, 269), ("soon", 269), ("inf", 269), ("nan", 269), (0, 0), (-5, 0)],
)
async def test_a_lifetime_may_be_text_or_missing(clock, lifetime, used_for):
    body = {} if lifetime is None else {"expires_in": lifetime}
    endpoint = Endpoint(lambda _: answer(access_token="t", **body))
    tokens = source(endpoint, clock)
    assert await tokens.current() == "t"
    clock.advance(used_for)
    await tokens.current()
    assert len(endpoint.forms) == (1 if used_for else 2)
    clock.advance(2)
    await tokens.current()
    await asyncio.sleep(0)
    assert len(endpoint.forms) == (2 if used_for else 3)


@pytest.mark.parametrize(
    "reply",
    [
        answer(access_token=7),
        answer(access_token=""),
        answer(token="t"),
        answer(access_token="t", token_type="mac"),
        Reply(status=200, headers={}, body=b"<html>"),
        Reply(status=200, headers={}, body=b"[]"),
        Reply(
            status=200, headers={}, body=b'{"access_token": "t", "pad": "' + b"x" * 65_536 + b'"}'
        ),
    ],
)
async def test_an_answer_without_a_bearer_token_is_an_error(clock, reply):
    with pytest.raises(InvalidReply):
        await source(Endpoint(lambda _: reply), clock).current()


@pytest.mark.parametrize("text", ["a\r\nX-Other: 1", "a\0", "t\u00f6ken", "x" * 20_000])
async def test_a_token_that_no_header_can_hold_is_not_kept(clock, text):
    bad = answer(access_token=text, expires_in=3600)
    tokens = source(Endpoint(lambda number: bad if number == 1 else issued(number)), clock)
    with pytest.raises(InvalidReply):
        await tokens.current()
    assert await tokens.current() == "token-2"


@pytest.mark.parametrize(
    "reply",
    [
        answer(400, error="invalid_grant", error_description="Token has been expired or revoked."),
        answer(401, error="invalid_client", code=38187, title="Invalid parameters"),
        answer(403, error="unauthorized_client"),
    ],
)
async def test_a_final_refusal_is_final(clock, reply):
    endpoint = Endpoint(lambda _: reply)
    tokens = source(endpoint, clock)
    for _ in range(3):
        with pytest.raises(UpstreamRefusedCredentials):
            await tokens.current()
    assert len(endpoint.forms) == 1
    assert tokens.problem is not None


@pytest.mark.parametrize(
    "reply",
    [
        answer(400, error="invalid_scope"),
        answer(400, error={"code": 400, "status": "invalid_grant"}),
        answer(400, error="in va lid\ngrant"),
        Reply(status=403, headers={}, body=b"<html>invalid_grant</html>"),
    ],
)
async def test_another_refusal_may_be_another_next_time(clock, reply):
    endpoint = Endpoint(lambda number: reply if number == 1 else issued(number))
    tokens = source(endpoint, clock)
    with pytest.raises(UpstreamRefusedCredentials) as caught:
        await tokens.current()
    assert "\n" not in str(caught.value)
    assert tokens.problem is None
    assert await tokens.current() == "token-2"


async def test_a_new_refresh_token_is_used_and_reported_once(clock, caplog):
    endpoint = Endpoint(lambda number: issued(number, 10, refresh_token=f"r-{number + 1}"))
    tokens = source(endpoint, clock)
    with caplog.at_level(logging.DEBUG):
        for _ in range(3):
            await tokens.current()
            clock.advance(10)
    assert [f"refresh_token=r-{number}" in endpoint.forms[number - 1] for number in (1, 2, 3)] == [
        True,
        True,
        True,
    ]
    reported = [record for record in caplog.records if "new refresh token" in record.message]
    assert len(reported) == 1
    assert "r-2" not in caplog.text


@pytest.mark.parametrize(
    ("grant", "expected"),
    [
        (
            "refresh_token",
            {
                "grant_type=refresh_token",
                "client_id=id-1",
                "client_secret=s-1",
                "refresh_token=r-1",
            },
        ),
        (
            "client_credentials",
            {"grant_type=client_credentials", "client_id=id-1", "client_secret=s-1", "scope=a+b"},
        ),
    ],
)
async def test_the_form_holds_what_the_grant_asks_for(clock, grant, expected):
    endpoint = Endpoint()
    asking = rule(grant, "a", "b")
    await TokenSource(BANK, asking, TokenForms(asking, TRIO), endpoint, clock).current()
    assert set(endpoint.forms[0].split("&")) == expected


async def test_an_assertion_is_what_rfc_7523_asks_for(clock):
    """Verified with the public half of the key by another way in than it was signed."""
    key = mock_key("robot")
    asking = rule("jwt_bearer", "https://a.example/x", "https://a.example/y")
    form = await TokenForms(asking, {"service_account_key": "-"}, lambda _: key).form(clock.now())
    assert form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer"
    header = jwt.get_unverified_header(form["assertion"])
    assert header == {"alg": "RS256", "typ": "JWT", "kid": "mock"}
    public = jwt.algorithms.RSAAlgorithm(jwt.algorithms.RSAAlgorithm.SHA256).prepare_key(
        key.private_key
    )
    claims = jwt.decode(
        form["assertion"],
        public.public_key(),
        algorithms=["RS256"],
        audience=key.token_uri,
        options={"verify_exp": False, "verify_iat": False},
    )
    now = int(clock.now().timestamp())
    assert claims == {
        "iss": "robot@mock.iam.gserviceaccount.com",
        "scope": "https://a.example/x https://a.example/y",
        "aud": "https://mock.example/token",
        "iat": now,
        "exp": now + 3600,
    }


async def test_a_key_that_cannot_sign_is_a_problem_for_the_operator(clock):
    text = json.dumps({"client_email": "x", "private_key": "canary", "token_uri": "https://x"})
    tokens = source(Endpoint(), clock, "jwt_bearer", {"service_account_key": text})
    with pytest.raises(UpstreamRefusedCredentials):
        await tokens.current()
    assert tokens.problem is not None
    assert "GATEWAY_BANK_SERVICE_ACCOUNT_KEY" in tokens.problem
    assert "canary" not in tokens.problem


async def test_closing_ends_what_is_under_way(clock):
    tokens = source(Endpoint(turns=lambda: 10_000), clock)
    waiting = asyncio.create_task(tokens.current())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    await tokens.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting


FORM = b"client_secret=s-1"


class TokenEndpoint:
    """Keeps what is asked, and gives one answer for ever."""

    def __init__(self, status=200, body=b"{}", headers=()):
        self.asked = []
        self._head = {"type": "http.response.start", "status": status, "headers": list(headers)}
        self._body = {"type": "http.response.body", "body": body}

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            for word in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{word}.complete"})
            return
        body = (await receive())["body"]
        self.asked.append((scope["method"], scope["path"], dict(scope["headers"]), body))
        await send(self._head)
        await send(self._body)


@asynccontextmanager
async def wire_to(endpoint):
    async with serving(endpoint) as url:
        yield HttpTokenWire(f"{url}/token")


async def test_the_form_is_posted_as_a_form():
    endpoint = TokenEndpoint(200, b'{"access_token": "t"}', [(b"X-Kind", b"a")])
    async with wire_to(endpoint) as wire:
        reply = await wire.post(FORM)

    assert (reply.status, reply.headers["x-kind"], reply.body) == (
        200,
        "a",
        b'{"access_token": "t"}',
    )
    [(method, path, headers, body)] = endpoint.asked
    assert (method, path, body) == ("POST", "/token", FORM)
    assert headers[b"content-type"] == b"application/x-www-form-urlencoded"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_answered_and_not_followed(status):
    endpoint = TokenEndpoint(status, b"", [(b"location", b"/elsewhere")])
    async with wire_to(endpoint) as wire:
        assert (await wire.post(FORM)).status == status

    assert [path for _, path, _, _ in endpoint.asked] == ["/token"]


async def test_proxies_of_the_environment_are_not_used(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    endpoint = TokenEndpoint()
    async with wire_to(endpoint) as wire:
        assert (await wire.post(FORM)).status == 200


@pytest.mark.parametrize(("size", "is_read"), [(0, True), (1, False)])
async def test_a_reply_has_a_greatest_size(size, is_read):
    body = b"x" * (MAX_TOKEN_REPLY_BYTES + size)
    async with wire_to(TokenEndpoint(200, body)) as wire:
        if is_read:
            assert (await wire.post(FORM)).body == body
        else:
            with pytest.raises(InvalidReply):
                await wire.post(FORM)


async def test_nobody_at_the_address_means_that_nothing_was_sent():
    with pytest.raises(UpstreamUnavailable) as failed:
        await HttpTokenWire("http://127.0.0.1:9/token").post(FORM)

    assert failed.value.is_sent is False
    assert "s-1" not in str(failed.value)


async def test_the_systems_authorities_are_read_once(monkeypatch):
    """It takes tens of milliseconds, in which the gateway does nothing else."""
    made = []
    make = ssl.create_default_context
    monkeypatch.setattr(ssl, "create_default_context", lambda: made.append(make()) or made[-1])
    async with wire_to(TokenEndpoint()) as wire:
        await wire.post(FORM)
        await wire.post(FORM)
    assert len(made) == 1
