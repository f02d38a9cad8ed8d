"""Stops aiohttp from repeating requests by itself.

When a connection breaks before the answer, aiohttp repeats GET, HEAD, OPTIONS, PUT and DELETE once.
In the gateway, the contract defines whether a request may be repeated, and how often.
"""

import aiohttp


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
