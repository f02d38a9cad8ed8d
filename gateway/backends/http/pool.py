"""Kept HTTP/1.1 connections to one upstream."""

import asyncio
import socket
import ssl
from functools import lru_cache
from typing import Final

import aiohappyeyeballs

from gateway.backends.http.connection import UpstreamSocket
from gateway.backends.http.replies import ReplyLimits
from gateway.contract.upstream import Departure, Reply, Watch

MAX_CONNECTIONS: Final = 256
"""Requests that are under way at the same time. More wait for one of them to end."""
KEEP_SECONDS: Final = 15.0
"""How long a connection without a request is kept."""
_NEXT_ADDRESS_SECONDS: Final = 0.25
"""After this time, the next address of the host is tried too (RFC 8305 §5)."""


class NotConnected(Exception):
    """There is no connection, so nothing was sent. The message is the cause."""


class NotTrusted(NotConnected):
    """The certificate of the upstream cannot be trusted."""


class ConnectionPool:
    """Connections to one host and port. The one that was used last is used first."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        is_encrypted: bool,
        replies: ReplyLimits,
        trust: ssl.SSLContext | None = None,
    ) -> None:
        """`trust` replaces the system's roots."""
        self._host = host
        self._port = port
        self._server_name = host.rstrip(".")
        """The name in the TLS handshake, which the certificate must have."""
        self._is_encrypted = is_encrypted
        self._replies = replies
        self._trust = trust
        self._keep_seconds = KEEP_SECONDS
        self._slots = asyncio.Semaphore(MAX_CONNECTIONS)
        self._open: set[UpstreamSocket] = set()
        self._idle: list[tuple[UpstreamSocket, float]] = []
        """The connections without a request, with the time since when. The oldest is first."""
        self._cleanup: asyncio.TimerHandle | None = None

    async def exchange(
        self,
        message: bytes,
        *,
        is_head: bool,
        watch: Watch | None = None,
        departure: Departure | None = None,
    ) -> Reply:
        """Send a request once and return its reply. It waits while all connections are used.

        `departure` says how far it has come if the caller is cancelled. Raises `NotConnected`, and
        the errors of `UpstreamSocket.exchange`.
        """
        departure = departure or Departure()
        departure.is_unsent = True
        async with self._slots:
            connection = self._kept() or await self._connect()
            departure.is_unsent = False
            reply = await connection.exchange(
                message, is_head=is_head, watch=watch, caller=departure.caller
            )
            if connection.is_reusable:
                self._keep(connection)
            return reply

    async def close(self) -> None:
        """Close all connections. Requests that are under way fail."""
        if self._cleanup is not None:
            self._cleanup.cancel()
            self._cleanup = None
        self._idle.clear()
        for connection in tuple(self._open):
            connection.close()
        # The transports report the loss in the next round of the event loop.
        await asyncio.sleep(0)

    def _kept(self) -> UpstreamSocket | None:
        oldest = asyncio.get_running_loop().time() - self._keep_seconds
        while self._idle:
            connection, since = self._idle.pop()
            if connection.is_reusable and since > oldest and connection.is_quiet:
                return connection
            connection.close()
        return None

    def _keep(self, connection: UpstreamSocket) -> None:
        loop = asyncio.get_running_loop()
        self._idle.append((connection, loop.time()))
        if self._cleanup is None:
            self._cleanup = loop.call_later(self._keep_seconds, self._clean_up)

    def _clean_up(self) -> None:
        """Close what has been idle for too long, and look again while anything is left."""
        loop = asyncio.get_running_loop()
        oldest = loop.time() - self._keep_seconds
        left = []
        for connection, since in self._idle:
            if connection.is_reusable and since > oldest:
                left.append((connection, since))
            else:
                connection.close()
        self._idle = left
        self._cleanup = loop.call_later(self._keep_seconds, self._clean_up) if left else None

    async def _connect(self) -> UpstreamSocket:
        loop = asyncio.get_running_loop()
        try:
            _, connection = await loop.create_connection(
                self._socket,
                sock=await self._reach(),
                ssl=self._context(),
                server_hostname=self._server_name if self._is_encrypted else None,
            )
        except ssl.SSLCertVerificationError as error:
            raise NotTrusted(error.verify_message) from None
        except (OSError, UnicodeError, RuntimeError) as error:
            # uvloop raises RuntimeError where asyncio raises OSError.
            raise NotConnected(str(error)) from None
        if not connection.is_reusable:
            raise NotConnected("closed")
        return connection

    async def _reach(self) -> socket.socket:
        """A TCP connection to the first address of the host that answers. Raises `OSError`."""
        loop = asyncio.get_running_loop()
        addresses = await loop.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
        return await aiohappyeyeballs.start_connection(
            addresses, happy_eyeballs_delay=_NEXT_ADDRESS_SECONDS, loop=loop
        )

    def _context(self) -> ssl.SSLContext | None:
        return (self._trust or _system_roots()) if self._is_encrypted else None

    def _socket(self) -> UpstreamSocket:
        return UpstreamSocket(self._replies, self._open)


@lru_cache(maxsize=1)
def _system_roots() -> ssl.SSLContext:
    """The roots that the system trusts. Shared, because loading them takes long."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context
