"""The MCP endpoint of a gateway elsewhere, over Streamable HTTP."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Final, TypeAlias

import httpx2

from gateway.calls.waiting import retry_after_seconds
from gateway.transports.bridge.reaching import client_options
from gateway.transports.bridge.refusals import REMOTE_ERRORS, RemoteFailed, explained, refusal_of
from gateway.transports.json_rpc import INTERNAL_ERROR, INVALID_REQUEST

Deliver: TypeAlias = Callable[[bytes], Awaitable[None]]
"""Takes the texts of the remote's messages, one after the other."""

_SESSION: Final = "mcp-session-id"
_EVENTS: Final = "text/event-stream"
_JSON: Final = "application/json"
_CONNECT_SECONDS: Final = 30.0
_SILENCE_SECONDS: Final = 60.0
"""How long a stream without an end may be silent. Gateways send a ping every 15 seconds."""
MAX_MESSAGE_BYTES: Final = 64 * 1024 * 1024
"""The largest message in both directions. No gateway takes a larger one."""
_LIMITS: Final = httpx2.Limits(
    # The remote has its own limit of calls, and reports an error when it is reached.
    max_connections=None,
    max_keepalive_connections=100,
    # The remote closes connections that are idle for five seconds. Do not reuse one that it may be
    # closing.
    keepalive_expiry=2.0,
)


class Remote:
    """The endpoint at `url`. Enter it with `async with`.

    One HTTP client with one TLS context serves all messages. A session is only noted, so a remote
    that keeps none may restart between two messages.
    """

    def __init__(self, url: str, key: str | None) -> None:
        self._url = url
        self.session: str | None = None
        """The session that the remote has named, in the handshake revisions."""
        self._http = httpx2.AsyncClient(
            **client_options(url, key),
            # How long an answer may take, the caller decides.
            timeout=httpx2.Timeout(_CONNECT_SECONDS, read=None),
            limits=_LIMITS,
        )
        self._endless = httpx2.Timeout(_CONNECT_SECONDS, read=_SILENCE_SECONDS)

    async def __aenter__(self) -> "Remote":
        await self._http.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._http.__aexit__(kind, error, trace)

    async def post(
        self,
        text: bytes,
        headers: Mapping[str, str],
        deliver: Deliver,
        *,
        is_endless: bool = False,
    ) -> None:
        """Post one message, and deliver what the remote sends until its answer ends.

        `is_endless`: the answer is a stream that lasts. Raises `RemoteFailed`.
        """
        sent = {"content-type": _JSON, "accept": f"{_JSON}, {_EVENTS}", **headers}
        async with self._sent("POST", sent, text, is_endless=is_endless) as response:
            self.session = response.headers.get(_SESSION, self.session)
            kind = _kind_of(response)
            if response.is_success and kind == _EVENTS:
                await _deliver_events(response, deliver)
                return
            body = await self._read(response)
            if (reason := refusal_of(response, kind, body)) is not None:
                is_large = response.status_code == httpx2.codes.CONTENT_TOO_LARGE
                code = INVALID_REQUEST if is_large else INTERNAL_ERROR
                raise RemoteFailed(self._url, reason, code=code)
            if response.status_code != httpx2.codes.ACCEPTED:
                await deliver(body)

    async def follow(self, headers: Mapping[str, str], deliver: Deliver) -> bool:
        """Deliver what the remote sends of itself in this session, until its stream ends.

        False if it has no such stream, which only 405 says (MCP, Streamable HTTP). Raises
        `RemoteFailed`.
        """
        sent = {"accept": _EVENTS, **headers}
        async with self._sent("GET", sent, is_endless=True) as response:
            if response.status_code == httpx2.codes.METHOD_NOT_ALLOWED:
                return False
            if response.status_code != httpx2.codes.OK or _kind_of(response) != _EVENTS:
                wait = retry_after_seconds(response.headers.get("retry-after"))
                reason = f"it answered {response.status_code}"
                raise RemoteFailed(self._url, reason, retry_after_seconds=wait or 0.0)
            await _deliver_events(response, deliver)
            return True

    def failed(self, reason: str) -> RemoteFailed:
        """An error that says `reason`, for the user of the host."""
        return RemoteFailed(self._url, reason)

    @asynccontextmanager
    async def _sent(
        self, method: str, headers: dict[str, str], text: bytes = b"", *, is_endless: bool
    ) -> AsyncIterator[httpx2.Response]:
        if self.session is not None:
            headers[_SESSION] = self.session
        timeout = self._endless if is_endless else httpx2.USE_CLIENT_DEFAULT
        try:
            async with self._http.stream(
                method, self._url, content=text, headers=headers, timeout=timeout
            ) as response:
                yield response
        except REMOTE_ERRORS as error:
            raise self.failed(explained(error)) from error

    async def _read(self, response: httpx2.Response) -> bytes:
        body = bytearray()
        async for part in response.aiter_bytes():
            body += part
            if len(body) > MAX_MESSAGE_BYTES:
                raise self.failed(f"its answer is larger than {MAX_MESSAGE_BYTES} bytes")
        return bytes(body)


async def _deliver_events(response: httpx2.Response, deliver: Deliver) -> None:
    async for event in httpx2.EventSource(response, max_event_size=MAX_MESSAGE_BYTES):
        if event.event == "message" and event.data:
            await deliver(event.data.encode())


def _kind_of(response: httpx2.Response) -> str:
    return response.headers.get("content-type", "").partition(";")[0].strip().lower()
