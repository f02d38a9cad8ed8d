"""Calls of imported operations. Their documents have no examples of calls, so arguments are made.

Reads are called: the mock answers them by the document, and the gateway checks each result by it.
Writes are left out, because the mock may need what no other call has made.
"""

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from gateway.amounts import amount
from gateway.backends.mock.samples import Samples, Schemas
from gateway.backends.mock.schemas import NoSample
from gateway.catalogue import Catalogue, Entry
from gateway.cli.verification.plan import Step
from gateway.contract.operation import Effect
from gateway.contract.selection.argument import FIELDS

MADE = "made arguments"
"""Stands for the name of an example."""


class ImportedPlan(Struct, frozen=True, kw_only=True):
    """The calls of imported operations, and which are left out."""

    steps: tuple[Step, ...]
    left_out: Mapping[str, int]
    """The number of operations by the reason."""

    def lines(self) -> Iterator[str]:
        """A line for each reason."""
        for reason, number in self.left_out.items():
            yield f"not verified: {amount(number, 'imported tool')} {reason}"


def imported_plan(
    catalogue: Catalogue, connector: str | None, report: Callable[[str], None]
) -> ImportedPlan:
    """One call of each imported read, of all connectors or of one."""
    steps: list[Step] = []
    left_out: dict[str, int] = {}
    for entry in catalogue.entries:
        owner = entry.operation.connector
        if not entry.operation.is_imported or connector not in {None, owner}:
            continue
        step = None
        reason = "that write or destroy"
        if entry.operation.effect is Effect.READ:
            report(f"arguments of {entry.id}")
            step, reason = made_step(entry), "without arguments that could be made"
        if step is None:
            left_out[reason] = left_out.get(reason, 0) + 1
        else:
            steps.append(step)
    return ImportedPlan(steps=tuple(steps), left_out=left_out)


def made_step(entry: Entry) -> Step | None:
    """A call with only what is required, if possible. None if no valid arguments are found."""
    try:
        return Step(entry, MADE, argument_samples(entry).sample(entry.id, is_short=True))
    except NoSample:
        return None


def argument_samples(entry: Entry) -> Samples:
    """Valid arguments of an imported operation, without `fields`: no schema says its names."""
    schema = entry.listing.input_schema
    if entry.operation.selects_fields:
        others = {name: each for name, each in schema["properties"].items() if name != FIELDS}
        schema = {**schema, "properties": others}
    return Schemas(schema.get("$defs", {})).samples(schema)
