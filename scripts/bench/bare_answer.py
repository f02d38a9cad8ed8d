"""The least that an ASGI application can do, and what serves it: `bare_answer.py SERVER`.

The application reads the body and answers 200 bytes of JSON. `uvicorn` is the server of the gateway
(uvloop, httptools), `gateway` the same with the gateway's own protocol of connections, `granian`
another one, with one worker.
"""

import socket
import sys
from typing import Any, Final

BODY: Final = b'{"text":"%b"}' % (b"x" * 189)
HEAD: Final = {
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
    await send(HEAD)
    await send({"type": "http.response.body", "body": BODY})


def _granian() -> None:
    from granian import Granian  # noqa: PLC0415 - it is installed in an environment of its own
    from granian.constants import Interfaces  # noqa: PLC0415

    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    options: dict[str, Any] = {"interface": Interfaces.ASGI, "loop": "uvloop", "log_enabled": False}
    server = Granian("bare_answer:answer", address="127.0.0.1", port=port, **options)
    server.on_startup(lambda: print(f"ready http://127.0.0.1:{port}", flush=True))
    server.serve()


def main() -> None:
    """Serve until stopped."""
    if sys.argv[1] == "granian":
        _granian()
        return
    from serving import serve  # noqa: PLC0415 - granian's environment has no uvicorn

    if sys.argv[1] == "uvicorn":
        serve(answer)
        return
    from gateway.transports.connections.connection import Connection  # noqa: PLC0415

    serve(answer, Connection)


if __name__ == "__main__":
    main()
