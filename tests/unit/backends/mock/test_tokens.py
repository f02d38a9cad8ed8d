"""The mock's token endpoint, asked as any client would ask it."""

import asyncio
import base64
import json
import sys
from types import ModuleType
from urllib.parse import urlencode

import msgspec
import pytest

from gateway.backends.mock.application import MockApplication, MockOptions
from gateway.backends.mock.backend import MockBackend
from gateway.backends.wire import WireRequest
from gateway.contract.connector import mock_behaviours
from gateway.contract.mock import TokenRefusal
from gateway.contract.upstream import (
    CredentialRule,
    HeaderRule,
    QueryRule,
    TokenRule,
    Upstream,
    UpstreamOperation,
    UpstreamRequest,
)
from tests.eventually import PATIENCE_SECONDS

REPLIES = {"200": {"type": "object"}, "4XX": {"type": "object"}, "5XX": {"type": "object"}}
JWT_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
FORM = "application/x-www-form-urlencoded"
TRIO = {"client_id": "c", "client_secret": "s", "refresh_token": "r"}
REFRESH = {"grant_type": "refresh_token", **TRIO}
BANK = Upstream(
    name="bank",
    title="Bank",
    base_url=None,
    credentials=(CredentialRule(name="key", description="k"),),
    headers=(HeaderRule(name="Authorization", template="Bearer {token}"),),
    query=(QueryRule(name="key", template="{credential.key}"),),
    tokens=(
        TokenRule(grant="refresh_token", url="/t", operation="issueToken"),
        TokenRule(grant="client_credentials", url="/t", operation="issueToken"),
        TokenRule(grant="jwt_bearer", url="/t", operation="issueToken"),
    ),
    operations=(
        UpstreamOperation(
            id="look", method="GET", path="/safe", replies=REPLIES, examples={"200": {"ok": True}}
        ),
        UpstreamOperation(
            id="issueToken",
            method="POST",
            path="/t",
            request_schema={"type": "object", "required": ["grant_type"]},
            takes_form=True,
            replies=REPLIES,
            examples={
                "200": {
                    "type": "bankToken",
                    "client_id": "example",
                    "access_token": "x",
                    "token_type": "Bearer",
                    "expires_in": 1799,
                }
            },
        ),
    ),
)


@pytest.fixture
def bank(clock):
    return MockApplication(BANK, clock)


async def post(bank, form, media_type=FORM):
    reply = await bank.handle(
        WireRequest(
            method="POST",
            target="/t",
            headers=(("Content-Type", media_type),),
            body=urlencode(form).encode(),
        )
    )
    return reply.status, json.loads(reply.body)


async def look(bank, token=None, target="/safe?key=k"):
    headers = () if token is None else (("Authorization", token),)
    reply = await bank.handle(WireRequest(method="GET", target=target, headers=headers))
    return reply.status


def part(facts):
    return base64.urlsafe_b64encode(json.dumps(facts).encode()).rstrip(b"=").decode()


def assertion(header=None, signature="c2ln", **claims):
    facts = {"iss": "robot@x", "aud": "https://x", "iat": 1000, "exp": 4600, **claims}
    return f"{part(header or {'alg': 'RS256'})}.{part(facts)}.{signature}"


async def test_the_answer_is_the_contracts_example_with_a_token_of_its_own(bank):
    status, body = await post(bank, REFRESH)
    again = (await post(bank, REFRESH))[1]
    assert status == 200
    assert body == {**again, "access_token": body["access_token"]}
    assert body["access_token"] != again["access_token"]
    assert (body["type"], body["client_id"], body["expires_in"]) == ("bankToken", "c", 1799)


async def test_the_same_seed_issues_the_same_tokens(clock):
    tokens = [(await post(MockApplication(BANK, clock), REFRESH))[1] for _ in range(2)]
    other = (await post(MockApplication(BANK, clock, options=MockOptions(seed="1")), REFRESH))[1]
    assert tokens[0] == tokens[1] != other


async def test_a_token_opens_the_api_until_it_expires(bank, clock):
    token = f"Bearer {(await post(bank, REFRESH))[1]['access_token']}"
    assert await look(bank, token) == 200
    clock.advance(1798)
    assert await look(bank, token) == 200
    clock.advance(1)
    assert await look(bank, token) == 401


@pytest.mark.parametrize("token", [None, "", "Bearer ", "Bearer made-up", "Basic x", "mock_token"])
async def test_nothing_else_opens_it(bank, token):
    assert await look(bank, token) == 401


async def test_a_missing_key_in_the_query_is_refused_too(bank):
    token = f"Bearer {(await post(bank, REFRESH))[1]['access_token']}"
    assert await look(bank, token, "/safe") == 401
    assert await look(bank, token, "/safe?key=") == 401


@pytest.mark.parametrize(
    ("form", "status", "error"),
    [
        ({}, 400, "invalid_request"),
        ({"grant_type": "password"}, 400, "unsupported_grant_type"),
        ({**REFRESH, "refresh_token": ""}, 400, "invalid_request"),
        ({**REFRESH, "client_id": ""}, 400, "invalid_request"),
        ({**REFRESH, "refresh_token": "mock_revoked"}, 400, "invalid_grant"),
        ({**REFRESH, "client_secret": "mock_revoked"}, 401, "invalid_client"),
        (
            {**TRIO, "grant_type": "client_credentials", "client_secret": "revoked"},
            401,
            "invalid_client",
        ),
        ({"grant_type": JWT_GRANT}, 400, "invalid_grant"),
        ({"grant_type": JWT_GRANT, "assertion": "a.b"}, 400, "invalid_grant"),
        ({"grant_type": JWT_GRANT, "assertion": "é.b.c"}, 400, "invalid_grant"),
        ({"grant_type": JWT_GRANT, "assertion": assertion({"alg": "none"})}, 400, "invalid_grant"),
        ({"grant_type": JWT_GRANT, "assertion": assertion({"alg": "HS256"})}, 400, "invalid_grant"),
        ({"grant_type": JWT_GRANT, "assertion": assertion(signature="")}, 400, "invalid_grant"),
        ({"grant_type": JWT_GRANT, "assertion": assertion(exp=4601)}, 400, "invalid_grant"),
        ({"grant_type": JWT_GRANT, "assertion": assertion(exp="4600")}, 400, "invalid_grant"),
        ({"grant_type": JWT_GRANT, "assertion": assertion(aud="")}, 400, "invalid_grant"),
        ({"grant_type": JWT_GRANT, "assertion": assertion(iss="revoked@x")}, 400, "invalid_grant"),
    ],
)
async def test_a_refusal_is_that_of_rfc_6749(bank, form, status, error):
    found, body = await post(bank, form)
    assert (found, body["error"]) == (status, error)
    assert set(body) == {"error", "error_description"}


@pytest.mark.parametrize(
    "form",
    [
        REFRESH,
        {"grant_type": "client_credentials", "client_id": "c", "client_secret": "s"},
        {"grant_type": JWT_GRANT, "assertion": assertion()},
    ],
)
async def test_every_grant_that_the_contract_names_is_served(bank, form):
    status, body = await post(bank, form)
    assert status == 200
    assert await look(bank, f"Bearer {body['access_token']}") == 200


async def test_what_is_no_form_is_refused_in_the_endpoints_words(bank):
    status, body = await post(bank, REFRESH, "application/json")
    assert (status, body["error"]) == (400, "invalid_request")


async def test_a_vendor_may_word_its_refusals_otherwise(clock, monkeypatch):
    module = ModuleType("bank_mock")
    module.BEHAVIOURS = mock_behaviours(module.__name__, {})
    module.refuse = lambda refusal: {"reason": refusal.reason}
    module.finish = lambda reply: reply

    def refuse_token(refusal: TokenRefusal):
        return {"error": refusal.error, "code": 38187}

    module.refuse_token = refuse_token
    monkeypatch.setitem(sys.modules, "bank_mock", module)
    bank = MockApplication(msgspec.structs.replace(BANK, mock="bank_mock"), clock)
    assert await post(bank, {"grant_type": "x"}) == (
        400,
        {"error": "unsupported_grant_type", "code": 38187},
    )
    bad = await bank.handle(
        WireRequest(method="GET", target="/safe?key=k", headers=(("Authorization", "Bearer x"),))
    )
    assert json.loads(bad.body) == {"reason": "invalid_token"}


async def test_a_backend_that_closes_gives_up_the_token_under_way(clock):
    slow = MockApplication(BANK, clock, options=MockOptions(latency_seconds=60))
    backend = MockBackend(BANK, clock, application=slow)
    look = UpstreamRequest(operation="look", method="GET", path=("safe",))
    waiting = asyncio.create_task(backend.send(look, timeout_seconds=60))
    await asyncio.sleep(0)
    await asyncio.sleep(0)

    await backend.close()

    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(waiting, PATIENCE_SECONDS)
