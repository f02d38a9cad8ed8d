"""Proofs of the mapped fields of all tools."""

from collections.abc import Iterator

from msgspec import Struct

from gateway.codegen.ir import Contracts
from gateway.codegen.render.python.bindings import binding_source
from gateway.mapping.fields import Proof, prove


class ToolProof(Struct, frozen=True, kw_only=True):
    """A proof and its tool."""

    operation: str
    proof: Proof


def proofs_of(contracts: Contracts) -> Iterator[ToolProof]:
    """The proof of every mapped field of every tool, in the order of tools and fields."""
    for tool in contracts.tools:
        upstream = contracts.upstream_of(tool)
        if upstream is not None:
            for proof in prove(binding_source(tool, upstream)):
                yield ToolProof(operation=tool.id, proof=proof)
