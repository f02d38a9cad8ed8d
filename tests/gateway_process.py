"""The real `gateway` command in its own processes, for tests that need the whole program."""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import IO, Any, Final

from msgspec import Struct

from gateway.testing.served import FROZEN
from tests.eventually import PATIENCE_SECONDS
from tests.nursery import Forked, forked

REPOSITORY: Final = Path(__file__).resolve().parent.parent
GATEWAY: Final = Path(sys.executable).parent / "gateway"
BOOTSTRAP_KEY: Final = "bootstrap-key-of-the-tests-0123456789"
EXAMPLES_BEGIN: Final = FROZEN["GATEWAY_MOCK_TIME"]
"""The time for which the examples of the contracts are written."""
OURS: Final = {"GATEWAY_SCHEMAS": str(REPOSITORY / "schemas")}
"""Serves the project of this repository, wherever a command runs."""
START_SECONDS: Final = PATIENCE_SECONDS
STOP_SECONDS: Final = PATIENCE_SECONDS


class RunningGateway(Struct, frozen=True, kw_only=True):
    """A `gateway serve` that is ready, with the administrator's key."""

    url: str
    key: str
    data: Path
    pid: int

    @property
    def authorization(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}

    def create_key(self, agent: str) -> str:
        """A new key for `agent`, made by the command line beside the running server."""
        text = run_gateway(self.data, "keys", "create", agent, "--data", ".", "--json")
        created: dict[str, Any] = json.loads(text)
        return str(created["key"])


class Started(Struct, frozen=True, kw_only=True):
    """A `gateway` command that runs."""

    process: "Forked | subprocess.Popen[str]"
    out: IO[str]
    log: Path
    """Its standard error."""

    @property
    def pid(self) -> int:
        return self.process.pid

    def line(self) -> str:
        """The next line that it prints. Empty when it has ended or hangs."""
        readable: Sequence[object] = select.select([self.out], [], [], START_SECONDS)[0]
        return self.out.readline() if readable else ""

    def ready_url(self) -> str:
        """The URL of its first line, which must be `ready URL`."""
        line = self.line()
        word, _, url = line.strip().partition(" ")
        assert word == "ready", f"printed {line!r} instead of `ready URL`: {self.said()}"
        return url

    def said(self) -> str:
        """The end of its standard error."""
        return self.log.read_text()[-2000:]

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal; the exit code, once it has ended."""
        self.process.send_signal(number)
        return self.process.wait(STOP_SECONDS)


@contextmanager
def started_gateway(
    folder: Path,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    is_forked: bool = True,
) -> Iterator[Started]:
    """Run `gateway ARGUMENTS` in `folder`, and kill it in the end. Its log goes to `stderr.log`.

    `is_forked`: from a process that has loaded the code, as `tests/nursery.py` says.
    """
    log = folder / "stderr.log"
    folder.mkdir(parents=True, exist_ok=True)
    read, write = os.pipe()
    with os.fdopen(read) as out, log.open("w") as stderr:
        start = forked if is_forked else _popen
        try:
            process = start(
                [str(GATEWAY), *arguments],
                environment=clean_environment(environment),
                folder=folder,
                stdout=write,
                stderr=stderr,
            )
        finally:
            os.close(write)
        try:
            yield Started(process=process, out=out, log=log)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait(STOP_SECONDS)


def _popen(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    folder: Path,
    stdout: int | IO[str],
    stderr: int | IO[str],
) -> "subprocess.Popen[str]":
    return subprocess.Popen(command, env=environment, cwd=folder, stdout=stdout, stderr=stderr)


@contextmanager
def running_gateway(
    data: Path,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    command: Sequence[str] = ("serve",),
    is_forked: bool = True,
) -> Iterator[RunningGateway]:
    """Serve on a free port with its state under `data`; stop by SIGTERM, which must succeed.

    `command` is what serves. It runs in `data`, so that no `gateway.toml` of the developer is
    found.
    """
    program = (*command, "--port", "0", "--data", str(data), *arguments)
    with started_gateway(data, *program, environment=environment, is_forked=is_forked) as started:
        url = started.ready_url()
        yield RunningGateway(url=url, key=BOOTSTRAP_KEY, data=data, pid=started.pid)
        status = started.stop()
        assert status == 0, f"stopped with {status}: {started.said()}"


def run_gateway(
    folder: Path,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    seconds: float = START_SECONDS,
) -> str:
    """What `gateway ARGUMENTS` prints in `folder`; it must succeed."""
    code, out, error = ended_gateway(folder, *arguments, environment=environment, seconds=seconds)
    assert code == 0, f"{arguments} exited with {code}: {error or out}"
    return out


def ended_gateway(
    folder: Path,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    seconds: float = START_SECONDS,
) -> tuple[int, str, str]:
    """The exit code of `gateway ARGUMENTS` in `folder`, its output and its errors."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as error:
        process = forked(
            [str(GATEWAY), *arguments],
            environment=clean_environment(environment),
            folder=folder,
            stdout=out,
            stderr=error,
        )
        try:
            code = process.wait(seconds)
        finally:
            process.send_signal(signal.SIGKILL)
        return code, _all_of(out), _all_of(error)


def _all_of(file: IO[str]) -> str:
    file.seek(0)
    return file.read()


def until(is_so: Callable[[], bool]) -> None:
    """Wait for what comes about by itself, in another process."""
    deadline = monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert monotonic() < deadline, "it did not come about"
        sleep(0.02)


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This environment without the developer's own settings: no test may reach a real upstream.

    An empty text takes a setting away: without `GATEWAY_SCHEMAS`, the project is the folder in
    which the command runs. Mocks begin when the examples of the contracts do, so that what these
    name is never past.
    """
    inherited = {name: value for name, value in os.environ.items() if not _is_setting(name)}
    own = {
        "GATEWAY_BOOTSTRAP_KEY": BOOTSTRAP_KEY,
        "GATEWAY_MOCK_TIME": EXAMPLES_BEGIN,
        **OURS,
    }
    merged = inherited | own | dict(extra or {})
    return {name: text for name, text in merged.items() if text or not _is_setting(name)}


def _is_setting(name: str) -> bool:
    return name.startswith("GATEWAY_") and not name.startswith("GATEWAY_TESTS_")
