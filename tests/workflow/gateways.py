"""Gateways whose time the tests own: on the mock backend, and live against the mock upstream."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from gateway.app import Gateway
from gateway.backends.mock.application import MockApplication, MockOptions
from gateway.backends.mock.backend import asgi_app
from gateway.catalogue import open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.settings import Settings, read_settings
from gateway.testing.asgi_server import serving
from tests.clocks import ManualClock
from tests.workflow.story import START, Story, run
from tests.workflow.transports import OpenTransport

KEY: Final = "bootstrap-key-of-the-workflow-0123456789"
SEED: Final = "7"

OpenGateway = Callable[[ManualClock, Path], AbstractAsyncContextManager[str]]
"""Opens a fresh gateway on an empty folder; the value is its URL."""


@asynccontextmanager
async def on_mock(clock: ManualClock, data: Path) -> AsyncIterator[str]:
    """A gateway whose upstream is the mock in its own process."""
    async with _opened(_settings(data), clock) as url:
        yield url


@asynccontextmanager
async def on_live(clock: ManualClock, data: Path) -> AsyncIterator[str]:
    """A gateway that reaches the same mock over HTTP, as it would reach the real upstream."""
    upstream = open_catalogue("generated", HANDLER_PACKAGES).upstreams["avinode"]
    application = MockApplication(upstream, clock, options=MockOptions(seed=SEED))
    async with AsyncExitStack() as stack:
        address = await stack.enter_async_context(serving(asgi_app(application)))
        settings = _settings(
            data,
            GATEWAY_BACKEND_AVINODE="live",
            GATEWAY_AVINODE_BASE_URL=address,
            GATEWAY_AVINODE_API_TOKEN="token-of-the-tests",
            GATEWAY_AVINODE_ACCESS_TOKEN="access-of-the-tests",
        )
        yield await stack.enter_async_context(_opened(settings, clock))


@asynccontextmanager
async def _opened(settings: Settings, clock: ManualClock) -> AsyncIterator[str]:
    async with Gateway.open(settings, clock=clock) as gateway, serving(gateway.http_app()) as url:
        yield url


def _settings(data: Path, **variables: str) -> Settings:
    own = {
        "GATEWAY_DATA": str(data),
        "GATEWAY_BOOTSTRAP_KEY": KEY,
        "GATEWAY_SEED": SEED,
        "GATEWAY_MOCK_SPEED": "1",
    }
    return read_settings(own | variables, None, {})


async def run_story(open_gateway: OpenGateway, open_transport: OpenTransport, data: Path) -> Story:
    """The errand over one transport of a fresh gateway."""
    clock = ManualClock(START)
    async with open_gateway(clock, data) as url, open_transport(url, KEY) as call:
        return await run(call, clock)
