"""What a trial of attacks found, and which bars it meets."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct, field
from trial import percentile

MOST_RATIO: Final = 3.0
MOST_MB: Final = 400.0
BARS: Final = (
    f"bars: the p99 of others at most {MOST_RATIO:g} times that alone, for calls and for jobs; "
    f"none refused; at most {MOST_MB:g} MB resident; the process lives; no finding"
)
_MISSED: Final = frozenset({"404", "no answer"})
"""What an attack is answered that asks for what is not there."""


class Window(Struct, kw_only=True):
    """What the caller that behaves well saw for a time."""

    calls: list[float] = field(default_factory=list)
    """How long each took, in seconds."""
    jobs: list[float] = field(default_factory=list)
    failed: dict[str, int] = field(default_factory=dict)
    """What was not answered as it should be."""

    def add(self, other: "Window") -> None:
        """Count what another window saw."""
        self.calls += other.calls
        self.jobs += other.jobs
        for name, number in other.failed.items():
            self.failed[name] = self.failed.get(name, 0) + number


class Found(Struct, kw_only=True):
    """What one kind of attack did."""

    kind: str
    alone: Window
    beside: Window
    peak_mb: float
    """The largest resident memory."""
    answers: dict[str, int]
    """What the attackers got, by status."""
    findings: list[str]
    """What they got and must not get."""
    lived: bool

    @property
    def failures(self) -> list[str]:
        """The bars that it missed. None: it is met."""
        checks = {
            f"others were refused: {joined(self.beside.failed)}": self.beside.failed,
            f"others were refused without an attack: {joined(self.alone.failed)}": (
                self.alone.failed
            ),
            f"{self.peak_mb:.0f} MB are resident": self.peak_mb > MOST_MB,
            "the process died": not self.lived,
            "the attack did not reach the gateway": not set(self.answers) - _MISSED,
        }
        return [
            *self.findings,
            *_slower("calls", self.alone.calls, self.beside.calls),
            *_slower("jobs", self.alone.jobs, self.beside.jobs),
            *(text for text, is_missed in checks.items() if is_missed),
        ]


def _slower(name: str, alone: Sequence[float], beside: Sequence[float]) -> list[str]:
    if not alone or not beside:
        return [f"{name}: none was answered"]
    ratio = ratio_of(alone, beside)
    return [f"{name}: the p99 is {ratio:.1f} times that alone"] if ratio > MOST_RATIO else []


def ratio_of(alone: Sequence[float], beside: Sequence[float]) -> float:
    """The p99 beside the attack, divided by that alone."""
    return percentile(beside, 0.99) / max(percentile(alone, 0.99), 1e-9)


def table(found: Sequence[Found], skipped: Mapping[str, str]) -> list[str]:
    """A line for each kind, what it missed below it, and what the bars are."""
    head = f"{'kind':<14} {'p50 ms alone > beside':>22} {'p99 ms alone > beside':>22} {'ratio':>6}"
    lines = [f"{head} {'jobs':>6} {'refused':>8} {'MB':>5}  verdict"]
    for each in found:
        calls, jobs = (each.alone.calls, each.beside.calls), (each.alone.jobs, each.beside.jobs)
        failures = each.failures
        lines.append(
            f"{each.kind:<14} {_pair(calls, 0.5):>22} {_pair(calls, 0.99):>22}"
            f" {ratio_of(*calls):>6.2f} {ratio_of(*jobs):>6.2f}"
            f" {sum(each.beside.failed.values()):>8} {each.peak_mb:>5.0f}"
            f"  {'missed' if failures else 'met'}"
        )
        lines += [f"    {failure}" for failure in failures]
        lines.append(f"    attackers: {joined(each.answers)}")
    return [*lines, *(f"{kind:<14} skipped: {why}" for kind, why in skipped.items()), BARS]


def _pair(windows: tuple[Sequence[float], Sequence[float]], share: float) -> str:
    return " > ".join(f"{percentile(window, share) * 1000:.1f}" for window in windows)


def joined(counts: Mapping[str, int]) -> str:
    """Counts by name, as a text."""
    return ", ".join(f"{name} {number}" for name, number in counts.items())
