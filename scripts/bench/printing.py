"""The report for people."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from figures import Spread

QUIET: Final = 0.5


def text_of(report: Mapping[str, Any]) -> str:
    """The report as a page of plain text."""
    lines = [
        *(
            f"{name}: {report[name]}"
            for name in ("command", "date", "machine", "python", "pinning")
        ),
        f"versions: {', '.join(f'{name} {v}' for name, v in report['versions'].items())}",
        f"load average before: {report['load_average']:.1f}{_caution(report)}",
        f"call: {report['tool']}, {report['upstream_answer_bytes']} bytes from the upstream",
        f"load: {_load(report)}",
        "",
        *_table(report["contenders"]),
        *_section("calls per second, median (low to high)", report, "ratios_of_calls", "x"),
        *_section("processor time per call of the server", report, "ratios_of_cpu", "x"),
        *_section("processor time per call beyond the other's", report, "extra_cpu", " us"),
        *_section("median call beyond the upstream's own", report, "overhead", " ms"),
        *_section("start of `gateway serve`", report, "gateway_start", ""),
        *_section("start of `gateway serve`, other", report, "other_start", ""),
    ]
    return "\n".join(lines)


def _caution(report: Mapping[str, Any]) -> str:
    """A warning if other processes use the machine, which lowers calls per second at random."""
    is_busy = report["load_average"] > QUIET
    return " (other processes are running: compare processor time per call)" if is_busy else ""


def _load(report: Mapping[str, Any]) -> str:
    pace = f"{report['rate']:g} calls/s" if report["rate"] else "as many calls as are answered"
    rounds = f"{report['rounds']} rounds of {report['seconds']:g} s"
    return f"{report['connections']} connections, {rounds}, {pace}"


def _table(contenders: Mapping[str, Mapping[str, Spread]]) -> Sequence[str]:
    head = f"{'':24}{'calls/s':>10}{'p50 ms':>10}{'p99 ms':>10}{'CPU us/call':>13}{'RSS MB':>9}"
    widths = (("calls_per_second", 10, 0), ("p50_ms", 10, 2), ("p99_ms", 10, 2))
    columns = (*widths, ("cpu_us_per_call", 13, 0), ("rss_mb", 9, 0))
    rows = (
        f"{name:24}"
        + "".join(f"{row[key].median:{width},.{places}f}" for key, width, places in columns)
        for name, row in contenders.items()
    )
    return [head, *rows]


def _section(title: str, report: Mapping[str, Any], prefix: str, unit: str) -> Sequence[str]:
    (found,) = (value for name, value in report.items() if name.startswith(prefix))
    lines = [
        f"  {name:48}{s.median:8.2f}{unit}  ({s.low:.2f} to {s.high:.2f})"
        for name, s in found.items()
    ]
    return ["", title, *lines] if lines else []
