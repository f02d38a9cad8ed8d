"""`gateway serve --processes`: several processes on one address and one PostgreSQL."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from tests.gateway_process import (
    GATEWAY,
    RunningGateway,
    clean_environment,
    run_gateway,
    running_gateway,
)
from tests.postgres import create_database, drop_database, server_url

HERE = {"GATEWAY_SCHEMAS": ""}
PATH = "/v1/store/find_products"
TWO = ("--processes", "2")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    run_gateway(folder, "init", environment=HERE)
    return folder


@pytest.fixture
def project(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "project"))


@pytest.fixture
def shared() -> Iterator[dict[str, str]]:
    url = asyncio.run(create_database(server_url()))
    yield {**HERE, "GATEWAY_DATABASE_URL": url, "GATEWAY_WORKSPACE_URL": url}
    asyncio.run(drop_database(server_url(), url))


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.05)


def connected(gateway: RunningGateway) -> HTTPConnection:
    connection = HTTPConnection(gateway.url.removeprefix("http://"), timeout=30)
    connection.connect()
    return connection


def answer(gateway: RunningGateway, connection: HTTPConnection) -> Any:
    """The result of a call on the connection."""
    headers = {**gateway.authorization, "content-type": "application/json"}
    connection.request("POST", PATH, json.dumps({"query": "lamp"}), headers)
    with connection.getresponse() as found:
        text = found.read()
        assert found.status == 200, text
    return json.loads(text)


def calls(gateway: RunningGateway, number: int) -> None:
    """Make calls, each on a connection of its own."""
    for _ in range(number):
        connection = connected(gateway)
        assert answer(gateway, connection)["total"] == 2
        connection.close()


def counted(gateway: RunningGateway) -> list[int]:
    """The processes whose calls are among the metrics."""
    connection = connected(gateway)
    connection.request("GET", "/metrics", headers=gateway.authorization)
    with connection.getresponse() as found:
        text = found.read().decode()
    connection.close()
    return [n for n in range(3) if f'gateway_calls_total{{process="{n}",outcome="ok"' in text]


def has_aliases(gateway: RunningGateway) -> bool:
    connection = connected(gateway)
    connection.request("GET", "/health")
    with connection.getresponse() as found:
        is_there = found.status == 200
    connection.close()
    return is_there


def keeps_calling(gateway: RunningGateway, stack: ExitStack) -> bool:
    """Whether a call succeeds on a connection that stays open."""
    connection = connected(gateway)
    stack.callback(connection.close)
    return bool(answer(gateway, connection))


def children_of(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def runs(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


@pytest.mark.postgres
def test_they_share_connections_and_reload_and_replace_one_that_is_killed(
    project: Path, shared: dict[str, str]
) -> None:
    with running_gateway(project, *TWO, environment=shared) as gateway, ExitStack() as stack:
        children = children_of(gateway.pid)
        assert len(children) == 2
        # Each process serves some of the connections, and any of them knows the calls of all.
        until(lambda: keeps_calling(gateway, stack) and counted(gateway) == [0, 1])
        assert {has_aliases(gateway) for _ in range(6)} == {True}
        with (project / "gateway.toml").open("a") as settings:
            settings.write("\naliases = false\n")
        os.kill(gateway.pid, signal.SIGHUP)
        record = project / "processes" / f"{gateway.pid}.json"
        until(lambda: json.loads(record.read_text())["verdict"] is not None)
        assert json.loads(record.read_text())["verdict"]["problem"] is None
        assert {has_aliases(gateway) for _ in range(6)} == {False}

        os.kill(children[0], signal.SIGKILL)
        calls(gateway, 30)
        until(lambda: len({*children_of(gateway.pid)} - {children[0]}) == 2)
        calls(gateway, 5)
    assert not any(map(runs, children))
    log = (project / "stderr.log").read_text()
    assert "ended with signal 9, and is started again" in log
    assert "Traceback" not in log


@pytest.mark.postgres
def test_they_end_when_the_process_above_them_is_killed(
    project: Path, shared: dict[str, str]
) -> None:
    def kill() -> None:
        with running_gateway(project, *TWO, environment=shared) as gateway:
            children.extend(children_of(gateway.pid))
            os.kill(gateway.pid, signal.SIGKILL)
            until(lambda: not any(map(runs, children)))

    children: list[int] = []
    with pytest.raises(AssertionError, match="stopped with -9"):
        kill()
    assert len(children) == 2


@pytest.mark.postgres
def test_a_first_process_that_cannot_start_ends_them_all(
    project: Path, shared: dict[str, str]
) -> None:
    done = ran(project, {**shared, "GATEWAY_STOP_GRACE_SECONDS": "1"})
    assert done.returncode == 2
    assert done.stderr.count("error:") == 1
    assert "GATEWAY_STOP_GRACE_SECONDS: store.find_products may take 10 seconds" in done.stderr


def test_a_file_is_not_shared(project: Path) -> None:
    done = ran(project, HERE)
    assert done.returncode == 2
    assert done.stderr == (
        "error: several processes need PostgreSQL, because only one process can use a SQLite file"
        " or a database in memory\n"
        "fix: set GATEWAY_DATABASE_URL=postgresql://…, or serve with --processes 1\n"
    )


def ran(project: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(GATEWAY), "serve", *TWO, "--port", "0", "--data", "."],
        cwd=project,
        env=clean_environment(environment),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
