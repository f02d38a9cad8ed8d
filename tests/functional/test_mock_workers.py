"""A worker in its own process follows pointers to what the mock of the server has made."""

import asyncio
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.functional.test_mock_restarts import RFP
from tests.gateway_process import GATEWAY, clean_environment, running_gateway
from tests.postgres import create_database, drop_database, server_url

PATIENCE_SECONDS = 60.0


@pytest.fixture
def url() -> Iterator[str]:
    made = asyncio.run(create_database(server_url()))
    yield made
    asyncio.run(drop_database(server_url(), made))


@contextmanager
def working(data: Path, environment: dict[str, str]) -> Iterator[None]:
    command = [str(GATEWAY), "worker", "--data", str(data)]
    log = data / "worker.log"
    with (
        log.open("w") as stderr,
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=clean_environment(environment),
            cwd=data,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "ready\n", log.read_text()
            yield
        finally:
            process.kill()


@pytest.mark.slow
@pytest.mark.postgres
def test_quotes_behind_pointers_become_rows(url: str, tmp_path: Path) -> None:
    environment = {
        "GATEWAY_DATABASE_URL": url,
        "GATEWAY_WORKSPACE_URL": url,
        "GATEWAY_MOCK_SPEED": "12000",
        "GATEWAY_WEBHOOKS_AVINODE_POINTER_SECRETS": "avinode:password-of-the-worker-tests",
        "GATEWAY_MOCK_TIME": "",
    }
    serving = environment | {"GATEWAY_WORKERS": "0"}
    with (
        running_gateway(tmp_path, environment=serving) as gateway,
        working(tmp_path, environment),
        httpx.Client(base_url=gateway.url, headers=gateway.authorization, timeout=30) as http,
    ):
        made = http.post("/v1/avinode/create_rfp", json=RFP)
        assert made.status_code == 200, made.text

        def rows() -> list[dict[str, Any]]:
            items: list[dict[str, Any]] = http.get("/v1/entities/quotes").json()["items"]
            return items

        deadline = time.monotonic() + PATIENCE_SECONDS
        while not rows():
            assert time.monotonic() < deadline, (tmp_path / "worker.log").read_text()
            time.sleep(0.2)
