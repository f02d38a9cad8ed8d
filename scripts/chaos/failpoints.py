"""R2: kill the gateway repeatedly at each of its failpoints, and lose nothing.

With `GATEWAY_FAILPOINT`, `gateway serve` kills itself at a failpoint: after a commit and before the
response, between an effect and its commit, in a heartbeat, in a migration, and so on. It is started
`--times` times with each failpoint, under load of signed messages and deliveries, some of which
fail. The checker runs after each death and at the end.

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
from receiver import FaultRates, Receiver, receiving, subscribe
from sender import Message, Sender, opened, quote, sending
from trial import Trial, database_of, failures_of, free_port, parser, run_trials

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
"""The failpoints of a running gateway. The one in a migration is passed only by a new database."""
MIGRATION: Final = "migration.before_commit"
LEASE_SECONDS: Final = 2.0
DEATH_SECONDS: Final = 300.0
_BEHIND_SECONDS: Final = 900.0
"""Deliveries to an endpoint that is often late or fails may be this far behind."""
_DAY: Final = 86_400_000_000
_RELIABLE: Final = FaultRates(failing=0.1, late=0.2)
_FAILING: Final = FaultRates(failing=0.9)
_RETRIED: Final = "jobs.in_retry"
_POISONED: Final = "jobs.in_dead_letter"
_AGED: Final = "retention.before_commit"


def main() -> int:
    """Run the trial and print its report."""
    made = parser(__doc__)
    made.add_argument("--times", type=int, default=25, help="deaths at each failpoint")
    made.add_argument("--rate", type=float, default=40.0, help="messages per second")
    made.add_argument("--place", action="append", choices=(*PLACES, MIGRATION), help="only these")
    options = made.parse_args()
    options.place = options.place or [*PLACES, MIGRATION]
    return run_trials(options, "failpoints", options.times * len(options.place), run)


async def run(trial: Trial) -> dict[str, Any]:
    """Run on one engine."""
    options = trial.options
    random = Random(options.seed)  # noqa: S311 - chances, not secrets
    async with (
        nursery(trial.folder, tree=options.tree, lease=LEASE_SECONDS) as born,
        receiving(trial.received, random, _RELIABLE) as receiver,
    ):
        gateway = KilledGateway(born, trial, receiver)
        await gateway.open()
        with opened(trial.sent) as log:
            sender = Sender(f"http://127.0.0.1:{gateway.port}", SECRET, log)
            async with sending(sender, options.rate, random, lambda at: f"m{options.seed}-{at}"):
                for place in [each for each in options.place if each != MIGRATION]:
                    for number in range(options.times):
                        await gateway.die_at(place, number, sender, random)
                        trial.bar.step(place)
                last = await gateway.start({})
        if MIGRATION in options.place:
            await gateway.die_in_migrations(options.times)
        await trial.quiet(10 * LEASE_SECONDS + 60)
        report = await trial.report(margin=_BEHIND_SECONDS)
        await last.stop()
    return {
        "deaths": dict(gateway.deaths),
        **report["census"],
        "holds": " ".join(report["holds"]),
        "failures": failures_of(report, *gateway.failures),
    }


class KilledGateway:
    """The gateway that is killed."""

    def __init__(self, born: Nursery, trial: Trial, receiver: Receiver) -> None:
        self._born = born
        self._trial = trial
        self._receiver = receiver
        self._poison = 0
        self.port = free_port()
        self.deaths: Counter[str] = Counter()
        """Deaths by failpoint, each confirmed by the line that the failpoint logged."""
        self.failures: list[str] = []

    async def open(self) -> None:
        """Create the database, and subscribe the endpoint."""
        first = await self.start({})
        await subscribe(f"http://127.0.0.1:{self.port}", self._receiver)
        await first.stop()

    async def start(self, env: dict[str, str]) -> Process:
        """Start a gateway; without a failpoint, wait until it is ready."""
        settings = environment(self._trial.database, **env)
        process = await self._born.start(
            *serving(self._trial.folder / "data", self.port), env=settings
        )
        if not env:
            await process.ready()
        return process

    async def die_at(self, place: str, number: int, sender: Sender, random: Random) -> None:
        """Kill it at `place`, and run the checker."""
        if place == _AGED:
            await age_messages(self._trial)
        self._receiver.fault_rates = _FAILING if place == _RETRIED else _RELIABLE
        nth = random.randint(1, 3)
        proof = self._trial.folder / f"{place}-{number}.log"
        process = await self.start(
            {"GATEWAY_FAILPOINT": f"{place}:{nth}", "GATEWAY_FAILPOINT_LOG": str(proof)}
        )
        for _ in range(nth if place == _POISONED else 0):
            self._poison += 1
            sender.put(_poison(f"p{self._trial.options.seed}-{self._poison}"))
        if await self._has_died(process, place, proof):
            report = await self._trial.report(is_quiet=False, margin=_BEHIND_SECONDS)
            self.failures += [f"after {place} #{number}: {each}" for each in report["findings"]]

    async def die_in_migrations(self, times: int) -> None:
        """Kill it during migrations: a database is created completely, or not at all."""
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
    """Set completed webhooks to 40 days ago, so that their bodies are removed."""
    await trial.change(
        f"UPDATE jobs SET updated_at = updated_at - {40 * _DAY}"  # noqa: S608 - its own number
        " WHERE kind = 'webhook' AND state = 'completed'"
    )
    # Only once: after 90 days, the ids would be removed too.
    young = (time.time_ns() // 1000) - _DAY
    await trial.change(
        f"UPDATE webhooks SET received_at = received_at - {40 * _DAY}"  # noqa: S608 - its own numbers
        f" WHERE received_at > {young}"
    )


def _is_proven(proof: Path, place: str) -> bool:
    return proof.exists() and place in proof.read_text()


def _poison(message_id: str) -> Message:
    """An authentic message with a time that the tables cannot store: a dead letter at once."""
    message = quote(message_id)
    at = message.body.index(b'"timestamp": "') + len(b'"timestamp": "')
    body = (
        message.body[:at] + b"0001-01-01T00:00:00Z" + message.body[message.body.index(b'"', at) :]
    )
    assert digest(body) != digest(message.body)  # noqa: S101 - otherwise the message is valid
    return Message(message_id, body)


if __name__ == "__main__":
    sys.exit(main())
