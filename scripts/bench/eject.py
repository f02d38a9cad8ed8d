"""Count what `gateway eject` makes contract files of, in each document of FOLDER.

Each document is imported into a project of its own. An operation is ejected if its contract files
pass the lint; with `--generate`, the package is generated too. Operations that are refused, and
those without a field map, are counted by the rule, each with an example. Exits with 1 if a document
was not measured.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec
from documents import documents_of, unpacked
from eject_figures import EjectionRow, text_of
from limited import Limits, finished
from machine import description
from processes import BenchError

PROGRAM: Final = Path(__file__).parent / "eject_counts.py"
PASSED, FAILED, USAGE = 0, 1, 2


def main() -> int:
    arguments = _parser().parse_args()
    limits = Limits(seconds=arguments.seconds, memory_mb=arguments.memory)
    try:
        documents = documents_of(arguments.folder)
    except BenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return USAGE
    rows = list(measured(documents, limits, is_generated=arguments.generate))
    found = description()
    facts = {key: str(found[key]) for key in ("command", "date", "machine", "python")}
    if arguments.json:
        print(msgspec.json.encode({**facts, "documents": rows}).decode())
    else:
        print(text_of(facts, rows))
    return FAILED if any(each.message for each in rows) else PASSED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder with OpenAPI documents")
    parser.add_argument("--generate", action="store_true", help="generate the package too")
    parser.add_argument("--seconds", type=float, default=900.0, help="per document (default 900)")
    parser.add_argument("--memory", type=int, default=4096, help="limit in MB (default 4096)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def measured(
    documents: Sequence[Path], limits: Limits, *, is_generated: bool
) -> Iterator[EjectionRow]:
    """One row for each document."""
    for number, document in enumerate(documents, start=1):
        print(f"{number}/{len(documents)} {document.name}", file=sys.stderr)
        with tempfile.TemporaryDirectory(prefix="gateway-bench-") as name:
            yield _row(document.resolve(), Path(name), limits, is_generated=is_generated)


def _row(document: Path, folder: Path, limits: Limits, *, is_generated: bool) -> EjectionRow:
    try:
        given = unpacked(document, folder)
    except (OSError, EOFError) as error:
        return EjectionRow(document=document.name, message=f"gzip: {error}")
    command = [sys.executable, str(PROGRAM), str(given), str(folder / "project")]
    run = finished([*command, *(["--generate"] if is_generated else [])], folder, limits)
    if run.is_late or run.status != PASSED:
        reason = f"stopped after {run.seconds:.0f} s" if run.is_late else run.last_error
        return EjectionRow(document=document.name, message=reason, seconds=run.seconds)
    row = msgspec.json.decode(run.output, type=EjectionRow)
    return msgspec.structs.replace(row, document=document.name, seconds=run.seconds)


if __name__ == "__main__":
    sys.exit(main())
