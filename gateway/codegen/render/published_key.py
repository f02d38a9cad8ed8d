"""The header `Idempotency-Key`, which every published operation that writes has."""

from collections.abc import Mapping
from typing import Any, Final

_NAME: Final = "IdempotencyKey"
KEY_PARAMETERS: Final[Mapping[str, Any]] = {
    _NAME: {
        "name": "Idempotency-Key",
        "in": "header",
        "required": False,
        "description": "A text of your choice for this call, such as a UUID. For a day, the same"
        " request with the same key gets the same answer, and the call has its effect once.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!#-~]+$"},
    }
}
"""The components of the document."""


def with_key(operation: dict[str, Any]) -> dict[str, Any]:
    """The Operation Object with the header."""
    known = operation.get("parameters", [])
    return operation | {"parameters": [*known, {"$ref": f"#/components/parameters/{_NAME}"}]}
