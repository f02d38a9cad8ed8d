"""What a trial of an upstream that fails found, and which bars it meets."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Final, Literal

from msgspec import Struct
from trial import percentile
from upstream_load import NO_ANSWER

Verdict = Literal["met", "missed", "unclear", "-"]
"""`unclear`: the times vary so much that they show neither. `-`: the bar does not apply."""

MOST_REQUESTS: Final = 1.2
"""For each call."""
MOST_SECONDS_TO_OPEN: Final = 5.0
MOST_RATIO: Final = 1.1
_BARS: Final = (
    f"bars: at most {MOST_REQUESTS:g} requests per call; opens within {MOST_SECONDS_TO_OPEN:g} s; "
    "only codes of the fault; all calls of the other tool answered, with a p99 of at most "
    f"{MOST_RATIO:g} times that before"
)
_SAMPLES: Final = 400
_OVERLOADED: Final = "limit-exceeded"
"""On a slow machine, a healthy upstream does not keep calls from being too many."""
_REFUSED: Final = frozenset({"not-sent", _OVERLOADED})
_MAY_END: Final[Mapping[str, str]] = {
    "latency": "upstream-timeout",
    "429": "upstream-rate-limited",
    "503": "upstream-unavailable",
    "reset": "upstream-unavailable",
    "truncated": "upstream-unavailable",
    "drip": "upstream-timeout",
    "garbage": "invalid-reply",
    "redirect": "upstream-rejected",
    "bomb": "upstream-rejected",
}
"""The problem that a fault may cause, besides `_REFUSED`."""
_DOWN: Final = frozenset({"latency", "503", "reset", "truncated", "drip", "bomb"})
"""Faults that say that the upstream is down. The others are answers."""
_MOSTLY: Final = 0.5
"""The breaker must open when more than this share of the replies say so."""


class Times(Struct, frozen=True):
    """How long calls of the other tool took, in milliseconds."""

    p50: float
    p99: float


class Ratio(Struct, frozen=True):
    """The p99 while the upstream fails, divided by that before; `low` to `high` with 95 %."""

    value: float
    low: float
    high: float


class Found(Struct, kw_only=True):
    """What one fault at one share did."""

    fault: str
    share: float
    """Of the replies, that have the fault."""
    calls: int
    requests: int
    healthy: dict[str, int]
    """Answers before, by `ok` or the problem."""
    answers: dict[str, int]
    """Those while the upstream fails."""
    seconds_to_open: float | None
    """None: the breaker did not open."""
    before: Times
    during: Times
    ratio: Ratio
    other_failed: dict[str, int]
    """Calls of the other tool that were not answered with 200, by problem."""

    @property
    def requests_per_call(self) -> float:
        """How many requests the upstream got for each call."""
        return self.requests / max(self.calls, 1)

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """By bar."""
        return {
            "requests": _verdict(is_met=self.requests_per_call <= MOST_REQUESTS),
            "opens": self._opens(),
            "codes": _verdict(is_met=self._has_right_codes()),
            "others": self._others(),
        }

    def _opens(self) -> Verdict:
        if self.seconds_to_open is None:
            return "missed" if self.fault in _DOWN and self.share > _MOSTLY else "-"
        if self.share <= _MOSTLY:
            return "-"
        return _verdict(is_met=self.seconds_to_open <= MOST_SECONDS_TO_OPEN)

    def _has_right_codes(self) -> bool:
        allowed = {"ok", _MAY_END[self.fault], *_REFUSED}
        is_known = set(self.answers) <= allowed and NO_ANSWER not in self.answers
        return is_known and "ok" in self.healthy and set(self.healthy) <= {"ok", _OVERLOADED}

    def _others(self) -> Verdict:
        if self.other_failed:
            return "missed"
        if self.ratio.low <= MOST_RATIO < self.ratio.high:
            return "unclear"
        return _verdict(is_met=self.ratio.high <= MOST_RATIO)


def times(took: Sequence[float]) -> Times:
    """Those of calls that took so many seconds."""
    shown = [round(percentile(took, part) * 1000, 1) for part in (0.5, 0.99)]
    return Times(*shown)


def ratio(before: Sequence[float], during: Sequence[float]) -> Ratio:
    """The ratio of both p99, with its interval by bootstrap (B. Efron, 1979).

    Calls that delay each other make the interval too narrow. There must be calls.
    """
    random = Random(1)  # noqa: S311 - chances, not secrets
    again = sorted(
        percentile(random.choices(during, k=len(during)), 0.99)
        / percentile(random.choices(before, k=len(before)), 0.99)
        for _ in range(_SAMPLES)
    )
    value = percentile(during, 0.99) / percentile(before, 0.99)
    return Ratio(value, percentile(again, 0.025), percentile(again, 0.975))


def table(found: Sequence[Found]) -> list[str]:
    """Two lines for each trial, and what the bars are."""
    head = "fault      share  calls requests per call   opens in  other p50 ms   other p99 ms"
    lines = [f"{head}  ratio of p99 (95 %)"]
    for each in found:
        opens = "-" if each.seconds_to_open is None else f"{each.seconds_to_open:.1f} s"
        middle = f"{each.before.p50:g} > {each.during.p50:g}"
        high = f"{each.before.p99:g} > {each.during.p99:g}"
        spread = f"{each.ratio.value:.2f} ({each.ratio.low:.2f} to {each.ratio.high:.2f})"
        lines.append(
            f"{each.fault:<10} {each.share:>5g} {each.calls:>6} {each.requests:>8} "
            f"{each.requests_per_call:>8.2f} {opens:>10} {middle:>13} {high:>14}  {spread}\n"
            f"    {_joined(each.verdicts)}; {_joined(each.answers)}{_also(each)}"
        )
    return [*lines, _BARS]


def _verdict(*, is_met: bool) -> Verdict:
    return "met" if is_met else "missed"


def _also(found: Found) -> str:
    """What should not be."""
    healthy = {name: count for name, count in found.healthy.items() if name != "ok"}
    parts = [("; healthy: ", healthy), ("; others: ", found.other_failed)]
    return "".join(name + _joined(counts) for name, counts in parts if counts)


def _joined(pairs: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in pairs.items())
