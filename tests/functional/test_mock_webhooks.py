"""`gateway mock avinode --webhooks-to URL`: the mock in its own process sends to a listener."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

from gateway.signatures.hmac_header import HmacSignature
from gateway.signatures.received import Received
from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import started_gateway, until

SECRET = "secret-of-the-mock-webhook-tests-0123456789"
SCHEME = HmacSignature(
    header="x-avinode-signature", prefix="sha256=", timestamp_header="x-avinode-timestamp"
)
IS_AUTHENTIC = SCHEME.verifier([SCHEME.key_of(SECRET)])
SPEED = "20000"
"""All answer within ten hours and more."""
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

    def reported(self, event_type: str) -> list[str]:
        """The ids of the quotes of the messages of this type."""
        return [each["quote_id"] for each in self.taken if each["event_type"] == event_type]


class _Asked(BaseHTTPRequestHandler):
    server: Listener

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        fields = [(name.lower().encode(), value.encode()) for name, value in self.headers.items()]
        self.server.asked += 1
        is_taken = self.server.asked > 1 and IS_AUTHENTIC(
            Received(fields=fields, body=body), time.time()
        )
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
        thread = threading.Thread(target=listener.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield listener
        finally:
            listener.shutdown()
            thread.join()


def test_quotes_are_reported_as_mock_time_passes(tmp_path: Path) -> None:
    faster = ("--mock-speed", SPEED)
    with (
        listening() as listener,
        started_gateway(
            tmp_path,
            *("mock", "avinode", "--webhooks-to", listener.url, *faster),
            environment={"GATEWAY_WEBHOOKS_AVINODE_SIGNED_SECRETS": SECRET},
        ) as mock,
        httpx.Client(base_url=mock.ready_url(), headers=ACCOUNT, timeout=PATIENCE_SECONDS) as http,
    ):
        created = http.post("/rfqs", json=RFQ).json()["data"]

        def lifts() -> list[dict[str, Any]]:
            read = http.get(f"/rfqs/{created['id']}?fields=latestquote").json()["data"]
            found: list[dict[str, Any]] = read["sellerLift"]
            return found

        until(lambda: all(each["sourcingDisplayStatus"] != "Unanswered" for each in lifts()))
        quotes = sorted(each["latestQuote"]["id"] for each in lifts() if "latestQuote" in each)
        until(lambda: sorted(listener.reported("quote_received")) == quotes)
        assert mock.stop() == 0
    assert len(quotes) > 1
    # Where that takes long, they have expired meanwhile.
    assert {*listener.reported("quote_expired")} <= {*quotes}
    assert listener.asked == len(listener.taken) + 1
