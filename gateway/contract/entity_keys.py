"""Ids of entity rows, made of what the outside world calls them by."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID, uuid5

import msgspec

_NAMESPACE: Final = UUID("6f4f0a52-5d0c-5b0e-9b6e-0c1d2f7a3e84")
"""Fixed for ever: every id that is stored comes from it."""
_encode: Final = msgspec.json.Encoder(order="sorted").encode


def entity_id(kind: str, key: Mapping[str, Any]) -> str:
    """The UUIDv5 (RFC 9562 §5.5) of the row of `kind` that the outside world knows by `key`.

    The order of the key's members does not matter: a reference and the row that it leads to are
    written in different places. Raises `ValueError` for a key that is empty or lacks a value.
    """
    if not key or any(value is None for value in key.values()):
        raise ValueError(f"the key of {kind} has no value")
    return str(uuid5(_NAMESPACE, f"{kind}\n{_encode(key).decode()}"))
