"""Fuzzes what the gateway proves, with `jsonschema` as the authority.

    python scripts/fuzz/proofs.py --pairs 10000 --seed 1 --kind covers
    python scripts/fuzz/proofs.py --pairs 10000 --seed 1 --kind covers --json
    python scripts/fuzz/proofs.py --pairs 5000 --seed 1 --draws 2000

Draws random schemas of all 2020-12 keywords, asks the gateway, and judges each answer on many
values. A wrong answer is made small and printed. Exit 0 if all are right and at most 3 % are
undecided, else 1.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final, cast

import covers
from msgspec import Struct, field
from outcome import EMPTY, Kind, Outcome, Verdict
from shrink import shrunk

KINDS: Final = ("covers", "maps", "profiles", "models")
"""The modules of this folder with a `trial`."""
_MOST_UNDECIDED: Final = 0.03
_SHOWN: Final = 10
_SECONDS: Final = 10.0


class Counts(Struct):
    """What a run came to."""

    kind: str
    seed: str
    verdicts: Counter[str] = field(default_factory=Counter)
    values: int = 0
    drawn: int = 0
    """The values of proofs that a schema is contained."""
    empty: int = 0
    """Proofs about schemas that are proved to admit nothing."""
    untried: int = 0
    """Proofs about other schemas of which no value was found: nothing was judged."""
    seconds: float = 0.0
    unsound: list[dict[str, Any]] = field(default_factory=list)
    undecided: list[dict[str, Any]] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)

    @property
    def total(self) -> int:
        """All verdicts."""
        return sum(self.verdicts.values())

    @property
    def is_good(self) -> bool:
        """Whether nothing is wrong and little is undecided."""
        undecided = self.verdicts[Verdict.UNDECIDED]
        return not self.verdicts[Verdict.UNSOUND] and undecided <= _MOST_UNDECIDED * self.total


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the fuzzer with these arguments."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.draws and options.kind != "covers":
        parser.error("--draws is for --kind covers")
    kind = cast("Kind", import_module(options.kind))
    counts = Counts(options.kind, options.seed)
    start = shown = time.monotonic()
    for number in range(sys.maxsize):
        if counts.total >= options.pairs:
            break
        seed = f"{options.seed}/{number}"
        for outcome in kind.trial(seed):
            is_drawn = options.draws and outcome.verdict == Verdict.CONTAINED
            more = covers.drawn(outcome, seed, options.draws) if is_drawn else outcome
            _count(counts, kind, more, seed)
        counts.seconds = time.monotonic() - start
        if time.monotonic() - shown > _SECONDS:
            shown = time.monotonic()
            print(_line(counts), file=sys.stderr, flush=True)
    print(json.dumps(_report(counts), indent=2) if options.json else _text(counts))
    return 0 if counts.is_good else 1


def _count(counts: Counts, kind: Kind, outcome: Outcome, seed: str) -> None:
    counts.verdicts[outcome.verdict] += 1
    counts.values += outcome.values
    if outcome.verdict == Verdict.CONTAINED:
        counts.drawn += outcome.values
        counts.empty += outcome.reason == EMPTY
        counts.untried += not outcome.values and outcome.reason != EMPTY
    if outcome.verdict == Verdict.UNDECIDED:
        counts.reasons[outcome.reason.partition(",")[0]] += 1
        counts.undecided.append({**outcome.case, "reason": outcome.reason})
        counts.undecided = counts.undecided[-_SHOWN:]
    if outcome.verdict == Verdict.UNSOUND and len(counts.unsound) < _SHOWN:
        small = shrunk(
            outcome.case,
            kind.schemas_of(outcome.case),
            lambda case: _fails(kind, case, seed),
        )
        counts.unsound.append({**small, "seed": seed, "reason": kind.judged(small, seed).reason})
        print(f"UNSOUND {json.dumps(counts.unsound[-1])}", file=sys.stderr, flush=True)


def _fails(kind: Kind, case: dict[str, Any], seed: str) -> bool:
    try:
        return kind.judged(case, seed).verdict == Verdict.UNSOUND
    except Exception:  # noqa: BLE001 - a part was taken away without which it is no schema
        return False


def _line(counts: Counts) -> str:
    shares = ", ".join(
        f"{name} {count} ({100 * count / counts.total:.2f} %)"
        for name, count in sorted(counts.verdicts.items())
    )
    rate = counts.total / max(counts.seconds, 0.001)
    return (
        f"{counts.kind}: {counts.total} verdicts, {counts.values} values, {rate:.0f}/s: {shares}; "
        f"contained were judged on {counts.drawn} values, {counts.empty} are empty, "
        f"{counts.untried} of no value"
    )


def _report(counts: Counts) -> dict[str, Any]:
    return {
        "kind": counts.kind,
        "seed": counts.seed,
        "total": counts.total,
        "values": counts.values,
        "drawn": counts.drawn,
        "empty": counts.empty,
        "untried": counts.untried,
        "seconds": round(counts.seconds, 1),
        "verdicts": {each.value: counts.verdicts[each] for each in Verdict},
        "reasons": dict(counts.reasons.most_common()),
        "unsound": counts.unsound,
        "undecided": counts.undecided,
    }


def _text(counts: Counts) -> str:
    shown = [f"unsound: {json.dumps(each)}" for each in counts.unsound]
    shown += [f"undecided: {json.dumps(each)}" for each in counts.undecided]
    return "\n".join([*shown, _line(counts)])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=1000, help="how many verdicts (1000)")
    parser.add_argument("--seed", default="0", help="any text; the same one gives the same run")
    parser.add_argument("--kind", choices=KINDS, default="covers", help="what is proved (covers)")
    parser.add_argument(
        "--draws",
        type=int,
        default=0,
        help="how many values each proof of `covers` is judged on, if there are as many",
    )
    parser.add_argument("--json", action="store_true", help="print the counts as JSON")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
