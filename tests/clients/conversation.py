"""What every client is asked to do, over every transport, and what it reports."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

MODERN: Final = "2026-07-28"
HANDSHAKE: Final = "2025-11-25"


class HttpTransport(Struct, frozen=True):
    """Streamable HTTP."""

    url: str
    headers: Mapping[str, str]


class StdioTransport(Struct, frozen=True):
    """A command that speaks MCP on its standard input and output."""

    command: str
    args: tuple[str, ...]
    env: Mapping[str, str]


Transport = HttpTransport | StdioTransport


class Step(Struct, frozen=True):
    """One `tools/call`."""

    name: str
    arguments: Mapping[str, Any]


class Answer(Struct, frozen=True):
    """What a step came to: the tool's result, or the error that the client raised instead."""

    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None


class Transcript(Struct, frozen=True):
    """One conversation as its client saw it."""

    protocol: str | None
    tools: list[dict[str, Any]]
    answers: list[Answer]


class ClientFailed(Exception):
    """The client could not hold the conversation; the message is what it said."""


class ClientUnderTest(Struct, frozen=True, kw_only=True):
    """A client in one of its modes."""

    name: str
    protocol: str
    """The revision that this mode must end up speaking."""
    converse: Callable[[Transport, Sequence[Step]], Transcript]
    """List the tools and take the steps. Raises `ClientFailed`."""
    needs_node: bool = True
    checks_names: bool = False
    """Whether it refuses a tool that `tools/list` did not name, without asking the server."""
    transports: tuple[str, ...] = ("http", "stdio", "bridge")
    """Over which it is asked."""
    is_own_program: bool = True
    """Whether no other mode runs the same code once the revision is agreed."""


def read_transcript(text: str | bytes) -> Transcript:
    """The transcript that a client printed. Raises `ClientFailed` when it is none."""
    try:
        return msgspec.json.decode(text, type=Transcript)
    except msgspec.MsgspecError as error:
        raise ClientFailed(f"not a transcript ({error}): {text[:500]!r}") from error
