"""The live backend: reaches an upstream over pooled HTTP/1.1 connections."""

import logging
from collections.abc import Mapping
from typing import Final, Literal

import aiohttp
from yarl import URL

from gateway.backends.http.client import UpstreamClient
from gateway.backends.http.once import Disconnected, send_once
from gateway.backends.oauth.endpoint import HttpTokenWire
from gateway.backends.oauth.forms import TokenForms
from gateway.backends.oauth.tokens import TokenSource
from gateway.backends.wire import WireEncoder, WireRequest
from gateway.clock import Clock
from gateway.contract.credentials.grants import usable_rule
from gateway.contract.upstream import Reply, Upstream
from gateway.errors import InternalError, UpstreamRejected, UpstreamUnavailable

MAX_REPLY_BYTES: Final = 10 * 1024 * 1024
"""The default maximum size of a reply's body, after decompression."""
MAX_CONNECTIONS: Final = 256
_ACCEPTED_CODINGS: Final = frozenset({"", "identity", "gzip"})
_log: Final = logging.getLogger(__name__)


class LiveBackend(UpstreamClient):
    """Sends requests to one upstream at `base_url`, and fetches its access tokens at `token_url`.

    The settings have checked both URLs. Redirects are not followed, proxies and credentials of the
    environment are not used, and no cookies are stored. Raises `ConfigurationError` for credentials
    that are missing or cannot be sent.
    """

    name: Literal["live"] = "live"

    def __init__(
        self,
        upstream: Upstream,
        clock: Clock,
        *,
        base_url: str,
        credentials: Mapping[str, str],
        token_url: str | None = None,
        max_reply_bytes: int = MAX_REPLY_BYTES,
    ) -> None:
        super().__init__(
            upstream,
            clock,
            wire=_HttpWire(upstream.name, base_url, max_reply_bytes),
            encoder=WireEncoder(upstream, credentials),
            tokens=_tokens(upstream, clock, credentials, token_url),
        )


def _tokens(
    upstream: Upstream, clock: Clock, credentials: Mapping[str, str], token_url: str | None
) -> TokenSource | None:
    rule = usable_rule(upstream.tokens, credentials)
    if rule is None or token_url is None:
        return None
    forms = TokenForms(rule, credentials)
    return TokenSource(upstream, rule, forms, HttpTokenWire(token_url), clock)


class _HttpWire:
    """HTTP/1.1 connections to one base URL."""

    def __init__(self, upstream_name: str, base_url: str, max_reply_bytes: int) -> None:
        self._name = upstream_name
        base = URL(base_url.rstrip("/"))
        self._base = str(base)
        self._origin = base.origin()
        self._prefix = f"{base.raw_path.rstrip('/')}/"
        self._max_reply_bytes = max_reply_bytes
        self._session: aiohttp.ClientSession | None = None

    async def exchange(self, request: WireRequest) -> Reply:
        """See `Wire.exchange`. Errors have no cause: aiohttp's contain the URL, and thus keys."""
        try:
            return await self._exchange(request)
        except aiohttp.ClientConnectorCertificateError as error:
            _log.warning("%s: the certificate: %s", self._name, error.certificate_error)
            raise UpstreamUnavailable(
                "The upstream's certificate cannot be trusted.", is_sent=False
            ) from None
        except aiohttp.ClientConnectorError as error:
            _log.warning("%s: no connection: %s", self._name, error.os_error)
            raise UpstreamUnavailable("The upstream cannot be reached.", is_sent=False) from None
        except TimeoutError:
            raise
        except (aiohttp.ClientError, OSError) as error:
            kind = str(error) if isinstance(error, Disconnected) else type(error).__name__
            _log.warning("%s: the connection broke: %s", self._name, kind)
            raise UpstreamUnavailable("The connection to the upstream broke.") from None

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _exchange(self, request: WireRequest) -> Reply:
        session = self._session or self._open()
        async with session.request(
            request.method,
            self._url(request),
            headers=request.headers,
            data=request.body,
            allow_redirects=False,
        ) as response:
            return Reply(
                status=response.status,
                headers=_headers(response),
                body=await self._body(response),
            )

    def _open(self) -> aiohttp.ClientSession:
        """Open the session at the first call, because it belongs to the running event loop."""
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=MAX_CONNECTIONS),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"Accept-Encoding": "gzip"},
            timeout=aiohttp.ClientTimeout(total=None),  # `UpstreamClient` limits the time
            trust_env=False,
            middlewares=(send_once,),
        )
        return self._session

    def _url(self, request: WireRequest) -> URL:
        url = URL(f"{self._base}{request.target}", encoded=True)
        # The last check: no encoded path may lead outside the base URL.
        if url.origin() != self._origin or not url.raw_path.startswith(self._prefix):
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
    """The headers by lower-case name. Of a header that occurs more than once, the last value."""
    return {name.lower(): value for name, value in response.headers.items()}
