"""A result that was used again says how old it is, and a stale one why, over every transport."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.errors import UpstreamTimeout
from tests.bridged import bridged
from tests.clocks import ManualClock
from tests.interaction.conftest import ADMIN_KEY, MODERN, build_running, serving

ADA = {"name": "Ada"}
GREET = "/v1/example/greet"
AGE = "contract-gateway/age"
LOGGED = {"io.modelcontextprotocol/logLevel": "info"}
"""What no fast path takes."""
NO_ANSWER = "No answer in 5 seconds."


class Moved(ManualClock):
    """A clock that tests move."""


@pytest.fixture
def clock() -> Moved:
    return Moved()


@pytest.fixture
async def site(clock: Moved) -> AsyncIterator[Any]:
    promises = {"cache_seconds": 60, "stale_seconds": 600, "is_cache_public": True}
    running = build_running(promises=promises, clock=clock)
    async with serving(running):
        yield running


def make_stale(site: Any, clock: Moved) -> None:
    clock.advance(75)
    site.handlers.failure = UpstreamTimeout(NO_ANSWER)


async def post(site: Any, path: str = GREET, body: Any = ADA) -> Any:
    async with site.http() as http:
        return await http.post(path, json=body)


def said(answer: Any) -> list[str]:
    names = ("age", "cache-control", "cache-status")
    return [answer.headers[name] for name in names]


@pytest.mark.parametrize(
    ("path", "body"),
    [(GREET, ADA), ("/tools/execute", {"name": "example.greet", "arguments": ADA})],
)
async def test_headers_say_it(site: Any, clock: Moved, path: str, body: Any) -> None:
    new = await post(site, path, body)
    clock.advance(20.5)
    kept = await post(site, path, body)
    make_stale(site, clock)
    stale = await post(site, path, body)

    rule = "public, max-age=60"
    assert said(new) == ["0", rule, "contract-gateway; fwd=miss; ttl=60"]
    assert said(kept) == ["20", rule, "contract-gateway; hit; ttl=40"]
    detail = "fwd=stale; ttl=-35; detail=TIMEOUT_ERROR"
    assert (stale.status_code, said(stale)) == (200, ["95", rule, f"contract-gateway; {detail}"])
    assert new.content == kept.content == stale.content
    assert site.handlers.greeted == 2


async def test_an_error_and_what_is_not_kept_are_stored_by_nobody(site: Any) -> None:
    site.handlers.failure = UpstreamTimeout(NO_ANSWER)

    failed = await post(site)

    assert (failed.status_code, failed.headers["cache-control"]) == (504, "no-store")
    assert "age" not in failed.headers


@pytest.mark.parametrize("mode", [MODERN, "legacy"])
@pytest.mark.parametrize("meta", [{}, LOGGED])
async def test_models_and_programs_are_told(
    site: Any, clock: Moved, mode: str, meta: dict[str, Any]
) -> None:
    async with site.mcp(mode=mode) as client:
        await client.call_tool("example_greet", ADA, meta=meta)
        clock.advance(20.5)
        kept = await client.call_tool("example_greet", ADA, meta=meta)
        make_stale(site, clock)
        stale = await client.call_tool("example_greet", ADA, meta=meta)

    check(kept, stale)


async def test_the_bridge_tells_the_same(site: Any, clock: Moved, socket_site: str) -> None:
    async with (
        bridged(f"{socket_site}/mcp", ADMIN_KEY) as client,
    ):
        await client.call_tool("example_greet", ADA)
        clock.advance(20.5)
        kept = await client.call_tool("example_greet", ADA)
        make_stale(site, clock)
        stale = await client.call_tool("example_greet", ADA)

    check(kept, stale)


def check(kept: Any, stale: Any) -> None:
    assert len(kept.content) == 1
    assert kept.meta[AGE] == {"seconds": 20, "ttlMs": 39500, "isStale": False}
    facts = {"seconds": 95, "ttlMs": 0, "isStale": True, "code": "TIMEOUT_ERROR"}
    assert stale.meta[AGE] == facts
    assert len(stale.content) == 2
    assert stale.content[1].text == (
        "This result is stale: it is 95 seconds old. A newer one cannot be made: No answer in 5"
        " seconds."
    )
    assert stale.structured_content == kept.structured_content
