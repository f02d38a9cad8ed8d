"""Sent mails at the other end: an SMTP server takes the bytes, and mailparser reads them.

Neither knows the program that wrote them. Both run in one Node.js process.
"""

import base64
import hashlib
import json
import re
import smtplib
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateway.connectors.gmail.fields import mail_raw, template_raw
from gateway.contract.values.pointers import follow
from tests.clients.contracts import catalogue
from tests.clients.node_clients import FOLDER, node
from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import clean_environment

pytestmark = pytest.mark.node

NOW = "2026-11-20T14:30:00.000Z"
NAMES = {"to", "cc", "bcc", "reply-to", "subject", "date", "message-id", "mime-version"}
MIME_NAMES = {"content-type", "content-transfer-encoding"}
Deliver = Callable[[str], dict[str, Any]]
"""Gives a `raw` value to the server; what it saw."""

characters = st.characters(
    exclude_categories=["Cs", "Cc"], exclude_characters="\u2028\u2029\u202a\u202b\u202c\u202d\u202e"
)
lines = st.text(characters, max_size=60)
hostile = st.sampled_from(
    (
        "=?utf-8?q?=0ABcc:_evil@example.com?=",
        "=?utf-8?b?DQpCY2M6IGV2aWxAZXhhbXBsZS5jb20=?=",
        "%0D%0ABcc: evil@example.com",
        '"; filename="evil.exe',
        "utf-8''%0d%0a",
        "<script>alert(1)</script>",
        "שלום",
        "😀" * 40,
    )
)
filenames = (
    st.lists(lines | hostile, min_size=1, max_size=3)
    .map(lambda found: re.sub(r"[/\\\u2066-\u2069]|=\?", "", "".join(found))[:250].strip())
    .filter(lambda name: name not in {"", ".", ".."})
)
bodies = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)


@pytest.fixture(scope="module")
def deliver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deliver]:
    log = tmp_path_factory.mktemp("mail-server") / "stderr.log"
    with (
        log.open("w") as stderr,
        subprocess.Popen(
            [node(), "mail_server.mjs"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            cwd=FOLDER,
            env=clean_environment(),
            text=True,
        ) as process,
    ):
        port = int(_line(process, log))

        def give(raw: str) -> dict[str, Any]:
            with smtplib.SMTP("127.0.0.1", port, timeout=PATIENCE_SECONDS) as client:
                mail = base64.urlsafe_b64decode(raw)
                refused = client.sendmail("agent@example.com", ["client@example.com"], mail)
            assert refused == {}
            seen: dict[str, Any] = json.loads(_line(process, log))
            return seen

        yield give
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(PATIENCE_SECONDS) == 0, log.read_text()


def _line(process: subprocess.Popen[str], log: Path) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, log.read_text()
    return line


def _unified(text: str) -> str:
    return re.sub(r"\r\n?", "\n", text)


def test_everything_arrives_where_it_was_meant_to(deliver: Deliver) -> None:
    content = bytes(range(256)) * 40
    arguments = {
        "to": "client@example.com",
        "subject": "Größe 😀 " * 20 + "Ende",
        "body": "<p>Grüße</p>\n.\n..\n" + "lang " * 400,
        "cc": [f"copy{number}@example.com" for number in range(30)],
        "bcc": ["hidden@example.com"],
        "reply_to": "agent@example.com",
        "attachments": [
            {
                "filename": "Angebot, Übersicht.pdf",
                "content": base64.b64encode(content).decode(),
                "content_type": "application/pdf",
            },
            {"filename": "empty.bin", "content": ""},
        ],
    }

    seen = deliver(mail_raw(arguments, "call-1", NOW))

    assert seen["to"] == ["client@example.com"]
    assert seen["cc"] == arguments["cc"]
    assert seen["bcc"] == ["hidden@example.com"]
    assert seen["reply_to"] == ["agent@example.com"]
    assert seen["subject"] == arguments["subject"]
    assert seen["date"] == NOW
    assert re.fullmatch("<[0-9a-f]{32}@contract-gateway[.]invalid>", seen["message_id"])
    assert _unified(seen["html"]).rstrip("\n") == arguments["body"]
    assert seen["text"] is None
    assert seen["attachments"] == [
        {
            "filename": "Angebot, Übersicht.pdf",
            "content_type": "application/pdf",
            "disposition": "attachment",
            "sha256": hashlib.sha256(content).hexdigest(),
        },
        {
            "filename": "empty.bin",
            "content_type": "application/octet-stream",
            "disposition": "attachment",
            "sha256": hashlib.sha256(b"").hexdigest(),
        },
    ]


@settings(max_examples=20)
@given(
    subject=st.lists(lines | hostile, max_size=3).map("".join),
    filename=filenames,
    content=st.binary(max_size=100),
    body=bodies,
)
@example(subject="=?utf-8?q?=0A?=", filename="utf-8''%0A.exe", content=b"", body="\n.\n")
def test_hostile_values_arrive_as_values(
    deliver: Deliver, subject: str, filename: str, content: bytes, body: str
) -> None:
    """No header and no part more than there should be, and each says what was given."""
    arguments = {
        "to": "client@example.com",
        "subject": subject,
        "body": body,
        "body_type": "text",
        "attachments": [
            {"filename": filename, "content": base64.b64encode(content).decode()},
        ],
    }

    seen = deliver(mail_raw(arguments, "call-2", NOW))

    assert sorted(seen["headers"]) == sorted((NAMES - {"cc", "bcc", "reply-to"}) | {"content-type"})
    assert (seen["to"], seen["cc"], seen["bcc"]) == (["client@example.com"], [], [])
    assert seen["subject"] == subject.strip()
    assert _unified(seen["text"] or "").rstrip("\n") == _unified(body).rstrip("\n")
    (file,) = seen["attachments"]
    assert file["filename"] == filename
    assert file["sha256"] == hashlib.sha256(content).hexdigest()


def test_templates_arrive_in_both_versions(deliver: Deliver) -> None:
    """Every example of the contract."""
    document = json.loads(catalogue().openapi)
    content = "/paths/~1v1~1gmail~1send_template_email/post/requestBody/content"
    examples = follow(document, content)["application/json"]["examples"].values()
    for each in examples:
        seen = deliver(template_raw(each["value"], "call-3", NOW))
        assert set(seen["headers"]) <= NAMES | MIME_NAMES
        assert seen["text"].startswith("Dear John Doe,")
        assert "<!DOCTYPE html>" in seen["html"]
        assert seen["attachments"] == []
