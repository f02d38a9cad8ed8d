"""Posts messages to URLs that others chose, and never to a refused address (SSRF).

The name of the host is resolved once for each message. If none of its addresses is refused, the
connection is made to one of these addresses, with the name in `Host` and in the TLS handshake.
Redirects, proxies and credentials of the environment, and cookies are not used.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final

from yarl import URL

from gateway.amounts import in_seconds
from gateway.backends.http.posting import (
    Address,
    AddressCheck,
    NoAnswer,
    PostAnswer,
    PostTarget,
    Resolve,
    target_of,
)

if TYPE_CHECKING:
    from gateway.backends.http.addressed import AddressedPosts

TIMEOUT_SECONDS: Final = 15.0
"""The time limit of one message: from the lookup of the name to the status line of the answer."""
_MAX_TRIES: Final = 3
"""The most addresses of one host that are tried."""
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
        self._session: AddressedPosts | None = None

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
                read = await self._post(URL(url, encoded=True), headers, body)
        except TimeoutError:
            detail = f"no answer in {in_seconds(self._timeout_seconds)}"
            return NoAnswer(reason="timeout", detail=detail)
        return read if isinstance(read, NoAnswer) else await read()

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
    ) -> Callable[[], Awaitable[PostAnswer]] | NoAnswer:
        addresses = await self._addresses(target_of(url))
        if isinstance(addresses, NoAnswer):
            return addresses
        posts = await self._posts()
        for address in addresses[:_MAX_TRIES]:
            outcome = await posts.post(address, url, headers, body)
            if not isinstance(outcome, NoAnswer) or outcome.reason != "unreachable":
                return outcome
        return NoAnswer(reason="unreachable", detail="the host cannot be reached")

    async def _posts(self) -> "AddressedPosts":
        if self._session is not None:
            return self._session
        return self._opened(await asyncio.to_thread(_load))

    def _opened(self, kind: "type[AddressedPosts]") -> "AddressedPosts":
        """Opened by the first message, because it belongs to the running event loop."""
        if self._session is None:
            self._session = kind(self._trust)
        return self._session


def _look_up(host: str) -> list[str]:
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


def _load() -> "type[AddressedPosts]":
    """Load aiohttp. This takes a tenth of a second and 7 MB, and few starts send a message."""
    from gateway.backends.http.addressed import AddressedPosts  # noqa: PLC0415 - see above

    return AddressedPosts
