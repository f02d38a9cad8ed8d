"""A gateway that replaces what it serves, while calls go on."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec import Struct, field

from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import (
    REPOSITORY,
    RunningGateway,
    clean_environment,
    ended_gateway,
    run_gateway,
    running_gateway,
)

PROGRAM = Path(__file__).with_name("reload_program.py")
PATH = "/v1/store/find_products"
HERE = {"GATEWAY_SCHEMAS": "", "GATEWAY_STOP_GRACE_SECONDS": "300"}
"""The project is where the command runs, and its tool may take as long as this."""
LAMPS = {"query": "lamp"}
SHOPPERS_KEY = ("keys", "create", "shopper", "--data", ".", "--json")
RELOADS, UNDER_LOAD = (50, 10) if os.environ.get("GATEWAY_TESTS_FULL") == "1" else (6, 3)
CONTRACT = Path("schemas/tools/store/find_products.yaml")
POLICIES = Path("schemas/policies/agents.yaml")


class Store(Struct):
    """The vendor's server."""

    url: str = ""
    keys: list[str | None] = field(default_factory=list)
    """The key of each request."""
    answer: threading.Event = field(default_factory=threading.Event)
    """Replies wait for it."""
    asked: threading.Event = field(default_factory=threading.Event)


@pytest.fixture
def store() -> Iterator[Store]:
    found = Store()
    found.answer.set()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.keys.append(self.headers["x-api-key"])
            found.asked.set()
            found.answer.wait(PATIENCE_SECONDS)
            body = b'{"products": []}'
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        found.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield found
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def made(new_initial: Callable[[Path], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a tool whose one attempt may last longer than a test."""
    folder = new_initial(tmp_path_factory.mktemp("made"))
    change(folder / CONTRACT, "timeoutSeconds: 10", "timeoutSeconds: 300")
    change(folder / CONTRACT, "max: 3, backoffSeconds: [0.5, 2], timeoutSeconds: 3", "max: 1")
    run_gateway(folder, "generate", environment=HERE)
    return folder


@pytest.fixture
def project(made: Path, tmp_path: Path) -> Path:
    """A project whose folder is its data folder too."""
    return Path(shutil.copytree(made, tmp_path / "project"))


def live(store: Store, project: Path) -> dict[str, str]:
    (project / "api-key").write_text("the-first-key")
    return {
        **HERE,
        "GATEWAY_STORE_BASE_URL": store.url,
        "GATEWAY_STORE_API_KEY_FILE": str(project / "api-key"),
    }


def reload(folder: Path) -> tuple[int, str, str]:
    """The exit code of `gateway reload`, its output and its errors."""
    return ended_gateway(folder, "reload", "--data", ".", environment=HERE)


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


@contextmanager
def calls(gateway: RunningGateway) -> Iterator[list[int]]:
    """Calls on one connection after the other until the block ends. Their statuses."""
    statuses: list[int] = []
    is_over = threading.Event()

    def call() -> None:
        while not is_over.is_set():
            connection = connected(gateway)
            for _ in range(20):
                send(connection, gateway)
                with connection.getresponse() as answer:
                    answer.read()
                    statuses.append(answer.status)
                is_over.wait(0.005)  # what else runs here needs the processor too
            connection.close()

    thread = threading.Thread(target=call)
    thread.start()
    try:
        yield statuses
    finally:
        is_over.set()
        thread.join()


def connected(gateway: RunningGateway) -> HTTPConnection:
    return HTTPConnection(gateway.url.removeprefix("http://"), timeout=PATIENCE_SECONDS)


def send(connection: HTTPConnection, gateway: RunningGateway) -> None:
    headers = {**gateway.authorization, "content-type": "application/json"}
    connection.request("POST", PATH, json.dumps(LAMPS), headers)


def client(gateway: RunningGateway, key: str | None = None) -> httpx.Client:
    headers = {"authorization": f"Bearer {key or gateway.key}"}
    return httpx.Client(base_url=gateway.url, headers=headers, timeout=PATIENCE_SECONDS)


def called(gateway: RunningGateway, key: str | None = None) -> int:
    with client(gateway, key) as http:
        return http.post(PATH, json=LAMPS).status_code


def under_way(gateway: RunningGateway, store: Store) -> HTTPConnection:
    """A call that waits for the vendor."""
    store.answer.clear()
    connection = connected(gateway)
    send(connection, gateway)
    assert store.asked.wait(PATIENCE_SECONDS)
    return connection


def described(gateway: RunningGateway) -> str:
    """The description of the tool, as the gateway publishes it."""
    with client(gateway) as http:
        document: dict[str, Any] = http.get("/openapi.json").json()
    return str(document["paths"][PATH]["post"]["description"])


def hang_up(gateway: RunningGateway) -> dict[str, Any]:
    """The verdict of a reload by signal."""
    asked = time.monotonic()
    os.kill(gateway.pid, signal.SIGHUP)
    record = gateway.data / "processes" / f"{gateway.pid}.json"
    while True:
        verdict: dict[str, Any] = json.loads(record.read_text())["verdict"] or {}
        if verdict.get("began", 0) >= asked:
            return verdict
        time.sleep(0.02)


def test_what_changes_is_served_and_calls_end_as_they_began(project: Path, store: Store) -> None:
    with running_gateway(project, environment=live(store, project)) as gateway:
        made = run_gateway(project, *SHOPPERS_KEY, environment=HERE)
        change(project / CONTRACT, "Find products of the store", "Search the store")
        change(project / POLICIES, "- store.find_products", "- gateway.events")
        (project / "api-key").write_text("the-second-key")
        run_gateway(project, "generate", environment=HERE)
        connection = under_way(gateway, store)

        assert hang_up(gateway)["problem"] is None

        assert described(gateway).startswith("Search the store")
        assert called(gateway, json.loads(made)["key"]) == 404
        store.answer.set()
        with connection.getresponse() as answer:
            assert (answer.status, json.load(answer)["total"]) == (200, 0)
        connection.close()
        assert called(gateway) == 200
        assert store.keys == ["the-first-key", "the-second-key"]
    log = (project / "stderr.log").read_text()
    assert "Traceback" not in log
    assert "first-key" not in log
    assert "second-key" not in log


@contextmanager
def changed(file: Path, old: str, new: str) -> Iterator[None]:
    """The file is changed in the block."""
    before = file.read_text()
    change(file, old, new)
    yield
    file.write_text(before)


def test_settings_and_packages_that_cannot_be_served_change_nothing(project: Path) -> None:
    settings, tools = project / "gateway.toml", project / "generated" / "tools.json"
    first = "handler_packages ="
    with running_gateway(project, environment=HERE) as gateway, calls(gateway) as statuses:
        with changed(settings, first, f"max_connections = 50\nlog_calls = false\n{first}"):
            code, _, error = reload(project)
        assert code == 1
        assert error == (
            "error: a reload cannot change max_connections, log_calls\n"
            "fix: restart the gateway, or set the old values again\n"
            f"note: {gateway.url} continues with what it served before\n"
        )
        with changed(settings, first, f"upstreams = {{shop = {{}}}}\n{first}"):
            assert "upstreams.shop is not an upstream" in hang_up(gateway)["problem"]
        with changed(tools, '"tools"', '"tolls"'):
            problem = hang_up(gateway)["problem"]
        assert "generated/tools.json cannot be used" in problem
        assert problem.endswith("; run `gateway generate`")
        assert hang_up(gateway)["problem"] is None
    assert set(statuses) == {200}


def test_contracts_that_were_not_generated_are_reported(project: Path) -> None:
    contract = project / CONTRACT
    with running_gateway(project, environment=HERE) as gateway:
        with changed(contract, "summary: Find products", "summary: 7"):
            code, out, error = reload(project)
        assert code == 1
        assert f"{CONTRACT}:" in out
        assert "/post/summary" in out
        assert error == "note: nothing was reloaded, and the old contracts stay\n"
        change(contract, "Find products of the store", "Search the store")
        code, out, error = reload(project)
        assert (code, out) == (0, f"reloaded {gateway.url}: 1 tool\n")
        assert "do not match the contracts, and are served as they are" in error
        assert described(gateway).startswith("Find products of the store")


def test_no_gateway_no_reload(project: Path) -> None:
    code, _, error = reload(project)
    assert code == 2
    assert "no gateway serves" in error
    assert "fix: name its folder with --data" in error


def statuses_until_the_end(gateway: RunningGateway, job: str, number: int) -> list[str]:
    """What a follower of a job gets, if the signal `number` comes when the job runs."""
    statuses: list[str] = []
    accept = {"accept": "text/event-stream"}
    with client(gateway) as http, http.stream("GET", f"{job}/events", headers=accept) as stream:
        for line in stream.iter_lines():
            if not line.startswith("data: "):
                continue
            statuses.append(json.loads(line.removeprefix("data: "))["status"])
            if statuses[-1] == "running":
                os.kill(gateway.pid, number)
    return statuses


def test_streams_of_a_job_end_though_the_job_goes_on(project: Path, store: Store) -> None:
    change(project / CONTRACT, "effect: read", "effect: read\n    task: required")
    run_gateway(project, "generate", environment=HERE)
    store.answer.clear()
    with running_gateway(project, environment=live(store, project)) as gateway:
        with client(gateway) as http:
            job = http.post(PATH, json=LAMPS).headers["location"]
        reloaded = statuses_until_the_end(gateway, job, signal.SIGHUP)
        stopped = statuses_until_the_end(gateway, job, signal.SIGTERM)
        store.answer.set()
    # The vendor answers only after both streams have ended.
    assert (reloaded[-1], stopped[-1]) == ("running", "running")


def test_what_was_served_before_a_reload_is_not_kept(project: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(project), "2"],
        cwd=project,
        env=clean_environment({**HERE, "PYTHONPATH": str(REPOSITORY)}),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    assert done.stdout.endswith("[1, 1]"), done.stderr


def test_many_reloads_lose_no_call_and_leave_nothing_behind(project: Path) -> None:
    with running_gateway(project, environment=HERE) as gateway:
        with calls(gateway) as statuses:
            assert [hang_up(gateway)["problem"] for _ in range(UNDER_LOAD)] == [None] * UNDER_LOAD
        used = memory(gateway.pid)
        for _ in range(RELOADS - UNDER_LOAD):
            assert hang_up(gateway)["problem"] is None
        more = memory(gateway.pid) - used
    assert set(statuses) == {200}
    # One generation that is left behind has several megabytes.
    assert more < 20
    assert [*(project / "processes").iterdir()] == []


def memory(pid: int) -> float:
    """The resident memory in mebibytes."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def test_a_new_kind_of_row_has_its_table_after_a_reload(project: Path) -> None:
    """The connector brings entities. Their tables are made while the gateway serves."""
    with running_gateway(project, environment=HERE) as gateway:
        run_gateway(project, "add", "avinode", environment=HERE)
        run_gateway(project, "generate", environment=HERE)
        with calls(gateway) as statuses:
            assert hang_up(gateway)["problem"] is None
        with client(gateway) as http:
            listed = http.get("/v1/entities/quotes")
        assert (listed.status_code, listed.json()["items"]) == (200, [])
    assert set(statuses) == {200}


def test_who_listens_for_changed_tools_is_notified_and_then_lists_the_new_ones(
    project: Path, store: Store
) -> None:
    modern = "2026-07-28"
    meta = {
        "io.modelcontextprotocol/protocolVersion": modern,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    headers = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": modern,
        "mcp-method": "subscriptions/listen",
    }
    params = {"_meta": meta, "notifications": {"toolsListChanged": True}}
    ask = {"jsonrpc": "2.0", "id": 7, "method": "subscriptions/listen", "params": params}
    with running_gateway(project, environment=live(store, project)) as gateway:
        change(project / CONTRACT, "Find products of the store", "Search the store")
        run_gateway(project, "generate", environment=HERE)
        with (
            client(gateway) as http,
            http.stream("POST", "/mcp", json=ask, headers=headers) as stream,
        ):
            frames = (
                json.loads(line[6:]) for line in stream.iter_lines() if line.startswith("data: ")
            )
            first = next(frames)
            assert reload(project)[0] == 0
            changed, last = frames
        assert "Search the store" in described(gateway)

    assert first["method"] == "notifications/subscriptions/acknowledged"
    assert first["params"]["notifications"] == {"toolsListChanged": True}
    assert changed["method"] == "notifications/tools/list_changed"
    assert last["id"] == 7
