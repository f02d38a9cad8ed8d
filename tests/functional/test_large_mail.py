"""A mail with a large file through REST: refused by default, sent where the operator allows it."""

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
def test_twenty_megabytes_are_sent_where_the_limit_allows_it(tmp_path: Path) -> None:
    allowed = {"GATEWAY_MAX_BODY_BYTES": str(32 * 2**20)}
    with (
        running_gateway(tmp_path, environment=allowed) as gateway,
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
            "attachments": [*MAIL["attachments"], {"filename": "b", "content": "A" * 2**23}],
        }
        refused = client.post("/v1/gmail/send_email", json=two)
        assert refused.status_code == 422
        assert [each["pointer"] for each in refused.json()["errors"]] == ["/attachments/1/content"]


def test_a_mail_beyond_the_limit_is_refused_as_too_large(tmp_path: Path) -> None:
    with (
        running_gateway(tmp_path) as gateway,
        httpx.Client(base_url=gateway.url, headers=gateway.authorization, timeout=60) as client,
    ):
        refused = client.post("/v1/gmail/send_email", json=MAIL)
        assert refused.status_code == 413
        assert "1048576" in refused.json()["detail"]
