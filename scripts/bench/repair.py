#!/usr/bin/env python3
"""Measure how many wrong calls a caller repairs from the error alone.

Thirty calls of thirty tools over MCP: what contracts refuse, and what only a vendor's own rules
refuse, in the words of ten vendors. The caller knows the schema of the tool and the error, and
tries three times. Exit 1 if fewer than 27 succeed.

    python scripts/bench/repair.py
    python scripts/bench/repair.py --json
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Final

import httpx
from machine import description
from processes import BenchError, started
from repair_caller import repaired
from repair_cases import OF_CONTRACTS, OF_VENDORS, document

KEY: Final = "gw_the-caller-of-the-repair-trial-0123456789"
BAR: Final = 27
ROOT: Final = Path(__file__).parents[2]
ATTEMPTS: Final = 3
GATEWAY: Final = (sys.executable, "-m", "gateway")


class Vendor(BaseHTTPRequestHandler):
    """Refuses by rules that its document does not say."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def do_POST(self) -> None:
        """Answer a call."""
        sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
        rule = OF_VENDORS[self.path.strip("/")]
        body: Any = {"made": sent} if rule.is_kept(sent) else rule.body
        status = 201 if rule.is_kept(sent) else rule.status
        is_text = isinstance(body, str)
        text = body.encode() if is_text else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "text/plain" if is_text else "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


class Mcp:
    """A client of the handshake revision 2025-06-18, which needs no session."""

    def __init__(self, url: str) -> None:
        headers = {
            "Authorization": f"Bearer {KEY}",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2025-06-18",
        }
        self._http = httpx.Client(base_url=url, headers=headers, timeout=60, trust_env=False)

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        """The result of a request."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self._http.post("/mcp", json=message).json()["result"]

    def schemas(self) -> dict[str, Any]:
        """The input schema of each tool."""
        found: dict[str, Any] = {}
        cursor: dict[str, Any] | None = {}
        while cursor is not None:
            page = self.ask("tools/list", cursor)
            found |= {tool["name"]: tool["inputSchema"] for tool in page["tools"]}
            cursor = {"cursor": page["nextCursor"]} if "nextCursor" in page else None
        return found


def main() -> int:
    """Exit 0 if enough calls are repaired, 1 if not, 2 if it cannot be measured."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    try:
        outcomes = measured()
    except BenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    good = sum(outcome == "repaired" for outcome in outcomes.values())
    if options.json:
        print(json.dumps(description() | {"repaired": good, "outcomes": outcomes}))
    else:
        for name, outcome in outcomes.items():
            print(f"{name:32} {outcome}")
        print(f"{good} of {len(outcomes)} repaired; the bar is {BAR}")
    return 0 if good >= BAR else 1


def measured() -> dict[str, str]:
    """What became of each call."""
    found: dict[str, str] = {}
    with serving("serve") as mcp:
        schemas = mcp.schemas()
        for name, given in OF_CONTRACTS.items():
            found[name] = outcome(mcp, name, schemas[name], given)
    with vendor() as url, tempfile.TemporaryDirectory(prefix="gateway-repair-") as folder:
        file = Path(folder) / "vendor.json"
        file.write_bytes(document(url))
        command = ("import", str(file), "--as", "vendor", "--serve", "--live")
        with serving(*command, temporary=True) as mcp:
            schemas = mcp.schemas()
            for name, rule in OF_VENDORS.items():
                tool = f"vendor_make_{name}"
                found[tool] = outcome(mcp, tool, schemas[tool], rule.given)
    return found


def outcome(mcp: Mcp, name: str, schema: Any, given: Any) -> str:
    """`repaired`, or why not."""
    arguments, problem = dict(given), None
    for attempt in range(ATTEMPTS + 1):
        result = mcp.ask("tools/call", {"name": name, "arguments": arguments})
        if not result.get("isError"):
            return "repaired" if attempt else "was not refused"
        problem = json.loads(result["content"][0]["text"])
        try:
            arguments = repaired(schema, arguments, problem)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            return f"not understood ({type(error).__name__}): {problem}"
    return f"refused again: {problem}"


@contextmanager
def serving(*command: str, temporary: bool = False) -> Iterator[Mcp]:
    """A client of a gateway that runs `command`. `temporary`: outside of any project."""
    environment = {"GATEWAY_BOOTSTRAP_KEY": KEY, "GATEWAY_ALLOW_PLAIN_HTTP": "true"}
    # The project is that of the folder, whatever the shell says.
    environment["GATEWAY_SCHEMAS"] = ""
    arguments = (*GATEWAY, *command, "--port", "0")
    with tempfile.TemporaryDirectory(prefix="gateway-repair-") as folder:
        if not temporary:
            environment["GATEWAY_DATA"] = folder
        where = Path(folder) if temporary else ROOT
        with started(command[0], arguments, environment=environment, folder=where) as server:
            yield Mcp(server.url)


@contextmanager
def vendor() -> Iterator[str]:
    """The URL of a vendor."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Vendor)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


if __name__ == "__main__":
    sys.exit(main())
