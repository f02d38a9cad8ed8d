"""Messages of a provider, signed by what its contract says, and by nothing of the gateway's."""

import hashlib
import hmac
import json
import time
from typing import Any, Final

import httpx

from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import REPOSITORY

EXAMPLE: Final = REPOSITORY / "schemas/webhooks/avinode/quote_received.payload.json"
SECRET: Final = "a secret of the functional tests that is long enough"
SIGNED: Final = "GATEWAY_WEBHOOKS_AVINODE_SIGNED_SECRETS"


def send(url: str, secret: str, event_id: str, **changes: Any) -> httpx.Response:
    """Send the example of the contract, with some members otherwise."""
    (example, *_) = json.loads(EXAMPLE.read_text("utf-8"))["examples"]
    body = json.dumps({**example, "event_id": event_id, **changes}).encode()
    at = str(int(time.time()))
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    headers = {
        "content-type": "application/json",
        "x-avinode-timestamp": at,
        "x-avinode-signature": f"sha256={digest}",
    }
    return httpx.post(
        f"{url}/webhooks/avinode", content=body, headers=headers, timeout=PATIENCE_SECONDS
    )
