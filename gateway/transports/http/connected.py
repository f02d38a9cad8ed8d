"""Cancels work when its client closes the connection, unless it has begun a write."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeAlias, TypeVar

from gateway.calls.call import Commitment
from gateway.transports.http.asgi import ClientGone, Headers, Receive, Scope, Send
from gateway.transports.http.heads import KeptHead

_T = TypeVar("_T")
_CLIENT: Final = "gateway.client"
WriteAnswer: TypeAlias = Callable[[Send, int, Headers, bytes], bool]
"""Writes a complete answer to the connection of this `send`. False: it must be sent in messages."""


class Client:
    """The client of a connection that serves one request at a time."""

    __slots__ = ("has_left", "head", "on_leave", "unsent", "write")

    def __init__(self, write: WriteAnswer | None = None) -> None:
        self.has_left = False
        """Whether the client has closed the connection."""
        self.on_leave: Callable[[], None] | None = None
        """Called when the client closes the connection."""
        self.head: KeptHead | None = None
        """What is kept of the last request's head."""
        self.write = write
        self.unsent = 0
        """The bytes of the answer that wait until the client has read those before them."""

    def leave(self) -> None:
        """Note that the client has closed the connection."""
        self.has_left = True
        if self.on_leave is not None:
            self.on_leave()


def name_client(scope: Scope, client: Client) -> None:
    """Store the client of a request in its scope, so that watching it needs no task.

    The scope does not get the connection itself. The connection holds the scope, and only Python's
    garbage collector would free the two.
    """
    scope[_CLIENT] = client


def client_of(scope: Scope) -> Client | None:
    """The client of a request. None if its server does not say it."""
    return scope.get(_CLIENT)


async def while_connected(
    work: Coroutine[Any, Any, _T],
    receive: Receive,
    scope: Scope | None = None,
    commitment: Commitment | None = None,
) -> _T:
    """Await `work`. If the client leaves before it ends, cancel it and raise `ClientGone`.

    Once the `commitment` is made, `work` goes on when its client leaves.

    Without the client in the `scope`, it waits for ASGI's `http.disconnect`, in a second task.
    """
    client = None if scope is None else client_of(scope)
    watch = _TaskWatch(receive, commitment) if client is None else _Watch(client, commitment)
    try:
        return await work
    except asyncio.CancelledError:
        if watch.has_cancelled():
            raise ClientGone from None
        raise
    finally:
        watch.end()


class _Watch:
    """Cancels the current task when its client leaves."""

    def __init__(self, client: Client | None, commitment: Commitment | None) -> None:
        self._worker = asyncio.current_task()
        self._commitment = commitment
        self._client = client
        self._has_cancelled = False
        self._begun: asyncio.Handle | None = None
        if client is not None:
            client.on_leave = self._leave
            if client.has_left:
                # Not at once: work that never waits is not cancelled.
                self._begun = asyncio.get_running_loop().call_soon(self._leave)

    def has_cancelled(self) -> bool:
        """Whether only this watch cancelled the task. If so, this takes the cancellation back."""
        if self._worker is None or not self._has_cancelled:
            return False
        return self._worker.uncancel() == 0

    def end(self) -> None:
        """Stop watching."""
        if self._client is not None:
            self._client.on_leave = None
        if self._begun is not None:
            self._begun.cancel()

    def _leave(self) -> None:
        is_committed = self._commitment is not None and self._commitment.is_made
        if self._worker is not None and not is_committed:
            self._has_cancelled = self._worker.cancel()


class _TaskWatch(_Watch):
    """Waits in a task of its own.

    It starts when the current task first waits. So work that never waits needs no second task.
    """

    def __init__(self, receive: Receive, commitment: Commitment | None) -> None:
        super().__init__(None, commitment)
        self._receive = receive
        self._watcher: asyncio.Task[None] | None = None
        self._begun = asyncio.get_running_loop().call_soon(self._begin)
        self._is_over = False

    def end(self) -> None:
        """Stop watching."""
        super().end()
        self._is_over = True
        if self._watcher is not None:
            self._watcher.cancel()

    def _begin(self) -> None:
        self._watcher = asyncio.create_task(_disconnected(self._receive))
        self._watcher.add_done_callback(self._end_of_watch)

    def _end_of_watch(self, watcher: asyncio.Task[None]) -> None:
        if not self._is_over and not watcher.cancelled():
            self._leave()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
