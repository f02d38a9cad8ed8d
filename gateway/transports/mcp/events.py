"""Events over MCP: a resource to read, with notifications of new events.

The revision 2026-07-28 has one stream from server to client, `subscriptions/listen`. A notification
names the changed resource without its content, so the client reads the resource again. For the
other revisions, see `gateway.transports.mcp.subscribing`.
"""

import asyncio
from collections.abc import Collection
from contextlib import AbstractAsyncContextManager, AbstractContextManager, suppress
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import (
    SUBSCRIPTION_ID_META_KEY,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
    event_to_notification,
)
from mcp_types import (
    ReadResourceResult,
    Resource,
    SubscriptionFilter,
    SubscriptionsAcknowledgedNotification,
    SubscriptionsAcknowledgedNotificationParams,
    SubscriptionsListenResult,
    TextResourceContents,
)

from gateway.auth.principal import Principal
from gateway.events.cloudevents import CLOUD_EVENTS
from gateway.transports.events import RECHECK_SECONDS, Asked, Followers
from gateway.transports.json_rpc import INVALID_REQUEST
from gateway.transports.mcp.caller import Caller, OfferedAccess
from gateway.transports.mcp.errors import resource
from gateway.transports.mcp.protocol import ProtocolRevision
from gateway.transports.mcp.requests import answering

EVENTS_URI: Final = "gateway://events"
NEWEST: Final = 50
"""The number of events that the resource shows."""
PROMPTS_CHANGED: Final = "prompts_list_changed"
CHANGES: Final[dict[str, ServerEvent]] = {
    "tools_list_changed": ToolsListChanged(),
    "resources_list_changed": ResourcesListChanged(),
    PROMPTS_CHANGED: PromptsListChanged(),
}
"""What a reload changes, by the member of the filter that asks for it."""
PAUSE_SECONDS: Final = 1.0
"""The time between two notifications of one stream. One is enough to make the client read again."""


def lists_of(offered: OfferedAccess | None) -> tuple[str, ...]:
    """What asks for changes of the lists of a server with tools, and what is `offered` there."""
    has_prompts = offered is not None and bool(offered.catalogue.offered.prompts)
    return tuple(name for name in CHANGES if has_prompts or name != PROMPTS_CHANGED)


class EventResource:
    """The resource of the newest events, for callers who may follow them."""

    def __init__(self, followers: Followers, *, lists: Collection[str] = ()) -> None:
        """`lists`: the members of filters that ask for changes of lists, where a reload ends the
        streams and their clients are notified of it.
        """
        self._followers = followers
        self._lists = lists

    def resources(self, caller: Caller, revision: ProtocolRevision) -> list[Resource]:
        """The resource, or nothing for a caller who may not see it."""
        resource = Resource(
            uri=EVENTS_URI,
            name="events",
            title="Events" if revision.has_titles else None,
            description=(
                f"The newest {NEWEST} events that the gateway published, oldest first, as "
                "CloudEvents 1.0. Subscribe to be notified of new ones."
            ),
            mime_type=CLOUD_EVENTS,
        )
        return [resource] if self.exists_for(caller) else []

    def exists_for(self, caller: Caller) -> bool:
        """Whether this caller may see the resource at its endpoint."""
        return caller.connector is None and self._followers.may_see(caller.principal)

    def recorded(self, caller: Caller) -> AbstractAsyncContextManager[Principal]:
        """Write one audit record, with the outcome of the block: see `Followers.authenticate`."""
        return self._followers.authenticate(_asked(caller))

    async def read(self, caller: Caller) -> ReadResourceResult:
        """The newest events as a JSON array. Leaves one audit record. Raises `MCPError`.

        No endpoint of a connector has the events.
        """
        async with answering(caller, resource(EVENTS_URI)), self.recorded(caller):
            newest = await self._followers.feed.latest(NEWEST)
        text = b"[%b]" % b",".join(event.text for event in newest)
        contents = TextResourceContents(uri=EVENTS_URI, mime_type=CLOUD_EVENTS, text=text.decode())
        return ReadResourceResult(contents=[contents])

    async def listen(
        self,
        ctx: ServerRequestContext[Any, Any],
        caller: Caller,
        requested: SubscriptionFilter,
    ) -> SubscriptionsListenResult:
        """Notify of changes until the client leaves or the gateway stops. Raises `MCPError`.

        A subscription to the events is acknowledged for a caller who may see them. Lists change
        when the gateway reloads, which ends the stream: their changes are its last notifications.
        """
        if ctx.request_id is None:
            raise MCPError(INVALID_REQUEST, "subscriptions/listen requires a request id")
        stream = _Stream(ctx, ctx.request_id)
        uris = requested.resource_subscriptions or []
        is_subscribed = EVENTS_URI in uris and self.exists_for(caller)
        lists = [name for name in self._lists if getattr(requested, name) is True]
        honoured = SubscriptionFilter(
            **dict.fromkeys(lists, True),
            resource_subscriptions=[EVENTS_URI] if is_subscribed else None,
        )
        async with answering(caller, resource(EVENTS_URI)):
            if is_subscribed:
                async with self._followers.admit(_asked(caller)):
                    await self._notify(stream, caller, honoured)
            else:
                with self._seat(caller):
                    await self._hold(stream, caller, honoured)
        for name in lists if self._followers.feed.is_replaced else ():
            await stream.say(CHANGES[name])
        return SubscriptionsListenResult(_meta=stream.meta)

    def _seat(self, caller: Caller) -> AbstractContextManager[None]:
        return self._followers.feed.seat(caller.principal.agent)

    async def _notify(
        self, stream: "_Stream", caller: Caller, honoured: SubscriptionFilter
    ) -> None:
        feed, watch = self._followers.feed, self._followers.watch(caller.credentials)
        sent = await feed.newest()
        await stream.acknowledge(honoured)
        while not feed.is_closing:
            changed = feed.changed()
            end = feed.end
            if end is not None and end.position > sent.position:
                sent = end
                await stream.say(ResourceUpdated(EVENTS_URI))
                await asyncio.sleep(PAUSE_SECONDS)
            else:
                await wait_for_change(changed)
            await watch.look()

    async def _hold(self, stream: "_Stream", caller: Caller, honoured: SubscriptionFilter) -> None:
        feed, watch = self._followers.feed, self._followers.watch(caller.credentials)
        await stream.acknowledge(honoured)
        while not feed.is_closing:
            await wait_for_change(feed.changed())
            await watch.look()


async def wait_for_change(changed: asyncio.Event) -> None:
    """Wait until there are new events, or until it is time to check the key again."""
    with suppress(TimeoutError):
        async with asyncio.timeout(RECHECK_SECONDS):
            await changed.wait()


class _Stream:
    """The answer to one `subscriptions/listen`. Each of its messages has the id of the request."""

    def __init__(self, ctx: ServerRequestContext[Any, Any], request_id: int | str) -> None:
        self._session = ctx.session
        self._request_id = request_id
        self.meta: dict[str, Any] = {SUBSCRIPTION_ID_META_KEY: request_id}

    async def acknowledge(self, honoured: SubscriptionFilter) -> None:
        """Send the first message, which names the notifications that will come."""
        params = SubscriptionsAcknowledgedNotificationParams(
            notifications=honoured, _meta=self.meta
        )
        await self._session.send_notification(
            SubscriptionsAcknowledgedNotification(params=params),
            related_request_id=self._request_id,
        )

    async def say(self, event: ServerEvent) -> None:
        """Notify the client of `event`."""
        message = event_to_notification(event, self.meta)
        await self._session.send_notification(message, related_request_id=self._request_id)


def _asked(caller: Caller) -> Asked:
    return Asked(
        credentials=caller.credentials, transport=caller.transport, request_id=caller.request_id
    )
