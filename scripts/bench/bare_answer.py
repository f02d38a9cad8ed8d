"""The least that an ASGI application can do: it reads the body and answers 200 bytes of JSON."""

from typing import Any, Final

_BODY: Final = b'{"text":"%b"}' % (b"x" * 189)
_HEAD: Final = {
    "type": "http.response.start",
    "status": 200,
    "headers": [(b"content-type", b"application/json"), (b"content-length", b"200")],
}


async def answer(scope: Any, receive: Any, send: Any) -> None:
    """Serve one request."""
    if scope["type"] != "http":
        return
    while (await receive()).get("more_body"):
        pass
    await send(_HEAD)
    await send({"type": "http.response.body", "body": _BODY})
