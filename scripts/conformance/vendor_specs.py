#!/usr/bin/env python3
"""Compare our upstream contracts with the vendors' published descriptions, by operation.

Google's discovery documents come with google-api-python-client. Other vendors' descriptions are
read from the folder `--specs`, with one folder of JSON files per upstream; without it, they are
skipped. Each difference must be in accepted_differences.toml with its reason, and each entry there
must still be found. The script writes docs/contributing/reports/upstream-differences.md from it.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import msgspec
from accepted_differences import Accepted, page, read_accepted, unexplained, vanished
from vendor_differences import Difference, differences
from vendor_documents import Document, open_document, open_folder

from gateway.authoring.contracts.tree import SourceTree, read_tree
from gateway.authoring.contracts.upstreams import lower_upstream

ROOT: Final = Path(__file__).resolve().parents[2]
ACCEPTED: Final = Path(__file__).with_name("accepted_differences.toml")
PAGE: Final = ROOT / "docs" / "contributing" / "reports" / "upstream-differences.md"
GOOGLE: Final[Mapping[str, str]] = {"gmail": "gmail.v1.json", "sheets": "sheets.v4.json"}
FOLDERS: Final = ("amadeus", "frankfurter")


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit 0 if all differences are explained and the page is current, 1 if not, 2 for misuse."""
    options = _parser().parse_args(arguments)
    if options.specs is not None and not options.specs.is_dir():
        print(f"error: --specs {options.specs} is not a folder", file=sys.stderr)
        return 2
    accepted = read_accepted(ACCEPTED.read_text("utf-8"))
    tree = read_tree(options.schemas)
    documents = dict(_documents(tree, options.specs))
    found = [
        difference
        for name, described in documents.items()
        for difference in differences(lower_upstream(tree, name), described)
    ]
    problems = [*unexplained(accepted, found), *vanished(accepted, found, documents)]
    problems += _page_problems(accepted, is_check=options.check)
    _report(options.json, sorted(documents), found, problems)
    return 1 if problems else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--specs", type=Path, help="folder with the vendors' descriptions")
    parser.add_argument("--schemas", type=Path, default=ROOT / "schemas", help="our contracts")
    parser.add_argument("--check", action="store_true", help="write nothing; compare the page")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    return parser


def _documents(tree: SourceTree, specs: Path | None) -> Iterator[tuple[str, list[Document]]]:
    """The available descriptions, by upstream."""
    for name, file in GOOGLE.items():
        if name in tree.upstreams:
            folder = files("googleapiclient") / "discovery_cache" / "documents"
            yield name, [open_document((folder / file).read_text("utf-8"))]
    for name in FOLDERS:
        if name in tree.upstreams and specs is not None and (specs / name).is_dir():
            yield name, open_folder(specs / name)


def _page_problems(accepted: Sequence[Accepted], *, is_check: bool) -> list[str]:
    text = page(accepted)
    if PAGE.is_file() and PAGE.read_text("utf-8") == text:
        return []
    if is_check:
        return [f"{PAGE.relative_to(ROOT)} is stale; run scripts/conformance/vendor_specs.py"]
    PAGE.write_text(text, "utf-8", newline="\n")
    return []


def _report(
    is_json: bool, compared: Sequence[str], found: Sequence[Difference], problems: Sequence[str]
) -> None:
    if is_json:
        answer: dict[str, Any] = {
            "compared": compared,
            "differences": msgspec.to_builtins(found),
            "problems": problems,
        }
        print(json.dumps(answer, indent=2))
        return
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"compared: {', '.join(compared)}; {len(found)} differences, {len(problems)} problems")


if __name__ == "__main__":
    sys.exit(main())
