"""Serve an ASGI application like the gateway: with uvicorn, uvloop and httptools."""

import socket
from typing import Any

import uvicorn


def serve(application: Any, protocol: Any = "httptools") -> None:
    """Listen on a free port of the loopback interface, print the URL, and serve until stopped.

    `protocol`: the class of connections.
    """
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", 0))
    listening.listen(1024)
    print(f"ready http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    config = uvicorn.Config(
        application,
        loop="uvloop",
        http=protocol,
        log_level="warning",
        access_log=False,
        lifespan="on",
    )
    uvicorn.Server(config).run(sockets=[listening])
