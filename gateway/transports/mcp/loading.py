"""Loads parts of the MCP endpoints when the first request needs them.

Loading the protocol's types takes a quarter of a second and 10 MB, the SDK's server twice as much.
So they are not loaded at the start. A gateway whose requests all take the fast path never loads
the SDK's server.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import copy_context
from typing import Any, Final, Generic, Protocol, TypeVar

from gateway.errors import InternalError
from gateway.observability.defects import log_defect

_T = TypeVar("_T")
_log: Final = logging.getLogger(__name__)
RETRY_SECONDS: Final = 10.0
"""After a failure, requests try to load again only when this time has passed."""


class Late(Generic[_T]):
    """A part that is loaded once, in a thread, when it is first needed."""

    def __init__(self, name: str, load: Callable[[], _T]) -> None:
        """`name` is the part's name in the log if `load` fails."""
        self._name = name
        self._load = load
        self._loading: asyncio.Task[_T] | None = None

    async def get(self) -> _T:
        """The part. Raises `InternalError` when loading failed in the last `RETRY_SECONDS`."""
        if self._loading is None:
            self._loading = asyncio.create_task(self._loaded())
            # Its error is read, or asyncio logs it when nobody waits for it any more.
            self._loading.add_done_callback(asyncio.Task.exception)
        # A cancelled request must not cancel the loading, because other requests wait for it.
        return await asyncio.shield(self._loading)

    async def _loaded(self) -> _T:
        try:
            part = await asyncio.to_thread(self._load)
        except Exception as error:  # noqa: BLE001 - a library may raise anything when it is loaded
            log_defect(_log, error, "%s could not be loaded; what needs it is refused", self._name)
            asyncio.get_running_loop().call_later(RETRY_SECONDS, self._forget)
            raise InternalError("A part of the gateway could not be loaded.") from None
        return part

    def _forget(self) -> None:
        self._loading = None


class Sessions(Protocol):
    """The SDK's server over HTTP."""

    def run(self) -> AbstractAsyncContextManager[None]:
        """A context manager that keeps the server ready for requests. It is entered once."""
        ...

    async def handle_request(self, scope: Any, receive: Any, send: Any, /) -> None:
        """Serve one HTTP request."""
        ...


class SdkPath:
    """Serves requests with the SDK's server. The first request that needs it starts the server."""

    def __init__(self, load: Callable[[], Callable[[], Sessions]]) -> None:
        """`load` loads the SDK and returns a function that opens its server."""
        self._open = Late("the MCP SDK", load)
        self._life: _Life | None = None

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serve until the block ends."""
        life = self._life = _Life()
        try:
            yield
        finally:
            await life.end()

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one HTTP request. Raises `InternalError` when the SDK cannot be loaded."""
        if self._life is None:
            raise InternalError("The MCP endpoints are not open.")
        sessions = self._life.sessions or await self._life.begin(await self._open.get())
        await sessions.handle_request(scope, receive, send)


class _Life:
    """Runs at most one server of the SDK at a time, in its own task."""

    def __init__(self) -> None:
        # The context of the application: the server must not keep that of the first request.
        self._context = copy_context()
        self._closing = asyncio.Event()
        self._settled = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None
        self.sessions: Sessions | None = None

    async def begin(self, open_sessions: Callable[[], Sessions]) -> Sessions:
        """The server, when it is ready for requests.

        Raises `InternalError` when it is closed or cannot be opened.
        """
        if self._keeper is None and not self._closing.is_set():
            self._settled = asyncio.Event()
            keeping = self._keep(open_sessions)
            self._keeper = asyncio.get_running_loop().create_task(keeping, context=self._context)
        await self._settled.wait()
        if self.sessions is None:
            is_over = self._closing.is_set()
            what = "are closed" if is_over else "could not be opened"
            raise InternalError(f"The MCP endpoints {what}.")
        return self.sessions

    async def end(self) -> None:
        """Stop the server if there is one."""
        self._closing.set()
        self._settled.set()
        if self._keeper is not None:
            await self._keeper

    async def _keep(self, open_sessions: Callable[[], Sessions]) -> None:
        settled = self._settled
        try:
            sessions = open_sessions()
            async with sessions.run():
                self.sessions = sessions
                settled.set()
                await self._closing.wait()
        except Exception as error:  # noqa: BLE001 - whatever it is, the next request begins again
            log_defect(_log, error, "the MCP SDK's server failed")
        finally:
            self.sessions = self._keeper = None
            settled.set()
