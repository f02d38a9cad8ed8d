"""The longest text that a schema allows: it decides how large the body of a call may be."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.values.definitions import with_definitions

UNLIMITED: Final = 2**62


def longest_text(schema: Any) -> int:
    """The largest `maxLength` anywhere in `schema`. Bytes without one are `UNLIMITED`.

    A text without one is not: nearly every text of a vendor's document has none.
    """
    if isinstance(schema, list):
        return max(map(longest_text, schema), default=0)
    if not isinstance(schema, Mapping):
        return 0
    own = schema.get("maxLength", UNLIMITED if "contentEncoding" in schema else None)
    inner = max(map(longest_text, schema.values()), default=0)
    return max(inner, own) if isinstance(own, int) else inner


class LongestTexts:
    """The longest texts of schemas that refer to `definitions` as `#/$defs/<name>`."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions
        self._own = {name: longest_text(schema) for name, schema in definitions.items()}

    def of(self, schema: dict[str, Any]) -> int:
        """The largest `maxLength` in `schema` and in the definitions that it needs."""
        whole = with_definitions(schema, self._definitions)
        needed = whole.get("$defs", {}) if isinstance(whole, dict) else {}
        return max((longest_text(schema), *(self._own[name] for name in needed)))
