"""Filters of event types, and cursors: positions in the log."""

import re
from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

from msgspec import Struct

from gateway.contract.event import is_type_meant
from gateway.errors import MalformedRequest

MAX_TYPES: Final = 50
_TYPE: Final = re.compile(r"[a-z0-9_.]{1,200}\*?|\*")
_CURSOR: Final = re.compile(r"(0|[1-9][0-9]{0,17})\.([0-9a-f]{16})")


class TypeFilter(Struct, frozen=True):
    """Types of events, or prefixes that end with `*`. Empty means all types."""

    types: tuple[str, ...] = ()
    """Sorted, each once."""

    @classmethod
    def of(cls, types: Sequence[str]) -> "TypeFilter":
        """The filter for `types`. Raises `MalformedRequest` for one that cannot be a type."""
        if len(types) > MAX_TYPES:
            raise MalformedRequest(f"At most {MAX_TYPES} types can be named.")
        for each in types:
            if not _TYPE.fullmatch(each):
                raise MalformedRequest(
                    "A type is written like `gateway.quote.received.v1`, or as a prefix with `*` "
                    "at its end; several are separated by commas."
                )
        return cls(tuple(sorted(set(types))))

    def admits(self, event_type: str) -> bool:
        """Whether an event of this type is wanted."""
        return not self.types or any(is_type_meant(each, event_type) for each in self.types)


class LogPosition(Struct, frozen=True):
    """A follower's position in the log: after this event."""

    position: int
    """0 is before the first event."""
    event_id: str = ""
    """Of the event at this position; empty before the first."""

    def cursor(self, wanted: TypeFilter) -> str:
        """The position as text for its follower. It is only valid for the same filter and log.

        It contains the event's id. So the gateway recognises a cursor from another database, or
        from before a restored backup.
        """
        digest = blake2b(digest_size=8)
        for part in (self.event_id, *wanted.types):
            encoded = part.encode()
            digest.update(b"%d:%b" % (len(encoded), encoded))
        return f"{self.position}.{digest.hexdigest()}"


def position_in(cursor: str) -> int | None:
    """The position in a cursor, or None if the gateway has not made the cursor."""
    match = _CURSOR.fullmatch(cursor)
    return None if match is None else int(match[1])
