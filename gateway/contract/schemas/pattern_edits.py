"""Patterns that differ from a pattern in one part: an anchor, a case, one repetition."""

import re
from collections.abc import Iterator
from typing import Final

from gateway.contract.values.schema import matcher

_PART: Final = re.compile(
    r"\\p\{[^}]*\}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\d+(?:,\d*)?\}|\(\?[:=!<][=!]?|.", re.DOTALL
)
_COUNTS: Final = re.compile(r"\{(\d+)(,?)(\d*)\}")
_RANGES: Final = ("A-Z", "a-z")


def pattern_edits(pattern: str) -> Iterator[tuple[str, str]]:
    """What differs, and the other pattern. Only patterns that the validator can run."""
    parts = _PART.findall(pattern)
    for said, other in (*_anchors(parts), *_cases(parts), *_repetitions(parts)):
        if other != pattern and matcher(other) is not None:
            yield said, other


def _anchors(parts: list[str]) -> Iterator[tuple[str, str]]:
    for index, part in enumerate(parts):
        if part in {"^", "$"}:
            yield f"{part} dropped", _with(parts, index, "")
    if parts and "^" not in parts:
        yield "^ added", f"^(?:{''.join(parts)})"
    if parts and "$" not in parts:
        yield "$ added", f"(?:{''.join(parts)})$"


def _cases(parts: list[str]) -> Iterator[tuple[str, str]]:
    for index, part in enumerate(parts):
        if part[0] != "[":
            continue
        present = [each for each in _RANGES if each in part]
        if len(present) == 1:
            (missing,) = set(_RANGES) - set(present)
            yield "case ignored", _with(parts, index, f"{part[:-1]}{missing}]")
        if part != "[]" and not part.startswith("[^"):
            yield f"{part} as any character", _with(parts, index, ".")


def _repetitions(parts: list[str]) -> Iterator[tuple[str, str]]:
    for index, part in enumerate(parts):
        counts = _COUNTS.fullmatch(part)
        if counts:
            for other in _counts(int(counts[1]), counts[2], counts[3]):
                yield f"{part} as {other}", _with(parts, index, other)
        elif index and part in {"+", "*", "?"} and parts[index - 1] not in {"+", "*", "?"}:
            for other in {"+": "*", "*": "+", "?": ""}[part], "":
                yield f"{part} as {other or 'once'}", _with(parts, index, other)


def _counts(low: int, comma: str, high: str) -> Iterator[str]:
    if not comma:
        yield from (f"{{{each}}}" for each in (low - 1, low + 1) if each >= 0)
        return
    for least, most in (
        (low - 1, high),
        (low + 1, high),
        *(((low, str(int(high) + by)) for by in (-1, 1)) if high else ()),
    ):
        if least >= 0 and (not most or least <= int(most)):
            yield f"{{{least},{most}}}"


def _with(parts: list[str], index: int, other: str) -> str:
    return "".join([*parts[:index], other, *parts[index + 1 :]])
