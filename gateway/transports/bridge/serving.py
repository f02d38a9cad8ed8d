"""Serves the bridge on this process's standard streams."""

import logging
from collections.abc import AsyncIterator
from typing import Final

from gateway.transports.bridge.relay import Relay
from gateway.transports.bridge.remote import MAX_MESSAGE_BYTES, Remote
from gateway.transports.stdio.checking import refusal_of_line
from gateway.transports.stdio.streams import Output, read_lines

_log: Final = logging.getLogger(__name__)
ANSWER_SECONDS: Final = 300.0
"""How long the remote may take to answer. The host's configuration can set another time."""


async def serve_bridge(url: str, key: str | None, *, answer_seconds: float) -> None:
    """Pass messages on to the gateway at `url` and back, until the host closes standard input.

    The remote may take `answer_seconds` for an answer. Raises `ConfigurationError`, in a group,
    when a stream cannot be used.
    """
    lines, output = read_lines(MAX_MESSAGE_BYTES), Output()
    try:
        async with Remote(url, key) as remote:
            relay = Relay(remote, output.write, answer_seconds)
            await relay.run(checked(lines, relay, MAX_MESSAGE_BYTES))
    except* BrokenPipeError:
        _log.info("the host reads no more answers")


async def checked(
    lines: AsyncIterator[bytes], relay: Relay, max_bytes: int
) -> AsyncIterator[bytes]:
    """The `lines` that are valid messages. The host is answered to the others with an error."""
    async for line in lines:
        if not line.strip():
            continue
        refused = refusal_of_line(line, max_bytes)
        if refused is None:
            yield line
        else:
            await relay.refuse(refused.id, refused.error)
