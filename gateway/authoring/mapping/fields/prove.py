"""Proves that targets allow every value that may arrive, or finds gaps without a fallback."""

from collections.abc import Iterator
from typing import Final

from msgspec import UNSET, Struct

from gateway.authoring.mapping.fields.coverage import (
    Coverage,
    CoverageResult,
    fallback_text,
    prove_image,
    prove_read,
    shortened,
)
from gateway.authoring.mapping.fields.nodes import (
    BindingSource,
    Constant,
    Count,
    Each,
    FieldFunction,
    HttpMap,
    MappingError,
    Read,
    Reference,
    problem,
)
from gateway.authoring.mapping.fields.parse import parse
from gateway.authoring.mapping.fields.scope import ROW_ID, SourceValues, UnknownSource, may_skip
from gateway.authoring.mapping.fields.walk import FieldContext, maps, request_visits, result_visits
from gateway.contract.schemas.algebra import Schema

# Proves for each mapped field that the target schema allows every value that may arrive.

_LENGTHS: Final[tuple[str, ...]] = ("minItems", "maxItems")
ABSENT_TEXT: Final = "(absent)"
_AT_RUN_TIME: Final = "the result of a function is checked at run time, with the whole result"


class Proof(Struct, frozen=True, kw_only=True):
    """The verdict for one mapped field of one result."""

    pointer: str
    """The value's JSON Pointer inside `x-binding`."""
    field: str
    """JSON Pointer into the result, `*` for any index."""
    source: str
    """The expression, constant or function that the field comes from."""
    verdict: Coverage
    witness: str | None = None
    """A value that may arrive and that the target schema refuses, as shortened JSON text."""
    on_gap: str | None = None
    """The contract's fallback for such a value."""
    reason: str = ""


def prove(binding: BindingSource) -> list[Proof]:
    """The verdict for every field of every result, in the order of the contract.

    Fields with an unknown source have none: `check` reports those.
    """
    written, _ = parse(binding.x_binding)
    if not isinstance(written, HttpMap) or binding.upstream is None:
        return []
    proofs: list[Proof] = []
    for part in maps(written):
        operation = binding.upstream.find(part.operation)
        if operation is not None:
            visits = result_visits(part, binding, operation)
            proofs += (proof for context in visits if (proof := prove_context(context)))
    return proofs


def prove_context(context: FieldContext) -> Proof | None:
    """The verdict for one value. None for an object, whose members have verdicts, and for a value
    with an unknown source."""
    try:
        return _prove(context)
    except UnknownSource:
        return None


def _prove(context: FieldContext) -> Proof | None:
    match context.value:
        case Read() as value:
            return _prove_read(context, value)
        case Constant(value=constant):
            return _proof(
                context, shortened(constant), prove_image({"const": constant}, context.target)
            )
        case Each(source=source) | Count(source=source):
            return _proof(context, str(source), _prove_list(context, context.value))
        case Reference(kind=kind):
            return _proof(context, f"ref {kind}", prove_image(ROW_ID, context.target))
        case FieldFunction(module=module, function=function):
            undecided = CoverageResult(Coverage.UNDECIDED, reason=_AT_RUN_TIME)
            return _proof(context, f"{module}:{function}", undecided)
        case _:
            return None


def _prove_read(context: FieldContext, value: Read) -> Proof | None:
    values = context.inner.find(value.source)
    on_gap = fallback_text(value.gap or value.unmapped)
    if is_absence_a_gap(context, value, values):
        result = CoverageResult(Coverage.GAP, ABSENT_TEXT, "the value may be absent")
    else:
        result = prove_read(value, values.schema, context.target)
    return _proof(context, str(value.source), result, on_gap)


def is_absence_a_gap(context: FieldContext, value: Read, values: SourceValues) -> bool:
    """Whether the value may be absent, and only an `onGap` could handle that."""
    presence = value.presence
    is_dropped = context.is_in_whole if value.gap is None else value.gap.kind == "omit"
    is_left_out = presence.is_omitted_if_absent or is_dropped
    return values.may_be_absent and presence.default is UNSET and not is_left_out


def _prove_list(context: FieldContext, value: Each | Count) -> CoverageResult:
    """Whether the target allows the number of items that the list may have."""
    least, most = _counts(value, context.inner.find(value.source).schema)
    if isinstance(value, Count):
        bounds = {"minimum": least} | ({} if most is None else {"maximum": most})
        return prove_image({"type": "integer", **bounds}, context.target)
    lengths = {"minItems": least} | ({} if most is None else {"maxItems": most})
    target: Schema = {word: context.target[word] for word in _LENGTHS if word in context.target}
    result = prove_image({"type": "array", **lengths}, {"type": "array", **target})
    if result.verdict is Coverage.PROVED and context.target.get("uniqueItems"):
        return CoverageResult(Coverage.UNDECIDED, reason="uniqueItems is checked at run time")
    return result


def _counts(value: Each | Count, source: Schema) -> tuple[int, int | None]:
    """The least and the most items after filtering."""
    is_filtered = bool(value.keep.allowed) or value.keep.needed is not None
    limit = value.limit if isinstance(value, Each) else None
    is_filtered = is_filtered or (isinstance(value, Each) and may_skip(value.item))
    mosts = [most for most in (source.get("maxItems"), limit) if most is not None]
    most = min(mosts, default=None)
    least = 0 if is_filtered else source.get("minItems", 0)
    return (least if most is None else min(least, most)), most


def _proof(
    context: FieldContext, source: str, result: CoverageResult, on_gap: str | None = None
) -> Proof | None:
    if not context.is_declared:
        return None
    return Proof(
        pointer=context.value.pointer,
        field=context.field,
        source=source,
        verdict=result.verdict,
        witness=result.witness,
        on_gap=on_gap,
        reason=result.reason,
    )


# Finds gaps: values that may arrive, that the target refuses, and that have no fallback.


def gaps(binding: BindingSource, written: HttpMap) -> Iterator[MappingError]:
    """One problem per gap. Absence without a fallback is reported elsewhere."""
    for part in maps(written):
        operation = binding.upstream.find(part.operation) if binding.upstream else None
        if operation is None:
            continue
        for context in request_visits(part, binding, operation):
            proof = gap_of(context)
            if proof:
                yield unsendable(proof)
        for context in result_visits(part, binding, operation):
            proof = gap_of(context)
            if proof and proof.on_gap is None:
                yield unanswerable(proof, context)


def gap_of(context: FieldContext) -> Proof | None:
    """The proof of a gap. None for constants and absence, which are checked elsewhere."""
    proof = None if isinstance(context.value, Constant) else prove_context(context)
    is_gap = proof is not None and proof.verdict is Coverage.GAP and proof.witness != ABSENT_TEXT
    return proof if is_gap else None


def unsendable(proof: Proof) -> MappingError:
    """The problem of an argument that cannot be sent."""
    return problem(
        proof.pointer,
        "unsendable",
        f"the input schema allows an argument that cannot be sent here{_example(proof)}",
        "narrow the input schema, complete the map, or widen the upstream contract",
    )


def unanswerable(proof: Proof, context: FieldContext) -> MappingError:
    """The problem of a received value that the target refuses."""
    is_list = not isinstance(context.value, Read)
    return problem(
        proof.pointer,
        "gap-without-ongap",
        f"{context.side} does not allow every value that may arrive{_example(proof)}",
        "set limit, or adapt the bounds of one of the two schemas"
        if is_list
        else "write onGap (or else, for a map), widen its schema, or narrow the source's schema",
    )


def _example(proof: Proof) -> str:
    example = f", for example {proof.witness}" if proof.witness else ""
    return f"{example}: {proof.reason}" if proof.reason else example
