"""Subscriptions over stdio: those of the one host, as long as the process runs."""

import asyncio

from mcp.server.session import ServerSession

from gateway.events.cloudevents import LogPosition
from gateway.store.publishing import MAX_URIS
from gateway.transports.events import Followers
from gateway.transports.http.problems import log_failure
from gateway.transports.mcp.caller import Caller
from gateway.transports.mcp.offered.events import EVENTS_URI, PAUSE_SECONDS, wait_for_change
from gateway.transports.mcp.subscribing.methods import full
from gateway.transports.mcp.task_methods import Context


class PipeSubscriptions:
    """The `Subscribing` of the host. Nothing but the events changes: the process never reloads."""

    lists_change = False

    def __init__(self, followers: Followers | None, pause_seconds: float = PAUSE_SECONDS) -> None:
        self._followers = followers
        self._pause_seconds = pause_seconds
        self._uris: set[str] = set()
        self._notifying: asyncio.Task[None] | None = None

    def require_session(self, caller: Caller) -> None:
        """See `Subscribing`. The pipe is the session."""

    async def add(self, ctx: Context, caller: Caller, uri: str) -> None:
        """See `Subscribing`. Raises `StoreError` too."""
        if uri not in self._uris and len(self._uris) >= MAX_URIS:
            raise full()
        is_notified = self._notifying is not None and not self._notifying.done()
        if uri == EVENTS_URI and self._followers is not None and not is_notified:
            sent = await self._followers.feed.newest()
            await self._end_notifying()
            work = self._notify(self._followers, ctx.session, caller, sent)
            self._notifying = asyncio.create_task(work, name="notify-host")
        self._uris.add(uri)

    async def remove(self, caller: Caller, uri: str) -> None:  # noqa: ARG002 - the protocol's
        """See `Subscribing`."""
        self._uris.discard(uri)
        if uri == EVENTS_URI:
            await self._end_notifying()

    async def close(self) -> None:
        """Notify of nothing more."""
        await self._end_notifying()

    async def _end_notifying(self) -> None:
        task, self._notifying = self._notifying, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def _notify(
        self, followers: Followers, host: ServerSession, caller: Caller, sent: LogPosition
    ) -> None:
        try:
            with followers.feed.seat(caller.principal.agent):
                while not followers.feed.is_closing:
                    changed, end = followers.feed.changed(), followers.feed.end
                    if end is not None and end.position > sent.position:
                        sent = end
                        await host.send_resource_updated(EVENTS_URI)
                        await asyncio.sleep(self._pause_seconds)
                    else:
                        await wait_for_change(changed)
        except Exception as error:  # noqa: BLE001 - the pipe is broken, and the server ends
            log_failure(error, caller.request_id)
