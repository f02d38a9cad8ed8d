"""Posts messages to URLs that others chose, and never to a refused address (SSRF).

The name of the host is resolved once for each message. If none of its addresses is refused, the
connection is made to one of these addresses, with the name in `Host` and in the TLS handshake.
Redirects, proxies and credentials of the environment, and cookies are not used.
"""

import asyncio
import socket
import ssl
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address
from typing import Final

import aiohttp
from yarl import URL

from gateway.backends.http.once import send_once
from gateway.backends.http.posting import (
    Address,
    AddressCheck,
    NoAnswer,
    PostAnswer,
    PostTarget,
    Resolve,
    target_of,
)

TIMEOUT_SECONDS: Final = 15.0
"""The time limit of one message: from the lookup of the name to the status line of the answer."""
EXCERPT_BYTES: Final = 4096
EXCERPT_SECONDS: Final = 1.0
"""How long to wait for the excerpt of the body. Only the status decides the outcome."""
CONNECT_SECONDS: Final = 5.0
_MAX_TRIES: Final = 3
"""The most addresses of one host that are tried."""
_KEEP_SECONDS: Final = 4.0
"""How long idle connections are kept. Most servers keep them longer, so few messages are sent on a
connection that the server is closing."""
_RESOLVERS: Final = 16
"""The most names that are resolved at once. A name whose servers do not answer occupies a thread
for a long time."""


class SystemResolver:
    """Resolves names with the operating system's resolver."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_RESOLVERS, thread_name_prefix="resolver")

    async def __call__(self, host: str) -> Sequence[Address]:
        """See `Resolve`."""
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(self._threads, _look_up, host)
        return tuple(dict.fromkeys(map(ip_address, found)))


class Outbound:
    """Posts messages. `check` refuses addresses. `trust` replaces the system's certificates."""

    def __init__(
        self,
        check: AddressCheck,
        *,
        resolve: Resolve | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
        trust: ssl.SSLContext | None = None,
    ) -> None:
        self._check = check
        self._resolve = resolve or SystemResolver()
        self._timeout_seconds = timeout_seconds
        self._trust = trust
        self._session: aiohttp.ClientSession | None = None

    async def refusal(self, url: str) -> NoAnswer | None:
        """Why a message to `url` would fail now, or None. Checks its name and its addresses."""
        try:
            async with asyncio.timeout(self._timeout_seconds):
                found = await self._addresses(target_of(URL(url, encoded=True)))
        except TimeoutError:
            return NoAnswer(reason="unresolved", detail="the host's name servers do not answer")
        return found if isinstance(found, NoAnswer) else None

    async def post(
        self, url: str, headers: Mapping[str, str], body: bytes
    ) -> PostAnswer | NoAnswer:
        """Send exactly these bytes. Errors of the host and the network are returned, not raised."""
        try:
            async with asyncio.timeout(self._timeout_seconds):
                response = await self._post(URL(url, encoded=True), headers, body)
        except TimeoutError:
            detail = f"no answer in {self._timeout_seconds:g} seconds"
            return NoAnswer(reason="timeout", detail=detail)
        return response if isinstance(response, NoAnswer) else await _answer(response)

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _addresses(self, target: PostTarget) -> Sequence[Address] | NoAnswer:
        literal = target.address
        try:
            found = [literal] if literal else await self._resolve(target.host)
        except (OSError, UnicodeError):
            return NoAnswer(reason="unresolved", detail="the host's name cannot be resolved")
        refusal = self._check(target, found)
        return NoAnswer(reason="address_refused", detail=refusal) if refusal else found

    async def _post(
        self, url: URL, headers: Mapping[str, str], body: bytes
    ) -> aiohttp.ClientResponse | NoAnswer:
        addresses = await self._addresses(target_of(url))
        if isinstance(addresses, NoAnswer):
            return addresses
        for address in addresses[:_MAX_TRIES]:
            outcome = await self._post_to(address, url, headers, body)
            if not isinstance(outcome, NoAnswer) or outcome.reason != "unreachable":
                return outcome
        return NoAnswer(reason="unreachable", detail="the host cannot be reached")

    async def _post_to(
        self, address: Address, url: URL, headers: Mapping[str, str], body: bytes
    ) -> aiohttp.ClientResponse | NoAnswer:
        """Errors are returned as text: aiohttp's contain the URL, which may contain a secret."""
        try:
            return await (self._session or self._open()).post(
                url.with_host(str(address)),
                headers={**headers, "Host": url.raw_authority},
                data=body,
                allow_redirects=False,
                server_hostname=url.raw_host if url.scheme == "https" else None,
            )
        except aiohttp.ClientConnectorCertificateError:
            return NoAnswer(reason="untrusted", detail="the host's certificate cannot be trusted")
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError):
            return NoAnswer(reason="unreachable", detail="the host cannot be reached")
        except TimeoutError:
            raise
        except (aiohttp.ClientError, OSError):
            return NoAnswer(reason="broken", detail="the connection broke")

    def _open(self) -> aiohttp.ClientSession:
        """Open the session at the first message, because it belongs to the running event loop."""
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0,  # the worker limits concurrency; a wait here would look like a timeout
                keepalive_timeout=_KEEP_SECONDS,
                ssl=self._trust or True,
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": "contract-gateway", "Accept-Encoding": "identity"},
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
            auto_decompress=False,
            trust_env=False,
            middlewares=(send_once,),
        )
        return self._session


def _look_up(host: str) -> list[str]:
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


async def _answer(response: aiohttp.ClientResponse) -> PostAnswer:
    excerpt = bytearray()
    try:
        async with asyncio.timeout(EXCERPT_SECONDS):
            while len(excerpt) < EXCERPT_BYTES and not response.content.at_eof():
                excerpt += await response.content.read(EXCERPT_BYTES - len(excerpt))
    except (TimeoutError, aiohttp.ClientError, OSError):
        pass  # the status has arrived, and only the status decides
    finally:
        _let_go(response)
    is_readable = "Content-Encoding" not in response.headers
    return PostAnswer(
        status=response.status,
        retry_after=response.headers.get("Retry-After"),
        excerpt=bytes(excerpt) if is_readable else b"",
    )


def _let_go(response: aiohttp.ClientResponse) -> None:
    """Keep the connection only if the body was read to its end: the rest could be a gigabyte."""
    if response.content.at_eof():
        response.release()
    else:
        response.close()
