"""`gateway jobs`."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final

import click

from gateway.cli.elsewhere.running import running_options, target_of
from gateway.cli.groups import WholeGroup
from gateway.cli.jobs.client import JobsClient, RemoteJob
from gateway.cli.jobs.following import follow_job
from gateway.cli.operating.operator import ID
from gateway.cli.options import json_option
from gateway.cli.output import print_json, print_table
from gateway.cli.plain import plain
from gateway.cli.remote import print_answer, remote_client

_STATUSES: Final = ("queued", "running", "input_required", "succeeded", "failed", "cancelled")
_COLUMNS: Final = ("id", "tool", "status", "since", "age")
_UNITS: Final = (("d", 86_400), ("h", 3600), ("min", 60))

_job: Final = click.argument("job_id", type=ID, metavar="ID")


@click.group(cls=WholeGroup, name="jobs", epilog="Example: gateway jobs list")
def command() -> None:
    """Manage the jobs of your key: calls at a running gateway that take long.

    Without --url, it is the gateway that serves the data folder on this machine, and the key is the
    administrator's there unless GATEWAY_KEY is set.
    """


@command.command("list", epilog="Example: gateway jobs list --status running --limit 10")
@click.option(
    "--status", "statuses", type=click.Choice(_STATUSES), multiple=True, help="Only this status."
)
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="At most.")
@json_option
@running_options
def list_(*, statuses: tuple[str, ...], limit: int, as_json: bool, **flags: Any) -> None:
    """List the jobs of your key, newest first.

    `since` is when the job got its status, `age` how long ago the call was made.
    """
    with _jobs(flags) as jobs:
        found = ((each, jobs.job_of(each)) for each in jobs.pages())
        wanted = ((each, job) for each, job in found if not statuses or job.status in statuses)
        shown = list(islice(wanted, limit))
    if as_json:
        print_json([each for each, _ in shown])
        return
    now = datetime.now(UTC)
    print_table(_COLUMNS, [_row(job, now) for _, job in shown])


@command.command(
    "show",
    epilog="Example: gateway jobs show 019a8f3e-7c1d-7b52-8a90-3f4e5d6c7b8a",
)
@_job
@json_option
@running_options
def show(*, job_id: str, as_json: bool, **flags: Any) -> None:
    """Show the job ID. --json prints it with its result or problem."""
    with _jobs(flags) as jobs:
        value = jobs.show(job_id)
        _print_job(jobs, value, as_json=as_json)


@command.command(
    "result",
    epilog="Example: gateway jobs result 019a8f3e-7c1d-7b52-8a90-3f4e5d6c7b8a",
)
@_job
@running_options
def result(*, job_id: str, **flags: Any) -> int:
    """Print the result of the job ID as JSON, as `gateway call` does.

    If the job failed, was cancelled or goes on, prints the problem as JSON and exits with 1.
    """
    with _jobs(flags) as jobs:
        return print_answer(jobs.result(job_id))


@command.command(
    "cancel",
    epilog="Example: gateway jobs cancel 019a8f3e-7c1d-7b52-8a90-3f4e5d6c7b8a",
)
@_job
@json_option
@running_options
def cancel(*, job_id: str, as_json: bool, **flags: Any) -> None:
    """Cancel the job ID, and show what it is now. A job that has ended stays as it is."""
    with _jobs(flags) as jobs:
        value = jobs.cancel(job_id)
        _print_job(jobs, value, as_json=as_json)


@command.command(
    "follow",
    epilog="Example: gateway jobs follow 019a8f3e-7c1d-7b52-8a90-3f4e5d6c7b8a",
)
@_job
@running_options
def follow(*, job_id: str, **flags: Any) -> int:
    """Wait until the job ID has ended, and print its result as `gateway jobs result` does.

    Shows the progress on a terminal. Ctrl-C stops the command, and not the job.
    """
    target = target_of(flags)
    return follow_job(target.url, target.key, job_id)


@contextmanager
def _jobs(flags: dict[str, Any]) -> Iterator[JobsClient]:
    target = target_of(flags)
    with remote_client(target.url, target.key) as client:
        yield JobsClient(target.url, client)


def _print_job(jobs: JobsClient, value: dict[str, Any], *, as_json: bool) -> None:
    job = jobs.job_of(value)
    if as_json:
        print_json(value)
        return
    print_table(_COLUMNS, [_row(job, datetime.now(UTC))])
    if job.progress is not None:
        click.echo(plain(f"progress: {job.progress.done:.15g} {job.progress.message}"))
    if isinstance(problem := value.get("problem"), dict):
        click.echo(plain(f"problem: {problem.get('code')}: {problem.get('detail')}"))
    if job.expires_at is not None:
        click.echo(f"kept until {_time(job.expires_at)}")


def _row(job: RemoteJob, now: datetime) -> tuple[str, ...]:
    age = _age((now - job.created_at).total_seconds())
    return job.id, job.operation, job.status, _time(job.updated_at), age


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _age(seconds: float) -> str:
    """The duration in its largest unit."""
    whole = max(0, int(seconds))
    for unit, size in _UNITS:
        if whole >= size:
            return f"{whole // size} {unit}"
    return f"{whole} s"
