"""Prints the proof of each mapped field, for `gateway lint --bindings`."""

from typing import Final

from rich.text import Text

from gateway.cli.output import print_json, print_table
from gateway.codegen.ir import Contracts
from gateway.codegen.proofs import proofs_of
from gateway.mapping.fields import Coverage, Proof

_COLOURS: Final = {Coverage.PROVED: "green", Coverage.GAP: "red", Coverage.UNDECIDED: "yellow"}


def print_proofs(contracts: Contracts, *, as_json: bool) -> None:
    """Print the proofs, as a table or as JSON."""
    proofs = list(proofs_of(contracts))
    if as_json:
        print_json(proofs)
        return
    columns = ("operation", "field", "from", "verdict", "may arrive", "then", "because")
    print_table(columns, (_row(each.operation, each.proof) for each in proofs))
    counts = {
        verdict: sum(each.proof.verdict is verdict for each in proofs) for verdict in Coverage
    }
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
