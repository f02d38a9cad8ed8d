"""The MCP endpoint of a gateway elsewhere: how it is reached, and why it serves no message."""

import ipaddress
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit
from urllib.request import getproxies_environment, proxy_bypass

import httpx2
import msgspec

from gateway.calls.waiting import retry_after_seconds
from gateway.errors import ConfigurationError
from gateway.transports.json_rpc import INTERNAL_ERROR, INVALID_REQUEST


def client_options(url: str, key: str | None) -> dict[str, Any]:
    """The options of each client of a gateway at `url`, which is shown `key`.

    A proxy of the environment sees neither the key nor messages: only https goes through it, in a
    tunnel. It is not used for addresses of this machine. Raises `ConfigurationError` if it is not a
    proxy for HTTP.
    """
    is_encrypted = urlsplit(url).scheme == "https"
    return {
        "headers": {} if key is None else {"authorization": f"Bearer {key}"},
        "proxy": _proxy_of(url) if is_encrypted else None,
        # A context that trusts nobody. To load the certificates takes time and 3 MB.
        "verify": httpx2.create_ssl_context()
        if is_encrypted
        else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
        "trust_env": False,
    }


def _proxy_of(url: str) -> str | None:
    """The proxy that `HTTPS_PROXY` or `ALL_PROXY` names, unless `NO_PROXY` excepts the host."""
    host = urlsplit(url).hostname or ""
    proxies = getproxies_environment()
    proxy = proxies.get("https") or proxies.get("all")
    if not proxy or _is_local(host) or proxy_bypass(host):
        return None
    named = proxy if "://" in proxy else f"http://{proxy}"
    if urlsplit(named).scheme not in {"http", "https"}:
        raise ConfigurationError(
            "HTTPS_PROXY or ALL_PROXY is not a proxy for HTTP; "
            "write it like http://proxy.example.com:3128, or except the gateway with NO_PROXY"
        )
    return named


def _is_local(host: str) -> bool:
    name = host.lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


_JSON: Final = "application/json"
_PROBLEM: Final = "application/problem+json"
_REASONS: Final = {
    401: "it refused the key (401). Set GATEWAY_KEY to a key that is not revoked",
    421: "it is not known by this name (421). Add the name to its setting allowed_hosts",
    429: "it is busy (429). Try again later",
}
REMOTE_ERRORS: Final = (httpx2.TransportError, httpx2.DecodingError, httpx2.SSEError, OSError)
"""What HTTP clients raise when the remote, or the way to it, fails."""


class RemoteFailed(Exception):
    """The remote did not serve a message. Its text is for the user of the host."""

    def __init__(
        self,
        url: str,
        reason: str,
        *,
        code: int = INTERNAL_ERROR,
        retry_after_seconds: float = 0.0,
    ) -> None:
        """`retry_after_seconds`: how long the remote asks not to be asked again."""
        super().__init__(f"The gateway at {url} did not serve this: {reason}.")
        self.code = code
        """Of the error with which the host's request is answered."""
        self.retry_after_seconds = retry_after_seconds


class _Problem(msgspec.Struct):
    detail: str = ""


def explained(error: Exception) -> str:
    """The reason for `error`, one of `REMOTE_ERRORS`."""
    if isinstance(error, httpx2.ReadTimeout):
        return "it has sent nothing for too long"
    if isinstance(error, httpx2.DecodingError | httpx2.SSEError):
        return f"its answer cannot be read ({error})"
    kind = type(error).__name__
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
        return f"it cannot be reached ({kind})"
    return f"the connection to it was lost ({kind})"


def refusal_of(response: httpx2.Response, kind: str, body: bytes) -> str | None:
    """Why `response` to a message, with this `body`, breaks the protocol. None if it does not."""
    status = response.status_code
    if status in _REASONS:
        return _REASONS[status]
    if status == httpx2.codes.CONTENT_TOO_LARGE:
        return f"it is too large (413). {_detail(kind, body)}".rstrip(". ")
    if status == httpx2.codes.ACCEPTED or (kind == _JSON and b'"jsonrpc"' in body):
        return None
    what = f"it answered {status} {kind or 'without a content type'}"
    if response.is_redirect:
        return f"{what}, a redirect. Use the address that it leads to"
    if response.is_server_error:
        return f"{what}. Try again later, or see its log"
    return f"{what}, so there is no MCP endpoint there. The URL should end in /mcp"


def _detail(kind: str, body: bytes) -> str:
    """The detail of a problem of a gateway. Empty if it is none, such as a page of a proxy."""
    try:
        return msgspec.json.decode(body, type=_Problem).detail if kind == _PROBLEM else ""
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""


Deliver: TypeAlias = Callable[[bytes], Awaitable[None]]
"""Takes the texts of the remote's messages, one after the other."""

_SESSION: Final = "mcp-session-id"
_EVENTS: Final = "text/event-stream"
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
