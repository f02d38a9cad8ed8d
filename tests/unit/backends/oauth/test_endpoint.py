"""The way to a token endpoint: the form goes there and nowhere else, and what comes is bounded."""

import ssl
from contextlib import asynccontextmanager

import pytest

from gateway.backends.oauth.endpoint import HttpTokenWire
from gateway.backends.oauth.replies import MAX_TOKEN_REPLY_BYTES
from gateway.errors import InvalidReply, UpstreamUnavailable
from gateway.testing.asgi_server import serving

FORM = b"client_secret=s-1"


class Endpoint:
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
    endpoint = Endpoint(200, b'{"access_token": "t"}', [(b"X-Kind", b"a")])
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
    endpoint = Endpoint(status, b"", [(b"location", b"/elsewhere")])
    async with wire_to(endpoint) as wire:
        assert (await wire.post(FORM)).status == status

    assert [path for _, path, _, _ in endpoint.asked] == ["/token"]


async def test_proxies_of_the_environment_are_not_used(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    endpoint = Endpoint()
    async with wire_to(endpoint) as wire:
        assert (await wire.post(FORM)).status == 200


@pytest.mark.parametrize(("size", "is_read"), [(0, True), (1, False)])
async def test_a_reply_has_a_greatest_size(size, is_read):
    body = b"x" * (MAX_TOKEN_REPLY_BYTES + size)
    async with wire_to(Endpoint(200, body)) as wire:
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
    async with wire_to(Endpoint()) as wire:
        await wire.post(FORM)
        await wire.post(FORM)
    assert len(made) == 1
