"""A call leaves nothing for the garbage collector, which stops all calls while it works."""

import gc
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, Final

import httpx
import pytest

from gateway.calls.sending import Sending
from gateway.catalogue import open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.testing.asgi_server import serving
from gateway.testing.live import FaultyUpstreams, answering
from tests.interaction.operated import operated

READ: Final = "/v1/avinode/search_airports"
HANDLED: Final = "/v1/golf/search_tee_times"
ONCE: Final = {"gateway-max-attempts": "1"}


class Site:
    """A gateway with a live upstream that can fail."""

    def __init__(self, http: httpx.AsyncClient, upstream: FaultyUpstreams) -> None:
        self.upstream = upstream
        self._http = http
        self._calls = 0

    async def rest(self, path: str, body: Any) -> str:
        """The kind of the answer."""
        answer = await self._http.post(path, json=body, headers=ONCE)
        return "ok" if answer.status_code == 200 else answer.json()["type"].rpartition("/")[2]

    async def mcp(self, tool: str, arguments: Any) -> str:
        params = {"name": tool, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = await self._http.post(
            "/mcp",
            json=message,
            headers={
                "accept": "application/json, text/event-stream",
                "mcp-protocol-version": "2025-11-25",
            },
        )
        result = answer.json()["result"]
        if not result.get("isError"):
            return "ok"
        kind: str = json.loads(result["content"][0]["text"])["type"].rpartition("/")[2]
        return kind

    def airport(self) -> dict[str, str]:
        """Arguments of no other call, so that no answer is kept for them."""
        self._calls += 1
        return {"query": f"Teterboro {self._calls}"}

    def day(self) -> dict[str, object]:
        self._calls += 1
        return {"date": f"2027-01-{self._calls:02}", "players": 2}


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    catalogue = open_catalogue("generated", HANDLER_PACKAGES)
    upstream = FaultyUpstreams({"avinode": catalogue.upstreams["avinode"]})
    async with serving(upstream) as url:
        settings = {
            "GATEWAY_BACKEND_AVINODE": "live",
            "GATEWAY_AVINODE_BASE_URL": f"{url}/avinode",
            "GATEWAY_AVINODE_API_TOKEN": "token-of-the-tests",
            "GATEWAY_AVINODE_ACCESS_TOKEN": "access-of-the-tests",
        }
        async with operated(tmp_path, **settings) as (_, http):
            yield Site(http, upstream)


@pytest.fixture
def garbage() -> Iterator[Callable[[], Counter[str]]]:
    """Counts the gateway's own objects among what only the collector can free."""

    def found() -> Counter[str]:
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        counts = Counter(filter(None, map(_name_of, gc.garbage)))
        gc.garbage.clear()
        # What was saved is still garbage.
        gc.set_debug(0)
        gc.collect()
        return counts

    gc.disable()
    # What is there already need not be looked at.
    gc.freeze()
    try:
        yield found
    finally:
        gc.set_debug(0)
        gc.enable()


def _name_of(found: object) -> str | None:
    if isinstance(found, FrameType):
        is_own = "/gateway/" in found.f_code.co_filename
        return found.f_code.co_qualname if is_own else None
    kind = type(found)
    return kind.__qualname__ if kind.__module__.startswith("gateway.") else None


async def _repeated(call: Callable[[], Awaitable[str]], times: int = 3) -> set[str]:
    return {await call() for _ in range(times)}


@pytest.mark.parametrize("status", [400, 503])
async def test_calls_whose_upstream_fails(
    site: Site,
    garbage: Callable[[], Counter[str]],
    status: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Sending, "_wait", lambda *_: 0.0)

    async def rest() -> str:
        return await site.rest(READ, site.airport())

    async def mcp() -> str:
        return await site.mcp("avinode_search_airports", site.airport())

    assert await _repeated(rest) | await _repeated(mcp) == {"ok"}
    site.upstream.fault = answering(status)
    garbage()
    outcomes = await _repeated(rest) | await _repeated(mcp)
    assert garbage() == {}
    assert (
        outcomes
        >= {
            400: {"upstream-not-set-up"},
            503: {"upstream-unavailable", "not-sent"},
        }[status]
    )


async def test_calls_that_end_well_or_are_refused(
    site: Site, garbage: Callable[[], Counter[str]]
) -> None:
    calls: dict[str, list[Callable[[], Awaitable[str]]]] = {
        "ok": [
            lambda: site.rest(READ, site.airport()),
            lambda: site.mcp("avinode_search_airports", site.airport()),
            lambda: site.rest(HANDLED, site.day()),
            lambda: site.mcp("golf_search_tee_times", site.day()),
        ],
        "invalid-arguments": [
            lambda: site.rest(READ, {}),
            lambda: site.mcp("avinode_search_airports", {}),
        ],
        "tool-not-found": [lambda: site.rest("/v1/avinode/nothing", {})],
    }
    for kind, ways in calls.items():
        for call in ways:
            await _repeated(call)
            garbage()
            assert await _repeated(call) == {kind}
            assert garbage() == {}
