"""What a field map may come to besides a value: absence, a skipped item, a refusal."""

from enum import Enum
from typing import Final


class Marker(Enum):
    """Outcomes that are not JSON values."""

    ABSENT = "absent"
    """There is no value; whatever holds it leaves it out."""
    SKIP = "skip"
    """As a last resort: leave out the whole item of the list."""
    REFUSE = "refuse"
    """As a last resort: refuse the value (the default)."""


ABSENT: Final = Marker.ABSENT
SKIP: Final = Marker.SKIP
REFUSE: Final = Marker.REFUSE


class Unmappable(ValueError):
    """A value has no place in the other contract.

    `pointer` says where it came from, in the reply's body or the arguments, with `*` for any index,
    or `/header/<name>`; `detail` says why. Neither repeats the value.
    """

    def __init__(self, pointer: str, detail: str) -> None:
        super().__init__(f"{pointer or '/'}: {detail}")
        self.pointer = pointer
        self.detail = detail


class SkipItem(Exception):
    """The item being mapped is to be left out of its list."""
