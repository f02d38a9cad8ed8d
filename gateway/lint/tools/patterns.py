"""Checks of patterns: they run in linear time and mean the same in every engine."""

import re
from collections.abc import Iterator
from typing import Any, Final

from gateway.contract.values.pointers import child
from gateway.contract.values.schema import Validator
from gateway.contracts.finding import Finding
from gateway.contracts.patterns import shared_form
from gateway.lint.draft import Draft, SchemaNode

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
"""One token of a pattern. All other characters are plain."""


def check_patterns(draft: Draft) -> Iterator[Finding]:
    """schema/pattern-invalid, schema/pattern-unportable"""
    for node in draft.schemas:
        for pointer, pattern in _patterns(node):
            found = unportable(pattern)
            if found:
                message = f"`{found}` has different meanings in different engines"
                yield draft.finding("schema/pattern-unportable", node.document, pointer, message)
            elif not compiles(pattern):
                message = "the pattern is not a regular expression of linear time"
                yield draft.finding("schema/pattern-invalid", node.document, pointer, message)
            elif (form := shared_form(pattern)) != pattern:
                message = f"ECMAScript with the flag u does not compile it: write `{form}`"
                yield draft.finding("schema/pattern-unportable", node.document, pointer, message)


def unportable(pattern: str) -> str | None:
    """The first part of `pattern` whose meaning depends on the engine. None if there is none.

    Such parts are `\\d \\w \\s \\b \\p` (ASCII or Unicode), lookaround, back references, named
    groups, flags, and sets inside sets.
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


def _patterns(node: SchemaNode) -> Iterator[tuple[str, str]]:
    pattern: Any = node.schema.get("pattern")
    if isinstance(pattern, str):
        yield child(node.pointer, "pattern"), pattern
    by_pattern = node.schema.get("patternProperties")
    for name in by_pattern if isinstance(by_pattern, dict) else ():
        yield child(child(node.pointer, "patternProperties"), name), name


def compiles(pattern: str) -> bool:
    """Whether the validator can run `pattern`."""
    try:
        Validator({"pattern": pattern})
    except ValueError:
        return False
    return True
