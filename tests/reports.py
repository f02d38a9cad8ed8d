"""Records to write reports from: one as a run gives it, one with any text in every member."""

from typing import Any, Final, Literal

from gateway.cli.reports.record import Check, ContractCoverage, Mutants, ReplayLines, Report, Sides

HOSTILE: Final = {
    "script": "</script><script>alert(1)</script>",
    "image": '"><img src=x onerror=alert(1)>',
    "attribute": "' onfocus='alert(1)' autofocus='",
    "template": "{{ 7 * 7 }} {% raw %} ${7 * 7}",
    "cdata": "]]> <![CDATA[ <!ENTITY x SYSTEM 'file:///etc/passwd'> &x; -->",
    "control": "".join(map(chr, range(32))) + "\x7f\x85\x9b",
    "ansi": "\x1b[31mred\x1b[0m\x1b]8;;http://example.com\x07link\x1b]8;;\x07",
    "bidi": "user\u202e\u2066nimda\u2069 \u200b\ufeff \U000e0041",
    "surrogate": "half \ud800 and \udfff, noncharacters \ufffe \uffff",
    "markdown": "@octocat [x](javascript:alert(1)) ![y](http://e.com/z.png) `` ` `` | a |\n# b",
    "comment": "<!-- --> </details></table> <b>bold</b> ~~~\n```\n#1 GH-1 http://example.com",
    "ci": "::error::planted\n##vso[task.setvariable]\n  ::set-env name=A::b",
    "long": "a<b>@c " * 150_000,
}
"""Texts of which some form of report might make something else than a text."""


def hostile(text: str, of: Literal["checks", "changes"] = "checks") -> Report:
    """A report with `text` in every member that a contract or a caller can write."""
    replay = ReplayLines(command=text, curl=text, rpc=text)
    sides = Sides(
        verdict="breaking",
        direction=text,
        accepted_by="old",
        refusal=text,
        reason=text,
        old=text,
        new=text,
    )
    members: dict[str, Any] = {
        "subject": text,
        "check": text,
        "text": text,
        "path": text,
        "line": 3,
        "pointer": text,
        "cause": text,
        "input": text,
        "replay": replay,
    }
    checks = (
        Check(outcome="failed", **members),
        Check(outcome="failed", severity="warning", sides=sides, **members),
        Check(outcome="undecided", **members),
        Check(outcome="skipped", **members),
        Check(outcome="passed", **members),
    )
    if len(text) > 100_000:
        checks = checks[:2]  # so that the tests are not slow
    mutants = Mutants(killed=3, equivalent=1, survivors=(text,))
    coverage = ContractCoverage(subject=text, keywords=5, seen=4, missed=(text,), mutants=mutants)
    return Report(command=text, seed=7, seconds=1.5, checks=checks, coverage=(coverage,), of=of)


def usual() -> Report:
    """A report of two tools, with one finding of each kind."""
    failed = Check(
        subject="golf/search_tee_times",
        check="model-not-stricter",
        outcome="failed",
        text="The model refuses what the schema accepts.\nMake both the same: gateway generate.",
        cases=40,
        seconds=0.25,
        path="schemas/tools/golf/search_tee_times.json",
        line=12,
        pointer="/input/properties/players",
        cause="players",
        input='{"players": 1.0}',
        replay=ReplayLines(
            command="gateway test --replay 'golf/search_tee_times {\"players\": 1.0}'",
            curl="curl -sS http://127.0.0.1:8700/v1/golf/search_tee_times",
            rpc='{"jsonrpc":"2.0","id":1,"method":"tools/call"}',
        ),
    )
    return Report(
        command="gateway verify --all",
        seed=11,
        seconds=2.0,
        checks=(
            Check(subject="gmail/send_email", check="verdicts-equal", outcome="passed", cases=90),
            failed,
            Check(
                subject="golf/search_tee_times",
                check="model-not-stricter",
                outcome="undecided",
                text="Too deep.",
            ),
            Check(
                subject="golf/search_tee_times",
                check="verdicts-equal",
                outcome="failed",
                severity="warning",
                text="Slow.",
            ),
            Check(subject="gmail/send_email", check="live", outcome="skipped", text="No key."),
        ),
        coverage=(
            ContractCoverage(
                subject="gmail/send_email",
                keywords=14,
                seen=13,
                missed=("/input/properties/cc/maxItems",),
                mutants=Mutants(killed=19, equivalent=2, survivors=("/input/x: minimum 1 → 0",)),
                seconds=0.5,
            ),
        ),
    )
