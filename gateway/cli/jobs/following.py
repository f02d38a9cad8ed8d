"""Follows a job at a remote gateway until it has ended."""

import shlex
import time
from pathlib import Path
from typing import Final

import click
from rich.markup import escape

from gateway.cli.jobs.client import JobsClient, RemoteJob
from gateway.cli.output import progress
from gateway.cli.plain import plain
from gateway.cli.refused import Refused
from gateway.cli.remote import print_answer, remote_client
from gateway.errors import ConfigurationError

_TRIES: Final = 10
"""How often a stream that ended early is opened again, without a change of the job."""
_WAIT_SECONDS: Final = 1.0


def announce_job(job_id: str, url: str, key_file: Path | None) -> None:
    """Say on standard error that a call became a job, and how to follow it."""
    command = ["gateway", "jobs", "follow", job_id, "--url", url]
    if key_file is not None:
        command += ["--key-file", str(key_file)]
    click.echo(plain(f"the call goes on as job {job_id}"), err=True)
    click.echo(plain(f"follow it: {shlex.join(command)}"), err=True)


def follow_job(url: str, key: str | None, job_id: str) -> int:
    """Wait until the job has ended, and print its result or problem. Returns the exit code.

    Shows the progress on a terminal. Raises what `JobsClient` raises.
    """
    with remote_client(url, key) as client:
        jobs = JobsClient(url, client)
        _wait(jobs, job_id)
        return print_answer(jobs.result(job_id))


def _wait(jobs: JobsClient, job_id: str) -> None:
    seen: RemoteJob | None = None
    tries = 0
    with progress(f"job {escape(plain(job_id))}") as say:
        while True:
            try:
                for job in jobs.follow(job_id):
                    say(escape(_step(job)))
                    if job.has_ended:
                        return
                    tries = tries if job == seen else 0
                    seen = job
            except (ConfigurationError, Refused) as error:
                # A gateway that restarts goes on with the job.
                if seen is None or tries >= _TRIES or not _is_passing(error):
                    raise
            tries += 1
            if tries > _TRIES:
                raise ConfigurationError(
                    "the gateway ended the stream before the job had ended; follow it again"
                )
            time.sleep(_WAIT_SECONDS)


def _is_passing(error: ConfigurationError | Refused) -> bool:
    return not isinstance(error, Refused) or error.problem.get("retryable") is True


def _step(job: RemoteJob) -> str:
    if job.progress is None:
        return job.status
    return plain(f"{job.status}, {job.progress.done:.15g} {job.progress.message}")
