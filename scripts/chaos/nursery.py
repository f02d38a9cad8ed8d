"""Starts gateways quickly: it loads the code once, and forks a process for each request.

    python nursery.py [--lease SECONDS --sweep SECONDS] [--job-after SECONDS]

Loading the gateway takes two seconds of processor time; a fork takes a few hundredths. So a minute
is enough for hundreds of kills. The child runs the real command line (`gateway serve`, `gateway
worker`) on the real files. Requests are lines of JSON on standard input, `{"argv": [...], "env":
{...}, "out": "<file>"}`. The reply to each is `{"born": <pid>}`, and the end of a child is reported
by `{"died": <pid>, "status": <wait status>}`. At the end of the input, the children are stopped.
"""

import argparse
import asyncio
import contextlib
import gc
import importlib
import json
import os
import select
import signal
import sys
from typing import Any, Final

import sqlalchemy.dialects.postgresql.asyncpg
import sqlalchemy.dialects.sqlite  # noqa: F401 - loaded before the first fork, as the next ones
from msgspec.structs import replace

import gateway.cli.edge
import gateway.cli.serving.serve  # noqa: F401 - see above
from gateway import failpoints
from gateway.__main__ import main as run_command
from gateway.app import Gateway
from gateway.job_policy import WORK_POLICY, WorkPolicy
from gateway.settings import read_settings

KEY: Final = "bootstrap-key-of-the-chaos-0123456789"


def main() -> None:
    """Handle requests until the input ends."""
    options = _options()
    work = _policy(options)
    _load()
    waker, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    _say({"ready": os.getpid()})
    children: set[int] = set()
    unread = b""
    while True:
        readable, _, _ = select.select([0, waker], [], [])
        if waker in readable:
            os.read(waker, 4096)
            _bury(children)
        if 0 in readable:
            chunk = os.read(0, 65536)
            if not chunk:
                break
            *lines, unread = (unread + chunk).split(b"\n")
            children.update(_bear(json.loads(line), work) for line in lines)
    for pid in children:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Forks gateways.")
    parser.add_argument("--lease", type=float)
    parser.add_argument("--sweep", type=float)
    parser.add_argument("--job-after", type=float, default=WORK_POLICY.job_after_seconds)
    return parser.parse_args()


def _load() -> None:
    """Load all code, by opening a gateway on a database in memory."""
    environment = {"GATEWAY_BOOTSTRAP_KEY": KEY, "GATEWAY_DATABASE_URL": "memory:"}

    async def rehearse() -> None:
        read = read_settings(environment, None, {"data": "/nonexistent"})
        async with Gateway.open(read) as gateway:
            gateway.http_app()

    with contextlib.suppress(Exception):
        asyncio.run(rehearse())
    gc.collect()
    gc.freeze()


def _policy(options: argparse.Namespace) -> WorkPolicy:
    """The work policy with other times, which are not settings of the gateway."""
    policy = replace(WORK_POLICY, job_after_seconds=options.job_after)
    lease = options.lease
    if lease is None:
        return policy
    sweep = options.sweep or lease / 6
    return replace(policy.in_each_row(lease_seconds=lease), sweep_seconds=sweep)


def _bear(order: dict[str, Any], work: WorkPolicy) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            _live(order, work)
        finally:
            os._exit(70)
    _say({"born": pid})
    return pid


def _live(order: dict[str, Any], work: WorkPolicy) -> None:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    out = os.open(order["out"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (out, 1), (out, 2)):
        os.dup2(source, target)
    for name in [name for name in os.environ if name.startswith("GATEWAY_")]:
        del os.environ[name]
    own = {"GATEWAY_BOOTSTRAP_KEY": KEY, "GATEWAY_SCHEMAS": f"{os.environ['PYTHONPATH']}/schemas"}
    os.environ.update({**own, **order["env"]})
    importlib.reload(failpoints)  # it has already read the environment
    sys.argv = ["gateway", *order["argv"]]
    sys.stdout = open(1, "w", buffering=1, closefd=False)  # noqa: SIM115 - the process's own
    sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115 - the process's own
    with contextlib.suppress(SystemExit):
        run_command(work)
    sys.stdout.flush()
    os._exit(0)


def _bury(children: set[int]) -> None:
    while children:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        children.discard(pid)
        _say({"died": pid, "status": status})


def _say(message: dict[str, int]) -> None:
    os.write(1, json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    main()
