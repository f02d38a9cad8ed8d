"""Patterns: linear in time, and the same set of texts in every engine that will run them."""

import re
from collections.abc import Iterator
from typing import Any, Final

from gateway.contract.values.pointers import child
from gateway.contract.values.schema import Validator
from gateway.contracts.finding import Finding
from gateway.lint.draft import Draft, SchemaPlace

_UNPORTABLE: Final = re.compile(
    r"""
      (?P<escape>  \\ [dDwWsSbBpPkAzZGhHRXKQEcC1-9] )
    | \\ .
    | (?P<group>   \( \? (?!:) .{0,2} )
    | (?P<set>     && | -- | ~~ )
    | (?P<open>    \[ \^? \]? )
    | (?P<close>   \] )
    """,
    re.VERBOSE | re.DOTALL,
)
"""One token of a pattern that matters here; everything between tokens is plain."""


def check_patterns(draft: Draft) -> Iterator[Finding]:
    """schema/pattern-invalid, schema/pattern-unportable"""
    for place in draft.schemas:
        for pointer, pattern in _patterns(place):
            found = unportable(pattern)
            if found:
                message = f"`{found}` means different things in different engines"
                yield draft.finding("schema/pattern-unportable", place.document, pointer, message)
            elif not compiles(pattern):
                message = "is not a regular expression of linear time"
                yield draft.finding("schema/pattern-invalid", place.document, pointer, message)


def unportable(pattern: str) -> str | None:
    """The first part of `pattern` whose meaning depends on the engine, if there is one.

    Those are `\\d \\w \\s \\b \\p` (ASCII here, Unicode there), lookaround, back references, named
    groups and flags, and sets within sets.
    """
    is_in_set = False
    for token in _UNPORTABLE.finditer(pattern):
        kind = token.lastgroup
        if kind == "escape":
            return token[0]
        if kind == ("set" if is_in_set else "group"):
            return token[0]
        if kind == "open":
            if is_in_set:
                return "[ inside [ ]"
            is_in_set = True
        elif kind == "close":
            is_in_set = False
    return None


def _patterns(place: SchemaPlace) -> Iterator[tuple[str, str]]:
    pattern: Any = place.schema.get("pattern")
    if isinstance(pattern, str):
        yield child(place.pointer, "pattern"), pattern
    by_pattern = place.schema.get("patternProperties")
    for name in by_pattern if isinstance(by_pattern, dict) else ():
        yield child(child(place.pointer, "patternProperties"), name), name


def compiles(pattern: str) -> bool:
    """Whether the gate can run `pattern`."""
    try:
        Validator({"pattern": pattern})
    except ValueError:
        return False
    return True
