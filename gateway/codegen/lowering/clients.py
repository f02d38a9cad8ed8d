"""Removes the members of contracts that clients do not need."""

from typing import Any, Final

from gateway.contracts.sources.keywords import DATA, NAME_MAPS

_PRIVATE: Final = frozenset(
    {"$schema", "$id", "$comment", "x-binding", "x-entity", "x-query", "x-sensitive", "x-webhook"}
)


def for_clients(value: Any) -> Any:
    """A schema or a Path Item without the members that only authors of contracts need."""
    if isinstance(value, list):
        return [for_clients(member) for member in value]
    if not isinstance(value, dict):
        return value
    return {name: _member(name, member) for name, member in value.items() if name not in _PRIVATE}


def _member(name: str, value: Any) -> Any:
    if name in DATA:
        return value
    if name in NAME_MAPS and isinstance(value, dict):
        return {key: for_clients(member) for key, member in value.items()}
    return for_clients(value)
