"""A mail with a large file through REST: sent, as far as its contract has room for it."""

import base64
import os
from pathlib import Path

import httpx
import pytest

from tests.gateway_process import running_gateway

CONTENT = os.urandom(15 * 2**20)
MAIL = {
    "to": "client@example.com",
    "subject": "Photos",
    "body": "<p>Here they are.</p>",
    "attachments": [{"filename": "photos.zip", "content": base64.b64encode(CONTENT).decode()}],
}


@pytest.mark.slow
def test_twenty_megabytes_are_sent_and_more_than_the_contract_allows_is_not(tmp_path: Path) -> None:
    with (
        running_gateway(tmp_path) as gateway,
        httpx.Client(base_url=gateway.url, headers=gateway.authorization, timeout=60) as client,
    ):
        sent = client.post("/v1/gmail/send_email", json=MAIL)
        assert sent.status_code == 200, sent.text
        message_id = sent.json()["message_id"]
        read = client.post("/v1/gmail/get_email", json={"message_id": message_id})
        assert read.json()["attachments"] == [
            {
                "filename": "photos.zip",
                "content_type": "application/octet-stream",
                "size_bytes": len(CONTENT),
            }
        ]
        two = {
            **MAIL,
            "attachments": [*MAIL["attachments"], {"filename": "b", "content": "A" * 11 * 2**19}],
        }
        refused = client.post("/v1/gmail/send_email", json=two)
        assert refused.status_code == 422
        assert [each["pointer"] for each in refused.json()["errors"]] == ["/attachments/1/content"]


def test_what_the_contract_has_no_room_for_is_refused_as_too_large(tmp_path: Path) -> None:
    mail = {**MAIL, "attachments": [{"filename": "b", "content": "A" * 28 * 2**20}]}
    with (
        running_gateway(tmp_path) as gateway,
        httpx.Client(base_url=gateway.url, headers=gateway.authorization, timeout=60) as client,
    ):
        refused = client.post("/v1/gmail/send_email", json=mail)
        assert refused.status_code == 413
        assert str(26 * 2**20) in refused.json()["detail"]
        other = client.post("/v1/example/greet", json={"name": "A" * 2**20})
        assert other.status_code == 413
