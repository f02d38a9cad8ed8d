"""The real `gateway` command in its own processes, for tests that need the whole program."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from gateway.cli.verification.transports import FROZEN

REPOSITORY: Final = Path(__file__).resolve().parent.parent
GATEWAY: Final = Path(sys.executable).parent / "gateway"
BOOTSTRAP_KEY: Final = "bootstrap-key-of-the-tests-0123456789"
EXAMPLES_BEGIN: Final = FROZEN["GATEWAY_MOCK_TIME"]
"""The time for which the examples of the contracts are written."""
OURS: Final = {"GATEWAY_SCHEMAS": str(REPOSITORY / "schemas")}
"""Serves the project of this repository, wherever a command runs."""
START_SECONDS: Final = 30.0
STOP_SECONDS: Final = 15.0


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


@contextmanager
def running_gateway(
    data: Path,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    command: Sequence[str] = ("serve",),
) -> Iterator[RunningGateway]:
    """Serve on a free port with its state under `data`; stop by SIGTERM, which must succeed.

    `command` is what serves. It runs in `data`, so that no `gateway.toml` of the developer is
    found.
    """
    log = data / "stderr.log"
    data.mkdir(parents=True, exist_ok=True)
    program = [str(GATEWAY), *command, "--port", "0", "--data", str(data), *arguments]
    with (
        log.open("w") as stderr,
        subprocess.Popen(
            program,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=clean_environment(environment),
            cwd=data,
            text=True,
        ) as process,
    ):
        try:
            url = _ready_url(process, log)
            yield RunningGateway(url=url, key=BOOTSTRAP_KEY, data=data, pid=process.pid)
            process.send_signal(signal.SIGTERM)
            status = process.wait(STOP_SECONDS)
            assert status == 0, f"stopped with {status}: {log.read_text()[-2000:]}"
        finally:
            process.kill()


def run_gateway(
    folder: Path,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    seconds: float = START_SECONDS,
) -> str:
    """What `gateway ARGUMENTS` prints in `folder`; it must succeed."""
    done = subprocess.run(
        [str(GATEWAY), *arguments],
        capture_output=True,
        text=True,
        env=clean_environment(environment),
        cwd=folder,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, f"{arguments} exited with {done.returncode}: {done.stderr}"
    return done.stdout


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


def _ready_url(process: subprocess.Popen[str], log: Path) -> str:
    line = _first_line(process)
    word, _, url = line.strip().partition(" ")
    assert word == "ready", f"printed {line!r} instead of `ready URL`: {log.read_text()[-2000:]}"
    return url


def _first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    readable: Sequence[object] = select.select([process.stdout], [], [], START_SECONDS)[0]
    return process.stdout.readline() if readable else ""
