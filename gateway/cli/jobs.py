"""`gateway jobs`: the jobs of a key at a remote gateway, over REST."""

import shlex
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias
from urllib.parse import quote, urlencode

import click
import httpx2
import msgspec
from msgspec import Meta, Struct
from rich.markup import escape

from gateway.cli.operating.operator import ID
from gateway.cli.options import WholeGroup, checked_url, json_option
from gateway.cli.output import print_json, print_table, progress
from gateway.cli.problems import Refused, plain
from gateway.cli.remote import (
    RemoteAnswer,
    answer_of,
    ask_once,
    no_answer,
    no_gateway,
    print_answer,
    remote_client,
    running_options,
    target_of,
)
from gateway.contract.values import jsontext
from gateway.errors import ConfigurationError
from gateway.transports.http.problem_kinds import ADVICE

# The jobs of a key at a remote gateway, over REST.

_JOBS: Final = "/v1/jobs"
_MAX_PAGE: Final = 200
_DATA: Final = b"data: "
_STREAM: Final = {"accept": "text/event-stream"}
_STREAM_TIMEOUT: Final = httpx2.Timeout(10.0, read=60.0)
"""The gateway says something every 15 s."""
_Moment: TypeAlias = Annotated[datetime, Meta(tz=True)]
ENDED: Final = frozenset({"succeeded", "failed", "cancelled"})


class JobSteps(Struct, frozen=True):
    """How far a job is."""

    done: float
    message: str


class RemoteJob(Struct, frozen=True, kw_only=True):
    """What people read of a job. All texts are of the gateway: escape them for a terminal."""

    id: str
    operation: str
    status: Literal["queued", "running", "input_required", "succeeded", "failed", "cancelled"]
    created_at: _Moment
    updated_at: _Moment
    expires_at: _Moment | None = None
    progress: JobSteps | None = None

    @property
    def has_ended(self) -> bool:
        return self.status in ENDED


class JobsClient:
    """Asks one gateway for jobs.

    Everything raises `Refused` for a problem, and `ConfigurationError` if no gateway responds.
    """

    def __init__(self, url: str, client: httpx2.Client) -> None:
        self._base = checked_url(url)
        self._client = client

    def pages(self) -> Iterator[dict[str, Any]]:
        """All jobs, newest first, as JSON objects."""
        after: str | None = None
        while True:
            query = {"limit": str(_MAX_PAGE)} | ({} if after is None else {"after": after})
            page = self._ask("GET", f"{_JOBS}?{urlencode(query)}")
            items, last = page.get("items"), page.get("next")
            if not isinstance(items, list) or not isinstance(last, str | None):
                raise no_gateway(self._base)
            yield from items
            # A page that does not go on would be asked for without an end.
            if last is None or last == after:
                return
            after = last

    def show(self, job_id: str) -> dict[str, Any]:
        """The job as a JSON object."""
        return self._ask("GET", _path(job_id))

    def cancel(self, job_id: str) -> dict[str, Any]:
        """Cancel the job. Returns what it is now."""
        return self._ask("POST", f"{_path(job_id)}/cancel")

    def result(self, job_id: str) -> RemoteAnswer:
        """What the tool would have answered, also a problem, which is not raised."""
        return ask_once(self._client, self._base, "GET", f"{_path(job_id)}/result")

    def follow(self, job_id: str) -> Iterator[RemoteJob]:
        """The job, and again whenever it has changed, until the stream ends."""
        url = f"{self._base}{_path(job_id)}/events"
        try:
            with self._client.stream("GET", url, headers=_STREAM, timeout=_STREAM_TIMEOUT) as reply:
                if not reply.headers.get("content-type", "").startswith(_STREAM["accept"]):
                    reply.read()
                    self._object(answer_of(self._base, reply))
                    raise no_gateway(self._base)
                for line in _lines(reply.iter_bytes()):
                    if line.startswith(_DATA):
                        yield self._job_of(line.removeprefix(_DATA))
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise no_answer(self._base, error) from None

    def job_of(self, value: Mapping[str, Any]) -> RemoteJob:
        """`value` as a job."""
        try:
            return msgspec.convert(value, RemoteJob)
        except msgspec.ValidationError:
            raise no_gateway(self._base) from None

    def _job_of(self, text: bytes) -> RemoteJob:
        try:
            return msgspec.json.decode(text, type=RemoteJob)
        except msgspec.DecodeError:
            raise no_gateway(self._base) from None

    def _ask(self, method: str, path: str) -> dict[str, Any]:
        return self._object(ask_once(self._client, self._base, method, path))

    def _object(self, answer: RemoteAnswer) -> dict[str, Any]:
        value: dict[str, Any] = jsontext.decode(answer.text)
        if not answer.is_result:
            raise Refused(value, ADVICE.get(str(value.get("type")), ""))
        return value


def _path(job_id: str) -> str:
    return f"{_JOBS}/{quote(job_id, safe='', errors='surrogateescape')}"


def _lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Complete lines. Those of httpx would also end at line ends of Unicode, inside of JSON."""
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        yield from lines


# Follows a job at a remote gateway until it has ended.

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


# `gateway jobs`.

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
