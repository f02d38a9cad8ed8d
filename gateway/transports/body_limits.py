"""How large the body of a call may be: as large as its contract has room for."""

from collections.abc import Iterable, Mapping
from typing import Any

from gateway.catalogue import Entry


def body_limits(entries: Iterable[Entry], usual: int) -> dict[str, int]:
    """Bytes, by operation id, for those whose arguments may hold a text longer than `usual`.

    The longest text that the input schema allows comes on top of `usual`, which has room for all
    other arguments. A contract that bounds several texts together says so with the longest one.
    """
    longest = {entry.id: _longest_text(entry.listing.input_schema) for entry in entries}
    return {name: usual + length for name, length in longest.items() if length > usual}


def _longest_text(schema: Any) -> int:
    """The largest `maxLength` anywhere in `schema`."""
    if isinstance(schema, list):
        return max(map(_longest_text, schema), default=0)
    if not isinstance(schema, Mapping):
        return 0
    own = schema.get("maxLength")
    inner = max(map(_longest_text, schema.values()), default=0)
    return max(inner, own) if isinstance(own, int) else inner
