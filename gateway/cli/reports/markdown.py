"""A report as a comment on a pull request: short, with the details folded.

GitHub makes links, mentions and markup of text, so each text of a contract stands in `code` or
`pre`, which keep no mention, with the signs that Markdown reads written as character references.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Final

from gateway.cli.reports.findings import by_cause, findings, headline, score, totals, verdict
from gateway.cli.reports.record import Check, ContractCoverage, Report
from gateway.cli.reports.texts import explained, line, place, short

_COMMENT: Final = 60_000
"""GitHub refuses a comment of more than 65,536 characters. The rest is for the note at the end."""
_ROWS: Final = 50
_CELL: Final = 200
_DETAIL: Final = 2000
_SIGNS: Final = re.compile(r"[!#$&*+.:<>@\[\\\]^_`|~]")


def markdown(report: Report) -> str:
    """The comment. What does not fit is left out from the end, with a note."""
    found = findings(report)
    table = _changes if report.of == "changes" else _table
    sections = [_head(report), *table(found), *_measured(report.coverage), *_details(found)]
    shown = [sections[0]]
    length = len(sections[0])
    for section in sections[1:]:
        length += len(section) + 2
        if length > _COMMENT:
            shown.append("_The rest does not fit into a comment: the other forms have it._")
            break
        shown.append(section)
    return "\n\n".join(shown) + "\n"


def _code(text: str, limit: int = _CELL) -> str:
    """One line of any text, inert."""
    return f"<code>{_referenced(line(text, limit))}</code>" if text else ""


def _first_line(check: Check) -> str:
    return _code(check.text.partition("\n")[0])


def _block(text: str) -> str:
    """Lines of any text, inert."""
    return f"<pre>{_referenced(text)}</pre>"


def _referenced(text: str) -> str:
    return _SIGNS.sub(lambda found: f"&#{ord(found[0])};", text)


def _head(report: Report) -> str:
    counted = ", ".join(f"{count:,} {word}" for _, word, count in totals(report.checks))
    seed = "" if report.seed is None else f", seed {report.seed}"
    first = headline(report)
    lines = [f"### {first[0].upper()}{first[1:]}", "", _code(report.command, 500)]
    lines.append(f"{counted or 'nothing'} in {report.seconds:.1f} s{seed}")
    return "\n".join(lines)


def _rows(
    names: Sequence[str], found: Sequence[Check], cells: Callable[[Check], Sequence[str]]
) -> list[str]:
    if not found:
        return []
    rows = [names, ["---"] * len(names), *(cells(each) for each in found[:_ROWS])]
    more = len(found) - _ROWS
    note = [f"{more:,} more are in the other forms."] if more > 0 else []
    return ["\n".join(f"| {' | '.join(row)} |" for row in rows), *note]


def _table(found: Sequence[Check]) -> list[str]:
    names = ("result", "contract", "check", "finding")
    return _rows(
        names,
        found,
        lambda each: (verdict(each), _code(each.subject), _code(each.check), _first_line(each)),
    )


def _changes(found: Sequence[Check]) -> list[str]:
    """What can break is proved, what a team forbids is a rule: two columns."""
    names = ("proof", "rule", "contract", "direction", "change")
    return _rows(names, found, _change)


def _change(check: Check) -> tuple[str, ...]:
    sides = check.sides
    proof = "" if sides is None or sides.verdict == "policy" else sides.verdict
    rule = f"{check.severity} {_code(check.check)}"
    direction = _code(sides.direction or "") if sides else ""
    return (proof, rule, _code(check.subject), direction, _first_line(check))


def _measured(coverage: Sequence[ContractCoverage]) -> list[str]:
    if not coverage:
        return []
    seen, keywords = sum(each.seen for each in coverage), sum(each.keywords for each in coverage)
    killed, decided = score(coverage)
    parts = [f"Keywords covered: {seen:,} of {keywords:,}."]
    if decided:
        parts.append(f"Mutants killed: {killed:,} of {decided:,} ({killed / decided:.1%}).")
    return [" ".join(parts)]


def _details(found: Iterable[Check]) -> list[str]:
    return [
        _detail(subject, by_cause(checks))
        for subject, checks in groupby(
            sorted(found, key=lambda each: each.subject), key=lambda each: each.subject
        )
    ]


def _detail(subject: str, causes: Sequence[Sequence[Check]]) -> str:
    first = [group[0] for group in causes]
    title = f"{_code(short(subject))}: {len(first):,} finding{'s' if len(first) > 1 else ''}"
    parts = [f"<details><summary>{title}</summary>", ""]
    for group in causes[:10]:
        check = group[0]
        same = f" ({len(group):,} of one cause)" if len(group) > 1 else ""
        at = _code(place(check))
        parts.append(f"{verdict(check)}{same} {_code(check.check)} {at}".rstrip())
        parts += ["", _block(explained(check, _DETAIL)), ""]
    parts.append("</details>")
    return "\n".join(parts)
