"""One Python tool on FastMCP, in its fastest configuration.

Runs in a separate environment, which `peer.py` creates, so it imports nothing of this project.
"""

import argparse
import logging

from fastmcp import FastMCP  # type: ignore[import-not-found]  # installed by peer.py only
from pydantic import BaseModel
from serving import serve


class Greeting(BaseModel):
    """What the tool returns."""

    greeting: str


def main() -> None:
    """Serve the tool at `/mcp`."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    logging.disable(logging.INFO)
    server = FastMCP("bench")

    @server.tool(name="example_greet")  # type: ignore[untyped-decorator]  # not known here
    async def greet(name: str) -> Greeting:
        return Greeting(greeting=f"Hello, {name}!")

    serve(server.http_app(path="/mcp", stateless_http=True, json_response=True))


if __name__ == "__main__":
    main()
