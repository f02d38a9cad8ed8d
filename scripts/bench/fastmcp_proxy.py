"""FastMCP `from_openapi` over the same upstream contract, in its fastest configuration.

Runs in a separate environment, which `peer.py` creates, so it imports nothing of this project.
"""

import argparse
import json
import logging
import sys

import httpx2
from fastmcp import FastMCP  # type: ignore[import-not-found]  # installed by peer.py only
from serving import serve


def main() -> None:
    """Read the contract and the upstream's headers as JSON from standard input, then serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("upstream", help="base URL")
    upstream = parser.parse_args().upstream
    given = json.load(sys.stdin)
    # No log line per request, for FastMCP and for the gateway. Its audit trail stays on.
    logging.disable(logging.INFO)
    client = httpx2.AsyncClient(
        base_url=upstream,
        headers=given["headers"],
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None),
    )
    server = FastMCP.from_openapi(given["contract"], client=client, name="bench")
    serve(server.http_app(path="/mcp", stateless_http=True, json_response=True))


if __name__ == "__main__":
    main()
