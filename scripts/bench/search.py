"""Measure the search of tools with the questions of files, over the documents of FOLDER.

A line of a file is an object with `question`, `operation` (the tool that answers it) and `document`
(a file of FOLDER, also `.gz`, or `own` for the catalogue of this repository). The tools of a whole
document are in one index, as for an agent that is granted all of them.

For each document: the tools; the share of the questions whose tool is among the first five results
(recall@5) and is the first one; the milliseconds of processor time of a query; the seconds and the
memory of building the index; and the tokens of the list of tools that the agent sees.

With `--fts5`, SQLite's full-text search answers the same questions, over the same texts with the
same weights of fields and its own stemmer: what the gateway would find without an index of its own.
"""

import argparse
import asyncio
import gzip
import re
import sqlite3
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec
from machine import description
from msgspec import Struct
from processes import BenchError

from gateway.authoring.codegen.imported import record_text
from gateway.authoring.contracts.finding import ContractRefused
from gateway.authoring.openapi.lowering.connector import lower_connector
from gateway.authoring.openapi.lowering.records import ImportFile
from gateway.authoring.openapi.reading.normalise import normalise
from gateway.authoring.openapi.reading.source import parse_source
from gateway.catalogue import AgentPolicies, Catalogue, PublishedDocuments, open_catalogue
from gateway.catalogue.imported import open_imported
from gateway.publication.own_tools import Offer
from gateway.publication.search import FIELDS, FoundTool, OfferIndex, found_tool, searched_texts
from gateway.publication.view import ShownNames, ToolView, estimated_tokens
from gateway.transports.mcp.descriptions import ToolTexts
from gateway.transports.mcp.own_tools import OfferIndexes, OwnTools, search_kind
from gateway.transports.mcp.protocol import revision_of

OWN: Final = "own"
FIRST: Final = 5
HEAD: Final = (
    "tools questions recall@5  first   p50 ms   p95 ms  build s     MB  list tokens".rjust(80)
)


class Question(Struct, frozen=True):
    """One line of a file of questions."""

    question: str
    operation: str
    document: str


class Row(Struct, frozen=True, kw_only=True):
    """The figures of one document."""

    document: str
    tools: int
    questions: int
    found: int
    """Questions whose tool is among the first five results."""
    first: int
    milliseconds: tuple[float, ...]
    """Of processor time of each query, sorted."""
    build_seconds: float
    index_mb: float | None
    list_tokens: int
    missed: tuple[str, ...]


def main() -> int:
    arguments = _parser().parse_args()
    try:
        asked = _questions(arguments.questions)
        rows = [_measured(name, each, arguments) for name, each in asked.items()]
    except (BenchError, OSError, msgspec.DecodeError, ContractRefused) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    facts = description()
    facts = {name: facts[name] for name in ("command", "date", "machine", "load_average", "python")}
    total = _total(rows)
    if arguments.json:
        print(msgspec.json.encode({**facts, "documents": rows, "total": total}).decode())
        return 0
    print("\n".join(f"{name}: {value}" for name, value in facts.items()))
    print(f"\n{'document':28}{HEAD}")
    print("\n".join(map(_line, [*rows, total])))
    if arguments.misses:
        print("\n".join(miss for row in rows for miss in row.missed))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder with OpenAPI documents")
    parser.add_argument(
        "--questions", type=Path, nargs="+", required=True, help="files of questions"
    )
    parser.add_argument("--memory", action="store_true", help="measure the memory of the indexes")
    parser.add_argument("--fts5", action="store_true", help="search by SQLite's FTS5")
    parser.add_argument("--misses", action="store_true", help="print the questions that failed")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def _questions(files: Iterable[Path]) -> Mapping[str, list[Question]]:
    """The questions by document."""
    found: dict[str, list[Question]] = {}
    for file in files:
        for line in file.read_bytes().splitlines():
            question = msgspec.json.decode(line, type=Question)
            found.setdefault(question.document, []).append(question)
    return found


def _measured(name: str, questions: Sequence[Question], options: argparse.Namespace) -> Row:
    print(f"{name}: {len(questions)} questions", file=sys.stderr)
    catalogue = _own() if name == OWN else _imported(options.folder / name)
    offer = _offer(catalogue)
    unknown = {each.operation for each in questions} - {each.id for each in offer.entries}
    if unknown:
        raise BenchError(f"{name} has no operation {', '.join(sorted(unknown))}")
    started = time.perf_counter()
    index = FullTextIndex(offer) if options.fts5 else _index(catalogue, offer)
    build_seconds = time.perf_counter() - started
    names = {entry.id: entry.tool.name for entry in offer.entries}
    times, ranks = [], []
    for each in questions:
        started = time.thread_time()
        results = [found.name for found in index.find(each.question, FIRST)]
        times.append(1000 * (time.thread_time() - started))
        wanted = names[each.operation]
        ranks.append(results.index(wanted) if wanted in results else None)
    texts, revision = ToolTexts(ShownNames(catalogue)), revision_of("2025-11-25")
    listed = OwnTools((search_kind(catalogue),)).open(offer).listed
    size = sum(len(texts.text(each, offer.view, revision, None)) for each in listed)
    return Row(
        document=name,
        tools=len(offer.entries),
        questions=len(questions),
        found=sum(rank is not None for rank in ranks),
        first=ranks.count(0),
        milliseconds=tuple(sorted(times)),
        build_seconds=build_seconds,
        index_mb=_memory(catalogue, offer) if options.memory else None,
        list_tokens=estimated_tokens(size),
        missed=tuple(
            f"{each.operation}: {each.question}"
            for each, rank in zip(questions, ranks, strict=True)
            if rank is None
        ),
    )


class FullTextIndex:
    """The tools of an offer in a table of SQLite's FTS5."""

    def __init__(self, offer: Offer) -> None:
        self._found = [found_tool(offer, each, each.listing) for each in offer.entries]
        self._table = sqlite3.connect(":memory:")
        columns = ", ".join(FIELDS)
        self._table.execute(
            f"create virtual table tools using fts5({columns}, tokenize='porter unicode61')"
        )
        for number, each in enumerate(offer.entries):
            texts = searched_texts(each.listing)
            values = [number, *(texts.get(name, "") for name in FIELDS)]
            marks = ", ".join("?" * len(values))
            self._table.execute(
                f"insert into tools (rowid, {columns}) values ({marks})",  # noqa: S608 - our fields
                values,
            )
        weights = ", ".join(str(each.weight) for each in FIELDS.values())
        self._query = (
            f"select rowid from tools where tools match ? order by bm25(tools, {weights}) limit ?"  # noqa: S608 - numbers of our fields
        )

    def find(self, query: str, limit: int) -> list[FoundTool]:
        """The tools that fit `query` best, best first."""
        words = re.findall(r"\w+", query)
        wanted = " OR ".join(f'"{word}"' for word in words)
        rows = self._table.execute(self._query, (wanted, limit)) if words else ()
        return [self._found[number] for (number,) in rows]


def _offer(catalogue: Catalogue) -> Offer:
    """All tools of `catalogue`, granted."""
    return Offer(
        entries=tuple(sorted(catalogue.entries, key=lambda entry: entry.tool.name)),
        connector=None,
        view=ToolView("search"),
    )


def _index(catalogue: Catalogue, offer: Offer) -> OfferIndex:
    return asyncio.run(OfferIndexes(catalogue).of(offer))


def _memory(catalogue: Catalogue, offer: Offer) -> float:
    tracemalloc.start()
    kept = _index(catalogue, offer)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del kept
    return size / 1e6


def _own() -> Catalogue:
    return open_catalogue("generated", ("gateway.connectors",))


def _imported(path: Path) -> Catalogue:
    raw = path.read_bytes()
    name = path.name.removesuffix(".gz")
    connector = name.partition("-")[0].partition(".")[0]
    source = parse_source(gzip.decompress(raw) if path.suffix == ".gz" else raw, name)
    wishes = ImportFile(document=name, sha256="0" * 64)
    record = record_text(lower_connector(normalise(source), connector, wishes).connector)
    with tempfile.TemporaryDirectory(prefix="gateway-bench-") as folder:
        file = Path(folder, "imported", f"{connector}.json")
        file.parent.mkdir()
        file.write_text(record, "utf-8")
        (found,) = open_imported(Path(folder))
        return Catalogue(
            found.entries,
            upstreams={connector: found.upstream},
            agents=AgentPolicies({}),
            published=PublishedDocuments(b"{}"),
        )


def _total(rows: Sequence[Row]) -> Row:
    return Row(
        document="all",
        tools=sum(each.tools for each in rows),
        questions=sum(each.questions for each in rows),
        found=sum(each.found for each in rows),
        first=sum(each.first for each in rows),
        milliseconds=tuple(sorted(time for each in rows for time in each.milliseconds)),
        build_seconds=sum(each.build_seconds for each in rows),
        index_mb=sum(each.index_mb or 0 for each in rows) or None,
        list_tokens=max(each.list_tokens for each in rows),
        missed=(),
    )


def _line(row: Row) -> str:
    times = row.milliseconds
    p50, p95 = times[len(times) // 2], times[int(len(times) * 0.95)]
    recall = f"{100 * row.found / row.questions:.1f}%"
    memory = "-" if row.index_mb is None else f"{row.index_mb:.1f}"
    return (
        f"{row.document:28}{row.tools:>7}{row.questions:>10}{recall:>9}"
        f"{100 * row.first / row.questions:>6.0f}%{p50:>9.2f}{p95:>9.2f}{row.build_seconds:>9.2f}"
        f"{memory:>7}{row.list_tokens:>13}"
    )


if __name__ == "__main__":
    sys.exit(main())
