"""One way in which a value breaks a schema."""

from typing import Final

from msgspec import Struct

MAX_VIOLATIONS: Final = 20
"""The most violations that are reported for one value. `common/problem.json` declares the same
limit."""


class Violation(Struct, frozen=True, kw_only=True):
    """The place, the keyword and the reason of one error. It never contains the value."""

    pointer: str
    """JSON Pointer (RFC 6901) to the value, or to the missing or surplus property."""
    keyword: str
    """The JSON Schema keyword that failed, such as `pattern` or `required`."""
    detail: str

    def under(self, pointer: str) -> "Violation":
        """The same violation, for a value that is at `pointer` in a larger value."""
        return Violation(pointer=pointer + self.pointer, keyword=self.keyword, detail=self.detail)
