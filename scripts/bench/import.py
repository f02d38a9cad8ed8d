"""Measure `gateway import` with each document of FOLDER: files, `.gz` files, and folders of files.

For each document: the operations that are served and refused; those whose requests an independent
decoder decodes to the same arguments; the seconds and the peak memory of the import; and whether a
second import is byte-identical. Each import runs in a process with limits, so a document that is
refused, or on which the import fails or does not end, is a row too. Exits with 1 if an import
failed, did not end, or was not the same twice, or if a published schema is narrower than its
source.
"""

import argparse
import hashlib
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from documents import documents_of, unpacked
from import_figures import Inexact, Profiles, Row, text_of
from limited import Finished, Limits, finished
from machine import description
from msgspec import Struct
from msgspec.structs import replace
from peer import FASTMCP
from processes import BenchError

HERE: Final = Path(__file__).parent
NAME: Final = "vendor"
PASSED, REFUSED, USAGE = 0, 1, 2


class Wanted(Struct, frozen=True, kw_only=True):
    """What is measured beside the import."""

    draws: int
    """Arguments per operation for the decoder."""
    has_profiles: bool


def main() -> int:
    arguments = _parser().parse_args()
    limits = Limits(seconds=arguments.seconds, memory_mb=arguments.memory)
    try:
        documents = documents_of(arguments.folder)
        peer = FASTMCP.program() if arguments.with_fastmcp else None
    except BenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return USAGE
    wanted = Wanted(draws=arguments.draws, has_profiles=arguments.profiles)
    rows = list(measured(documents, limits, wanted, peer))
    facts = _facts() | ({"fastmcp": FASTMCP.version} if peer else {})
    if arguments.json:
        print(msgspec.json.encode({**facts, "documents": rows}).decode())
    else:
        print(text_of(facts, rows))
    return int(any(each.is_failed for each in rows))


def _facts() -> dict[str, str]:
    """The machine, for comparing figures."""
    found = description()
    return {
        key: str(found[key]) for key in ("command", "date", "machine", "load_average", "python")
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder with OpenAPI documents")
    parser.add_argument("--draws", type=int, default=10, help="per operation (default 10; 0: none)")
    parser.add_argument("--seconds", type=float, default=300.0, help="limit per step (default 300)")
    parser.add_argument("--memory", type=int, default=4096, help="limit in MB (default 4096)")
    parser.add_argument("--with-fastmcp", action="store_true", help="count FastMCP's tools too")
    parser.add_argument("--profiles", action="store_true", help="compile for client profiles too")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def measured(
    documents: Sequence[Path], limits: Limits, wanted: Wanted, peer: Path | None
) -> Iterator[Row]:
    """One row for each document."""
    for number, document in enumerate(documents, start=1):
        print(f"{number}/{len(documents)} {document.name}", file=sys.stderr)
        with tempfile.TemporaryDirectory(prefix="gateway-bench-") as name:
            folder = Path(name)
            try:
                given = unpacked(document.resolve(), folder)
            except (OSError, EOFError) as error:
                yield Row(document=document.name, outcome="refused", message=f"gzip: {error}")
                continue
            row = _imported(document.name, given, folder, limits)
            if row.served:
                row = _exact(row, folder, limits, wanted.draws)
                row = _shown(row, folder, limits) if wanted.has_profiles else row
            yield row if peer is None else _beside(row, given, folder, limits, peer)


def _imported(name: str, given: Path, folder: Path, limits: Limits) -> Row:
    """Import twice, each time into its own folder."""
    runs = [_run(given, folder / each, limits) for each in ("first", "second")]
    row = replace(
        _reported(name, runs[0]),
        seconds=min(each.seconds for each in runs),
        peak_mb=max(each.peak_mb for each in runs),
    )
    is_equal = runs[0].output == runs[1].output and (
        _digests(folder / "first") == _digests(folder / "second")
    )
    return replace(row, is_repeatable=is_equal)


def _run(given: Path, folder: Path, limits: Limits) -> Finished:
    folder.mkdir()
    command = (sys.executable, "-m", "gateway", "import", str(given), "--as", NAME, "--json")
    return finished((*command, "--schemas", "schemas"), folder, limits)


def _digests(folder: Path) -> dict[str, str]:
    """The digest of each file. This process stays small: the peak memory of a program that it
    starts is never less than its own."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with path.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
            found[path.relative_to(folder).as_posix()] = digest
    return found


def _reported(name: str, run: Finished) -> Row:
    """The row of a document by the report of its import."""
    if run.is_late:
        return Row(document=name, outcome="late", message=f"stopped after {run.seconds:.0f} s")
    if run.status not in {PASSED, REFUSED, USAGE} or "Traceback" in run.errors:
        message = f"exit {run.status}: {run.last_error}"
        return Row(document=name, outcome="failed", message=message)
    if not run.output:
        return Row(document=name, outcome="refused", message=_message(run.errors))
    report = msgspec.json.decode(run.output)
    if run.status != PASSED:
        if "findings" in report:
            return _refused(name, report["findings"])
        return Row(document=name, outcome="failed", message=f"exit {run.status}: {run.last_error}")
    return Row(
        document=name,
        outcome="imported",
        version=report["version"],
        operations=report["operations"],
        served=report["served"],
        refused=report["refused_by_cause"],
    )


def _message(errors: str) -> str:
    lines = [line for line in errors.splitlines() if line.startswith("error: ")]
    return lines[0].removeprefix("error: ") if lines else errors.strip()[:200]


def _refused(name: str, findings: Sequence[dict[str, Any]]) -> Row:
    rules: dict[str, int] = {}
    for each in findings:
        rules[each["rule"]] = rules.get(each["rule"], 0) + 1
    first = findings[0]
    message = f"{first['rule']} at line {first['line']}: {first['message']}"
    return Row(document=name, outcome="refused", refused=rules, message=message)


def _exact(row: Row, folder: Path, limits: Limits, draws: int) -> Row:
    """`row` with the figures of the encoder, and the digests of both records compared."""
    program = (sys.executable, str(HERE / "import_exactness.py"))
    first = finished((*program, "first/schemas", "--draws", str(draws)), folder, limits)
    second = finished((*program, "second/schemas"), folder, limits)
    if first.status != PASSED or second.status != PASSED:
        reason = "stopped at the time limit" if first.is_late else first.last_error
        return replace(row, message=f"exactness not measured: {reason}")
    found, again = msgspec.json.decode(first.output), msgspec.json.decode(second.output)
    is_repeatable = row.is_repeatable and found["digest"] == again["digest"]
    return replace(
        row,
        is_repeatable=is_repeatable,
        exact=found.get("exact"),
        ambiguous=found.get("ambiguous"),
        inexact=msgspec.convert(found.get("inexact", ()), tuple[Inexact, ...]),
    )


def _shown(row: Row, folder: Path, limits: Limits) -> Row:
    """`row` with what clients refuse of its tools."""
    program = (sys.executable, str(HERE / "import_profiles.py"))
    run = finished((*program, "first/schemas"), folder, limits)
    if run.status != PASSED:
        reason = "stopped at the time limit" if run.is_late else run.last_error
        return replace(row, message=f"profiles not measured: {reason}")
    return replace(row, profiles=msgspec.json.decode(run.output, type=Profiles))


def _beside(row: Row, given: Path, folder: Path, limits: Limits, peer: Path) -> Row:
    """`row` with the figures of FastMCP for the same document."""
    if given.is_dir():
        return row
    run = finished((str(peer), str(HERE / "fastmcp_import.py"), str(given)), folder, limits)
    if run.status != PASSED:
        reason = "stopped at the time limit" if run.is_late else run.last_error[:200]
        return replace(row, peer_seconds=run.seconds, peer_message=reason)
    tools = msgspec.json.decode(run.output)["tools"]
    return replace(row, peer_tools=tools, peer_seconds=run.seconds)


if __name__ == "__main__":
    sys.exit(main())
