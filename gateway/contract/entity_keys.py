"""Ids of entity rows, derived from the rows' external keys."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID, uuid5

import msgspec

_NAMESPACE: Final = UUID("6f4f0a52-5d0c-5b0e-9b6e-0c1d2f7a3e84")
"""Must never change: every stored id is derived from it."""
_encode: Final = msgspec.json.Encoder(order="sorted").encode


def entity_id(kind: str, key: Mapping[str, Any]) -> str:
    """The UUIDv5 (RFC 9562 §5.5) of the row of `kind` with the external key `key`.

    The order of the key's members does not matter, because a reference and its row may list them
    differently. Raises `ValueError` for an empty key or a null member.
    """
    if not key or any(value is None for value in key.values()):
        raise ValueError(f"the key of {kind} has no value")
    return str(uuid5(_NAMESPACE, f"{kind}\n{_encode(key).decode()}"))
