"""Finds gaps: values that may arrive, that the target refuses, and that have no fallback."""

from collections.abc import Iterator

from gateway.mapping.fields.analysis.coverage import Coverage
from gateway.mapping.fields.analysis.targets import maps
from gateway.mapping.fields.analysis.walk import FieldContext, request_visits, result_visits
from gateway.mapping.fields.checks.prove import ABSENT_TEXT, Proof, prove_context
from gateway.mapping.fields.language.nodes import (
    BindingSource,
    Constant,
    HttpMap,
    MappingError,
    Read,
    problem,
)


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
