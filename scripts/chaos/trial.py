"""Common parts of the chaos scripts: options, database, progress bar and report."""

import argparse
import asyncio
import contextlib
import json
import os
import platform
import shlex
import socket
import sqlite3
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import asyncpg  # type: ignore[import-untyped]  # it ships no types
from checker import check
from evidence import gather
from gateways import ROOT, ChaosError
from invariants import Tolerance
from msgspec import Struct

ENGINES: Final = ("sqlite", "postgres")
POSTGRES: Final = os.environ.get(
    "GATEWAY_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/postgres"
)
_BAR: Final = 40
_OPEN: Final = (
    "SELECT count(*) FROM jobs WHERE state IN ('pending', 'processing', 'retryable')"
    " AND kind <> 'delivery'"  # an endpoint may fail for days
)
_UNPLACED: Final = "SELECT count(*) FROM events WHERE position IS NULL"

Run = Callable[["Trial"], Awaitable[dict[str, Any]]]


class Trial(Struct, frozen=True, kw_only=True):
    """One run of a script on one engine."""

    engine: str
    database: str
    folder: Path
    options: argparse.Namespace
    bar: "Bar"

    @property
    def sent(self) -> Path:
        """The sender's log."""
        return self.folder / "sent.jsonl"

    @property
    def received(self) -> Path:
        """The endpoint's log."""
        return self.folder / "received.jsonl"

    @property
    def seen(self) -> Path:
        """The followers' log."""
        return self.folder / "seen.jsonl"

    async def report(self, *, is_quiet: bool = True, margin: float = 7.0) -> dict[str, Any]:
        """The checker's report on the current state."""
        logs = [path if path.exists() else None for path in (self.received, self.seen)]
        tolerance = Tolerance(margin=margin, is_quiet=is_quiet)
        return await asyncio.to_thread(
            lambda: check(gather(self.database, self.sent, *logs), tolerance)
        )

    async def ask(self, query: str) -> Any:
        """The first value of the first row."""
        return (await self.rows(query))[0][0]

    async def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of the query."""
        if self.engine == "postgres":
            connection = await asyncpg.connect(self.database)
            try:
                return [tuple(row) for row in await connection.fetch(query)]
            finally:
                await connection.close()
        return await asyncio.to_thread(_ask_sqlite, self.database, query)

    async def change(self, statement: str) -> None:
        """Run one statement that changes data. No gateway may run."""
        if self.engine == "postgres":
            connection = await asyncpg.connect(self.database)
            try:
                await connection.execute(statement)
            finally:
                await connection.close()
        else:
            path = self.database.removeprefix("sqlite:///")
            with contextlib.closing(sqlite3.connect(path, timeout=10)) as opened:
                opened.execute(statement)
                opened.commit()

    async def quiet(self, seconds: float) -> float:
        """Wait until no job is open. Returns the seconds; raises `ChaosError` after `seconds`."""
        began = time.monotonic()
        while (left := await self.ask(_OPEN) + await self.ask(_UNPLACED)) > 0:
            if time.monotonic() - began > seconds:
                raise ChaosError(f"{left} jobs and events are not done after {seconds:g} s")
            self.bar.note(f"waiting for {left} jobs")
            await asyncio.sleep(0.2)
        return time.monotonic() - began


class Bar:
    """Progress on standard error: in place on a terminal, otherwise a line for each tenth."""

    def __init__(self, label: str, total: int) -> None:
        self._label = label
        self._total = max(total, 1)
        self._done = 0
        self._reported = -1
        self._began = time.monotonic()

    def step(self, note: str = "") -> None:
        """Add one step."""
        self._done += 1
        self.note(note)

    def note(self, note: str) -> None:
        """Print the progress with a note."""
        share = min(self._done / self._total, 1.0)
        spent = time.monotonic() - self._began
        line = f"{self._label} {self._done}/{self._total} {spent:.0f} s {note}"
        if sys.stderr.isatty():
            filled = "█" * int(share * _BAR)
            print(f"\r{filled:░<{_BAR}} {line[:70]:70}", end="", file=sys.stderr, flush=True)
        elif int(share * 10) > self._reported:
            self._reported = int(share * 10)
            print(line, file=sys.stderr, flush=True)

    def end(self) -> None:
        """End the line."""
        if sys.stderr.isatty():
            print(file=sys.stderr)


def parser(doc: str | None) -> argparse.ArgumentParser:
    """The options of all chaos scripts."""
    made = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--engine", choices=(*ENGINES, "both"), default="both")
    made.add_argument("--seed", type=int, default=1, help="default: %(default)s")
    made.add_argument("--json", action="store_true", help="print the report as JSON")
    made.add_argument("--keep", type=Path, help="folder for logs and databases, which are kept")
    made.add_argument("--tree", type=Path, default=ROOT, help="folder of the gateway under test")
    return made


def run_trials(options: argparse.Namespace, label: str, steps: int, run: Run) -> int:
    """Run on each requested engine, and report. Exit 0, 1 on a finding, 2 on an error."""
    engines = ENGINES if options.engine == "both" else (options.engine,)
    report: dict[str, Any] = {**circumstances(), "seed": options.seed, "engines": {}}
    try:
        for engine in engines:
            report["engines"][engine] = asyncio.run(_play(options, engine, label, steps, run))
    except (ChaosError, OSError, asyncpg.PostgresError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(json.dumps(report, indent=2) if options.json else page(report))
    return 1 if any(each.get("failures") for each in report["engines"].values()) else 0


def circumstances() -> dict[str, Any]:
    """The environment of a run: the command, the machine, and the date."""
    return {
        "command": shlex.join(["python", *sys.orig_argv[1:]]),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": f"{os.cpu_count()} cores, {platform.platform()}, Python "
        f"{platform.python_version()}, SQLite {sqlite3.sqlite_version}",
        "load_average": round(os.getloadavg()[0], 1),
    }


def page(report: Mapping[str, Any]) -> str:
    """The report for people."""
    lines = [f"{name}: {value}" for name, value in report.items() if name != "engines"]
    for engine, figures in report["engines"].items():
        lines += ["", f"{engine}: {'FAILED' if figures.get('failures') else 'ok'}"]
        lines += [f"  {name}: {_shown(value)}" for name, value in figures.items()]
    return "\n".join(lines)


def failures_of(report: Mapping[str, Any], *more: str) -> list[str]:
    """All failures of a run."""
    return [*report["findings"], *(each for each in more if each)]


def free_port() -> int:
    """A free port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share of `values` is; 0 if there are none."""
    found = sorted(values)
    return found[min(int(len(found) * share), len(found) - 1)] if found else 0.0


async def _play(
    options: argparse.Namespace, engine: str, label: str, steps: int, run: Run
) -> dict[str, Any]:
    with contextlib.ExitStack() as stack:
        made = stack.enter_context(tempfile.TemporaryDirectory(prefix="chaos-"))
        folder = Path(made)
        if options.keep is not None:
            folder = options.keep.absolute() / engine
            folder.mkdir(parents=True)
        bar = Bar(f"{label} {engine}", steps)
        stack.callback(bar.end)
        async with database_of(engine, folder) as url:
            trial = Trial(engine=engine, database=url, folder=folder, options=options, bar=bar)
            began = time.monotonic()
            figures = await run(trial)
            return {"seconds": round(time.monotonic() - began, 1), **figures}


@asynccontextmanager
async def database_of(engine: str, folder: Path) -> AsyncIterator[str]:
    """The URL of an empty database, which is removed after the block."""
    if engine == "sqlite":
        yield f"sqlite:///{folder / 'gateway.db'}"
        return
    name = f"chaos_{uuid4().hex[:12]}"
    await _execute(f'CREATE DATABASE "{name}"')
    try:
        yield POSTGRES.rpartition("/")[0] + f"/{name}"
    finally:
        await _execute(f'DROP DATABASE "{name}" WITH (FORCE)')


async def _execute(statement: str) -> None:
    connection = await asyncpg.connect(POSTGRES)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


def _ask_sqlite(database: str, query: str) -> list[tuple[Any, ...]]:
    path = database.removeprefix("sqlite:///")
    with contextlib.closing(
        sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)
    ) as opened:
        return opened.execute(query).fetchall()


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {each}" for name, each in value.items())
    if isinstance(value, list):
        return "".join(f"\n    {each}" for each in value) or "none"
    return str(value)
