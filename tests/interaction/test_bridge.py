"""The bridge to a gateway elsewhere, over TLS as in production."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from gateway.transports.bridge import remote
from gateway.transports.bridge.serving import RelayedRequest
from tests.bridged import bridged
from tests.eventually import PATIENCE_SECONDS, eventually
from tests.tls import TlsProxy, tls_before

GREET = ("example_greet", {"name": "Ada"})
ERAS = pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])


@pytest.fixture
async def tls_site(
    socket_site: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[TlsProxy]:
    """The gateway under test behind TLS, whose authority this process trusts."""
    async with tls_before(socket_site, tmp_path) as proxy:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
        yield proxy


async def test_all_requests_of_a_bridge_share_one_connection_and_one_tls_context(
    tls_site: TlsProxy, admin_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    contexts = 0
    make = ssl.create_default_context

    def counted(*args: Any, **options: Any) -> ssl.SSLContext:
        nonlocal contexts
        contexts += 1
        return make(*args, **options)

    monkeypatch.setattr(ssl, "create_default_context", counted)
    # However long the pauses between the requests are.
    patient = replace(remote._LIMITS, keepalive_expiry=PATIENCE_SECONDS)
    monkeypatch.setattr(remote, "_LIMITS", patient)
    async with bridged(f"{tls_site.url}/mcp", admin_key) as client:
        for _ in range(5):
            assert len((await client.list_tools()).tools) == 6
            result = await client.call_tool(*GREET)
            assert result.structured_content is not None
    assert tls_site.connections == 1
    assert contexts == 1


async def test_requests_at_once_are_given_their_own_answers(
    tls_site: TlsProxy, admin_key: str
) -> None:
    async with (
        bridged(f"{tls_site.url}/mcp", admin_key) as client,
        bridged(f"{tls_site.url}/mcp", "gw_wrong-key-0123456789") as refused,
    ):
        calls = [client.call_tool("example_greet", {"name": str(n)}) for n in range(50)]
        calls += [refused.call_tool(*GREET) for _ in range(5)]
        answers: Any = await asyncio.gather(*calls, return_exceptions=True)
    said = [each.structured_content["greeting"] for each in answers[:50]]
    assert said == [f"Hello {n}" for n in range(50)]
    assert {str(each).partition("this: ")[2][:26] for each in answers[50:]} == {
        "it refused the key (401). "
    }


@ERAS
async def test_a_remote_that_restarts_is_no_matter(
    socket_site: str, admin_key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    """Its connections end, and the next request opens a new one."""
    async with tls_before(socket_site, tmp_path) as proxy:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
        async with bridged(f"{proxy.url}/mcp", admin_key, mode) as client:
            await client.call_tool(*GREET)
            await proxy.cut()
            await client.call_tool(*GREET)


@ERAS
async def test_a_remote_that_takes_too_long_is_named_and_its_call_cancelled(
    socket_site: str, site: Any, admin_key: str, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time is over as soon as the call has begun."""
    allow = RelayedRequest.allow
    begun: list[RelayedRequest] = []

    def endless(relayed: RelayedRequest, _: float | None) -> None:
        begun.append(relayed)
        allow(relayed, None)

    monkeypatch.setattr(RelayedRequest, "allow", endless)
    async with bridged(f"{socket_site}/mcp", admin_key, mode, answer_seconds=3) as client:
        call = asyncio.create_task(client.call_tool("example_wait", {"name": "Ada"}))
        await site.handlers.entered.wait()
        allow(begun[-1], 0)
        with pytest.raises(MCPError, match="it did not answer within 3 seconds"):
            await call

        async def is_cancelled() -> bool | None:
            return site.handlers.cancelled or None

        assert await eventually(is_cancelled)
