"""One set of contracts, policies and credentials that is served, and the switch to the next."""

import asyncio
from contextlib import AsyncExitStack

from gateway.app.gateway import Gateway
from gateway.app.reloading.lifespan import lifespan_of
from gateway.threads import in_thread
from gateway.transports.http.asgi import App, Receive, Scope, Send


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
