"""Access tokens in the whole program: `gateway serve`, live, at a `gateway mock` over HTTP."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.gateway_process import RunningGateway, running_gateway, started_gateway

CANARY = "canary-of-the-token-tests"
ASK = {"user_id": "user-001"}
PATH = "/v1/golf/get_reservations"


@pytest.fixture(scope="module")
def mock_of_golf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of `gateway mock golf`, which refuses the token of the first call."""
    faulty = ("--fault", "listReservations 1 status=401")
    with started_gateway(tmp_path_factory.mktemp("mock"), "mock", "golf", *faulty) as started:
        yield started.ready_url()


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


def test_a_refused_token_is_renewed_and_the_call_succeeds(
    mock_of_golf: str, tmp_path: Path
) -> None:
    with live_at(mock_of_golf, tmp_path, "secret") as gateway:
        reply = httpx.post(gateway.url + PATH, json=ASK, headers=gateway.authorization)
        ready = httpx.get(f"{gateway.url}/operator/readiness", headers=gateway.authorization).json()
    assert (reply.status_code, reply.headers["gateway-backend"]) == (200, "live")
    assert (ready["status"], ready["upstreams"]["golf"]["backend"]) == ("ready", "live")
    assert CANARY not in (tmp_path / "stderr.log").read_text("utf-8")


def test_credentials_that_are_refused_for_good_degrade_the_gateway_and_do_not_end_it(
    mock_of_golf: str, tmp_path: Path
) -> None:
    with live_at(mock_of_golf, tmp_path, "revoked") as gateway:
        replies = [
            httpx.post(gateway.url + PATH, json=ASK, headers=gateway.authorization)
            for _ in range(2)
        ]
        ready = httpx.get(f"{gateway.url}/readyz")
        seen = httpx.get(f"{gateway.url}/operator/readiness", headers=gateway.authorization)
        other = httpx.post(
            f"{gateway.url}/v1/avinode/search_airports",
            json={"query": "Teterboro"},
            headers=gateway.authorization,
        )
    assert [reply.json()["type"] for reply in replies] == [
        "/problems/upstream-refused-credentials"
    ] * 2
    assert (ready.status_code, ready.json()["status"]) == (200, "degraded")
    assert "golf" not in ready.text.lower()
    state = seen.json()
    assert (seen.status_code, state["status"]) == (200, "degraded")
    assert "GATEWAY_GOLF_CLIENT_SECRET" in state["upstreams"]["golf"]["problem"]
    assert state["problems"] == [f"golf: {state['upstreams']['golf']['problem']}"]
    assert other.status_code == 200
    log = (tmp_path / "stderr.log").read_text("utf-8")
    assert "invalid_client" in log
    assert CANARY not in log + ready.text + "".join(reply.text for reply in replies)
