"""Schemas of arguments and results."""

from typing import Any


def members_of(required: tuple[str, ...] = (), **members: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": members,
        "required": list(required),
        "additionalProperties": False,
    }
