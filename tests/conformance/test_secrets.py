"""No secret gets out by a log, an error or a representation, whatever goes wrong on the way."""

import asyncio
import json
import traceback
from contextlib import asynccontextmanager

import pytest

from gateway.backends.http.live import LiveBackend
from gateway.backends.http.replies import ReplyLimits
from gateway.backends.oauth import IssuedToken, TokenForms, TokenSource
from gateway.backends.wire import WireEncoder
from gateway.contract.credentials import read_key_file
from gateway.contract.upstream import (
    CredentialRule,
    HeaderRule,
    QueryRule,
    TokenRule,
    Upstream,
    UpstreamOperation,
    UpstreamRequest,
)
from gateway.errors import UpstreamUnavailable
from gateway.testing.live import CANARY, service_account_key
from gateway.testing.suite.secrets import everything_logged
from tests.clocks import ManualClock
from tests.eventually import PATIENCE_SECONDS

KEY_FILE = service_account_key()
CREDENTIALS = {
    "api_key": f"{CANARY}-query",
    "header_key": f"{CANARY}-header",
    "client_id": f"{CANARY}-id",
    "client_secret": f"{CANARY}-secret",
    "refresh_token": f"{CANARY}-refresh",
    "service_account_key": KEY_FILE,
}
FORBIDDEN = (CANARY, "eyJ", json.loads(KEY_FILE)["private_key"][100:140])
"""Every credential, every issued token, the start of a JWT, and a piece of the private key."""
OTHER_GRANTS = ("client_credentials", "jwt_bearer")
READ = UpstreamRequest(operation="read", method="GET", path=("books",))
ISSUED = json.dumps(
    {"access_token": f"{CANARY}-token", "expires_in": 600, "refresh_token": f"{CANARY}-rotated"}
).encode()


def library(grant):
    return Upstream(
        name="library",
        title="Library",
        base_url=None,
        credentials=tuple(CredentialRule(name=name, description="") for name in CREDENTIALS),
        headers=(
            HeaderRule(name="Authorization", template="Bearer {token}"),
            HeaderRule(name="X-Key", template="{credential.header_key}"),
        ),
        query=(QueryRule(name="appid", template="{credential.api_key}"),),
        tokens=(TokenRule(grant=grant, url="/token", operation="issueToken", scopes=("a",)),),
        operations=(
            UpstreamOperation(id="read", method="GET", path="/books"),
            UpstreamOperation(id="issueToken", method="POST", path="/token", replies={"200": {}}),
        ),
    )


def http(body=b"{}", status="200 OK", **headers):
    fields = {"Content-Type": "application/json", "Content-Length": len(body), **headers}
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status}\r\nConnection: close\r\n{head}\r\n".encode() + body


@asynccontextmanager
async def answering(raw):
    """A server that reads a request and writes `raw`, whatever was asked; None says nothing."""
    serving = []

    async def serve(reader, writer):
        serving.append(asyncio.current_task())
        await reader.readuntil(b"\r\n\r\n")
        if raw is None:
            await reader.read()
            writer.close()
            return
        try:
            writer.write(raw)
            await writer.drain()
            writer.close()
            await writer.wait_closed()
        except ConnectionError:
            pass  # The client may hang up on an answer that it does not want.

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        await asyncio.gather(server.wait_closed(), *serving, return_exceptions=True)


ECHO = f'{{"error": "bad {CANARY}", "error_description": "{CANARY}"}}'.encode()
TOKEN_ANSWERS = {
    "invalid_grant": http(b'{"error": "invalid_grant"}', "400 Bad Request"),
    "echo": http(ECHO, "400 Bad Request"),
    "unavailable": http(ECHO, "503 Unavailable"),
    "redirect": http(b"", "302 Found", Location=f"https://{CANARY}.example/?x={CANARY}"),
    "no json": http(CANARY.encode()),
    "no bearer": http(ISSUED.replace(b"}", b', "token_type": "mac"}')),
    "unsendable": http(json.dumps({"access_token": f"{CANARY}\n"}).encode()),
    "no http": b"SSH-2.0 " + CANARY.encode() + b"\r\n",
    "cut": http(ISSUED, Content_Length=10_000),
    "nothing": b"",
}
API_ANSWERS = {
    "well": http(),
    "refused": http(ECHO, "401 Unauthorized"),
    "redirect": http(b"", "302 Found", Location=f"https://{CANARY}.example/?appid={CANARY}"),
    "no http": b"SSH-2.0 " + CANARY.encode() + b"\r\n",
    "bad header": b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000 + b"\r\n\r\n",
    "coding": http(b"x", Content_Encoding="br"),
    "cut": http(b"{}", Content_Length=10_000),
    "nothing": b"",
}


@pytest.fixture
def log():
    with everything_logged() as stream:
        yield stream


async def reported(raw_api, raw_token, grant, log, *, timeout_seconds=PATIENCE_SECONDS, least=""):
    """Everything that was said while one request was sent twice, and until it has `least`."""
    asyncio.get_running_loop().set_debug(True)
    said = []
    async with answering(raw_api) as api, answering(raw_token) as token:
        backend = LiveBackend(
            library(grant),
            ManualClock(),
            base_url=api,
            token_url=f"{token}/token",
            credentials=CREDENTIALS,
            replies=ReplyLimits(max_bytes=1024),
        )
        sent = 0
        while sent < 2 or least not in "".join(said):
            sent += 1
            try:
                await backend.send(READ, timeout_seconds=timeout_seconds)
            except Exception as error:  # noqa: BLE001 - whatever it is, it must be silent
                said += [str(error), repr(error), *traceback.format_exception(error)]
        said += [repr(backend), str(backend.problem)]
        await backend.close()
    return "\n".join([*said, log.getvalue()])


@pytest.mark.parametrize(
    ("answer", "grant"),
    [
        *((answer, "refresh_token") for answer in TOKEN_ANSWERS),
        *(("echo", grant) for grant in OTHER_GRANTS),
    ],
)
async def test_nothing_is_informed_when_there_is_no_token(answer, grant, log):
    text = await reported(http(), TOKEN_ANSWERS[answer], grant, log)
    assert "UpstreamError" in text or "Upstream" in text or "InvalidReply" in text
    assert [secret for secret in FORBIDDEN if secret in text] == []


@pytest.mark.parametrize("answer", API_ANSWERS)
async def test_nothing_is_informed_when_the_api_misbehaves(answer, log):
    text = await reported(API_ANSWERS[answer], http(ISSUED), "refresh_token", log)
    assert "new refresh token" in text
    assert [secret for secret in FORBIDDEN if secret in text] == []


async def test_nothing_is_informed_when_the_api_is_slow(log):
    # On a busy machine, the token takes longer than that at first.
    least = "No answer in"
    text = await reported(
        None, http(ISSUED), "refresh_token", log, timeout_seconds=0.05, least=least
    )
    assert least in text
    assert [secret for secret in FORBIDDEN if secret in text] == []


@pytest.mark.parametrize(
    "base", ["http://127.0.0.1:1", "https://127.0.0.1:1", "http://nowhere.invalid"]
)
async def test_nothing_is_informed_when_nobody_is_there(base, log):
    for token_url in (f"{base}/token", None):
        async with answering(http(ISSUED)) as issuing:
            backend = LiveBackend(
                library("refresh_token"),
                ManualClock(),
                base_url=base,
                token_url=token_url or issuing,
                credentials=CREDENTIALS,
            )
            with pytest.raises(UpstreamUnavailable, match="reached") as caught:
                await backend.send(READ, timeout_seconds=PATIENCE_SECONDS)
            await backend.close()
        text = "".join(traceback.format_exception(caught.value)) + log.getvalue()
        assert [secret for secret in FORBIDDEN if secret in text] == []


def test_no_record_shows_what_it_holds():
    upstream = library("jwt_bearer")
    encoder = WireEncoder(upstream, CREDENTIALS)
    forms = TokenForms(upstream.tokens[0], CREDENTIALS)
    records = (
        encoder,
        encoder._timed,
        upstream.headers,
        encoder.signed(encoder.encode(READ, "now"), "now", f"{CANARY}-token"),
        forms,
        read_key_file(KEY_FILE),
        IssuedToken(text=CANARY, lifetime_seconds=1, refresh_token=CANARY),
        TokenSource(upstream, upstream.tokens[0], forms, None, ManualClock()),
    )
    for record in records:
        assert [secret for secret in FORBIDDEN if secret in repr(record)] == []
