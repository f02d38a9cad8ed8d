"""Passes the messages of a host on to a remote gateway, and those of the remote back."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final

import msgspec

from gateway.amounts import in_seconds
from gateway.transports.bridge.header_parameters import HeaderParameters
from gateway.transports.bridge.messages import (
    HostMessage,
    MessageId,
    RemoteMessage,
    agreed_header,
    agreed_version,
    host_message,
    line_of,
    remote_message,
    routing_headers,
)
from gateway.transports.bridge.protocol import HEADER_MISMATCH
from gateway.transports.bridge.refusals import RemoteFailed
from gateway.transports.bridge.relayed import RelayedRequest, RelayedRequests
from gateway.transports.bridge.remote import Remote

_log: Final = logging.getLogger(__name__)
_AFTER_END_SECONDS: Final = 10.0
"""How long to wait for answers after the end of the input, and then for the host to read them."""
_NOTIFY_SECONDS: Final = 30.0
"""How long the remote may take to accept a notification. The next messages wait for it."""
_MAX_PAUSE_SECONDS: Final = 30.0
_MAX_LINES: Final = 64
"""How many lines may wait for a host that does not read them."""


class Relay:
    """Passes on everything unchanged, in the revision that the host and the remote agree on.

    It reads of messages what their transports need: ids, headers, and the end of streams.
    """

    def __init__(
        self, remote: Remote, write: Callable[[bytes], Awaitable[None]], answer_seconds: float
    ) -> None:
        """`write` takes lines for the host. The remote may take `answer_seconds` for an answer."""
        self._remote = remote
        self._write = write
        self._answer_seconds = answer_seconds
        self._lines: asyncio.Queue[bytes] = asyncio.Queue(_MAX_LINES)
        self._relayed = RelayedRequests()
        self._header_parameters = HeaderParameters(remote)
        self._following: asyncio.Task[None] | None = None
        self._agreed: str | None = None
        """The revision that a handshake has agreed on."""

    async def run(self, lines: AsyncIterator[bytes]) -> None:
        """Pass on `lines`, the host's messages, until they end and the requests are answered."""
        async with asyncio.TaskGroup() as tasks:
            writing = tasks.create_task(self._write_lines())
            async for line in lines:
                await self._take(host_message(line), tasks)
            await self._finish()
            writing.cancel()

    async def refuse(self, request: MessageId | None, error: Mapping[str, Any]) -> None:
        """Answer a request with `error`. None: the request cannot be read."""
        answer = {"jsonrpc": "2.0", "id": request, "error": error}
        await self._lines.put(msgspec.json.encode(answer) + b"\n")

    async def _finish(self) -> None:
        """Wait for the answers that will come, and end everything else."""
        answered = [each.task for each in self._relayed.all() if each.task and not each.is_endless]
        if answered:
            await asyncio.wait(answered, timeout=_AFTER_END_SECONDS)
        for relayed in self._relayed.all():
            relayed.cancel()
        if self._following is not None:
            self._following.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(_AFTER_END_SECONDS):
                await self._lines.join()

    async def _write_lines(self) -> None:
        """Write each line as a whole, also if the request that it answers is cancelled."""
        while True:
            await self._write(await self._lines.get())
            self._lines.task_done()

    async def _take(self, message: HostMessage, tasks: asyncio.TaskGroup) -> None:
        if message.method is not None and message.id is not None:
            relayed = self._relayed.begin(message, message.id)
            relayed.task = tasks.create_task(self._relay(relayed))
            relayed.task.add_done_callback(partial(self._end, relayed))
        elif not self._is_cancelled_here(message):
            await self._notify(message)
        if message.method == "notifications/initialized" and self._remote.session is not None:
            self._following = self._following or tasks.create_task(self._follow())

    def _is_cancelled_here(self, message: HostMessage) -> bool:
        """Cancel a request by closing its connection, where `message` says so."""
        if message.method != "notifications/cancelled":
            return False
        relayed = self._relayed.find(message.params.get("requestId"))
        if relayed is None:
            return self._agreed is None
        relayed.is_answered = True
        if relayed.is_modern:
            relayed.cancel()
        return relayed.is_modern

    async def _notify(self, message: HostMessage) -> None:
        """Pass on a notification or an answer of the host, before the messages after it."""
        headers = routing_headers(message, self._agreed)
        try:
            async with asyncio.timeout(_NOTIFY_SECONDS):
                await self._remote.post(message.text, headers, _ignore)
        except (RemoteFailed, TimeoutError) as error:
            _log.warning("a message of the host was not passed on: %s", str(error) or "no answer")
        asked_by = self._relayed.answer(message.id)
        if asked_by is not None:
            asked_by.allow(self._answer_seconds)

    async def _relay(self, relayed: RelayedRequest) -> None:
        """Pass on a request, and its answer or why there is none."""
        try:
            async with asyncio.timeout(None) as deadline:
                if not relayed.is_endless:
                    relayed.deadline = deadline
                    relayed.allow(self._answer_seconds)
                try:
                    await self._passed(relayed)
                finally:
                    # The host's answer to a question may be passed on just now.
                    relayed.deadline = None
            failure = self._remote.failed("it ended its answer too early")
        except RemoteFailed as error:
            failure = error
        except TimeoutError:
            allowed = in_seconds(self._answer_seconds)
            failure = self._remote.failed(f"it did not answer within {allowed}")
            await self._cancel(relayed)
        if not relayed.is_answered:
            await self.refuse(relayed.id, {"code": failure.code, "message": str(failure)})

    async def _passed(self, relayed: RelayedRequest) -> None:
        message, headers = relayed.message, routing_headers(relayed.message, self._agreed)
        deliver = partial(self._deliver, relayed)
        parameters = self._header_parameters.of(message)
        await self._remote.post(
            message.text, headers | parameters, deliver, is_endless=relayed.is_endless
        )
        if relayed.is_repeated and not relayed.is_answered:
            parameters = await self._header_parameters.asked(message)
            await self._remote.post(message.text, headers | parameters, deliver)

    async def _deliver(self, relayed: RelayedRequest | None, text: bytes) -> None:
        """Pass a message of the remote on to the host."""
        message = remote_message(text)
        if message is None:
            raise self._remote.failed("it sent what is no message of MCP")
        if relayed is not None:
            if self._is_to_repeat(relayed, message):
                relayed.is_repeated = True
                return
            if message.is_answer and relayed.is_answered:
                return
            self._note(relayed, message)
        await self._lines.put(line_of(text, message, relayed.id if relayed else None))

    def _is_to_repeat(self, relayed: RelayedRequest, message: RemoteMessage) -> bool:
        """Whether the remote asks for headers of arguments that are not known here yet."""
        error = message.error
        return (
            error is not msgspec.UNSET
            and error.code == HEADER_MISMATCH
            and relayed.message.method == "tools/call"
            and not relayed.is_repeated
        )

    def _note(self, relayed: RelayedRequest, message: RemoteMessage) -> None:
        if (question := message.question) is not None:
            self._relayed.ask(question, relayed)
        if not message.is_answer:
            return
        relayed.is_answered = True
        if relayed.message.method == "initialize":
            self._agreed = agreed_version(message.result)

    def _end(self, relayed: RelayedRequest, _: asyncio.Task[None]) -> None:
        self._relayed.end(relayed)

    async def _cancel(self, relayed: RelayedRequest) -> None:
        """Notify the remote that nobody waits, where closing the connection does not say so."""
        if relayed.is_modern:
            return
        params: dict[str, Any] = {"requestId": relayed.id, "reason": "timeout"}
        text = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
        await self._notify(host_message(msgspec.json.encode(text)))

    async def _follow(self) -> None:
        """Pass on what the remote sends of itself, as long as it has such a stream."""
        headers = agreed_header(self._agreed)
        pause = 1.0
        while True:
            asked = 0.0
            try:
                if not await self._remote.follow(headers, partial(self._deliver, None)):
                    return
                pause = 1.0
            except RemoteFailed as error:
                _log.info("no messages outside of requests: %s", error)
                pause, asked = min(2 * pause, _MAX_PAUSE_SECONDS), error.retry_after_seconds
            await asyncio.sleep(max(pause, asked))


async def _ignore(_: bytes) -> None:
    """The remote has no answer to a notification."""
