"""Limits the size of a call's body by the longest text that the tool's contract allows."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from gateway.catalogue import Entry

LARGEST_BYTES: Final = 64 * 2**20
"""The default of `largest`. The document of a vendor may allow texts and files of any length."""


def body_limits(
    entries: Iterable[Entry], usual: int, largest: int = LARGEST_BYTES
) -> dict[str, int]:
    """The limits that are above `usual`: operation id to bytes.

    An operation is in it if its arguments may hold a text longer than `usual`. Its limit is the
    longest text of the input schema plus `usual`, which has room for all other arguments. If a
    contract has several long texts, their sum must fit this limit too. No limit is above
    `largest`, unless `usual` is.
    """
    longest = {entry.id: entry.longest_text for entry in entries}
    most = max(usual, largest)
    return {name: min(usual + length, most) for name, length in longest.items() if length > usual}


def largest_body(limits: Mapping[str, int], usual: int, may_call: Callable[[str], bool]) -> int:
    """The largest body, in bytes, that a caller may send to the operations it `may_call`.

    It is used where the body names the tool, so the tool is not known before the body is read.
    """
    granted = (size for name, size in limits.items() if may_call(name))
    return max((usual, *granted))
