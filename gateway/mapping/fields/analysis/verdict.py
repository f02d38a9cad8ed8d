"""Whether one schema admits all that a value makes of another, with a witness where it does not."""

import json
from enum import StrEnum
from typing import Any, Final

from msgspec import Struct

from gateway.mapping.fields.analysis.algebra import Schema, admits, covers, finite, violations
from gateway.mapping.fields.analysis.images import Image, apply, image_of
from gateway.mapping.fields.analysis.witness import samples
from gateway.mapping.fields.language.nodes import Fallback, Read

_SHOWN: Final = 60
_NOT_COMPARABLE: Final = "the schemas cannot be compared; every value is checked at run time"


class Coverage(StrEnum):
    """What is known of one field."""

    PROVED = "PROVED"
    GAP = "GAP"
    UNDECIDED = "UNDECIDED"


class Judgement(Struct, frozen=True):
    """A verdict and what it rests on."""

    verdict: Coverage
    witness: str | None = None
    """JSON text, shortened for people."""
    reason: str = ""


PROVED: Final = Judgement(Coverage.PROVED)


def prove_read(value: Read, source: Schema, target: Schema) -> Judgement:
    """Whether `target` admits what `value` makes of everything that `source` admits.

    A value that `else` takes care of is not a gap, unless `else` is `error`.
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
            return Judgement(Coverage.GAP, shown(sample), reason)
    if finite(source) is not None:
        return PROVED
    return _without_witness(value, image, contained, is_answered=is_answered)


def prove_image(image: Schema, target: Schema) -> Judgement:
    """Whether `target` admits everything that `image` does."""
    contained = covers(target, image)
    if contained:
        return PROVED
    for sample in samples(image, target):
        if not admits(target, sample):
            return Judgement(Coverage.GAP, shown(sample), objection_to(sample, target))
    if contained is False:
        return Judgement(Coverage.GAP, reason="the other side admits less")
    return Judgement(Coverage.UNDECIDED, reason=_NOT_COMPARABLE)


def shown(value: Any) -> str:
    """`value` as JSON text, shortened for people."""
    text = json.dumps(value, ensure_ascii=False)
    if len(text) <= _SHOWN:
        return text
    what = f"{len(value)} characters" if isinstance(value, str) else f"{len(text)} bytes of JSON"
    return f"{text[: _SHOWN - 20]}… ({what})"


def objection_to(value: Any, target: Schema) -> str:
    """Why `target` does not admit `value`: the place and the keyword of its schema."""
    first = next(iter(violations(target, value)), None)
    if first is None:
        return "the schema that receives it does not admit it"
    place = f" at {first.pointer}" if first.pointer else ""
    return f"the schema that receives it refuses it by `{first.keyword}`{place}: {first.detail}"


def fallback_text(fallback: Fallback | None) -> str | None:
    """A last resort as the author wrote it."""
    if fallback is None:
        return None
    return f"const {shown(fallback.constant)}" if fallback.kind == "const" else fallback.kind


def _objection(value: Read, sample: Any, target: Schema, *, is_handled: bool) -> str:
    """What is wrong with what becomes of `sample`; empty when nothing is."""
    try:
        result = apply(value, sample)
    except ValueError as error:
        return "" if is_handled else str(error).removeprefix("/: ")
    return "" if admits(target, result) else objection_to(result, target)


def _without_witness(
    value: Read, image: Image, contained: bool | None, *, is_answered: bool
) -> Judgement:
    if value.table is not None and not is_answered:
        return Judgement(Coverage.GAP, reason="values that the map does not know may arrive")
    if contained is False and image.is_exact:
        return Judgement(Coverage.GAP, reason="the other side admits less")
    return Judgement(Coverage.UNDECIDED, reason=_NOT_COMPARABLE)
