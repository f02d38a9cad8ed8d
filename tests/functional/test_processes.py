"""`gateway serve --processes`: several processes on one address and one PostgreSQL."""

import json
import os
import signal
import time
from collections.abc import Callable
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import RunningGateway, ended_gateway, running_gateway

HERE = {"GATEWAY_SCHEMAS": ""}
PATH = "/v1/store/find_products"
TWO = ("--processes", "2")


@pytest.fixture
def project(new_initial: Callable[[Path], Path], tmp_path: Path) -> Path:
    return new_initial(tmp_path / "project")


@pytest.fixture
def shared(postgres_url: str) -> dict[str, str]:
    return {**HERE, "GATEWAY_DATABASE_URL": postgres_url, "GATEWAY_WORKSPACE_URL": postgres_url}


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.05)


def connected(gateway: RunningGateway) -> HTTPConnection:
    connection = HTTPConnection(gateway.url.removeprefix("http://"), timeout=PATIENCE_SECONDS)
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
    """Whether it has not ended. Nobody may have asked for its exit code."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(") ")[2][0] != "Z"


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
    code, _, error = ended(project, {**shared, "GATEWAY_STOP_GRACE_SECONDS": "1"})
    assert code == 2
    assert error.count("error:") == 1
    assert "GATEWAY_STOP_GRACE_SECONDS: store.find_products may take 10 seconds" in error


def test_a_file_is_not_shared(project: Path) -> None:
    code, _, error = ended(project, HERE)
    assert code == 2
    assert error == (
        "error: several processes need PostgreSQL, because only one process can use a SQLite file"
        " or a database in memory\n"
        "fix: set GATEWAY_DATABASE_URL=postgresql://…, or serve with --processes 1\n"
    )


def ended(project: Path, environment: dict[str, str]) -> tuple[int, str, str]:
    serve = ("serve", *TWO, "--port", "0", "--data", ".")
    return ended_gateway(project, *serve, environment=environment)
