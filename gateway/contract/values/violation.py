"""One way in which a value breaks a schema."""

from typing import Final

from msgspec import Struct

MAX_VIOLATIONS: Final = 20
"""At most so many are reported of one value: `common/problem.json` promises no more."""


class Violation(Struct, frozen=True, kw_only=True):
    """Where, which rule, and what is wrong; never the offending value."""

    pointer: str
    """RFC 6901 JSON Pointer to the place; a missing or surplus property is pointed at itself."""
    keyword: str
    """The JSON Schema keyword that refused, such as `pattern` or `required`."""
    detail: str

    def under(self, place: str) -> "Violation":
        """The same, of a value that lies at the pointer `place` in a larger one."""
        return Violation(pointer=place + self.pointer, keyword=self.keyword, detail=self.detail)
