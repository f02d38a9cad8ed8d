"""The rows of `eject.py`, and the report for people."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

HEAD: Final = " served  ejected  mapped  refused  seconds"


class EjectionRow(Struct, frozen=True, kw_only=True):
    """One document."""

    document: str = ""
    message: str = ""
    """Why it was not measured."""
    refusal: str = ""
    """Why the document is not imported at all."""
    served: int = 0
    """Operations that the import serves."""
    ejected: int = 0
    mapped: int = 0
    """Of these, operations with a field map. The others call the operation of the import."""
    refused: dict[str, int] = {}
    """Refused operations by rule. An operation with several is counted under each."""
    unmapped: dict[str, int] = {}
    """Operations without a field map by rule."""
    examples: dict[str, str] = {}
    """One message of each rule."""
    seconds: float = 0.0


def text_of(facts: Mapping[str, str], rows: Sequence[EjectionRow]) -> str:
    """The report as a page of plain text."""
    width = max(len(each.document) for each in rows)
    served, ejected = sum(each.served for each in rows), sum(each.ejected for each in rows)
    mapped = sum(each.mapped for each in rows)
    lines = [
        *(f"{key}: {value}" for key, value in facts.items()),
        "",
        f"{'document':{width}} {HEAD}",
        *(
            f"{each.document:{width}} {each.served:>7} {each.ejected:>8} {each.mapped:>7}"
            f" {each.served - each.ejected:>8} {each.seconds:>8.1f}"
            f"{'  ' if each.message or each.refusal else ''}{each.message or each.refusal}"
            for each in rows
        ),
        "",
        f"operations: {served}, ejected: {ejected}{_percent(ejected, served)}",
        f"with a field map: {mapped}{_percent(mapped, served)}",
        *_rules("refused by", [each.refused for each in rows], rows),
        *_rules("without a field map by", [each.unmapped for each in rows], rows),
    ]
    return "\n".join(lines)


def _percent(part: int, whole: int) -> str:
    return f" ({100 * part / whole:.2f} %)" if whole else ""


def _rules(
    title: str, counted: Sequence[Mapping[str, int]], rows: Sequence[EjectionRow]
) -> Iterator[str]:
    """The reasons, the most frequent first."""
    counts = Counter[str]()
    for each in counted:
        counts.update(each)
    if counts:
        yield f"\n{title:32} {'operations':>10}  such as"
    for rule, number in counts.most_common():
        example = next(row.examples[rule] for row in rows if rule in row.examples)
        yield f"{rule:32} {number:>10}  {example}"
