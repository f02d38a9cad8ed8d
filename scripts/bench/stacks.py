"""Samples of call stacks, and the part of the gateway that each of them belongs to."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

OTHER: Final = "other"
_PARTS: Final = (
    ("audit and its store", ("gateway/audit/", "gateway/store/", "aiosqlite/", "sqlalchemy/")),
    ("metrics and the log line", ("gateway/observability/", "prometheus_client/", "structlog/")),
    ("upstream: connection and credentials", ("gateway/backends/",)),
    ("upstream: attempts, breaker, limits", ("gateway/calls/sending.py", "gateway/calls/guard/")),
    ("request and result: field maps", ("generated/", "gateway/contract/fields/")),
    ("reply: decode and validate", ("gateway/calls/replies.py", "gateway/calls/upstreams.py")),
    ("arguments and result: validate, encode", ("gateway/calls/validation.py",)),
    ("limits of tools and agents", ("gateway/calls/admission/", "gateway/limits/")),
    ("cache and idempotency", ("gateway/calls/caching/", "gateway/calls/idempotency/")),
    ("key and grants", ("gateway/auth/",)),
    ("pipeline and dispatch", ("gateway/calls/", "gateway/catalogue/")),
    ("MCP messages", ("gateway/transports/mcp/",)),
    ("REST messages", ("gateway/transports/rest.py",)),
    ("HTTP edge", ("gateway/transports/", "gateway/app/")),
    ("framework", ("litestar/",)),
    ("HTTP server", ("uvicorn/", "httptools/")),
    ("event loop", ("uvloop/", "asyncio/")),
)
"""Parts of a call and the folders and files of each. The first one that has a frame's file has
it."""


class Stack(Struct, frozen=True):
    """A call stack, the outermost function first, and how often it was seen."""

    files: tuple[str, ...]
    count: int


def stacks_of(text: str) -> Iterator[Stack]:
    """The stacks of py-spy's format `raw`: `function (file:line);… count` in each line."""
    for line in text.splitlines():
        frames, _, count = line.rpartition(" ")
        yield Stack(tuple(_file_of(each) for each in frames.split(";")), int(count))


def shares(stacks: Iterable[Stack]) -> dict[str, float]:
    """The share of the samples of each part, the largest first.

    A sample belongs to the part of its innermost frame that has one. So a library counts for the
    part that uses it, such as a JSON codec.
    """
    counts: Counter[str] = Counter()
    for stack in stacks:
        counts[_part_of(stack)] += stack.count
    return {part: count / counts.total() for part, count in counts.most_common()}


def _part_of(stack: Stack) -> str:
    for file in reversed(stack.files):
        for part, places in _PARTS:
            if file.startswith(places):
                return part
    return OTHER


def _file_of(frame: str) -> str:
    return frame.rpartition(" (")[2].rpartition(":")[0]
