"""The outcomes of a field map that are not values: absence, a skipped item, a refusal."""

from enum import Enum
from typing import Final


class Marker(Enum):
    """Outcomes that are not JSON values."""

    ABSENT = "absent"
    """There is no value. The object or list around it leaves it out."""
    SKIP = "skip"
    """A fallback: leave out the whole item of the list."""
    REFUSE = "refuse"
    """A fallback, and the default: refuse the value."""


ABSENT: Final = Marker.ABSENT
SKIP: Final = Marker.SKIP
REFUSE: Final = Marker.REFUSE


class Unmappable(ValueError):
    """A value has no counterpart in the other contract.

    `pointer` is the value's place in the reply's body or the arguments, with `*` for any index, or
    `/header/<name>`. `detail` is the reason. Neither contains the value.
    """

    def __init__(self, pointer: str, detail: str) -> None:
        super().__init__(f"{pointer or '/'}: {detail}")
        self.pointer = pointer
        self.detail = detail


class SkipItem(Exception):
    """The item that is being mapped must be left out of its list."""
