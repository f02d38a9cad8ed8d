"""The rows of `eject.py`, and the report for people."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct


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
    refused: dict[str, int] = {}
    """Refused operations by rule. An operation with several is counted under each."""
    only: dict[str, int] = {}
    """Operations that one rule alone refuses."""
    examples: dict[str, str] = {}
    """One refusal of each rule."""
    seconds: float = 0.0


def text_of(facts: Mapping[str, str], rows: Sequence[EjectionRow]) -> str:
    """The report as a page of plain text."""
    width = max(len(each.document) for each in rows)
    served, ejected = sum(each.served for each in rows), sum(each.ejected for each in rows)
    share = f" ({100 * ejected / served:.2f} %)" if served else ""
    lines = [
        *(f"{key}: {value}" for key, value in facts.items()),
        "",
        f"{'document':{width}} {'served':>7} {'ejected':>8} {'refused':>8} {'seconds':>8}",
        *(
            f"{each.document:{width}} {each.served:>7} {each.ejected:>8}"
            f" {each.served - each.ejected:>8} {each.seconds:>8.1f}"
            f"{'  ' if each.message or each.refusal else ''}{each.message or each.refusal}"
            for each in rows
        ),
        "",
        f"operations: {served}, ejected: {ejected}{share}",
        *_rules(rows),
    ]
    return "\n".join(lines)


def _rules(rows: Sequence[EjectionRow]) -> Iterator[str]:
    """The reasons, the most frequent first."""
    counts, alone = Counter[str](), Counter[str]()
    for row in rows:
        counts.update(row.refused)
        alone.update(row.only)
    if counts:
        yield f"\n{'refused by':32} {'operations':>10} {'alone':>7}  such as"
    for rule, number in counts.most_common():
        example = next(row.examples[rule] for row in rows if rule in row.examples)
        yield f"{rule:32} {number:>10} {alone[rule]:>7}  {example}"
