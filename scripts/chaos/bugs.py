"""Sixteen known bugs of queues and webhooks, and copies of the tree in which bugs are planted.

A known bug names the file, the text that must occur in it exactly once, and its replacement.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final

from gateways import ChaosError
from msgspec import Struct

_COMMON: Final = (
    "-q",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:randomly",
    "--ignore=tests/architecture",
)
_NO_TESTS: Final = 5


class Planted(Struct, frozen=True):
    """A bug, and its place in a tree."""

    id: str
    path: str
    line: int
    at: int
    """The offset in bytes."""
    was: str
    becomes: str
    function: str
    """The qualified name of the enclosing function, empty if there is none."""
    tests: tuple[str, ...] = ()
    """Files of tests to run if there is no function that shows which tests reach it."""

    def plant(self, source: bytes) -> bytes:
        """The source with the bug. Raises `ChaosError` if the place has another text."""
        end = self.at + len(self.was.encode())
        if source[self.at : end] != self.was.encode():
            raise ChaosError(f"{self.path}:{self.line} is not the place of '{self.id}'")
        return source[: self.at] + self.becomes.encode() + source[end:]


class Ended(Struct, frozen=True):
    """A run of pytest."""

    status: int | None
    """None if it was stopped because it hung."""
    output: str

    def failed(self) -> list[str]:
        """The tests that failed, in their order, or the files that could not be read."""
        tests = r"^(?:FAILED|ERROR) ((?:tests|gateway/testing)/.+)$"
        lines = re.findall(tests, self.output, re.MULTILINE)
        # A parameter may contain " - ", as the text after the test does.
        return [re.match(r"[^\[ ]*(\[.*?\](?= - |$))?", line)[0] for line in lines]  # type: ignore[index]  # it matches any text

    def shows(self, seconds: float) -> str | None:
        """Which test, or what else, shows a bug. None if all is well."""
        failed = self.failed()
        if self.status is None:
            return f"by hanging for {seconds:.0f} s"
        if self.status in {0, _NO_TESTS}:
            return None
        if self.status == 1 and failed:
            return failed[0]
        return f"by collection: {failed[0] if failed else self.output.strip()[-200:]}"


class Tree(Struct, frozen=True):
    """A copy of the tree, in which one run of pytest at a time takes place."""

    folder: Path

    @contextmanager
    def changed(self, texts: Mapping[str, bytes]) -> Iterator[None]:
        """Files have these texts inside the block."""
        places = {self.folder / path: text for path, text in texts.items()}
        were = {place: place.read_bytes() if place.exists() else None for place in places}
        try:
            for place, text in places.items():
                _write(place, text)
            yield
        finally:
            for place, was in were.items():
                _write(place, was)

    def planted(self, bug: Planted) -> AbstractContextManager[None]:
        """The bug is in the copy inside the block."""
        return self.changed({bug.path: bug.plant((self.folder / bug.path).read_bytes())})

    def run(self, arguments: Iterable[str], seconds: float | None = None) -> Ended:
        """Run pytest, and end what it leaves behind."""
        return self.ended(["-m", "pytest", *_COMMON, *arguments], seconds)

    def ended(
        self, arguments: Iterable[str], seconds: float | None = None, unset: str = "PYTEST_"
    ) -> Ended:
        """Run Python, and end what it leaves behind. `unset`: how variables begin that it lacks."""
        with tempfile.TemporaryFile("w+", errors="replace") as out:
            process = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=self.folder,
                env=_environment(self.folder, unset),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            status = None
            try:
                status = process.wait(seconds)
            except subprocess.TimeoutExpired:
                pass
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            out.seek(0)
            return Ended(status, out.read())


def copied(tree: Path, folder: Path) -> Tree:
    """A copy of what is, or could be, committed."""
    command = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    listed = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        if os.path.lexists(tree / name):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(tree / name, folder / name, follow_symlinks=False)
    return Tree(folder)


def _write(place: Path, text: bytes | None) -> None:
    """With another time, so that no compiled file of an earlier text is taken for it."""
    if text is None:
        place.unlink()
        return
    stamp = place.stat().st_mtime_ns if place.exists() else time.time_ns()
    place.write_bytes(text)
    os.utime(place, ns=(stamp + 1_000_000_000, stamp + 1_000_000_000))


def _environment(folder: Path, unset: str) -> dict[str, str]:
    unwanted = ("PYTEST_", "PYTHONDONTWRITEBYTECODE", unset)
    kept = {name: text for name, text in os.environ.items() if not name.startswith(unwanted)}
    return {**kept, "PYTHONPATH": str(folder)}


class Bug(Struct, frozen=True):
    """A bug to insert."""

    name: str
    path: str
    was: str
    becomes: str
    tests: tuple[str, ...] = ()
    """The tests that can detect it, if it is outside any function."""


BUGS: Final = (
    Bug(
        "no fence: a job is finished by any worker that once had it",
        "gateway/store/sql/jobs.py",
        "shown = and_(JOBS.c.id == job.id, JOBS.c.claim_seq == job.claim_seq)",
        "shown = and_(JOBS.c.id == job.id)",
    ),
    Bug(
        "no reclaim: the naive claim, whose rows stay `processing` for ever",
        "gateway/store/sql/queue.py",
        'jobs_where(CLAIMED, JOBS.c.lease_until < bindparam("now", type_=Moment))',
        'jobs_where(CLAIMED, JOBS.c.lease_until > bindparam("now", type_=Moment))',
    ),
    Bug(
        "acknowledged before the commit",
        "gateway/webhooks/ingest.py",
        "        return await waiting.answer()\n",
        '        return Receipt(outcome="stored", webhook_id="0")\n',
    ),
    Bug(
        "check, then insert: two at the same moment both pass",
        "gateway/store/sql/webhooks.py",
        "    free = await _KEYS.add("
        "connection, [_key_row(*each, now) for each in candidates.items()])\n",
        "    keys = select(WEBHOOK_KEYS.c.provider, WEBHOOK_KEYS.c.message_id)\n"
        "    there = {tuple(row) for row in (await connection.execute(keys)).all()}\n"
        "    new = [_key_row(k, each, now) for k, each in candidates.items() if k not in there]\n"
        "    if new:\n"
        "        await connection.execute(WEBHOOK_KEYS.insert(), new)\n"
        '    free = {row["webhook_id"] for row in new}\n',
    ),
    Bug(
        "BEGIN instead of BEGIN IMMEDIATE",
        "gateway/store/sql/sqlite.py",
        "        await self._execute(self._conn.execute, WRITING)\n",
        '        await self._execute(self._conn.execute, "BEGIN")\n',
    ),
    Bug(
        "attempts counted when they fail, not when they begin",
        "gateway/store/sql/jobs.py",
        "        attempts=JOBS.c.attempts + 1,\n",
        "",
        tests=("tests/conformance/test_queue.py",),
    ),
    Bug(
        "effects in a separate transaction",
        "gateway/store/sql/queue.py",
        "            await apply_changes(connection, self._target, changes, now)\n",
        "            await self._database.write(\n"
        "                lambda to, then: apply_changes(to, self._target, changes, then)\n"
        "            ) if self._database.is_postgres else await apply_changes(\n"
        "                connection, self._target, changes, now\n"
        "            )\n",
    ),
    Bug(
        "the cursor is a sequence, whose numbers commit out of order",
        "gateway/store/sql/events.py",
        '.values(position=bindparam("newest", type_=BigInteger) + numbered.c.number)',
        '.values(position=EVENTS.c.seq + 0 * bindparam("newest", type_=BigInteger))',
    ),
    Bug(
        "no jitter",
        "gateway/job_policy.py",
        "jitter: tuple[float, float] = (0.8, 1.2)",
        "jitter: tuple[float, float] = (1.0, 1.0)",
        ("tests/unit/jobs/test_backoff.py",),
    ),
    Bug(
        "Retry-After without a bound",
        "gateway/jobs/outcome.py",
        "max(base, min(asked_seconds, longest))",
        "max(base, asked_seconds)",
    ),
    Bug(
        "verified after it was parsed",
        "gateway/webhooks/ingest.py",
        "        found = source.authenticate(received, now)\n",
        "        read_messages(source.contract.profiles[0], received)\n"
        "        found = source.authenticate(received, now)\n",
    ),
    Bug(
        "a forged message burns the id of an authentic one",
        "gateway/webhooks/ingest.py",
        "            raise UnauthenticatedMessage(challenge=source.challenge)\n",
        "            forged = read_messages(source.contract.profiles[0], received)[0]\n"
        '            await_ids = self.__dict__.setdefault("burned", set())\n'
        "            await_ids.add(forged.id)\n"
        "            raise UnauthenticatedMessage(challenge=source.challenge)\n"
        '        if read_messages(profile, received)[0].id in self.__dict__.get("burned", ()):\n'
        "            raise ConflictingMessage\n",
    ),
    Bug(
        "synchronous = NORMAL: what is committed may be rolled back after a power loss",
        "gateway/store/sql/sqlite.py",
        '"PRAGMA synchronous = FULL"',
        '"PRAGMA synchronous = NORMAL"',
        tests=("tests/unit/store/sql/test_engine.py",),
    ),
    Bug(
        "a redrive changes the old job in place",
        "gateway/store/sql/queue.py",
        "    session.add(JobRow(**row))\n    return job_of(row)\n",
        '    again = {"state": "pending", "run_at": now, "attempts": 0, "replay_of": job.id}\n'
        "    return job_of(found.sqlmodel_update(again).model_dump())\n",
    ),
    Bug(
        "work is found only after a notification",
        "gateway/jobs/worker.py",
        "await _wait(self._work_may_be_there, self._polls.wait_seconds())",
        "await self._work_may_be_there.wait()",
    ),
    Bug(
        "a commit that failed is answered as if it had not",
        "gateway/webhooks/ingest.py",
        "        _refuse(group)\n        return False\n",
        '        lie = Receipt(outcome="stored", webhook_id="0")\n'
        "        for waiting in group:\n"
        "            waiting.give(lie)\n"
        "        return False\n",
    ),
)

EQUIVALENT: Final[Mapping[str, str]] = {
    "encoding/replies/decoder.py:ReplyDecoder._refuse:logic": "only the words of a log line",
    "settings/credentials.py:refuse_incomplete:condition4": "only a pronoun in an error's text",
    "transports/http/edge.py:Edge._inspect:removed8": "only saves reading a head again",
}
"""Seeded changes without an effect that anybody observes, each with the reason."""
