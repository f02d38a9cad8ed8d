"""Keeps the selected members of a result."""

from collections.abc import Mapping
from typing import Any, TypeAlias

Selection: TypeAlias = Mapping[str, "Selection | None"]
"""The members to keep, by name. None: the member is kept whole."""


def selected(value: Any, selection: Selection) -> Any:
    """`value` with only the members of `selection`, which applies to each item of a list.

    Values without members are kept: a member may be null where its schema allows an object too.
    """
    if isinstance(value, list):
        return [selected(each, selection) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {}
    for name, member in value.items():
        if name in selection:
            inner = selection[name]
            kept[name] = member if inner is None else selected(member, inner)
    return kept
