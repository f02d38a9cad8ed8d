"""How large the body of a call may be: as large as its contract has room for."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gateway.catalogue import Entry


def body_limits(entries: Iterable[Entry], usual: int) -> dict[str, int]:
    """Bytes, by operation id, for those whose arguments may hold a text longer than `usual`.

    The longest text that the input schema allows comes on top of `usual`, which has room for all
    other arguments. A contract that bounds several texts together says so with the longest one.
    """
    longest = {entry.id: _longest_text(entry.listing.input_schema) for entry in entries}
    return {name: usual + length for name, length in longest.items() if length > usual}


def largest_body(limits: Mapping[str, int], usual: int, may_call: Callable[[str], bool]) -> int:
    """Bytes of the largest body that a caller may send who `may_call` these operations.

    For where the tool that is called stands in the body.
    """
    granted = (size for name, size in limits.items() if may_call(name))
    return max((usual, *granted))


def _longest_text(schema: Any) -> int:
    """The largest `maxLength` anywhere in `schema`."""
    if isinstance(schema, list):
        return max(map(_longest_text, schema), default=0)
    if not isinstance(schema, Mapping):
        return 0
    own = schema.get("maxLength")
    inner = max(map(_longest_text, schema.values()), default=0)
    return max(inner, own) if isinstance(own, int) else inner
