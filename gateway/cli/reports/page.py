"""A report as one page that needs no network: what fails where first, then each contract.

The page carries its style and its script, and a policy that allows only these two, by their
hashes. Texts are escaped by the template, cut by the number of findings so that the page stays
small, and inert. Lines to paste are never cut: one that is too long is left out.
"""

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from gateway.cli.reports.findings import (
    KINDS,
    by_cause,
    findings,
    headline,
    score,
    totals,
    verdict,
    word,
)
from gateway.cli.reports.record import Check, ContractCoverage, Report, Sides
from gateway.cli.reports.texts import data, line, lines, place, replay_lines, short
from gateway.installed import PACKAGE

if TYPE_CHECKING:
    from jinja2 import Template

_FOLDER: Final = Path(__file__).parent
_FINDINGS: Final = 1000
_CHARACTERS: Final = 800_000
"""Of the texts of all findings together, about."""
_LISTED: Final = 100
"""Of missed keywords and survivors of one contract."""
_OPEN: Final = 20
"""How many contracts are unfolded from the start."""
_SIGNS: Final = dict(zip(KINDS, "✗?!i-✓", strict=True))
_USUAL: Final = {"breaking": "failed", "safe": "passed"}
"""The kind of a word that needs no kind beside it."""
_NO_ANCHOR: Final = re.compile(r"[^a-z0-9_]+")


class _Count(Struct, frozen=True):
    """How many checks have one result."""

    id: str
    kind: str
    sign: str
    word: str
    count: int


class _Cell(Struct, frozen=True):
    """The worst result of a contract in a column, and the finding that says more."""

    kind: str
    sign: str
    word: str
    count: int
    anchor: str | None


class _Side(Struct, frozen=True):
    """What one side makes of a witness."""

    name: str
    kind: str
    word: str
    place: str
    refusal: str


class _Finding(Struct, frozen=True, kw_only=True):
    """One cause."""

    anchor: str
    kind: str
    word: str
    check: str
    same: int
    text: str
    severity: str
    reason: str
    direction: str
    place: str
    input: str | None
    input_name: str
    replays: Sequence[tuple[str, str]]
    too_long: Sequence[str]
    sides: Sequence[_Side]


class _Contract(Struct, frozen=True, kw_only=True):
    """All about one subject."""

    subject: str
    anchor: str
    counts: Sequence[_Count]
    cells: Sequence[_Cell | None]
    findings: Sequence[_Finding]
    checks: Sequence[tuple[str, str, str, str, str]]
    keywords: tuple[int, int] | None
    mutants: tuple[int, int] | None
    lists: Sequence[tuple[str, Sequence[str]]]
    seconds: str
    is_open: bool


class _Page(Struct, frozen=True, kw_only=True):
    """What the template shows."""

    headline: str
    command: str
    seconds: str
    seed: int | None
    version: str
    caption: str
    check_name: str
    cases_name: str
    time_name: str
    totals: Sequence[_Count]
    measures: Sequence[tuple[str, int, int]]
    columns: Sequence[str]
    contracts: Sequence[_Contract]
    left_out: int


def page(report: Report) -> str:
    """The HTML document."""
    style, script = _asset("page.css"), _asset("page.js")
    return _template().render(
        page=_page(report),
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
    )


@cache
def _template() -> "Template":
    from jinja2 import (  # noqa: PLC0415 - most commands write no page
        Environment,
        FileSystemLoader,
        StrictUndefined,
    )

    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("page.html")


def _asset(name: str) -> "_Own":
    return _Own((_FOLDER / name).read_text("utf-8"))


class _Own(str):
    """A text of this package, which the template does not escape."""

    __slots__ = ()

    def __html__(self) -> str:
        return str(self)


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _page(report: Report) -> _Page:
    is_diff = report.of == "changes"
    said = headline(report)
    return _Page(
        headline=said[0].upper() + said[1:],
        command=line(report.command, 1000),
        seconds=f"{report.seconds:,.1f} s",
        seed=report.seed,
        version=version(PACKAGE),
        caption="Contracts by direction" if is_diff else "Contracts by check",
        check_name="rule" if is_diff else "check",
        cases_name="severity" if is_diff else "cases",
        time_name="direction" if is_diff else "seconds",
        totals=_counts(totals(report.checks)),
        measures=_measures(report.coverage),
        columns=[short(each) for each in _columns(report.checks)],
        contracts=list(_contracts(report)),
        left_out=max(len(findings(report)) - _FINDINGS, 0),
    )


def _measures(coverage: Iterable[ContractCoverage]) -> list[tuple[str, int, int]]:
    coverage = list(coverage)
    seen, keywords = sum(each.seen for each in coverage), sum(each.keywords for each in coverage)
    found = [("keywords covered", seen, keywords), ("mutants killed", *score(coverage))]
    return [each for each in found if each[2]]


def _column(check: Check) -> str:
    """Where the matrix shows a check: of a change, its direction says whom it concerns."""
    return check.check if check.sides is None else check.sides.direction or "other"


def _columns(checks: Iterable[Check]) -> list[str]:
    return list(dict.fromkeys(map(_column, checks)))


def _counts(totals: Iterable[tuple[str, str, int]]) -> list[_Count]:
    return [_count(*each) for each in totals]


def _count(kind: str, word: str, count: int) -> _Count:
    said = word if _USUAL.get(word, word) == kind else f"{word}, {kind}"
    return _Count(f"{kind}-{word}", kind, _SIGNS[kind], said, count)


def _contracts(report: Report) -> Iterator[_Contract]:
    columns = _columns(report.checks)
    found = findings(report)[:_FINDINGS]
    limit = max(200, min(4000, _CHARACTERS // (4 * len(found) or 1)))
    measured = {each.subject: each for each in report.coverage}
    checks = _by_subject(report.checks, measured)
    own = _by_subject(found, measured)
    taken: Counter[str] = Counter()
    ordered = sorted(checks, key=lambda each: (_rank(checks[each]), each))
    for number, subject in enumerate(ordered):
        anchor = _anchor(subject, taken)
        groups = by_cause(own.get(subject, ()))
        shown = [_finding(group, f"{anchor}--{n}", limit) for n, group in enumerate(groups)]
        anchors: dict[str, str] = {}
        for group, finding in zip(groups, shown, strict=True):
            anchors.setdefault(_column(group[0]), finding.anchor)
        cells = _cells(checks[subject], columns, anchors)
        yield _contract(
            (subject, anchor),
            checks[subject],
            cells,
            shown,
            coverage=measured.get(subject),
            is_open=number < _OPEN and _rank(checks[subject]) < len(KINDS),
        )


def _by_subject(checks: Iterable[Check], subjects: Iterable[str]) -> dict[str, list[Check]]:
    found: dict[str, list[Check]] = {each: [] for each in subjects}
    for check in checks:
        found.setdefault(check.subject, []).append(check)
    return found


def _rank(checks: Sequence[Check]) -> int:
    """Contracts that fail stand first, those of which nothing was checked last."""
    failing = [KINDS.index(verdict(each)) for each in checks if each.fails]
    is_skipped = all(each.outcome == "skipped" for each in checks)
    return min(failing, default=len(KINDS) + is_skipped)


def _anchor(subject: str, taken: Counter[str]) -> str:
    """The same for the same contract in every report, unless two names differ only in signs."""
    name = f"c-{_NO_ANCHOR.sub('-', subject[:80].lower()).strip('-')}"
    taken[name] += 1
    return name if taken[name] == 1 else f"{name}---{taken[name]}"


def _contract(
    named: tuple[str, str],
    checks: Sequence[Check],
    cells: Sequence[_Cell | None],
    shown: Sequence[_Finding],
    *,
    coverage: ContractCoverage | None,
    is_open: bool,
) -> _Contract:
    seconds = sum(each.seconds for each in checks) + (coverage.seconds if coverage else 0)
    return _Contract(
        subject=short(named[0]),
        anchor=named[1],
        counts=_counts(totals(checks)),
        cells=cells,
        findings=shown,
        checks=[_row(each) for each in checks],
        keywords=(coverage.seen, coverage.keywords) if coverage else None,
        mutants=score([coverage]) if coverage and coverage.mutants else None,
        lists=_lists(coverage) if coverage else (),
        seconds=f"{seconds:,.2f} s" if seconds else "",
        is_open=is_open,
    )


def _cells(
    checks: Iterable[Check], columns: Iterable[str], anchors: Mapping[str, str]
) -> list[_Cell | None]:
    found: dict[str, list[Check]] = {}
    for check in checks:
        found.setdefault(_column(check), []).append(check)
    return [_cell(found[each], anchors.get(each)) if each in found else None for each in columns]


def _cell(checks: Sequence[Check], anchor: str | None) -> _Cell:
    worst = min(checks, key=lambda each: KINDS.index(verdict(each)))
    kind = verdict(worst)
    count = sum(verdict(each) == kind for each in checks)
    return _Cell(kind, _SIGNS[kind], word(worst), count, anchor)


def _row(check: Check) -> tuple[str, str, str, str, str]:
    """Result, word and name of a check, and what a check or a change has beside them."""
    if check.sides is not None:
        more: list[str] = [check.severity, line(check.sides.direction or "")]
    else:
        more = [f"{check.cases:,}", f"{check.seconds:,.3f}" if check.seconds else ""]
    return (verdict(check), word(check), short(check.check), more[0], more[1])


def _lists(coverage: ContractCoverage) -> list[tuple[str, list[str]]]:
    mutants = coverage.mutants
    found = [("Keywords that no input reached", coverage.missed)]
    if mutants is not None:
        found.append(("Mutants that survived", mutants.survivors))
        found.append(("Mutants that are undecided", mutants.undecided))
    return [(title, _listed(texts)) for title, texts in found if texts]


def _listed(texts: Sequence[str]) -> list[str]:
    left = len(texts) - _LISTED
    more = [f"{left:,} more are in the form JSON"] if left > 0 else []
    return [*(line(each, 500) for each in texts[:_LISTED]), *more]


def _finding(group: Sequence[Check], anchor: str, limit: int) -> _Finding:
    check = group[0]
    sides = check.sides
    replays = replay_lines(check)
    room = max(2 * limit, 2000)
    return _Finding(
        anchor=anchor,
        kind=verdict(check),
        word=word(check),
        check=short(check.check),
        same=len(group),
        text=lines(check.text, limit),
        severity=check.severity,
        reason=line(sides.reason, limit) if sides else "",
        direction=line(sides.direction or "", limit) if sides else "",
        place="" if sides else place(check),
        input=None if check.input is None else data(check.input, limit),
        input_name="witness" if sides else "input",
        replays=[each for each in replays if len(each[1]) <= room],
        too_long=[name for name, text in replays if len(text) > room],
        sides=_both(sides, limit) if sides else (),
    )


def _both(sides: Sides, limit: int) -> list[_Side]:
    """The old side and the new one. Without a witness, only where they are written."""
    places = {"old": sides.old, "new": sides.new}
    if sides.accepted_by is None:
        return [
            _Side(name, "note", "written", line(at, limit), "") for name, at in places.items() if at
        ]
    return [
        _Side(name, "passed", "accepted", line(at or "", limit), "")
        if name == sides.accepted_by
        else _Side(name, "failed", "refused", line(at or "", limit), lines(sides.refusal, limit))
        for name, at in places.items()
    ]
