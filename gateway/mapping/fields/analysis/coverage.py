"""Proves that a target schema allows every value of a field, or finds a counterexample."""

import json
from enum import StrEnum
from typing import Any, Final

from msgspec import Struct

from gateway.mapping.fields.analysis.algebra import Schema, admits, covers, finite, violations
from gateway.mapping.fields.analysis.images import Image, apply, image_of
from gateway.mapping.fields.analysis.witness import samples
from gateway.mapping.fields.language.nodes import Fallback, Read

_MAX_WITNESS: Final = 60
_NOT_COMPARABLE: Final = "the schemas cannot be compared; every value is checked at run time"


class Coverage(StrEnum):
    """Whether the target schema allows every value of one field."""

    PROVED = "PROVED"
    GAP = "GAP"
    UNDECIDED = "UNDECIDED"


class CoverageResult(Struct, frozen=True):
    """A verdict and its reason."""

    verdict: Coverage
    witness: str | None = None
    """A value that the target refuses, as shortened JSON text."""
    reason: str = ""


PROVED: Final = CoverageResult(Coverage.PROVED)


def prove_read(value: Read, source: Schema, target: Schema) -> CoverageResult:
    """Whether `target` allows the result of the read `value` for every value of `source`.

    A value that `else` handles is not a gap, unless `else` is `error`.
    """
    image = image_of(value, source)
    is_handled = value.unmapped is not None and value.unmapped.kind != "error"
    is_answered = image.is_total is True or is_handled
    contained = covers(target, image.schema)
    if contained and is_answered:
        return PROVED
    for sample in samples(source, target):
        reason = _objection(value, sample, target, is_handled=is_handled)
        if reason:
            return CoverageResult(Coverage.GAP, shortened(sample), reason)
    if finite(source) is not None:
        return PROVED
    return _without_witness(value, image, contained, is_answered=is_answered)


def prove_image(image: Schema, target: Schema) -> CoverageResult:
    """Whether `target` allows every value of `image`."""
    contained = covers(target, image)
    if contained:
        return PROVED
    for sample in samples(image, target):
        if not admits(target, sample):
            return CoverageResult(Coverage.GAP, shortened(sample), objection_to(sample, target))
    if contained is False:
        return CoverageResult(Coverage.GAP, reason="the target schema allows fewer values")
    return CoverageResult(Coverage.UNDECIDED, reason=_NOT_COMPARABLE)


def shortened(value: Any) -> str:
    """`value` as JSON text of at most a line."""
    text = json.dumps(value, ensure_ascii=False)
    if len(text) <= _MAX_WITNESS:
        return text
    what = f"{len(value)} characters" if isinstance(value, str) else f"{len(text)} bytes of JSON"
    return f"{text[: _MAX_WITNESS - 20]}… ({what})"


def objection_to(value: Any, target: Schema) -> str:
    """Why `target` refuses `value`: the first violation."""
    first = next(iter(violations(target, value)), None)
    if first is None:
        return "the target schema refuses it"
    where = f" at {first.pointer}" if first.pointer else ""
    return f"the target schema refuses it by `{first.keyword}`{where}: {first.detail}"


def fallback_text(fallback: Fallback | None) -> str | None:
    """A fallback as the contract writes it."""
    if fallback is None:
        return None
    return f"const {shortened(fallback.constant)}" if fallback.kind == "const" else fallback.kind


def _objection(value: Read, sample: Any, target: Schema, *, is_handled: bool) -> str:
    """Why the result for `sample` is refused. Empty if it is not."""
    try:
        result = apply(value, sample)
    except ValueError as error:
        return "" if is_handled else str(error).removeprefix("/: ")
    return "" if admits(target, result) else objection_to(result, target)


def _without_witness(
    value: Read, image: Image, contained: bool | None, *, is_answered: bool
) -> CoverageResult:
    if value.table is not None and not is_answered:
        return CoverageResult(Coverage.GAP, reason="values that are not in the map may arrive")
    if contained is False and image.is_exact:
        return CoverageResult(Coverage.GAP, reason="the target schema allows fewer values")
    return CoverageResult(Coverage.UNDECIDED, reason=_NOT_COMPARABLE)
