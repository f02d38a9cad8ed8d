"""One set of contracts, policies and credentials that is served, and the switch to the next."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from gateway.app.gateway import Gateway
from gateway.errors import InternalError
from gateway.threads import in_thread
from gateway.transports.http.asgi import App, Message, Receive, Scope, Send


@asynccontextmanager
async def lifespan_of(app: App) -> AsyncIterator[None]:
    """Start `app`, and shut it down when the block ends. Raises what its start raises."""
    lifespan = _Lifespan(app)
    try:
        await lifespan.step("startup")
        try:
            yield
        finally:
            await lifespan.step("shutdown")
            await lifespan.running
    finally:
        # It still runs if this was cancelled, as when a server stops while it reloads.
        if lifespan.running.cancel():
            await asyncio.wait({lifespan.running})


class _Lifespan:
    def __init__(self, app: App) -> None:
        self._asked: asyncio.Queue[Message] = asyncio.Queue()
        self._answered: asyncio.Queue[Message] = asyncio.Queue()
        scope: dict[str, Any] = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}
        self.running = asyncio.ensure_future(app(scope, self._asked.get, self._answered.put))

    async def step(self, name: str) -> None:
        """Ask the application to start or to shut down, and wait until it has, or has ended."""
        self._asked.put_nowait({"type": f"lifespan.{name}"})
        answer = asyncio.ensure_future(self._answered.get())
        try:
            await asyncio.wait({answer, self.running}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            is_missing = answer.cancel()
        if is_missing:
            await self.running
        elif answer.result()["type"] != f"lifespan.{name}.complete":
            raise InternalError


class Generation:
    """An open gateway with its HTTP application, until its last request has ended."""

    def __init__(self, gateway: Gateway, app: App, stack: AsyncExitStack) -> None:
        self.gateway = gateway
        self._app = app
        self._stack = stack
        self._requests: set[asyncio.Task[object]] = set()

    @classmethod
    async def open(cls, gateway: Gateway, url: str) -> "Generation":
        """Open `gateway`, its application and its background work.

        Raises an `OperatorError`. Then nothing stays open.
        """
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(gateway)
            # With many tools, to make their routes would stop the calls of the one before.
            app = await in_thread(gateway.http_app)
            await stack.enter_async_context(gateway.at_work(url))
            await stack.enter_async_context(lifespan_of(app))
            return cls(gateway, app, stack.pop_all())
        raise AssertionError  # for mypy: an exit stack could suppress errors, and this one does not

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a request is served in a task")
        self._requests.add(task)
        try:
            await self._app(scope, receive, send)
        finally:
            self._requests.discard(task)

    async def drain(self, seconds: float) -> int:
        """End the streams, and wait for the requests that are under way.

        Those that still run after `seconds` are answered with `STOPPING`. Returns their number.
        """
        self.gateway.stop_streams(is_replaced=True)
        await self._ended(seconds)
        late = self.cut()
        await self._ended(seconds)
        return late

    def cut(self) -> int:
        """Answer the requests that still run with `STOPPING`. Returns their number."""
        for each in self._requests:
            each.cancel()
        return len(self._requests)

    async def _ended(self, seconds: float) -> None:
        if self._requests:
            await asyncio.wait(self._requests, timeout=seconds)

    async def close(self) -> None:
        """Close the gateway. Its foundation stays open."""
        await self._stack.aclose()


class Switch:
    """The ASGI application of the server. Each request is served by one generation to its end."""

    def __init__(self, first: Generation) -> None:
        self.current = first

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request with the current generation. The lifespan is that of each generation."""
        if scope["type"] == "http":
            await self.current.serve(scope, receive, send)
        elif scope["type"] == "lifespan":
            for step in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{step}.complete"})
        else:
            await send({"type": "websocket.close", "code": 1008})
