"""R3 and R4: jobs of dead workers are taken over in time, and lost claims are refused.

R3: processes with 1,000 claims are killed by SIGKILL right after they have claimed. Each claim must
be taken back within lease, sweep and one second, which is 36 s by default. R4: a worker with claims
(a "zombie") is stopped by SIGSTOP until its leases have ended and others have done its jobs, and is
continued by SIGCONT. All its later writes must be refused. On SQLite, where one process owns the
file, that process itself is stopped beyond its leases.

    python scripts/chaos/takeover.py --claims 1000 --zombies 100
"""

import asyncio
import contextlib
import signal
import sys
import time
from random import Random
from typing import Any, Final

from gateways import SECRET, ChaosError, Nursery, Process, environment, nursery, serving
from sender import Sender, opened, quote, sending
from trial import Trial, failures_of, free_port, parser, percentile, run_trials

from gateway.job_policy import WORK_POLICY

_BIG: Final = "64"
"""The setting `workers` of a worker that claims some hundred jobs at once."""
_ZOMBIE_LEASE_SECONDS: Final = 2.0
_HELD: Final = "SELECT count(*) FROM jobs WHERE state = 'processing' AND claimed_by LIKE '%:{pid}'"
_EXPIRED: Final = (
    "SELECT a.worker, a.ended_at, b.started_at FROM job_attempts a JOIN job_attempts b"
    " ON b.job_id = a.job_id AND b.claim_seq = a.claim_seq + 1 WHERE a.outcome = 'lease_expired'"
)


def main() -> int:
    """Run the trial and print its report."""
    made = parser(__doc__)
    made.add_argument("--claims", type=int, default=1000)
    made.add_argument("--zombies", type=int, default=100)
    made.add_argument("--lease", type=float, help="lease in R3, instead of the gateway's 30 s")
    made.add_argument("--margin", type=float, default=1.0, help="seconds after lease and sweep")
    options = made.parse_args()
    return run_trials(options, "takeover", options.zombies, run)


async def run(trial: Trial) -> dict[str, Any]:
    """Run both on one engine, one after the other on the same database."""
    dead = await take_over(trial) if trial.options.claims else {}
    undead = await refuse(trial) if trial.options.zombies else {}
    report = await trial.report()
    failures = [*dead.pop("failures", []), *undead.pop("failures", [])]
    return {
        **dead,
        **undead,
        **report["census"],
        "holds": " ".join(report["holds"]),
        "failures": failures_of(report, *failures),
    }


async def take_over(trial: Trial) -> dict[str, Any]:
    """R3."""
    options = trial.options
    lease = options.lease or WORK_POLICY.jobs["webhook"].lease_seconds
    sweep = WORK_POLICY.sweep_seconds if options.lease is None else options.lease / 6
    async with nursery(trial.folder, tree=options.tree, lease=lease, sweep=sweep) as born:
        await _fill(born, trial)
        deaths: dict[str, float] = {}
        while await trial.ask("SELECT count(*) FROM jobs WHERE state = 'pending'"):
            dying = await _work(born, trial, GATEWAY_FAILPOINT="jobs.after_claim")
            await asyncio.wait_for(dying.died.wait(), 60)
            deaths[str(dying.pid)] = time.time()
        heir = await _work(born, trial)
        await trial.quiet(4 * lease + 60)
        await heir.stop()
    rows = await trial.rows(_EXPIRED)
    back, again = zip(
        *((ended - deaths[by], started - deaths[by]) for by, ended, started in _by_pid(rows)),
        strict=True,
    )
    limit = lease + sweep + options.margin
    late = sum(each > limit for each in back)
    return {
        "claims_of_the_dead": len(rows),
        "owners": len(deaths),
        "taken_back_p50_seconds": round(percentile(back, 0.5), 1),
        "taken_back_max_seconds": round(max(back), 1),
        "claimed_again_max_seconds": round(max(again), 1),
        "limit_seconds": limit,
        "failures": [
            *([f"{late} of {len(rows)} claims were taken back after {limit:g} s"] if late else []),
            *([f"only {len(rows)} claims"] if len(rows) < options.claims else []),
        ],
    }


async def refuse(trial: Trial) -> dict[str, Any]:
    """R4."""
    options = trial.options
    random = Random(options.seed)  # noqa: S311 - chances, not secrets
    is_alone = trial.engine == "sqlite"
    port = free_port()
    workers = "4" if is_alone else "0"
    async with nursery(trial.folder, tree=options.tree, lease=_ZOMBIE_LEASE_SECONDS) as born:
        env = environment(trial.database, GATEWAY_WORKERS=workers)
        server = await born.start(*serving(trial.folder / "data", port), env=env)
        await server.ready()
        processes = [server] if is_alone else [await _worker(born, trial) for _ in range(2)]
        held = 0
        with opened(trial.sent) as log:
            sender = Sender(f"http://127.0.0.1:{port}", SECRET, log)
            async with sending(sender, 60, random, lambda at: f"z{options.seed}-{at}"):
                for _ in range(options.zombies):
                    zombie = random.choice(processes)
                    held += await _stop_for_long(trial, zombie, random)
                    trial.bar.step()
        await trial.quiet(10 * _ZOMBIE_LEASE_SECONDS + 60)
        said = [process.out.read_text() for process in {server, *processes}]
        for process in {server, *processes}:
            await process.stop()
    refused = sum(each.count("refused: its claim was lost") for each in said)
    let_go = sum(each.count("its claim could not be extended") for each in said)
    return {
        "zombies": options.zombies,
        "claims_held_past_their_lease": held,
        "late_outcomes_refused": refused,
        "runs_let_go": let_go,
        "failures": [] if held else ["no zombie held a claim"],
    }


async def _stop_for_long(trial: Trial, process: Process, random: Random) -> int:
    """Stop it while it has claims, until it has lost them. Returns their number."""
    query = _HELD.format(pid=process.pid)
    for _ in range(200):
        await asyncio.sleep(random.uniform(0.01, 0.1))
        process.send(signal.SIGSTOP)
        held = int(await trial.ask(query))
        if held:
            break
        process.send(signal.SIGCONT)
    else:
        raise ChaosError("no worker holds a claim for long enough to be stopped with it")
    try:
        await asyncio.sleep(_ZOMBIE_LEASE_SECONDS * 1.1)
        # A process that is stopped within a transaction keeps its rows locked. PostgreSQL would end
        # the transaction only after a minute.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(2 * _ZOMBIE_LEASE_SECONDS):
                while trial.engine == "postgres" and await trial.ask(query):  # noqa: ASYNC110 - the others do it
                    await asyncio.sleep(0.05)
    finally:
        process.send(signal.SIGCONT)
    return held


async def _fill(born: Nursery, trial: Trial) -> None:
    port = free_port()
    env = environment(trial.database, GATEWAY_WORKERS="0")
    server = await born.start(*serving(trial.folder / "data", port), env=env)
    await server.ready()
    with opened(trial.sent) as log:
        sender = Sender(f"http://127.0.0.1:{port}", SECRET, log)
        working = asyncio.create_task(sender.work())
        for number in range(trial.options.claims):
            sender.put(quote(f"t{trial.options.seed}-{number}"))
        await sender.settled()
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
    await server.stop()


async def _work(born: Nursery, trial: Trial, **more: str) -> Process:
    env = environment(trial.database, GATEWAY_WORKERS=_BIG, **more)
    data = trial.folder / "data"
    is_shared = trial.engine == "postgres"
    argv = ("worker", "--data", str(data)) if is_shared else serving(data, free_port())
    return await born.start(*argv, env=env)


async def _worker(born: Nursery, trial: Trial) -> Process:
    process = await born.start(
        "worker", "--data", str(trial.folder / "data"), env=environment(trial.database)
    )
    await process.ready()
    return process


def _by_pid(rows: list[tuple[Any, ...]]) -> list[tuple[str, float, float]]:
    """The process of each claim, when it was taken back, and when it was claimed again."""
    return [(by.rpartition(":")[2], ended / 1e6, again / 1e6) for by, ended, again in rows]


if __name__ == "__main__":
    sys.exit(main())
