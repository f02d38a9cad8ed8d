"""ContextForge with one REST tool: registers it, and leaves the rest as it comes.

The process becomes the server, so that its processor time is the server's. A child of it waits for
the server, registers the tool and prints that it is ready.
"""

import argparse
import json
import os
import socket
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import httpx
from processes import START_SECONDS

SECRET: Final = "bench-secret-of-contextforge-0123456789abcdef"  # noqa: S105 - of this run alone
USER: Final = "admin@example.com"
_SETTINGS: Final = {
    "JWT_SECRET_KEY": SECRET,
    "AUTH_ENCRYPTION_SECRET": SECRET,
    "PLATFORM_ADMIN_PASSWORD": "Bench-Passw0rd-1",
    "LOG_LEVEL": "ERROR",
    "CACHE_TYPE": "memory",
    # An upstream on this machine, and more calls than its default of 500 a minute.
    "SSRF_ALLOW_LOCALHOST": "true",
    "SSRF_ALLOW_PRIVATE_NETWORKS": "true",
    "TOOL_RATE_LIMIT": "100000000",
    "RATELIMIT_DEFAULT": "100000000/minute",
}


def main() -> None:
    """Read the tool and the caller's token as JSON from standard input, then serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", help="`mcpgateway` of its environment")
    program = parser.parse_args().program
    given = json.load(sys.stdin)
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    if os.fork() == 0:
        _register(f"http://127.0.0.1:{port}", given)
        return
    # What the server prints is no answer to the one who started it.
    os.dup2(2, 1)
    database = Path(tempfile.mkdtemp(prefix="contextforge-")) / "cf.db"
    settings = {**os.environ, **_SETTINGS, "DATABASE_URL": f"sqlite:///{database}"}
    os.execve(program, [program, "--host", "127.0.0.1", "--port", str(port)], settings)  # noqa: S606 - no shell


def _register(url: str, given: dict[str, Any]) -> None:
    until = time.monotonic() + START_SECONDS
    headers = {"authorization": f"Bearer {given['token']}"}
    with httpx.Client(base_url=url, headers=headers, timeout=30.0, trust_env=False) as to:
        while time.monotonic() < until:
            try:
                to.get("/health").raise_for_status()
                to.post("/tools", json={"tool": given["tool"]}).raise_for_status()
            except httpx.HTTPError as error:
                print(error, file=sys.stderr)
                time.sleep(0.5)
            else:
                print(f"ready {url}", flush=True)
                return


if __name__ == "__main__":
    main()
