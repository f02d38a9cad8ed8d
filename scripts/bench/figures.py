"""Samples of the rounds, with their medians, spreads and ratios."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Final

import contenders as names
from msgspec import Struct

RATIOS: Final = (
    (names.MCP_MODERN, names.FASTMCP_MODERN),
    (names.MCP_HANDSHAKE, names.FASTMCP_HANDSHAKE),
    (names.MCP_MODERN, names.FASTMCP_HANDSHAKE),
    (names.MCP_HANDSHAKE, names.CONTEXT_FORGE),
    (names.MCP_MODERN, names.BARE),
    (names.MCP_HANDSHAKE, names.BARE),
    (names.REST, names.BARE),
    (names.REST, names.PROTOTYPE),
    (names.MCP_MODERN, names.PROTOTYPE),
    (names.MCP_MODERN, names.SDK_MODERN),
    (names.MCP_HANDSHAKE, names.SDK_HANDSHAKE),
)


class Sample(Struct, frozen=True, kw_only=True):
    """One contender in one round."""

    calls_per_second: float
    p50_ms: float
    p99_ms: float
    cpu_us_per_call: float
    """Processor time of the server for one call."""
    rss_mb: float


class Spread(Struct, frozen=True):
    """The median, minimum and maximum of a figure over the rounds."""

    median: float
    low: float
    high: float


Rounds = Mapping[str, Sequence[Sample]]


def spread(values: Sequence[float]) -> Spread:
    """The median, minimum and maximum."""
    return Spread(median(values), min(values), max(values))


def summary(samples: Sequence[Sample]) -> dict[str, Spread]:
    """Each figure of one contender over the rounds."""
    return {
        name: spread([float(getattr(sample, name)) for sample in samples])
        for name in Sample.__struct_fields__
    }


def ratios(rounds: Rounds) -> dict[str, Spread]:
    """Ratios of calls per second between two contenders, in each round."""
    return {
        f"{one} / {other}": _paired(rounds[one], rounds[other], "calls_per_second")
        for one, other in RATIOS
        if one in rounds and other in rounds
    }


def cpu_ratios(rounds: Rounds) -> dict[str, Spread]:
    """Inverse ratios of processor time per call, which other load on the machine affects less."""
    pairs = (*RATIOS, *((names.of_other(name), name) for name in rounds))
    return {
        f"{other} / {one}": _paired(rounds[other], rounds[one], "cpu_us_per_call")
        for one, other in pairs
        if one in rounds and other in rounds
    }


def against_other(rounds: Rounds) -> dict[str, Spread]:
    """Microseconds of processor time per call beyond the other checkout's, in each round."""
    found = {}
    for name, samples in rounds.items():
        others = rounds.get(names.of_other(name))
        if others is not None:
            pairs = zip(samples, others, strict=True)
            found[name] = spread([one.cpu_us_per_call - two.cpu_us_per_call for one, two in pairs])
    return found


def overheads(rounds: Rounds) -> dict[str, Spread]:
    """The median latency minus that of the upstream, in milliseconds, in each round."""
    direct = [sample.p50_ms for sample in rounds[names.DIRECT]]
    return {
        name: spread([sample.p50_ms - base for sample, base in zip(samples, direct, strict=True)])
        for name, samples in rounds.items()
        if name != names.DIRECT
    }


def _paired(ones: Sequence[Sample], others: Sequence[Sample], figure: str) -> Spread:
    pairs = zip(ones, others, strict=True)
    return spread([getattr(one, figure) / getattr(other, figure) for one, other in pairs])
