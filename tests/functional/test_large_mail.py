"""A mail with a large file through REST: sent, as far as its contract has room for it."""

import base64
import os
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import RunningGateway

MAIL: dict[str, Any] = {
    "to": "client@example.com",
    "subject": "Photos",
    "body": "<p>Here they are.</p>",
}
SIZE = 15 * 2**20
"""Twenty megabytes in base64."""


@pytest.fixture
def client(shared_gateway: RunningGateway) -> Iterator[httpx.Client]:
    headers = shared_gateway.authorization
    with httpx.Client(
        base_url=shared_gateway.url, headers=headers, timeout=PATIENCE_SECONDS
    ) as opened:
        yield opened


def attached(*contents: str) -> dict[str, Any]:
    return {**MAIL, "attachments": [{"filename": "photos.zip", "content": e} for e in contents]}


def test_twenty_megabytes_are_sent_and_more_than_the_contract_allows_is_not(
    client: httpx.Client,
) -> None:
    photos = base64.b64encode(os.urandom(SIZE)).decode()
    sent = client.post("/v1/gmail/send_email", json=attached(photos))
    assert sent.status_code == 200, sent.text
    message_id = sent.json()["message_id"]
    read = client.post("/v1/gmail/get_email", json={"message_id": message_id})
    assert read.json()["attachments"] == [
        {
            "filename": "photos.zip",
            "content_type": "application/octet-stream",
            "size_bytes": SIZE,
        }
    ]
    refused = client.post("/v1/gmail/send_email", json=attached(photos, "A" * 11 * 2**19))
    assert refused.status_code == 422
    assert [each["pointer"] for each in refused.json()["errors"]] == ["/attachments/1/content"]


def test_what_the_contract_has_no_room_for_is_refused_as_too_large(client: httpx.Client) -> None:
    refused = client.post("/v1/gmail/send_email", json=attached("A" * 28 * 2**20))
    assert refused.status_code == 413
    assert str(26 * 2**20) in refused.json()["detail"]
    other = client.post("/v1/example/greet", json={"name": "A" * 2**20})
    assert other.status_code == 413
