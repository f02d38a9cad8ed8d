"""Replies of imported operations, and what a tool returns for them."""

import pytest

from gateway.contract.imported import ImportedHeader, ImportedOperation, ImportedReply
from gateway.contract.operation import Effect
from gateway.contract.upstream import Reply
from gateway.contract.values.files import FileContent
from gateway.encoding.replies.decoder import MAX_EVENTS, ReplyDecoder
from gateway.errors import InvalidReply
from tests.unit.tables import each_of

PET = {"$ref": "#/$defs/Pet"}
DEFINITIONS = {
    "Pet": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}
}


def result(
    replies,
    status,
    body,
    content_type="application/json",
    *,
    results="enforce",
    method="GET",
    **sent,
):
    operation = ImportedOperation(
        id="pets.get",
        tool="get",
        title="Get",
        description="Get.",
        effect=Effect.READ,
        is_idempotent=True,
        pointer="/paths/~1pets/get",
        method=method,
        path="/pets",
        input_schema={"type": "object"},
        replies=replies,
        results=results,
    )
    decoder = ReplyDecoder(operation, DEFINITIONS)
    headers = {"content-type": content_type} if content_type else {}
    headers |= {name.lower().replace("_", "-"): text for name, text in sent.items()}
    return decoder.result(Reply(status=status, headers=headers, body=body))


def reply(status="200", kind="json", media_type="application/json", schema=True):
    return ImportedReply(status=status, kind=kind, media_type=media_type, schema=schema)


def test_an_object_is_the_result():
    assert result((reply(schema=PET),), 200, b'{"id": 1}') == {"id": 1}


def test_another_json_value_is_a_member_of_the_result():
    pets = reply(schema={"type": "array", "items": PET})
    assert result((pets,), 200, b'[{"id": 1}]') == {"result": [{"id": 1}]}


def test_a_reply_that_breaks_the_document_is_refused_with_its_place():
    with pytest.raises(InvalidReply) as refused:
        result((reply(schema=PET),), 200, b'{"id": "one"}')
    assert [each.pointer for each in refused.value.violations] == ["/id"]


def test_a_reply_that_breaks_the_document_is_passed_on_where_the_author_wants_this(caplog):
    assert result((reply(schema=PET),), 200, b'{"id": "x"}', results="report") == {"id": "x"}
    assert "/id" in caplog.text
    assert '"x"' not in caplog.text


@pytest.mark.parametrize("status", [301, 400, 404, 500])
def test_a_failure_is_no_result(status):
    assert result((reply(), reply("default")), status, b"{}") is None


@pytest.mark.parametrize(("declared", "status"), [("2XX", 202), ("2xx", 200), ("default", 201)])
def test_a_range_and_the_default_declare_a_status(declared, status):
    assert result((reply(declared, schema=PET),), status, b'{"id": 1}') == {"id": 1}


def test_the_default_is_no_success_beside_a_declared_one():
    """What is published is the declared success: the default may be anything."""
    replies = (reply("200", schema=PET), reply("default"))
    assert result(replies, 201, b'{"id": 1}') == {"id": 1}
    with pytest.raises(InvalidReply) as refused:
        result(replies, 201, b'{"message": "made"}')
    assert [each.pointer for each in refused.value.violations] == ["/id"]


def test_an_exact_status_has_precedence():
    replies = (reply("2XX", schema=False), reply("201", schema=PET))
    assert result(replies, 201, b'{"id": 1}') == {"id": 1}


@pytest.mark.parametrize("declared", ["204", "205", "404", "3XX"])
def test_a_status_that_is_not_declared_is_refused(declared):
    with pytest.raises(InvalidReply, match="202"):
        result((reply(declared),), 202, b"{}")


@pytest.mark.parametrize("declared", ["200", "203"])
def test_another_success_is_read_as_the_declared_one(declared):
    replies = (reply("204"), reply(declared, schema=PET), reply("404"))
    assert result(replies, 201, b'{"id": 1}') == {"id": 1}
    assert result(replies, 202, b"", content_type="") == {}
    with pytest.raises(InvalidReply) as refused:
        result(replies, 201, b'{"id": "one"}')
    assert [each.pointer for each in refused.value.violations] == ["/id"]
    with pytest.raises(InvalidReply, match="has text/html, which"):
        result(replies, 201, b"<p>", content_type="text/html")


@pytest.mark.parametrize(
    ("content_type", "passed"),
    [
        ("application/json", {"id": 1}),
        ("text/html", FileContent(media_type="text/html", data=b'{"id": 1}')),
    ],
)
def test_what_is_not_declared_is_passed_on_where_the_author_wants_this(content_type, passed):
    declared = (reply(status="201"),)
    assert result(declared, 200, b'{"id": 1}', content_type, results="report") == passed


def test_the_most_precise_media_type_decides():
    replies = (
        reply(kind="binary", media_type="*/*"),
        reply(kind="binary", media_type="image/*"),
        reply(kind="text", media_type="image/svg+xml"),
    )
    assert result(replies, 200, b"<svg/>", "image/svg+xml; charset=utf-8") == {"text": "<svg/>"}
    image = FileContent(media_type="image/png", data=b"\x89P")
    assert result(replies, 200, b"\x89P", "image/png; q=1") == image


@pytest.mark.parametrize("media_type", ["", "image", "image/\u202epng", 'a/b"c', "a/" + "b" * 200])
def test_a_malformed_media_type_is_not_passed_on(media_type):
    found = result((reply(kind="binary", media_type=None),), 200, b"x", media_type)
    assert found == FileContent(media_type="application/octet-stream", data=b"x")


def test_a_media_type_that_is_not_declared_is_refused():
    for content_type, shown in (
        ("text/html; charset=utf-8", "has text/html, which"),
        ("", "has no media type, which"),
        ("\x1b[31m", "has a malformed media type, which"),
    ):
        with pytest.raises(InvalidReply) as refused:
            result((reply(),), 200, b"<html>", content_type)
        assert shown in refused.value.detail


def test_no_content_is_an_empty_object():
    assert result((), 204, b"", "") == {}
    assert result((reply("200", "empty", None),), 200, b"", "") == {}


@each_of(
    ("content_type", "body", "passed"),
    [
        ("application/json", b'{"id": 1}', {"id": 1}),
        ("application/problem+json", b"[1]", {"result": [1]}),
        ("text/plain", b"done", {"text": "done"}),
        ("image/png", b"\x89P", FileContent(media_type="image/png", data=b"\x89P")),
        ("", b"ok", FileContent(media_type="application/octet-stream", data=b"ok")),
        ("application/json", b"ok", FileContent(media_type="application/json", data=b"ok")),
        ("text/plain", b"\xff", FileContent(media_type="text/plain", data=b"\xff")),
    ],
)
@pytest.mark.parametrize("results", ["enforce", "report"])
def test_a_body_that_no_content_describes_is_passed_on(content_type, body, passed, results):
    declared = (reply("2XX", "empty", None),)
    found = result(declared, 201, body, content_type, results=results, method="POST")
    assert found == passed


def test_text_is_decoded_with_its_charset():
    text = reply(kind="text", media_type="text/plain")
    assert result((text,), 200, b"\xe4", "text/plain; charset=ISO-8859-1") == {"text": "ä"}
    with pytest.raises(InvalidReply):
        result((text,), 200, b"\xe4", "text/plain")


def test_a_reply_to_head_has_no_body():
    assert result((reply(schema=PET),), 200, b"", method="HEAD") == {}
    assert result((reply(schema=PET),), 404, b"", method="HEAD") is None


@pytest.mark.parametrize(
    ("charset", "body"),
    [
        ("windows-1252", b"\x80"),
        ('"UTF-8"', b"\xe2\x82\xac"),
        ("utf-8", b"\xef\xbb\xbf\xe2\x82\xac"),
        ("utf-16", b"\xff\xfe\xac\x20"),
        ("utf-16", b"\x20\xac"),
        ("UTF-16LE", b"\xac\x20"),
    ],
)
def test_each_known_charset_is_decoded(charset, body):
    text = reply(kind="text", media_type="text/plain")
    assert result((text,), 200, body, f"text/plain; charset={charset}") == {"text": "€"}


@pytest.mark.parametrize("charset", ["shift_jis", "rot13", "utf-7"])
def test_text_in_an_unknown_charset_is_refused(charset):
    text = reply(kind="text", media_type="text/plain")
    with pytest.raises(InvalidReply, match="charset"):
        result((text,), 200, b"abc", f"text/plain; charset={charset}")


@pytest.mark.parametrize("body", [b"\xef\xbb\xbfdata: 1\n\n", b"data: 1\n\ndata: 2\n"])
def test_an_event_is_counted_when_an_empty_line_ends_it(body):
    events = reply(kind="events", media_type="text/event-stream")
    assert result((events,), 200, body, "text/event-stream") == {"events": [1]}


def test_a_json_text_sequence_is_collected():
    events = reply(kind="events", media_type="application/json-seq", schema=PET)
    body = b'\x1e{"id":\n1}\n\x1e\x1e{"id": 2}\n'
    expected = {"events": [{"id": 1}, {"id": 2}]}
    assert result((events,), 200, body, "application/json-seq") == expected


@pytest.mark.parametrize("body", [b"1\n", b"\x1e1", b"\x1e12\x1e3\n"])
def test_a_json_text_sequence_that_is_cut_is_refused(body):
    events = reply(kind="events", media_type="application/json-seq")
    with pytest.raises(InvalidReply, match="record"):
        result((events,), 200, body, "application/json-seq")


def test_events_are_collected():
    events = reply(kind="events", media_type="text/event-stream", schema=PET)
    body = (
        b': hello\r\ndata: {"id":\r\ndata: 1}\r\n\r\nevent: x\ndata: {"id": 2}\n\ndata: [DONE]\n\n'
    )
    expected = {"events": [{"id": 1}, {"id": 2}]}
    assert result((events,), 200, body, "text/event-stream") == expected
    lines = reply(kind="events", media_type="application/jsonl", schema=PET)
    assert result((lines,), 200, b'{"id": 1}\n{"id": 2}\n', "application/jsonl") == expected


def test_too_many_events_are_refused():
    lines = reply(kind="events", media_type="application/jsonl")
    with pytest.raises(InvalidReply, match="events"):
        result((lines,), 200, b"1\n" * (MAX_EVENTS + 1), "application/jsonl")


def test_json_that_is_no_json_is_refused():
    with pytest.raises(InvalidReply, match="not valid JSON"):
        result((reply(),), 200, b"{")


def headed(kind="json", **headers):
    declared = tuple(
        ImportedHeader(name=name.replace("_", "-"), **facts) for name, facts in headers.items()
    )
    return ImportedReply(status="200", kind=kind, headers=declared)


NUMBERS = {"type": "array", "items": {"type": "integer"}}
WEIGHTS = {"type": "object", "properties": {"w": {"type": "integer"}}}


@each_of(
    ("facts", "text", "value"),
    [
        ({"schema": {"type": "string"}}, '"a,1"', '"a,1"'),
        ({"schema": {"type": "integer"}}, "-12", -12),
        ({"schema": {"type": "number"}}, "1.5", 1.5),
        ({"schema": {"type": "boolean"}}, "true", True),
        ({"schema": NUMBERS}, "1, 2,3", [1, 2, 3]),
        ({"schema": WEIGHTS}, "w,3,k,v", {"w": 3, "k": "v"}),
        ({"schema": WEIGHTS, "explode": True}, "w=3,k=v=1", {"w": 3, "k": "v=1"}),
        ({"schema": WEIGHTS, "is_json": True}, '{"w":3}', {"w": 3}),
        ({"schema": {"$ref": "#/$defs/Pet"}}, "id,7", {"id": 7}),
        ({"schema": True}, "7", "7"),
    ],
)
def test_a_header_has_the_type_that_the_document_declares(facts, text, value):
    assert result((headed(X_A=facts),), 200, b'{"id":1}', x_a=text) == {
        "id": 1,
        "_headers": {"X-A": value},
    }


@pytest.mark.parametrize(
    ("facts", "text", "pointer"),
    [
        ({"schema": {"type": "integer"}}, "0x10", "/_headers/X-A"),
        ({"schema": {"type": "integer", "maximum": 9}}, "10", "/_headers/X-A"),
        ({"schema": NUMBERS}, "1,b", "/_headers/X-A/1"),
        ({"schema": WEIGHTS}, "w,3,k", "/_headers/X-A"),
        ({"schema": WEIGHTS, "is_json": True}, "{", "/_headers/X-A"),
        ({"schema": True, "is_required": True}, None, "/_headers/X-A"),
    ],
)
def test_a_header_that_breaks_the_document_is_refused(facts, text, pointer):
    sent = {} if text is None else {"x_a": text}
    with pytest.raises(InvalidReply) as refused:
        result((headed(X_A=facts),), 200, b"{}", **sent)
    assert [each.pointer for each in refused.value.violations] == [pointer]
    assert result((headed(X_A=facts),), 200, b"{}", results="report", **sent)


def test_headers_that_are_not_sent_or_not_declared_are_not_in_the_result():
    found = result((headed(ETag={}),), 200, b"[]", set_cookie="s=1", x_other="1")
    assert found == {"result": [], "_headers": {}}


def test_an_empty_reply_and_a_file_have_headers_too():
    empty = headed("empty", Location={})
    assert result((empty,), 200, b"", "", location="/a") == {"_headers": {"Location": "/a"}}
    found = result((headed("binary", ETag={}),), 200, b"x", "image/png", etag='"1"')
    assert found.facts() == {"content_type": "image/png", "size": 1, "_headers": {"ETag": '"1"'}}


def test_a_member_of_the_reply_is_not_taken_for_its_headers():
    with pytest.raises(InvalidReply, match="_headers"):
        result((headed(ETag={}),), 200, b'{"_headers": {"ETag": "forged"}}')


NUMBER = {"type": "integer"}
ROW = {
    "type": "object",
    "required": ["id"],
    "properties": {
        "id": NUMBER,
        "due": {"type": "string"},
        "note": {"type": ["string", "null"]},
        "pet": {"$ref": "#/$defs/Pet"},
    },
}


def test_optional_members_that_are_null_are_absent_where_the_author_says_so():
    schema = {"type": "array", "items": ROW}
    sent = b'[{"id": 1, "due": null, "note": null, "other": null}, {"id": 2, "pet": {"id": 3}}]'
    found = result((reply(schema=schema),), 200, sent, results="nulls-absent")
    rows = [{"id": 1, "note": None, "other": None}, {"id": 2, "pet": {"id": 3}}]
    assert found == {"result": rows}
    with pytest.raises(InvalidReply):
        result((reply(schema=schema),), 200, sent)


@each_of(
    ("schema", "sent", "found"),
    [
        ({"additionalProperties": NUMBER}, b'{"a": null, "b": 1}', {"b": 1}),
        ({"allOf": [ROW, {"properties": {"x": NUMBER}}]}, b'{"id": 1, "x": null}', {"id": 1}),
        ({"anyOf": [ROW, {"type": "null"}]}, b'{"id": 1, "due": null}', {"id": 1}),
        ({"properties": {"a": {"prefixItems": [ROW]}}}, b'{"a": [{"id": 1, "due": null}]}', None),
    ],
)
def test_nulls_are_found_in_each_form_of_schema(schema, sent, found):
    found = found or {"a": [{"id": 1}]}
    assert result((reply(schema=schema),), 200, sent, results="nulls-absent") == found


@each_of(
    ("schema", "sent", "pointer"),
    [
        (ROW, b'{"id": null}', "/id"),
        ({"properties": {"a": {"items": NUMBER}}}, b'{"a": [null]}', "/a/0"),
        (ROW, b'{"id": 1, "due": null, "pet": {}}', "/due"),
    ],
    ids=["required", "item", "more is wrong"],
)
def test_a_null_that_cannot_be_absent_is_an_error_at_its_place(schema, sent, pointer):
    with pytest.raises(InvalidReply) as wrong:
        result((reply(schema=schema),), 200, sent, results="nulls-absent")
    assert wrong.value.violations[0].pointer == pointer


def test_events_may_have_absent_nulls_too():
    declared = (reply(kind="events", media_type="application/x-ndjson", schema=ROW),)
    sent = b'{"id": 1, "due": null}\n'
    found = result(declared, 200, sent, "application/x-ndjson", results="nulls-absent")
    assert found == {"events": [{"id": 1}]}
