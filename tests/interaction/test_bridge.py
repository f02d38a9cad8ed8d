"""The bridge to a gateway elsewhere, over TLS as in production."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequestParams

from gateway.transports.stdio.bridge import RemoteGateway
from tests.tls import TlsProxy, tls_before

GREET = CallToolRequestParams(name="example_greet", arguments={"name": "Ada"})


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
    async with RemoteGateway(f"{tls_site.url}/mcp", admin_key) as remote:
        for _ in range(5):
            assert len((await remote.list_tools(None)).tools) == 6
            result = await remote.call_tool(GREET)
            assert result.structured_content is not None
    assert tls_site.connections == 1
    assert contexts == 1


async def test_requests_at_once_are_given_their_own_refusals(
    tls_site: TlsProxy, site: Any, admin_key: str
) -> None:
    """What one answer says must not become the reason of another."""
    async with (
        RemoteGateway(f"{tls_site.url}/mcp", admin_key) as remote,
        RemoteGateway(f"{tls_site.url}/mcp", "gw_wrong-key-0123456789") as refused,
        RemoteGateway(f"{tls_site.url}/elsewhere", admin_key) as lost,
    ):
        answers = await asyncio.gather(
            *[each.call_tool(GREET) for _ in range(5) for each in (remote, refused, lost)],
            return_exceptions=True,
        )
    assert all(not isinstance(answer, BaseException) for answer in answers[::3])
    assert {str(answer).partition("this: ")[2][:26] for answer in answers[1::3]} == {
        "it refused the key (401). "
    }
    assert all("should end in /mcp" in str(answer) for answer in answers[2::3])


async def test_a_remote_that_restarts_is_no_matter(
    socket_site: str, admin_key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its connections end, and the next request opens a new one."""
    async with tls_before(socket_site, tmp_path) as proxy:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
        async with RemoteGateway(f"{proxy.url}/mcp", admin_key) as remote:
            await remote.call_tool(GREET)
            await proxy.cut()
            await remote.call_tool(GREET)
    assert proxy.connections == 2


async def test_a_remote_that_takes_too_long_is_named(
    socket_site: str, site: Any, admin_key: str
) -> None:
    wait = CallToolRequestParams(name="example_wait", arguments={"name": "Ada"})
    async with RemoteGateway(f"{socket_site}/mcp", admin_key, answer_seconds=0.2) as remote:
        with pytest.raises(MCPError, match=r"it did not answer within 0\.2 seconds"):
            await remote.call_tool(wait)
    assert site.handlers.entered.is_set()
