"""`kill -9` between the effect of a call and its answer."""

import signal

import httpx
import pytest

from tests.gateway_process import RunningGateway, run_gateway, running_gateway

PUSH = {"title": "Booked", "message": "Tee time at 08:30"}


def push(gateway: RunningGateway, key: str, message: str = PUSH["message"]) -> httpx.Response:
    return httpx.post(
        f"{gateway.url}/v1/ntfy/send_push_notification",
        json={**PUSH, "message": message},
        headers={**gateway.authorization, "idempotency-key": key},
    )


def cut_off_after_one(gateway: RunningGateway, made: list[httpx.Response]) -> None:
    made.append(push(gateway, "call-1"))
    with pytest.raises(httpx.HTTPError):
        push(gateway, "call-2")


def test_a_call_that_was_cut_off_by_a_kill_is_not_made_again(tmp_path) -> None:
    made: list[httpx.Response] = []
    failing = {"GATEWAY_FAILPOINT": "call.made:2"}
    with (
        pytest.raises(AssertionError, match=f"stopped with -{signal.SIGKILL.value}"),
        running_gateway(tmp_path, environment=failing) as gateway,
    ):
        cut_off_after_one(gateway, made)
    with running_gateway(tmp_path) as gateway:
        answered, cut_off = push(gateway, "call-1"), push(gateway, "call-2")
        other = push(gateway, "call-2", "Other")

    assert (answered.status_code, answered.content) == (200, made[0].content)
    assert answered.headers["idempotency-replayed"] == "true"
    assert (cut_off.status_code, cut_off.json()["code"]) == (409, "OUTCOME_UNKNOWN")
    assert (other.status_code, other.json()["code"]) == (422, "IDEMPOTENCY_KEY_REUSED")
    records = run_gateway(tmp_path, "audit", "list", "--data", ".", "--json")
    assert (records.count('"PENDING"'), records.count('"CUT_OFF"')) == (0, 1)
