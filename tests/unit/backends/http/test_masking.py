"""What a reply repeats of the credentials of its request, no agent gets."""

import base64
import json
from contextlib import asynccontextmanager
from urllib.parse import quote

import pytest

from gateway.backends.http.live import LiveBackend
from gateway.contract.slots import CredentialSlot
from gateway.contract.upstream import EncodedRequest, SettingRule, Upstream, UpstreamRequest
from gateway.testing.asgi_server import serving
from tests.clocks import ManualClock

SLOTS = (
    CredentialSlot(name="key", kind="api_key", location="header", key_name="X-Key"),
    CredentialSlot(name="query", kind="api_key", location="query", key_name="api_key"),
    CredentialSlot(name="login", kind="basic"),
    CredentialSlot(name="service", kind="oauth2", flow="client_credentials"),
)
PETS = Upstream(
    name="pets",
    title="Pets",
    base_url=None,
    slots=SLOTS,
    settings=(
        SettingRule(name="service_client_auth", description="", mock="", pattern="header|body"),
    ),
)
SECRETS = {
    "key": 'se"cret key',
    "query": 'se"cret key & more=c/d+e',
    "login_username": "ann@example.com",
    "login_password": "pass:word",
    "service_client_id": "client-1",
    "service_client_secret": "hush-hush",
}
TOKEN = "ya29.token/with+signs"


class Echo:
    """Answers with the request, padded; and a token endpoint at `/token`."""

    def __init__(self, padding=0):
        self.padding = padding

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            for word in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{word}.complete"})
            return
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        asked = scope["query_string"].decode()
        body = {"headers": headers, "next": f"/pets?{asked}", "pad": "x" * self.padding}
        if scope["path"] == "/token":
            body = {"access_token": TOKEN, "token_type": "Bearer", "expires_in": 600}
        repeated = headers.get("authorization", headers.get("x-key", asked)).encode()
        head = [(b"content-type", b"application/json"), (b"x-repeated", repeated)]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": json.dumps(body).encode()})


@asynccontextmanager
async def backend_of(server):
    async with serving(server) as url:
        settings = {"service_token_url": f"{url}/token"}
        backend = LiveBackend(
            PETS, ManualClock(), base_url=url, credentials=SECRETS, settings=settings
        )
        try:
            yield backend
        finally:
            await backend.close()


async def answered(backend, slot):
    request = UpstreamRequest(
        operation="pets.list",
        method="GET",
        path=(),
        slots=((slot,),),
        encoded=EncodedRequest(target="/pets?limit=1"),
    )
    return await backend.send(request, timeout_seconds=60)


BASIC = base64.b64encode(b"ann@example.com:pass:word").decode()
FORMS = {
    "key": [SECRETS["key"], json.dumps(SECRETS["key"])[1:-1]],
    # It begins with another secret, and no part of it may stay.
    "query": [SECRETS["query"], quote(SECRETS["query"], safe=""), "more"],
    "login": [SECRETS["login_password"], BASIC],
    "service": [TOKEN],
}


@pytest.mark.parametrize("padding", [0, 300_000], ids=["small", "large"])
@pytest.mark.parametrize("slot", FORMS)
async def test_it_is_masked_in_the_body_and_in_the_header(slot, padding):
    async with backend_of(Echo(padding)) as backend:
        reply = await answered(backend, slot)
    said = reply.body.decode() + reply.headers["x-repeated"]
    assert not [form for form in FORMS[slot] if form in said]
    assert "***" in reply.headers["x-repeated"]
    assert json.loads(reply.body)["next"].startswith("/pets?limit=1")


async def test_names_of_accounts_stay():
    class Profile(Echo):
        async def __call__(self, scope, receive, send):
            async def named(message):
                if message["type"] == "http.response.body":
                    message = {**message, "body": b'{"mail": "ann@example.com"}'}
                await send(message)

            await super().__call__(scope, receive, named)

    async with backend_of(Profile()) as backend:
        assert (await answered(backend, "login")).body == b'{"mail": "ann@example.com"}'
