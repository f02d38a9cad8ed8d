"""Posts messages to one address of a host, with the name of the host in `Host` and in TLS.

This is the only module of a serving gateway that needs aiohttp, so the first message loads it.

Stops aiohttp from repeating requests by itself.

When a connection breaks before the answer, aiohttp repeats GET, HEAD, OPTIONS, PUT and DELETE once.
In the gateway, the contract defines whether a request may be repeated, and how often.
"""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final

import aiohttp
from yarl import URL

from gateway.backends.http.posting import Address, NoAnswer, PostAnswer


class Disconnected(aiohttp.ClientConnectionError):
    """The connection broke before the answer. The message is the name of aiohttp's own error."""


async def send_once(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """A client middleware that raises `Disconnected` for the errors after which aiohttp repeats."""
    try:
        return await handler(request)
    except aiohttp.ClientConnectorError:
        raise  # nothing was sent, and aiohttp does not repeat it
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        # Without its cause: aiohttp's errors contain the URL, which may contain a secret.
        raise Disconnected(type(error).__name__) from None


EXCERPT_BYTES: Final = 4096
EXCERPT_SECONDS: Final = 1.0
"""How long to wait for the excerpt of the body. Only the status decides the outcome."""
CONNECT_SECONDS: Final = 5.0
_KEEP_SECONDS: Final = 4.0
"""How long idle connections are kept. Most servers keep them longer, so few messages are sent on a
connection that the server is closing."""


class AddressedPosts:
    """Posts messages to addresses that were checked. It resolves no name."""

    def __init__(self, trust: ssl.SSLContext | None) -> None:
        """`trust` replaces the system's certificates."""
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0,  # the worker limits concurrency; a wait here would look like a timeout
                keepalive_timeout=_KEEP_SECONDS,
                ssl=trust or True,
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": "contract-gateway", "Accept-Encoding": "identity"},
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
            auto_decompress=False,
            trust_env=False,
            middlewares=(send_once,),
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()

    async def post(
        self, address: Address, url: URL, headers: Mapping[str, str], body: bytes
    ) -> Callable[[], Awaitable[PostAnswer]] | NoAnswer:
        """Send exactly these bytes. Returns, when the status has arrived, how to read the answer.

        Errors are returned as text: aiohttp's contain the URL, which may contain a secret.
        """
        try:
            response = await self._session.post(
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
        return partial(_answer, response)


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
