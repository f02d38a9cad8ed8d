"""The checks of `gateway doctor` on the credentials of an imported document."""

from collections.abc import Collection, Iterator

from gateway.cli.doctor.diagnosis import Diagnosis, note
from gateway.contract.slots import filling_all
from gateway.contract.upstream import Upstream


def empty_slots(upstream: Upstream, given: Collection[str]) -> Iterator[Diagnosis]:
    """A note for each set of alternatives of which none is filled by the credentials `given`."""
    filled = {slot.name for slot in upstream.slots if slot.way_of(given)}
    refused: dict[tuple[tuple[str, ...], ...], int] = {}
    for operation in upstream.operations:
        if operation.slots and not any(filled.issuperset(names) for names in operation.slots):
            refused[operation.slots] = refused.get(operation.slots, 0) + 1
    for alternatives, count in refused.items():
        tools = "1 tool has" if count == 1 else f"{count} tools have"
        finding = f"{tools} no credentials, and cannot be called"
        yield note(f"upstream {upstream.name}", finding, f"set {_fix(upstream, alternatives)}")


def _fix(upstream: Upstream, alternatives: Collection[tuple[str, ...]]) -> str:
    slots = {slot.name: slot for slot in upstream.slots}
    choices = ([slots[name] for name in names if name in slots] for names in alternatives)
    return ", or ".join(filling_all(upstream.name, each) for each in choices)
