"""What is proved of each mapped field, as `gateway lint --bindings` prints it."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from rich.text import Text

from gateway.cli.output import print_json, print_table
from gateway.codegen.fieldmap import BindingSource, Proof, Verdict, prove
from gateway.codegen.ir import Contracts, ToolContract

_COLOURS: Final = {Verdict.PROVED: "green", Verdict.GAP: "red", Verdict.UNDECIDED: "yellow"}


class ToolProof(Struct, frozen=True, kw_only=True):
    """A proof and the tool that it is about."""

    operation: str
    proof: Proof


def proofs_of(contracts: Contracts) -> Iterator[ToolProof]:
    """The verdict on every mapped field of every tool, in the order of tools and fields."""
    upstreams = {each.upstream.name: each.upstream for each in contracts.upstreams}
    for tool in contracts.tools:
        upstream = upstreams.get(tool.x_binding.get("upstream", ""))
        if upstream is None:
            continue
        source = BindingSource(
            tool_id=tool.id,
            x_binding=tool.x_binding,
            input_schema=tool.input_schema,
            output_schema=tool.output_schema,
            upstream=upstream,
            declared_errors=_reasons(tool),
        )
        for proof in prove(source):
            yield ToolProof(operation=tool.id, proof=proof)


def print_proofs(contracts: Contracts, *, as_json: bool) -> None:
    """Print them all: a table for people, or JSON."""
    proofs = list(proofs_of(contracts))
    if as_json:
        print_json(proofs)
        return
    columns = ("operation", "field", "from", "verdict", "may arrive", "then", "because")
    print_table(columns, (_row(each.operation, each.proof) for each in proofs))
    counts = {verdict: sum(each.proof.verdict is verdict for each in proofs) for verdict in Verdict}
    print(", ".join(f"{number} {verdict.value}" for verdict, number in counts.items()))


def _row(operation: str, proof: Proof) -> tuple[str | Text, ...]:
    return (
        operation,
        proof.field,
        proof.source,
        Text(proof.verdict.value, style=_COLOURS[proof.verdict]),
        proof.witness or "",
        f"onGap: {proof.on_gap}" if proof.on_gap else "",
        proof.reason,
    )


def _reasons(tool: ToolContract) -> frozenset[str]:
    return frozenset(error.reason for error in tool.errors)
