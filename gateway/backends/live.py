"""The real upstream, over pooled HTTP/1.1 connections."""

import asyncio
import ipaddress
from collections.abc import Mapping
from typing import Final, Literal

import aiohttp
from yarl import URL

from gateway.backends.rate import RateState
from gateway.backends.wire import WireEncoder, WireRequest, refuse_redirect
from gateway.clock import Clock, rfc3339
from gateway.contract.upstream import Reply, Upstream, UpstreamRequest
from gateway.errors import (
    ConfigurationError,
    InternalError,
    UpstreamRejected,
    UpstreamTimeout,
    UpstreamUnavailable,
)

MAX_REPLY_BYTES: Final = 10 * 1024 * 1024
"""Default cap of a reply's body, counted after decompression."""
MAX_CONNECTIONS: Final = 256
_ACCEPTED_CODINGS: Final = frozenset({"", "identity", "gzip"})


class LiveBackend:
    """Sends requests to one upstream at `base_url`, and nowhere else.

    Redirects are not followed, proxies and credentials of the environment are not used, and no
    cookie is kept. Raises `ConfigurationError` for a base URL that is not safe to send secrets to,
    and for credentials that are missing or cannot be sent.
    """

    name: Literal["live"] = "live"

    def __init__(
        self,
        upstream: Upstream,
        clock: Clock,
        *,
        base_url: str,
        credentials: Mapping[str, str],
        max_reply_bytes: int = MAX_REPLY_BYTES,
        allows_plain_http: bool = False,
    ) -> None:
        self._name = upstream.name
        self._clock = clock
        self._base = _checked_base(base_url, upstream.name, allows_plain_http)
        self._encoder = WireEncoder(upstream, credentials)
        self._max_reply_bytes = max_reply_bytes
        self._rate = RateState(upstream.rate)
        self._session: aiohttp.ClientSession | None = None

    async def send(self, request: UpstreamRequest, *, timeout_seconds: float) -> Reply:
        """One attempt, whatever its status; see `Backend.send` for what it raises."""
        wire = self._encoder.encode(request, rfc3339(self._clock.now()))
        self._rate.check(self._clock.monotonic())
        try:
            async with asyncio.timeout(timeout_seconds):
                reply = await self._exchange(wire)
        except TimeoutError:
            raise UpstreamTimeout(f"No answer in {timeout_seconds:g} seconds.") from None
        except aiohttp.ClientConnectorCertificateError as error:
            raise UpstreamUnavailable(
                "The upstream's certificate cannot be trusted.", is_sent=False
            ) from error
        except aiohttp.ClientConnectorError as error:
            raise UpstreamUnavailable("The upstream cannot be reached.", is_sent=False) from error
        except (aiohttp.ClientError, OSError) as error:
            raise UpstreamUnavailable("The connection to the upstream broke.") from error
        self._rate.note(reply.headers, self._clock.monotonic())
        refuse_redirect(reply.status)
        return reply

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _exchange(self, wire: WireRequest) -> Reply:
        session = self._session or self._open()
        async with session.request(
            wire.method,
            self._url(wire),
            headers=wire.headers,
            data=wire.body,
            allow_redirects=False,
        ) as response:
            return Reply(
                status=response.status,
                headers=_headers(response),
                body=await self._body(response),
            )

    def _open(self) -> aiohttp.ClientSession:
        """Opened at the first call: a session belongs to the event loop that runs it."""
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=MAX_CONNECTIONS),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"Accept-Encoding": "gzip"},
            timeout=aiohttp.ClientTimeout(total=None),  # `send` owns the deadline
            trust_env=False,
        )
        return self._session

    def _url(self, wire: WireRequest) -> URL:
        url = URL(f"{self._base}{wire.target}", encoded=True)
        # The last line of defence: nothing that was encoded above may lead away from the base.
        if url.origin() != self._base.origin() or not url.raw_path.startswith(_prefix(self._base)):
            raise InternalError(f"a request to {self._name} would leave its base URL")
        return url

    async def _body(self, response: aiohttp.ClientResponse) -> bytes:
        if response.headers.get("Content-Encoding", "").lower() not in _ACCEPTED_CODINGS:
            raise UpstreamRejected("The upstream's answer has a content coding not asked for.")
        body = bytearray()
        async for chunk in response.content.iter_any():
            body += chunk
            if len(body) > self._max_reply_bytes:
                raise UpstreamRejected(
                    f"The upstream's answer is larger than {self._max_reply_bytes} bytes."
                )
        return bytes(body)


def _headers(response: aiohttp.ClientResponse) -> dict[str, str]:
    """Names in lower case; a header that occurs more than once keeps its last value."""
    return {name.lower(): value for name, value in response.headers.items()}


def _prefix(base: URL) -> str:
    return f"{base.raw_path.rstrip('/')}/"


def _checked_base(text: str, upstream: str, allows_plain_http: bool) -> URL:
    setting = f"GATEWAY_{upstream.upper()}_BASE_URL"
    try:
        base = URL(text)
        host = base.host or ""
    except ValueError:
        raise ConfigurationError(f"{setting} is not a URL; write https://host/path") from None
    if base.scheme not in {"https", "http"} or not host:
        raise ConfigurationError(f"{setting} is not an https URL; write https://host/path")
    if base.user is not None or base.password is not None or base.raw_query_string or base.fragment:
        raise ConfigurationError(f"{setting} may hold only scheme, host, port and path")
    if base.scheme == "http" and not allows_plain_http and not _is_loopback(host):
        raise ConfigurationError(f"{setting} would send credentials unencrypted; use https://")
    return URL(str(base).rstrip("/"))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
