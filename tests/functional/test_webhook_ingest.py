"""`gateway serve` as it is installed: who may send to it, and that a 2xx outlives a kill."""

import hashlib
import hmac
import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.gateway_process import GATEWAY, clean_environment, running_gateway

EXAMPLE = Path(__file__).parents[2] / "schemas/webhooks/avinode/quote_received.payload.json"
SECRET = "a secret of the functional tests that is long enough"
SIGNED = "GATEWAY_WEBHOOKS_AVINODE_SIGNED_SECRETS"
NO_WORK = {"GATEWAY_WORKERS": "0"}


def send(url: str, secret: str, event_id: str, **changes: Any) -> httpx.Response:
    """Signed by what the contract says, and by nothing of the gateway's."""
    (example, *_) = json.loads(EXAMPLE.read_text("utf-8"))["examples"]
    body = json.dumps({**example, "event_id": event_id, **changes}).encode()
    at = str(int(time.time()))
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    headers = {
        "content-type": "application/json",
        "x-avinode-timestamp": at,
        "x-avinode-signature": f"sha256={digest}",
    }
    return httpx.post(f"{url}/webhooks/avinode", content=body, headers=headers, timeout=60)


def test_a_first_start_works_by_itself_with_a_secret_that_it_made(tmp_path) -> None:
    with running_gateway(tmp_path, environment=NO_WORK) as gateway:
        secret = (tmp_path / "webhook-secrets" / "avinode-signed").read_text("utf-8").strip()
        assert send(gateway.url, secret, "e-1").status_code == 202
        assert send(gateway.url, secret, "e-1").status_code == 200
        assert send(gateway.url, secret, "e-1", quote_id="Q-other").status_code == 409
        assert send(gateway.url, SECRET, "e-2").status_code == 401
    log = (tmp_path / "stderr.log").read_text()
    assert secret not in log
    assert "Traceback" not in log


def test_an_edited_secret_is_one_line_that_names_its_file(tmp_path) -> None:
    file = tmp_path / "webhook-secrets" / "github-signed"
    file.parent.mkdir()
    file.write_text("canary")
    command = [GATEWAY, "serve", "--port", "0", "--data", tmp_path]
    ended = subprocess.run(
        command, check=False, env=clean_environment(), capture_output=True, text=True, timeout=60
    )
    problem, fix = ended.stderr.splitlines()
    assert ended.returncode == 2
    assert problem == f"error: {file} contains an invalid secret, which must have at least 24 bytes"
    assert fix.startswith("fix: remove the file")


def test_with_a_secret_of_the_operators_no_other_one_is_taken(tmp_path) -> None:
    with running_gateway(tmp_path, environment={**NO_WORK, SIGNED: SECRET}) as gateway:
        assert not (tmp_path / "webhook-secrets" / "avinode-signed").exists()
        assert send(gateway.url, SECRET, "e-1").status_code == 202
        pointer = httpx.post(f"{gateway.url}/webhooks/avinode", json={}, auth=("gateway", "x" * 20))
        assert pointer.status_code == 401, "a profile without secrets is closed"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        (SIGNED, "short"),
        ("GATEWAY_WEBHOOKS_AVINODE_POINTER_SECRETS", "no-password"),
        ("GATEWAY_WEBHOOKS_STANDARD_SIGNED_SECRETS", "whsec_****"),
        ("GATEWAY_WEBHOOKS_AVINODE_ALLOW", "everybody"),
        ("GATEWAY_TRUSTED_PROXIES", "10.0.0.1/8"),
    ],
)
def test_a_setting_that_cannot_be_used_stops_the_start_with_its_name(
    tmp_path, variable, value
) -> None:
    command = [str(GATEWAY), "serve", "--port", "0", "--data", str(tmp_path)]
    done = subprocess.run(
        command,
        env=clean_environment({variable: value}),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {variable}")
    assert "\nfix: " in done.stderr
    assert value not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("point", "status"),
    [
        ("ingest.after_body", 202),
        ("ingest.after_verify", 202),
        ("ingest.before_commit", 202),
        ("ingest.after_commit", 200),
    ],
)
def test_a_sender_without_an_answer_sends_again_and_nothing_is_lost_or_doubled(
    tmp_path, point, status
) -> None:
    log = tmp_path / "failpoints.log"
    environment = {**NO_WORK, SIGNED: SECRET}
    failing = {"GATEWAY_FAILPOINT": point, "GATEWAY_FAILPOINT_LOG": str(log)}
    with (
        pytest.raises(AssertionError, match=f"stopped with -{signal.SIGKILL.value}"),
        running_gateway(tmp_path, environment={**environment, **failing}) as gateway,
        pytest.raises(httpx.HTTPError),
    ):
        send(gateway.url, SECRET, "e-1")
    assert log.read_text() == f"{point}\n"
    with running_gateway(tmp_path, environment=environment) as gateway:
        assert send(gateway.url, SECRET, "e-1").status_code == status
        assert send(gateway.url, SECRET, "e-1").status_code == 200
