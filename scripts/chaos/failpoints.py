"""R2: die at each of the named places in the gateway's code, again and again, and lose nothing.

`GATEWAY_FAILPOINT` has `gateway serve` kill itself where the code passes a place: after a commit
and before the answer, between an effect and its commit, in a heartbeat, in a migration, and so on.
It is started with each place as often as asked for, under signed messages and deliveries, some of
which fail; after each death the checker looks at what is left, and at the end at all of it.

    python scripts/chaos/failpoints.py --times 25 --engine both
"""

import asyncio
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, Final

from evidence import digest
from gateways import SECRET, Nursery, Process, environment, nursery, serving
from receiver import Moods, Receiver, receiving, subscribe
from sender import Message, Sender, opened, quote, sending
from trial import Trial, database_of, failures_of, free_port, parser, play

PLACES: Final = (
    "ingest.after_body",
    "ingest.after_verify",
    "ingest.before_commit",
    "ingest.after_commit",
    "jobs.after_claim",
    "jobs.mid_run",
    "jobs.before_commit",
    "jobs.after_commit",
    "jobs.in_heartbeat",
    "jobs.in_retry",
    "jobs.in_dead_letter",
    "jobs.in_sweep",
    "events.before_send",
    "events.after_send",
    "retention.before_commit",
)
"""Passed by a gateway that works. A migration is passed once, by one that is new."""
MIGRATION: Final = "migration.before_commit"
LEASE_SECONDS: Final = 2.0
DEATH_SECONDS: Final = 30.0
_BEHIND_SECONDS: Final = 900.0
"""An endpoint that is often late and fails may be that far behind; messages are not, in the end."""
_DAY: Final = 86_400_000_000
_WELL: Final = Moods(failing=0.1, late=0.2)
_SICK: Final = Moods(failing=0.9)
_RETRIED: Final = "jobs.in_retry"
_POISONED: Final = "jobs.in_dead_letter"
_AGED: Final = "retention.before_commit"


def main() -> int:
    """Run, and report."""
    made = parser(__doc__)
    made.add_argument("--times", type=int, default=25, help="deaths at each place")
    made.add_argument("--rate", type=float, default=40.0, help="messages a second")
    made.add_argument("--place", action="append", choices=(*PLACES, MIGRATION), help="only these")
    options = made.parse_args()
    options.place = options.place or [*PLACES, MIGRATION]
    return play(options, "failpoints", options.times * len(options.place), run)


async def run(trial: Trial) -> dict[str, Any]:
    """One run on one engine."""
    options = trial.options
    random = Random(options.seed)  # noqa: S311 - chances, not secrets
    async with (
        nursery(trial.folder, tree=options.tree, lease=LEASE_SECONDS) as born,
        receiving(trial.received, random, _WELL) as receiver,
    ):
        site = Site(born, trial, receiver)
        await site.open()
        with opened(trial.sent) as log:
            sender = Sender(f"http://127.0.0.1:{site.port}", SECRET, log)
            async with sending(sender, options.rate, random, lambda at: f"m{options.seed}-{at}"):
                for place in [each for each in options.place if each != MIGRATION]:
                    for number in range(options.times):
                        await site.die_at(place, number, sender, random)
                        trial.bar.step(place)
                last = await site.start({})
        if MIGRATION in options.place:
            await site.die_in_migrations(options.times)
        await trial.quiet(10 * LEASE_SECONDS + 60)
        verdict = await trial.verdict(margin=_BEHIND_SECONDS)
        await last.stop()
    return {
        "deaths": dict(site.deaths),
        **verdict["census"],
        "holds": " ".join(verdict["holds"]),
        "failures": failures_of(verdict, *site.failures),
    }


class Site:
    """The gateway that dies."""

    def __init__(self, born: Nursery, trial: Trial, receiver: Receiver) -> None:
        self._born = born
        self._trial = trial
        self._receiver = receiver
        self._poison = 0
        self.port = free_port()
        self.deaths: Counter[str] = Counter()
        """By place, each proven by the line that the place wrote."""
        self.failures: list[str] = []

    async def open(self) -> None:
        """Make the database, and subscribe the endpoint."""
        first = await self.start({})
        await subscribe(f"http://127.0.0.1:{self.port}", self._receiver)
        await first.stop()

    async def start(self, env: dict[str, str]) -> Process:
        """A gateway that is ready, or dead already."""
        settings = environment(self._trial.database, **env)
        process = await self._born.start(
            *serving(self._trial.folder / "data", self.port), env=settings
        )
        if not env:
            await process.ready()
        return process

    async def die_at(self, place: str, number: int, sender: Sender, random: Random) -> None:
        """One death at `place`, and a look at what it left."""
        if place == _AGED:
            await age_messages(self._trial)
        self._receiver.moods = _SICK if place == _RETRIED else _WELL
        nth = random.randint(1, 3)
        proof = self._trial.folder / f"{place}-{number}.log"
        process = await self.start(
            {"GATEWAY_FAILPOINT": f"{place}:{nth}", "GATEWAY_FAILPOINT_LOG": str(proof)}
        )
        for _ in range(nth if place == _POISONED else 0):
            self._poison += 1
            sender.put(_poison(f"p{self._trial.options.seed}-{self._poison}"))
        if await self._has_died(process, place, proof):
            verdict = await self._trial.verdict(is_quiet=False, margin=_BEHIND_SECONDS)
            self.failures += [f"after {place} #{number}: {each}" for each in verdict["findings"]]

    async def die_in_migrations(self, times: int) -> None:
        """A database that is being made is there afterwards, or nothing of it is."""
        folder = self._trial.folder / "new"
        folder.mkdir()
        async with database_of(self._trial.engine, folder) as url:
            port, proof = free_port(), folder / "migration.log"
            argv = serving(folder / "data", port)
            dying = {"GATEWAY_FAILPOINT": MIGRATION, "GATEWAY_FAILPOINT_LOG": str(proof)}
            for _ in range(times):
                proof.unlink(missing_ok=True)
                process = await self._born.start(*argv, env=environment(url, **dying))
                await self._has_died(process, MIGRATION, proof)
                self._trial.bar.step(MIGRATION)
            living = await self._born.start(*argv, env=environment(url))
            await living.ready()
            with opened(self._trial.folder / "new.jsonl") as log:
                status = await Sender(f"http://127.0.0.1:{port}", SECRET, log).send(quote("new-1"))
            if status != 202:
                self.failures.append(f"after deaths in migrations a message is answered {status}")
            await living.stop()

    async def _has_died(self, process: Process, place: str, proof: Path) -> bool:
        try:
            async with asyncio.timeout(DEATH_SECONDS):
                await process.died.wait()
        except TimeoutError:
            self.failures.append(f"{place} was not passed in {DEATH_SECONDS:g} s: {process.tail()}")
            await process.kill()
            return False
        if process.status != signal.SIGKILL or not _is_proven(proof, place):
            self.failures.append(f"{place}: ended by {process.status} elsewhere: {process.tail()}")
            return False
        self.deaths[place] += 1
        return True


async def age_messages(trial: Trial) -> None:
    """Make what is done 40 days old, so that its bodies are forgotten, when no gateway runs."""
    await trial.change(
        f"UPDATE jobs SET updated_at = updated_at - {40 * _DAY}"  # noqa: S608 - its own number
        " WHERE kind = 'webhook' AND state = 'completed'"
    )
    # Once only: after 90 days the ids would be forgotten too.
    young = (time.time_ns() // 1000) - _DAY
    await trial.change(
        f"UPDATE webhooks SET received_at = received_at - {40 * _DAY}"  # noqa: S608 - its own numbers
        f" WHERE received_at > {young}"
    )


def _is_proven(proof: Path, place: str) -> bool:
    return proof.exists() and place in proof.read_text()


def _poison(message_id: str) -> Message:
    """An authentic message whose time has no place in the tables: a dead letter at once."""
    message = quote(message_id)
    at = message.body.index(b'"timestamp": "') + len(b'"timestamp": "')
    body = (
        message.body[:at] + b"0001-01-01T00:00:00Z" + message.body[message.body.index(b'"', at) :]
    )
    assert digest(body) != digest(message.body)  # noqa: S101 - or nothing here would be poison
    return Message(message_id, body)


if __name__ == "__main__":
    sys.exit(main())
