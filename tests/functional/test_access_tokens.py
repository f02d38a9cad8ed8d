"""Access tokens in the whole program: `gateway serve`, live, at a `gateway mock` over HTTP."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.gateway_process import GATEWAY, RunningGateway, clean_environment, running_gateway

CANARY = "canary-of-the-token-tests"
ASK = {"user_id": "user-001"}
PATH = "/v1/golf/get_reservations"


@contextmanager
def mock_of_golf(*arguments: str) -> Iterator[str]:
    """The address of `gateway mock golf`."""
    command = [str(GATEWAY), "mock", "golf", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, env=clean_environment(), text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().removeprefix("ready ").strip()
        finally:
            process.terminate()


@contextmanager
def live_at(url: str, data: Path, secret: str) -> Iterator[RunningGateway]:
    environment = {
        "GATEWAY_GOLF_BASE_URL": url,
        "GATEWAY_GOLF_CLIENT_ID": f"{CANARY}-id",
        "GATEWAY_GOLF_CLIENT_SECRET": f"{CANARY}-{secret}",
        "GATEWAY_GOLF_COURSE_ID": "course-001",
        "GATEWAY_GOLF_USER_ID": "user-001",
        "GATEWAY_LOG_LEVEL": "debug",
    }
    with running_gateway(data, environment=environment) as gateway:
        yield gateway


@pytest.mark.slow
def test_a_refused_token_is_renewed_and_the_call_succeeds(tmp_path: Path) -> None:
    with (
        mock_of_golf("--fault", "listReservations 1 status=401") as url,
        live_at(url, tmp_path, "secret") as gateway,
    ):
        reply = httpx.post(gateway.url + PATH, json=ASK, headers=gateway.authorization)
        ready = httpx.get(f"{gateway.url}/readyz").json()
    assert (reply.status_code, reply.headers["gateway-backend"]) == (200, "live")
    assert (ready["status"], ready["upstreams"]["golf"]["backend"]) == ("ready", "live")
    assert CANARY not in (tmp_path / "stderr.log").read_text("utf-8")


@pytest.mark.slow
def test_credentials_that_are_refused_for_good_degrade_the_gateway_and_do_not_end_it(
    tmp_path: Path,
) -> None:
    with mock_of_golf() as url, live_at(url, tmp_path, "revoked") as gateway:
        replies = [
            httpx.post(gateway.url + PATH, json=ASK, headers=gateway.authorization)
            for _ in range(2)
        ]
        ready = httpx.get(f"{gateway.url}/readyz")
        other = httpx.post(
            f"{gateway.url}/v1/avinode/search_airports",
            json={"query": "Teterboro"},
            headers=gateway.authorization,
        )
    assert [reply.json()["type"] for reply in replies] == [
        "/problems/upstream-refused-credentials"
    ] * 2
    state = ready.json()
    assert (ready.status_code, state["status"]) == (200, "degraded")
    assert "GATEWAY_GOLF_CLIENT_SECRET" in state["upstreams"]["golf"]["problem"]
    assert state["problems"] == [f"golf: {state['upstreams']['golf']['problem']}"]
    assert other.status_code == 200
    log = (tmp_path / "stderr.log").read_text("utf-8")
    assert "invalid_client" in log
    assert CANARY not in log + ready.text + "".join(reply.text for reply in replies)
