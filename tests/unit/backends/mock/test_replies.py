"""Which declared reply the mock of an imported document sends, and its bytes."""

import pytest
from msgspec.structs import replace

from gateway.backends.mock.replies import body_of, media_type_of, reply_of
from gateway.contract.imported import ImportedReply
from tests.unit.encoding.operations import operation
from tests.unit.tables import each_of


@pytest.mark.parametrize(
    ("media_type", "body"),
    [
        ("text/event-stream", b"data: 1\n\ndata: 2\n\n"),
        ("application/jsonl", b"1\n2\n"),
        ("application/json-seq", b"\x1e1\n\x1e2\n"),
    ],
)
def test_events_have_the_form_of_their_media_type(media_type, body):
    reply = ImportedReply(status="200", kind="events", media_type=media_type)
    assert body_of(reply, [1, 2]) == body


@each_of(
    ("declared", "sent", "start"),
    [
        ("image/png", "image/png", b"\x89PNG\r\n\x1a\n"),
        ("image/*", "image/png", b"\x89PNG\r\n\x1a\n"),
        ("image/jpeg", "image/jpeg", b"\xff\xd8\xff"),
        ("image/gif", "image/gif", b"GIF89a"),
        ("image/webp", "image/webp", b"RIFF"),
        ("audio/*", "audio/wav", b"RIFF"),
        ("application/pdf", "application/pdf", b"%PDF-1."),
        ("application/zip", "application/zip", b"PK"),
        ("video/*", "video/x-sample", b"sample"),
        ("*/*", "application/octet-stream", b"sample"),
    ],
)
def test_a_file_is_one_of_its_media_type(declared, sent, start):
    reply = ImportedReply(status="200", kind="binary", media_type=declared)
    assert media_type_of(reply) == sent
    assert body_of(reply, None).startswith(start)


@pytest.mark.parametrize(
    ("accept", "kind"),
    [("application/json, text/csv;q=0.9", "json"), ("text/csv", "text"), ("", "json")],
)
def test_json_is_sent_unless_only_another_media_type_is_accepted(accept, kind):
    text = ImportedReply(status="200", kind="text", media_type="text/csv")
    value = ImportedReply(status="200", kind="json", media_type="application/json")
    found = reply_of(replace(operation(), replies=(text, value)), 200, accept)
    assert found is not None
    assert found.reply.kind == kind
