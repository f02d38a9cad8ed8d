"""Counts the attempts of jobs, for the metrics of operators."""

import time
from collections.abc import Mapping
from typing import Final

from gateway.job_policy import JobKind
from gateway.jobs.outcome import Failed, Finished, Outcome, Run
from gateway.observability.metrics import JobMetrics
from gateway.store.records import Claim

_CRASHED: Final = "crashed"
_CUT_OFF: Final = "cut_off"


def counted_runs(runs: Mapping[JobKind, Run], metrics: JobMetrics) -> dict[JobKind, Run]:
    """`runs`, each attempt of which is counted with its outcome and its time."""
    return {kind: _counted(run, metrics, kind) for kind, run in runs.items()}


def _counted(run: Run, metrics: JobMetrics, kind: JobKind) -> Run:
    async def attempt(claim: Claim) -> Outcome:
        started, outcome = time.perf_counter(), _CUT_OFF
        try:
            ended = await run(claim)
        except Exception:
            outcome = _CRASHED
            raise
        else:
            outcome = _name_of(ended)
            return ended
        finally:
            metrics.attempted(kind, outcome, time.perf_counter() - started)

    return attempt


def _name_of(outcome: Outcome) -> str:
    match outcome:
        case Finished():
            return "completed"
        case Failed(retry_seconds=None):
            return "dead_letter"
        case Failed():
            return "retryable"
        case _:
            return "released"
