"""`gateway serve` as it is installed: who may send to it, and that a 2xx outlives a kill."""

import signal
from pathlib import Path

import httpx
import pytest

from tests.functional.signed_messages import SECRET, SIGNED, send
from tests.gateway_process import ended_gateway, running_gateway

NO_WORK = {"GATEWAY_WORKERS": "0"}


def test_a_first_start_works_by_itself_with_a_secret_that_it_made(tmp_path: Path) -> None:
    with running_gateway(tmp_path, environment=NO_WORK) as gateway:
        secret = (tmp_path / "webhook-secrets" / "avinode-signed").read_text("utf-8").strip()
        assert send(gateway.url, secret, "e-1").status_code == 202
        assert send(gateway.url, secret, "e-1").status_code == 200
        assert send(gateway.url, secret, "e-1", quote_id="Q-other").status_code == 409
        assert send(gateway.url, SECRET, "e-2").status_code == 401
    log = (tmp_path / "stderr.log").read_text()
    assert secret not in log
    assert "Traceback" not in log


def test_an_edited_secret_is_one_line_that_names_its_file(tmp_path: Path) -> None:
    file = tmp_path / "webhook-secrets" / "github-signed"
    file.parent.mkdir()
    file.write_text("canary")
    code, _, error = ended_gateway(tmp_path, "serve", "--port", "0", "--data", str(tmp_path))
    problem, fix = error.splitlines()
    assert code == 2
    assert problem == f"error: {file} contains an invalid secret, which must have at least 24 bytes"
    assert fix.startswith("fix: remove the file")


def test_with_a_secret_of_the_operators_no_other_one_is_taken(tmp_path: Path) -> None:
    with running_gateway(tmp_path, environment={**NO_WORK, SIGNED: SECRET}) as gateway:
        assert not (tmp_path / "webhook-secrets" / "avinode-signed").exists()
        assert send(gateway.url, SECRET, "e-1").status_code == 202
        pointer = httpx.post(f"{gateway.url}/webhooks/avinode", json={}, auth=("gateway", "x" * 20))
        assert pointer.status_code == 401, "a profile without secrets is closed"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        (SIGNED, "canary-of-an-old-secret,"),
        ("GATEWAY_WEBHOOKS_AVINODE_POINTER_SECRETS", "no-password"),
        ("GATEWAY_WEBHOOKS_STANDARD_SIGNED_SECRETS", "whsec_****"),
        ("GATEWAY_WEBHOOKS_AVINODE_ALLOW", "everybody"),
        ("GATEWAY_TRUSTED_PROXIES", "10.0.0.1/8"),
    ],
)
def test_a_setting_that_cannot_be_used_stops_the_start_with_its_name(
    tmp_path: Path, variable: str, value: str
) -> None:
    serve = ("serve", "--port", "0", "--data", str(tmp_path))
    code, _, error = ended_gateway(tmp_path, *serve, environment={variable: value})
    assert code == 2
    assert error.startswith(f"error: {variable}")
    assert "\nfix: " in error
    assert value not in error
    assert "Traceback" not in error


def test_a_sender_without_an_answer_sends_again_and_nothing_is_lost_or_doubled(
    tmp_path: Path,
) -> None:
    """One gateway after the other is killed, each at another point. Then they are sent again."""
    own = {**NO_WORK, SIGNED: SECRET}
    statuses = {
        "ingest.after_body": 202,
        "ingest.after_verify": 202,
        "ingest.before_commit": 202,
        "ingest.after_commit": 200,
    }
    log = tmp_path / "failpoints.log"
    for point in statuses:
        failing = {**own, "GATEWAY_FAILPOINT": point, "GATEWAY_FAILPOINT_LOG": str(log)}
        with (
            pytest.raises(AssertionError, match=f"stopped with -{signal.SIGKILL.value}"),
            running_gateway(tmp_path, environment=failing) as gateway,
            pytest.raises(httpx.HTTPError),
        ):
            send(gateway.url, SECRET, point)
    assert log.read_text().splitlines() == [*statuses]
    with running_gateway(tmp_path, environment=own) as gateway:
        again = {point: send(gateway.url, SECRET, point).status_code for point in statuses}
        assert again == statuses
        assert {send(gateway.url, SECRET, point).status_code for point in statuses} == {200}
