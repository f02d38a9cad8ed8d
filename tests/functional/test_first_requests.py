"""What a start leaves out is loaded by the first request that needs it."""

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import httpx
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from sqlalchemy import create_engine

from gateway.store.migrations.upgrade import upgrade
from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import BOOTSTRAP_KEY, RunningGateway, running_gateway, until

ACCEPT: Final = {"accept": "application/json, text/event-stream"}
INITIALIZE: Final = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "first", "version": "1"},
}
LEFT_OUT: Final = (
    "aiohttp",
    "alembic",
    "asyncpg",
    "cryptography",
    "datamodel_code_generator",
    "httpx",
    "httpx2",
    "jinja2",
    "jwt",
    "mcp",
    "mcp_types",
    "pydantic.v1",
    "pygments",
    "rich",
    "sse_starlette",
    "starlette.responses",
)
"""What takes a start long, and what is needed by some requests, settings and databases only."""
START: Final = """
import asyncio, json, sys
from gateway.app import Gateway
from gateway.cli.serving.serve import command
from gateway.settings import read_settings

async def start():
    environment = {"GATEWAY_BOOTSTRAP_KEY": sys.argv[2]}
    async with Gateway.open(read_settings(environment, None, {"data": sys.argv[1]})) as gateway:
        gateway.http_app()

asyncio.run(start())
print(json.dumps(sorted(sys.modules)))
"""


SERVE: Final = """
import gc, os, sys
from gateway.app import serve
from gateway.settings import read_settings

gc.unfreeze = lambda: os._exit(3)
settings = read_settings({}, None, {"data": sys.argv[1], "port": 0})
serve(settings, lambda url, key: os._exit(0))
"""


def start(data: Path) -> set[str]:
    """The modules of a process that has opened everything and built what it serves."""
    command = [sys.executable, "-c", START, str(data), BOOTSTRAP_KEY]
    done = subprocess.run(command, cwd=data, capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_a_start_loads_nothing_that_only_some_requests_need(tmp_path: Path) -> None:
    making_the_database, finding_it = start(tmp_path), start(tmp_path)
    for loaded in (making_the_database, finding_it):
        assert loaded & set(LEFT_OUT) == set()
        assert {"gateway.transports.mcp.endpoint", "generated.operations", "litestar"} <= loaded


def test_the_command_for_keys_loads_no_server() -> None:
    program = "import json, sys; import gateway.cli.serving.keys; print(json.dumps([*sys.modules]))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert {"litestar", "uvicorn", "mcp"} & set(json.loads(done.stdout)) == set()


def test_a_start_that_migrates_the_database_loads_alembic(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path}/gateway.db")
    with engine.begin() as connection:
        upgrade(connection, "gateway.db", to="0009")
    engine.dispose()
    assert "alembic" in start(tmp_path)


def test_the_collection_of_a_start_leaves_out_what_was_imported(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SERVE, str(tmp_path)]
    assert subprocess.run(command, cwd=tmp_path, check=False).returncode == 0


def client(gateway: RunningGateway) -> httpx.Client:
    headers = {**ACCEPT, **gateway.authorization}
    return httpx.Client(base_url=gateway.url, headers=headers, timeout=PATIENCE_SECONDS)


def request(number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def message(answer: httpx.Response) -> dict[str, Any]:
    """The JSON-RPC message of an answer, in either of the two forms."""
    assert answer.status_code == 200, answer.text
    (line,) = [line for line in answer.text.splitlines() if line.startswith("data: {")]
    found: dict[str, Any] = json.loads(line.removeprefix("data: "))
    return found


async def test_many_may_be_the_first_at_once(tmp_path: Path) -> None:
    """A client of today, and others that begin with the handshake of before."""

    def ask(http: httpx.Client, number: int) -> dict[str, Any]:
        return message(http.post("/mcp", json=request(number, "initialize", INITIALIZE)))

    with (
        ThreadPoolExecutor(30) as pool,
        running_gateway(tmp_path, is_forked=False) as gateway,
        client(gateway) as http,
    ):
        asking = [pool.submit(ask, http, number) for number in range(30)]
        await use(gateway)
        answers = [each.result() for each in asking]
    assert [answer["id"] for answer in answers] == list(range(30))
    assert {answer["result"]["serverInfo"]["name"] for answer in answers} == {"contract-gateway"}
    # It stopped well right after.
    assert "Traceback" not in (tmp_path / "stderr.log").read_text()


async def use(gateway: RunningGateway) -> None:
    headers = gateway.authorization
    async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE_SECONDS) as http:
        transport = streamable_http_client(f"{gateway.url}/mcp", http_client=http)
        async with Client(transport) as first:
            arguments = {"query": "Teterboro"}
            result = await first.call_tool("avinode_search_airports", arguments)
            assert not result.is_error
            assert len((await first.list_tools()).tools) > 40


def test_it_stops_well_while_the_first_request_waits_for_the_loading(tmp_path: Path) -> None:
    def ask(http: httpx.Client) -> None:
        # What has come before the signal is answered; what comes later need not be.
        with suppress(httpx.HTTPError):
            message(http.post("/mcp", json=request(1, "initialize", INITIALIZE)))

    with (
        ThreadPoolExecutor() as pool,
        running_gateway(tmp_path, is_forked=False) as gateway,
        client(gateway) as http,
    ):
        http.get("/healthz")
        threads = Path(f"/proc/{gateway.pid}/task")
        before = len([*threads.iterdir()])
        asking = pool.submit(ask, http)
        until(lambda: len([*threads.iterdir()]) > before or asking.done())
        os.kill(gateway.pid, signal.SIGTERM)
        asking.result()
    assert "Traceback" not in (tmp_path / "stderr.log").read_text()
