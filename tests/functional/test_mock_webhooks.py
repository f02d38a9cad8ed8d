"""`gateway mock avinode --webhooks-to URL`: the mock in its own process sends to a listener."""

import json
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from gateway.signatures.hmac_header import HmacSignature
from tests.gateway_process import GATEWAY, clean_environment

SECRET = "secret-of-the-mock-webhook-tests-0123456789"
SCHEME = HmacSignature(
    header="x-avinode-signature", prefix="sha256=", timestamp_header="x-avinode-timestamp"
)
IS_AUTHENTIC = SCHEME.verifier([SCHEME.key_of(SECRET)])
SPEED = "6000"
ALL_HAVE_ANSWERED_SECONDS = 6.5
"""Of ten hours and more, at that speed."""
ACCOUNT = {
    "X-Avinode-ApiToken": "t",
    "Authorization": "Bearer t",
    "X-Avinode-SentTimestamp": "2026-11-20T14:30:00Z",
    "X-Avinode-ApiVersion": "v1.0",
    "X-Avinode-Product": "contract-gateway-v1.0",
}
RFQ = {
    "segments": [
        {
            "startAirport": {"icao": "KTEB"},
            "endAirport": {"icao": "KVNY"},
            "dateTime": {"date": "2026-12-01"},
            "paxCount": "6",
        }
    ],
    "sellerCompanies": [{"id": f"OP-00{number}"} for number in range(1, 6)],
}


class Listener(ThreadingHTTPServer):
    """Refuses the first message once, and keeps what is authentic."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Asked)
        self.asked = 0
        self.taken: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/webhooks/avinode"


class _Asked(BaseHTTPRequestHandler):
    server: Listener

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        fields = [(name.lower().encode(), value.encode()) for name, value in self.headers.items()]
        self.server.asked += 1
        is_taken = self.server.asked > 1 and IS_AUTHENTIC(fields, body, time.time())
        if is_taken:
            self.server.taken.append(json.loads(body))
        self.send_response(202 if is_taken else 503)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def listening() -> Iterator[Listener]:
    with Listener() as listener:
        thread = threading.Thread(target=listener.serve_forever)
        thread.start()
        try:
            yield listener
        finally:
            listener.shutdown()
            thread.join()


@contextmanager
def mock_of_avinode(*arguments: str) -> Iterator[str]:
    command = [str(GATEWAY), "mock", "avinode", *arguments]
    environment = clean_environment({"GATEWAY_WEBHOOKS_AVINODE_SIGNED_SECRETS": SECRET})
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().removeprefix("ready ").strip()
            process.terminate()
            assert process.wait(60) == 0
        finally:
            process.kill()


@pytest.mark.slow
def test_quotes_are_reported_as_mock_time_passes() -> None:
    with (
        listening() as listener,
        mock_of_avinode("--webhooks-to", listener.url, "--mock-speed", SPEED) as url,
    ):
        created = httpx.post(f"{url}/rfqs", json=RFQ, headers=ACCOUNT).json()["data"]
        time.sleep(ALL_HAVE_ANSWERED_SECONDS)
        asking = f"{url}/rfqs/{created['id']}?fields=latestquote"
        read = httpx.get(asking, headers=ACCOUNT).json()["data"]
        quotes = [each["latestQuote"]["id"] for each in read["sellerLift"] if "latestQuote" in each]
        deadline = time.monotonic() + 10
        while len(listener.taken) < len(quotes) and time.monotonic() < deadline:
            time.sleep(0.1)
    assert quotes
    assert sorted(each["quote_id"] for each in listener.taken) == sorted(quotes)
    assert {each["event_type"] for each in listener.taken} == {"quote_received"}
    assert listener.asked == len(quotes) + 1
