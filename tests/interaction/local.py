"""The catalogue under test for the user of this process: what a host starts on stdio."""

from dataclasses import replace
from typing import Any

from gateway.auth.principal import LocalIdentification
from gateway.transports.mcp.tools import Tools
from gateway.transports.stdio.server import serve_stdio

MAX_MESSAGE_BYTES = 65536


async def serve_locally(site: Any, agent: str = "greeter") -> None:
    """Serve the tools of `site` on standard input and output, to `agent`."""
    local = LocalIdentification(agent)
    pipeline = replace(site.pipeline, identification=local)
    tools = Tools(pipeline.invoke, local, site.catalogue, pipeline.policy)
    await serve_stdio(tools, "1.2.3", max_message_bytes=MAX_MESSAGE_BYTES)
