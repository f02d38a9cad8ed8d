"""Keeps aiohttp from sending a request again by itself.

When a connection breaks before the answer, aiohttp repeats GET, HEAD, OPTIONS, PUT and DELETE once.
Here the contract says how often a request is sent, and whether it may be repeated at all.
"""

import aiohttp


class Disconnected(aiohttp.ClientConnectionError):
    """The connection broke before the answer. The message is the name of aiohttp's own error."""


async def send_once(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """A client middleware: raises `Disconnected` for the errors after which aiohttp sends again."""
    try:
        return await handler(request)
    except aiohttp.ClientConnectorError:
        raise  # nothing was sent, and aiohttp does not repeat it
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        # Without its cause: aiohttp's errors hold the URL, and that may hold a secret.
        raise Disconnected(type(error).__name__) from None
