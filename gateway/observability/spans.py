"""What the gateway needs of a library for spans. Without one, nothing of this runs."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Literal, Protocol

from msgspec import Struct

SpanKind = Literal["server", "client", "consumer", "internal"]


class SpanExport(Struct, frozen=True, kw_only=True):
    """Where spans go."""

    endpoint: str
    """The URL of the collector's traces."""
    sample: float
    """The part of the traces without a parent that is recorded, from 0 to 1."""
    service: str
    version: str


class NewSpan(Struct, frozen=True):
    """A span to begin. It holds names of contracts and codes, never a text of a caller."""

    name: str
    kind: SpanKind
    facts: Mapping[str, str | int]
    """The attributes, with the names of OpenTelemetry's conventions where there are some."""


class Span(Protocol):
    """A span that has begun."""

    def note(self, name: str, value: str | int) -> None:
        """Set an attribute."""
        ...

    def fail(self, error: str, *, is_ours: bool = True) -> None:
        """Note the class of an error. `is_ours`: the span has failed, not only its caller."""
        ...


class Spans(Protocol):
    """Makes spans."""

    def span(self, new: NewSpan) -> AbstractContextManager[Span]:
        """A span of the current trace, or of a new one, that lasts as long as the block.

        It is the current trace within the block. An exception that leaves the block fails it.
        """
        ...


class ClosableSpans(Spans, Protocol):
    """Spans that are sent somewhere."""

    def close(self) -> None:
        """Send what waits. It may block for some seconds."""
        ...
