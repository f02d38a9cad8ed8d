"""Unusual requests to every route of the real gateway: each is answered, and none with a 5xx."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
import pytest_asyncio

from gateway.app import Gateway
from gateway.settings import read_settings
from tests.eventually import PATIENCE_SECONDS

KEY = "an-administrator-of-the-tests-0123456789"
TAILS = ("", "/", "//", "/x", "/.", "/..", "/%2e%2e/x", "/" + "n" * 300, ";x=1", "?a=%00&a=b")
ODD_METHODS = ("HEAD", "OPTIONS", "PUT", "DELETE", "TRACE", "PROPFIND")
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def app(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Any]:
    """The HTTP application of this repository's catalogue."""
    data = tmp_path_factory.mktemp("data")
    given = {
        "data": data,
        "database_url": "memory:",
        "allowed_hosts": ("gateway.test",),
        # These tests send a thousand requests without a key: that limit is not what they test.
        "unauthenticated_requests_per_second": 10_000,
    }
    settings = read_settings({"GATEWAY_BOOTSTRAP_KEY": KEY}, None, given)
    async with Gateway.open(settings) as gateway:
        yield gateway.http_app()


def paths(app: Any) -> Iterator[str]:
    """The path of every route, with a name for each of its parameters."""
    for route in app._app.routes:
        parts = route.path.split("/")
        yield "/".join("name" if part.startswith("{") else part for part in parts)
    yield from ("/docs/assets/page.css", "/docs/assets/docs.js", "/problems/bad-request")


def client(app: Any, headers: dict[str, str]) -> httpx.AsyncClient:
    """A client that sends `headers`."""
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://gateway.test", headers=headers
    )


async def statuses(http: httpx.AsyncClient, methods: Any, targets: Any) -> dict[str, int]:
    """The status of each answer; every request must have one in time."""
    found = {}
    for method in methods:
        for target in targets:
            async with asyncio.timeout(PATIENCE_SECONDS):
                answer = await http.request(method, target)
            found[f"{method} {target}"] = answer.status_code
    return found


@pytest.mark.attack(
    "every route is asked for without a key, with odd tails: `//`, a name behind a file, dots, 300 "
    "characters, a NUL in the query",
    required="each request is answered, and no answer is an error of the gateway (5xx)",
)
async def test_odd_tails_are_answered_without_an_error_of_the_gateway(app: Any) -> None:
    targets = [path.rstrip("/") + tail for path in paths(app) for tail in TAILS]
    assert len(targets) > 70 * len(TAILS)
    async with client(app, {}) as http:
        found = await statuses(http, ("GET",), targets)
    assert {target: status for target, status in found.items() if status >= 500} == {}


@pytest.mark.attack(
    "every route is asked for by odd methods, with a valid key and without one",
    required="each request is answered, and no answer is an error of the gateway (5xx)",
)
@pytest.mark.parametrize(
    "headers", [{}, {"authorization": f"Bearer {KEY}"}], ids=["stranger", "key"]
)
async def test_odd_methods_are_answered_without_an_error_of_the_gateway(
    app: Any, headers: dict[str, str]
) -> None:
    async with client(app, headers) as http:
        found = await statuses(http, ODD_METHODS, paths(app))
    assert {target: status for target, status in found.items() if status >= 500} == {}


@pytest.mark.attack(
    "a file of the pages is asked for with a name behind it, or by one that no file system takes",
    required="the answer is 404, as for any other name that is not served",
)
@pytest.mark.parametrize("name", ["page.css/x", "n" * 300, "..%5cpages.py", "page.css%20", "."])
async def test_only_the_named_files_are_served(app: Any, name: str) -> None:
    async with client(app, {}) as http:
        answer = await http.get(f"/docs/assets/{name}")
    assert answer.status_code in {400, 404}


@pytest.mark.attack(
    "a path is written with an empty segment, `//events` or `//operator/…`, so that a rule about "
    "the path does not see it",
    required="there is nothing at such a path (404), and HEAD of it ends",
)
@pytest.mark.parametrize(
    "path", ["//events", "/events//", "//operator/webhooks", "/v1//example/greet"]
)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_a_path_with_an_empty_segment_leads_nowhere(app: Any, method: str, path: str) -> None:
    async with (
        client(app, {"authorization": f"Bearer {KEY}"}) as http,
        asyncio.timeout(PATIENCE_SECONDS),
    ):
        answer = await http.request(method, f"http://gateway.test{path}")
    assert answer.status_code == 404
