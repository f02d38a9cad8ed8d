"""The rows of `import.py`, and the report for people."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct

HEAD: Final = "  outcome operations  served  exact ambiguous  seconds     MB  twice"


class Profiles(Struct, frozen=True, kw_only=True):
    """What clients refuse of the tools of one document."""

    unchanged: dict[str, int]
    """By profile, of the source schemas and names."""
    shown: dict[str, int]
    """By profile, of what they are shown."""
    proofs: dict[str, int]
    """Different published schemas by the verdict on whether they admit what the source admits."""
    values: int
    """Of those that are shown, each admits at least as many drawn values of its source."""
    narrower: tuple[str, ...]
    """The tools whose published schema refuses what the source admits, each with an example."""


class Inexact(Struct, frozen=True, kw_only=True):
    """A served operation of which not all requests were decoded to the same arguments."""

    operation: str
    reason: str
    sample: str
    """Arguments that show it, and the request if one was sent, both shortened."""
    is_ambiguous: bool
    """Whether the document gives several arguments the same request."""


class Row(Struct, frozen=True, kw_only=True):
    """One document."""

    document: str
    outcome: Literal["imported", "refused", "failed", "late"]
    """`refused`: a message for the user. `failed`: a crash. `late`: stopped at the time limit."""
    message: str = ""
    version: str = ""
    operations: int = 0
    served: int = 0
    refused: dict[str, int] = {}
    """Refused operations by rule. For a document that is refused as a whole, its findings."""
    exact: int | None = None
    """Served operations of which all requests were decoded to the same arguments."""
    ambiguous: int | None = None
    """Served operations whose document gives several arguments the same request."""
    inexact: tuple[Inexact, ...] = ()
    """These, and all other served operations, if they were measured."""
    seconds: float = 0.0
    """The faster of two imports, with the start of the program."""
    peak_mb: float = 0.0
    is_repeatable: bool = True
    """Whether both imports wrote the same bytes."""
    profiles: Profiles | None = None
    peer_tools: int | None = None
    peer_seconds: float | None = None
    peer_message: str = ""

    @property
    def is_failed(self) -> bool:
        is_narrower = self.profiles is not None and bool(self.profiles.narrower)
        return self.outcome in {"failed", "late"} or not self.is_repeatable or is_narrower


def text_of(facts: Mapping[str, str], rows: Sequence[Row]) -> str:
    """The report as a page of plain text."""
    width = max(len(each.document) for each in rows)
    has_peer = "fastmcp" in facts
    lines = [
        *(f"{key}: {value}" for key, value in facts.items()),
        "",
        f"{'document':{width}} {HEAD}{' FastMCP  seconds' if has_peer else ''}",
        *(_line(each, width, has_peer=has_peer) for each in rows),
        "",
        *_totals(rows, has_peer=has_peer),
        *_details(rows),
    ]
    return "\n".join(lines)


def _line(row: Row, width: int, *, has_peer: bool) -> str:
    twice = "same" if row.is_repeatable else "DIFFER"
    text = (
        f"{row.document:{width}} {row.outcome:>9} {row.operations:>10} {row.served:>7}"
        f" {_number(row.exact):>6} {_number(row.ambiguous):>9} {row.seconds:>8.2f}"
        f" {row.peak_mb:>6.0f} {twice:>6}"
    )
    if not has_peer or row.peer_seconds is None:
        return text
    return f"{text} {_number(row.peer_tools):>7} {row.peer_seconds:>8.2f}"


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)


def _totals(rows: Sequence[Row], *, has_peer: bool) -> Iterator[str]:
    outcomes = [str(each.outcome) for each in rows]
    kinds = ("imported", "refused", "failed", "late")
    counts = ", ".join(f"{outcomes.count(kind)} {kind}" for kind in kinds)
    yield f"documents: {len(rows)} ({counts})"
    operations = sum(each.operations for each in rows)
    served = sum(each.served for each in rows)
    yield f"operations: {operations}, served: {served}{_percent(served, operations)}"
    measured = [each for each in rows if each.exact is not None]
    if measured:
        drawn = sum(each.served for each in measured)
        exact = sum(each.exact or 0 for each in measured)
        ambiguous = sum(each.ambiguous or 0 for each in measured)
        others = drawn - exact - ambiguous
        percent = _percent(exact, drawn)
        yield f"exact: {exact} of {drawn}{percent}"
        yield f"not exact: {ambiguous} ambiguous by the document, {others} others"
    yield from _of_profiles([each.profiles for each in rows if each.profiles is not None])
    if has_peer:
        yield f"tools of FastMCP: {sum(each.peer_tools or 0 for each in rows)}"
    yield f"not the same twice: {sum(not each.is_repeatable for each in rows)}"


def _of_profiles(found: Sequence[Profiles]) -> Iterator[str]:
    for name in found[0].shown if found else ():
        before = sum(each.unchanged[name] for each in found)
        after = sum(each.shown[name] for each in found)
        yield f"refused by {name}: {after} as shown, {before} unchanged"
    verdicts = dict.fromkeys(verdict for each in found for verdict in each.proofs)
    counts = (f"{sum(each.proofs.get(v, 0) for each in found)} {v}" for v in verdicts)
    if found:
        yield f"published schemas: {', '.join(counts)}"
    least = [each.values for each in found if each.proofs.get("shown")]
    if least:
        yield f"shown: by at least {min(least)} drawn values each"


def _percent(part: int, whole: int) -> str:
    return f" ({100 * part / whole:.2f} %)" if whole else ""


def _inexact(found: Inexact) -> Iterator[str]:
    kind = "ambiguous" if found.is_ambiguous else "not exact"
    yield f"{kind}: {found.operation}: {found.reason}"
    if found.sample:
        yield f"  {found.sample}"


def _details(rows: Sequence[Row]) -> Iterator[str]:
    """What needs a closer look: refusals, failures, and operations that are not exact."""
    for row in rows:
        rules = ", ".join(f"{number} {rule}" for rule, number in row.refused.items())
        narrower = row.profiles.narrower if row.profiles else ()
        texts = [each for each in (rules, row.message) if each]
        texts += [line for each in row.inexact for line in _inexact(each)]
        texts += [f"published too narrow: {each}" for each in narrower]
        if row.peer_message:
            texts.append(f"FastMCP: {row.peer_message}")
        if texts:
            yield f"\n{row.document}"
            yield from (f"  {each}" for each in texts)
