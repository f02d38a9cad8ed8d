"""A worker in its own process follows pointers to what the mock of the server has made."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.eventually import PATIENCE_SECONDS
from tests.functional.test_mock_restarts import RFP
from tests.gateway_process import running_gateway, started_gateway, until


@pytest.mark.postgres
def test_quotes_behind_pointers_become_rows(postgres_url: str, tmp_path: Path) -> None:
    environment = {
        "GATEWAY_DATABASE_URL": postgres_url,
        "GATEWAY_WORKSPACE_URL": postgres_url,
        "GATEWAY_MOCK_SPEED": "12000",
        "GATEWAY_WEBHOOKS_AVINODE_POINTER_SECRETS": "avinode:password-of-the-worker-tests",
        "GATEWAY_MOCK_TIME": "",
    }
    serving = environment | {"GATEWAY_WORKERS": "0"}
    with (
        running_gateway(tmp_path, environment=serving) as gateway,
        started_gateway(
            tmp_path / "worker", "worker", "--data", str(tmp_path), environment=environment
        ) as worker,
        httpx.Client(
            base_url=gateway.url, headers=gateway.authorization, timeout=PATIENCE_SECONDS
        ) as http,
    ):
        assert worker.line() == "ready\n", worker.said()
        made = http.post("/v1/avinode/create_rfp", json=RFP)
        assert made.status_code == 200, made.text

        def rows() -> list[dict[str, Any]]:
            items: list[dict[str, Any]] = http.get("/v1/entities/quotes").json()["items"]
            return items

        until(lambda: bool(rows()))
