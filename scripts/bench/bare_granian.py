"""Serves the bare answer with granian, by one worker. It runs in granian's own environment."""

import socket

from granian import Granian
from granian.constants import Interfaces


def main() -> None:
    """Serve until stopped."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    server = Granian(
        "bare_answer:answer",
        address="127.0.0.1",
        port=port,
        interface=Interfaces.ASGI,
        loop="uvloop",
        log_enabled=False,
    )
    server.on_startup(lambda: print(f"ready http://127.0.0.1:{port}", flush=True))
    server.serve()


if __name__ == "__main__":
    main()
