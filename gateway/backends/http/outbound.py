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
from typing import Final, Literal, TypeAlias
from weakref import WeakValueDictionary

from msgspec import Struct
from yarl import URL

from gateway.amounts import in_seconds
from gateway.backends.http.pool import ConnectionPool, NotConnected, NotTrusted
from gateway.backends.http.replies import ConnectionBroken, ReplyLimits
from gateway.backends.http.wire import request_message
from gateway.backends.wire import WireRequest
from gateway.bounds.addresses import Address
from gateway.contract.upstream import Watch
from gateway.errors import InvalidReply

# The types of messages to URLs that others chose: target, answer and failure.


class PostTarget(Struct, frozen=True, kw_only=True):
    """The parts of a URL that are checked together with the addresses of its host."""

    scheme: str
    host: str
    """A name in lower case and in the ASCII form of IDNA, or an address without brackets."""
    port: int

    @property
    def address(self) -> Address | None:
        """The host as an address, or None if it is a name."""
        try:
            return ip_address(self.host)
        except ValueError:
            return None


class PostAnswer(Struct, frozen=True, kw_only=True):
    """The host's answer."""

    status: int
    retry_after: str | None = None
    """The value of `Retry-After` as received."""
    excerpt: bytes = b""
    """The beginning of the body. Empty if the body is compressed."""


class NoAnswer(Struct, frozen=True, kw_only=True):
    """Why there is no answer."""

    reason: Literal[
        "address_refused", "unresolved", "unreachable", "untrusted", "timeout", "broken"
    ]
    detail: str
    """A description for people, without addresses and URLs."""


AddressCheck: TypeAlias = Callable[[PostTarget, Sequence[Address]], str | None]
"""Why messages to a host with these addresses are refused, or None if they are allowed."""
Resolve: TypeAlias = Callable[[str], Awaitable[Sequence[Address]]]
"""The addresses of a host name. Raises `OSError` if it has none."""


def target_of(url: URL) -> PostTarget:
    """The scheme, host and port of `url`."""
    return PostTarget(scheme=url.scheme, host=url.raw_host or "", port=url.port or 0)


TIMEOUT_SECONDS: Final = 15.0
"""The time limit of one message: from the lookup of the name to the status line of the answer."""
_MAX_TRIES: Final = 3
"""The most addresses of one host that are tried."""
_RESOLVERS: Final = 16
"""The most names that are resolved at once. A name whose servers do not answer occupies a thread
for a long time."""
EXCERPT_BYTES: Final = 4096
EXCERPT_SECONDS: Final = 1.0
"""How long to wait for the excerpt of the body. Only the status decides the outcome."""
CONNECT_SECONDS: Final = 5.0
_KEEP_SECONDS: Final = 4.0
"""How long idle connections are kept. Most servers keep them longer, so few messages are sent on a
connection that the server is closing."""
_FIELDS: Final = {"user-agent": "contract-gateway", "accept": "*/*"}

_Place: TypeAlias = tuple[Address, str, str | None, int | None]
"""The address, scheme, host and port of a connection. One that was made for a host carries only
messages to that host, because its certificate was checked against that name alone."""


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
        self._replies = ReplyLimits(max_bytes=EXCERPT_BYTES, excerpt_seconds=EXCERPT_SECONDS)
        self._pools: WeakValueDictionary[_Place, _AddressPool] = WeakValueDictionary()
        """A pool is in use while it has connections. Requests and its clean-up hold it."""

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
            async with asyncio.timeout(self._timeout_seconds) as limit:
                return await self._post(
                    URL(url, encoded=True), headers, body, lambda *_: limit.reschedule(None)
                )
        except TimeoutError:
            detail = f"no answer in {in_seconds(self._timeout_seconds)}"
            return NoAnswer(reason="timeout", detail=detail)

    async def close(self) -> None:
        """Close all connections."""
        for pool in list(self._pools.values()):
            await pool.close()

    async def _addresses(self, target: PostTarget) -> Sequence[Address] | NoAnswer:
        literal = target.address
        try:
            found = [literal] if literal else await self._resolve(target.host)
        except (OSError, UnicodeError):
            return NoAnswer(reason="unresolved", detail="the host's name cannot be resolved")
        refusal = self._check(target, found)
        return NoAnswer(reason="address_refused", detail=refusal) if refusal else found

    async def _post(
        self, url: URL, headers: Mapping[str, str], body: bytes, answered: Watch
    ) -> PostAnswer | NoAnswer:
        addresses = await self._addresses(target_of(url))
        if isinstance(addresses, NoAnswer):
            return addresses
        fields = tuple((_FIELDS | dict(headers)).items())
        request = WireRequest(method="POST", target=url.raw_path_qs, headers=fields, body=body)
        message = request_message(request, str(url.host_port_subcomponent), coding="identity")
        for address in addresses[:_MAX_TRIES]:
            outcome = await _outcome(self._pool(address, url), message, answered)
            if not isinstance(outcome, NoAnswer) or outcome.reason != "unreachable":
                return outcome
        return NoAnswer(reason="unreachable", detail="the host cannot be reached")

    def _pool(self, address: Address, url: URL) -> "_AddressPool":
        place = (address, url.scheme, url.raw_host, url.port)
        pool = self._pools.get(place)
        if pool is None:
            pool = self._pools[place] = _AddressPool(address, url, self._replies, self._trust)
        return pool


class _AddressPool(ConnectionPool):
    """Connections to an address that was checked. The host gives the name in TLS, no address."""

    def __init__(
        self, address: Address, url: URL, replies: ReplyLimits, trust: ssl.SSLContext | None
    ) -> None:
        super().__init__(
            str(address),
            url.port or 0,
            is_encrypted=url.scheme == "https",
            replies=replies,
            trust=trust,
        )
        self._server_name = str(url.raw_host).rstrip(".")
        self._keep_seconds = _KEEP_SECONDS

    async def _reach(self) -> socket.socket:
        async with asyncio.timeout(CONNECT_SECONDS):
            return await super()._reach()


async def _outcome(pool: ConnectionPool, message: bytes, answered: Watch) -> PostAnswer | NoAnswer:
    """Send `message` once. Errors become text of ours: theirs may name the address."""
    try:
        reply = await pool.exchange(message, is_head=False, watch=answered)
    except NotTrusted:
        return NoAnswer(reason="untrusted", detail="the host's certificate cannot be trusted")
    except NotConnected:
        return NoAnswer(reason="unreachable", detail="the host cannot be reached")
    except (ConnectionBroken, InvalidReply):
        return NoAnswer(reason="broken", detail="the connection broke")
    retry_after = reply.headers.get("retry-after")
    return PostAnswer(status=reply.status, retry_after=retry_after, excerpt=reply.body)


def _look_up(host: str) -> list[str]:
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]
