"""Bad input at `POST /webhooks/<provider>` over real sockets, each with its required answer."""

import asyncio
import hashlib
import hmac
import json
import time
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator

import pytest

from tests.interaction.webhook_site import PAYLOAD, WebhookSite, request_bytes, serving_webhooks
from tests.webhook_sources import (
    ACME,
    HUB,
    SECRET,
    STANDARD,
    credentials_of,
)

BODY = json.dumps(PAYLOAD).encode()
CANARY = "canary-7f3e9a1b5c2d"


@pytest.fixture
async def site() -> AsyncIterator[WebhookSite]:
    async with serving_webhooks() as running:
        yield running


async def test_every_wrong_proof_gets_one_and_the_same_answer(site: WebhookSite) -> None:
    now = time.time()
    right = credentials_of(ACME, BODY, now)
    signature, at = right["x-acme-signature"], right["x-acme-timestamp"]
    wrong: list[list[tuple[str, str | bytes]]] = [
        [],
        [("x-acme-signature", signature)],
        [("x-acme-timestamp", at)],
        [("x-acme-signature", ""), ("x-acme-timestamp", at)],
        [("x-acme-signature", signature[:-1]), ("x-acme-timestamp", at)],
        [("x-acme-signature", "sha256="), ("x-acme-timestamp", at)],
        [("x-acme-signature", "a" * 10_000), ("x-acme-timestamp", at)],
        [("x-acme-signature", "žluť".encode()), ("x-acme-timestamp", at)],
        [("x-acme-signature", b"\xff"), ("x-acme-timestamp", at)],
        [("x-acme-signature", signature), ("x-acme-timestamp", "1_0")],
        [("x-acme-signature", signature), ("x-acme-timestamp", "+1")],
        [("x-acme-signature", signature), ("x-acme-timestamp", "१".encode())],
        [("x-acme-signature", signature), ("x-acme-timestamp", "1e9")],
        [("x-acme-signature", signature), ("x-acme-timestamp", "1" * 20)],
        [("x-acme-signature", signature)] * 2 + [("x-acme-timestamp", at)],
        list(credentials_of(ACME, BODY, now - 301).items()),
        list(credentials_of(ACME, BODY, now + 900).items()),
        list(credentials_of(ACME, BODY + b" ", now).items()),
        list(credentials_of(STANDARD, BODY, now).items()),
        [("authorization", "Basic " + b64encode(b"acme:wrong").decode())],
        [("authorization", "Basic ****")],
        [("authorization", "Bearer x")],
    ]
    answers = []
    for fields in wrong:
        answer = await site.post(BODY, fields, extra=[("x-request-id", "same")])
        answer.headers.pop("date")
        answers.append((answer.status, answer.headers, answer.body))
    assert answers == [answers[0]] * len(wrong)
    assert answers[0][0] == 401
    assert answers[0][1]["www-authenticate"] == 'Basic realm="webhooks"'
    assert site.inbox.stored == []


@pytest.mark.parametrize(
    "signature",
    [
        "",
        "v1",
        "v1,",
        "v1,a,b",
        "v2,AAAA",
        "v1," + "A" * 10_000,
        " ".join(["v1,AAAA"] * 1000),
        "žluť",
    ],
)
async def test_malformed_standard_webhooks_are_refused_alike(site: WebhookSite, signature) -> None:
    fields = credentials_of(STANDARD, BODY, time.time()) | {"webhook-signature": signature}
    answer = await site.post(BODY, fields, path="/webhooks/plain")
    assert answer.status == 401
    assert answer.headers["www-authenticate"] == 'Signature realm="webhooks"'


async def test_a_body_that_was_written_again_is_not_the_one_that_was_signed(
    site: WebhookSite,
) -> None:
    credentials = credentials_of(ACME, BODY, time.time())
    assert (await site.post(BODY.replace(b": ", b":"), credentials)).status == 401


async def test_what_one_source_signed_is_nothing_to_another(site: WebhookSite) -> None:
    answer = await site.post(BODY, credentials_of(ACME, BODY, time.time()), path="/webhooks/hub")
    assert answer.status == 401


BAD_BODIES = {
    "empty": b"",
    "no-json": b"thing",
    "NaN": b'{"event_id": NaN}',
    "Infinity": b'{"event_id": Infinity}',
    "1e400": b'{"event_id": 1e400}',
    "bom": b"\xef\xbb\xbf{}",
    "utf-16": "{}".encode("utf-16"),
    "not-utf-8": b'{"a": "\xff\xfe"}',
    "overlong": b'{"a": "\xc0\x80"}',
    "lone-surrogate": rb'{"a": "\ud800"}',
    "lone-surrogate-name": rb'{"\udc00": 1}',
    "trailing": b"{} {}",
    "comment": b"{} // why",
    "duplicate-names": b'{"a": 1, "a": 2}',
    "duplicate-names-escaped": rb'{"a": 1, "\u0061": 2}',
    "deep": b"[" * 65 + b"]" * 65,
    "very-deep": b"[" * 30_000,
    "NUL": rb'{"a": "x\u0000y"}',
    "NUL-name": rb'{"x\u0000y": 1}',
    "NUL-deep": rb'{"a": [[{"b": ["\u0000"]}]]}',
    "raw-NUL": b'{"a": "\0"}',
    "digits": b'{"a": ' + b"9" * 5000 + b"}",
}


@pytest.mark.parametrize("name", BAD_BODIES)
async def test_an_authentic_body_that_cannot_be_read_is_kept(site: WebhookSite, name) -> None:
    """Its sender would not send it again: an operator sees the exact bytes, and why."""
    body = BAD_BODIES[name]
    for outcome in ("quarantined", "duplicate"):
        answer = await site.post(body, credentials_of(HUB, body, time.time()), path="/webhooks/hub")
        assert answer.json()["outcome"] == outcome
    (stored,) = site.inbox.stored
    assert stored.body == body
    assert stored.message_id == f"sha256:{hashlib.sha256(body).hexdigest()}"
    (refusal,) = stored.refusals
    assert "JSON" in refusal.detail or "NUL" in refusal.detail


@pytest.mark.parametrize(("count", "is_read"), [(100_000, True), (100_001, False)])
async def test_the_names_of_one_body_are_counted(count: int, *, is_read: bool) -> None:
    body = b"{" + b",".join(b'"%d":0' % n for n in range(count)) + b"}"
    async with serving_webhooks(max_body_bytes=2**20) as roomy:
        answer = await roomy.post(
            body, credentials_of(HUB, body, time.time()), path="/webhooks/hub"
        )
    assert answer.json()["outcome"] == "quarantined"
    (stored,) = roomy.inbox.stored
    assert ("is not the JSON that is read" in stored.refusals[0].detail) is not is_read


async def test_an_escaped_backslash_before_u0000_is_no_nul(site: WebhookSite) -> None:
    assert (await site.post_acme({**PAYLOAD, "thing": "\\u0000"})).status == 202


@pytest.mark.parametrize(
    ("message_id", "stored"),
    [
        ("x" * 200, "x" * 200),
        ("a b", "a b"),
        ("a.b", "a.b"),
        ("č-1", "č-1"),
        *((odd, None) for odd in ("x" * 201, "", "a\nb", "a\tb", "a\x7fb", "a\u202eb", 1.5, None)),
    ],
)
async def test_an_id_in_the_body_is_short_and_printable(
    site: WebhookSite, message_id, stored
) -> None:
    """A message with another one is kept under the digest of its body."""
    answer = await site.post_acme({**PAYLOAD, "event_id": message_id})
    (found,) = site.inbox.stored
    assert answer.json()["outcome"] == ("stored" if stored else "quarantined")
    assert found.message_id == (stored or f"sha256:{hashlib.sha256(found.body).hexdigest()}")


@pytest.mark.parametrize(("message_id", "status"), [("a.b", 400), ("x" * 300, 202), ("a-b", 202)])
async def test_an_id_in_a_header_is_short_and_never_ambiguous(
    site: WebhookSite, message_id, status
) -> None:
    """Signed by the specification's formula, also where it forbids the id."""
    fields = credentials_of(STANDARD, BODY, time.time()) | {"webhook-id": message_id}
    content = f"{message_id}.{fields['webhook-timestamp']}.{BODY.decode()}".encode()
    key = b64decode(SECRET.removeprefix("whsec_"))
    signature = b64encode(hmac.digest(key, content, "sha256")).decode()
    fields["webhook-signature"] = f"v1,{signature}"
    answer = await site.post(BODY, fields, path="/webhooks/plain")
    assert answer.status == status


async def test_a_delivery_without_its_header_is_quarantined(site: WebhookSite) -> None:
    fields = credentials_of(HUB, BODY, time.time())
    del fields["x-hub-delivery"]
    answer = await site.post(BODY, fields, path="/webhooks/hub")
    assert answer.json()["outcome"] == "quarantined"
    (stored,) = site.inbox.stored
    assert "the header x-hub-delivery must be a text" in stored.refusals[0].detail


async def test_a_delivery_without_its_type_is_quarantined(site: WebhookSite) -> None:
    fields = credentials_of(HUB, BODY, time.time())
    del fields["x-hub-event"]
    assert (await site.post(BODY, fields, path="/webhooks/hub")).json()["outcome"] == "quarantined"
    (stored,) = site.inbox.stored
    assert stored.event_type == ""
    assert [(r.pointer, r.detail) for r in stored.refusals] == [
        ("", "the header x-hub-event is no event type of this contract")
    ]


async def test_a_source_that_is_unknown_or_closed_is_not_there() -> None:
    async with serving_webhooks() as site:
        for path in ("/nobody", "/acme/more", "/", ""):
            answer = await site.post(
                BODY, credentials_of(ACME, BODY, time.time()), path=f"/webhooks{path}"
            )
            assert answer.status == 404, path


@pytest.mark.parametrize(
    "path",
    [
        "/webhooks/%00",
        "/webhooks/%ff",
        "/webhooks/a%2fcme",
        "/webhooks/%2e%2e/acme",
        "/webhooks/acm%c0%ae",
    ],
)
async def test_a_path_that_could_be_read_in_two_ways_is_refused(site: WebhookSite, path) -> None:
    answer = await site.post(BODY, credentials_of(ACME, BODY, time.time()), path=path)
    assert answer.status in {400, 404}
    assert site.inbox.stored == []


@pytest.mark.parametrize(
    ("extra", "status"),
    [
        ([("content-encoding", "gzip")], 415),
        ([("content-encoding", "br")], 415),
        ([("content-encoding", "deflate")], 415),
        ([("content-type", "text/plain")], 415),
        ([("content-type", "application/x-www-form-urlencoded")], 415),
        ([("content-type", "application/json"), ("content-type", "application/json")], 415),
        ([("content-type", "application/json; charset=utf-8")], 202),
        ([("host", "evil.example")], 421),
        ([("host", "gateway.test"), ("host", "gateway.test")], 400),
        ([("x-forwarded-host", "evil.example")], 202),
        ([("origin", "https://evil.example")], 403),
        ([("x-large", "a" * 40_000)], 431),
        ([(f"x-{n}", "a") for n in range(200)], 431),
        ([("content-length", "+4")], 400),
        ([("content-length", "-1")], 400),
        ([("content-length", "0x4")], 400),
        ([("content-length", "4"), ("content-length", "4")], 400),
        ([("transfer-encoding", "chunked"), ("content-length", "4")], 400),
        ([("transfer-encoding", "xchunked")], 400),
        ([("x-nul", b"a\0b")], 400),
        ([("x-blank ", "a")], 400),
    ],
)
async def test_the_edge_holds_for_webhooks_as_for_every_transport(
    site: WebhookSite, extra, status
) -> None:
    answer = await site.post_acme(extra=extra)
    assert answer.status == status, answer.body
    assert len(site.inbox.stored) == (status == 202)


async def test_a_body_over_the_cap_of_its_source_is_cut_off(site: WebhookSite) -> None:
    body = json.dumps({**PAYLOAD, "more": "x" * 5000}).encode()
    answer = await site.post_acme(body)
    assert answer.status == 413
    assert answer.headers["connection"] == "close"
    head = request_bytes(b"", credentials_of(ACME, b"", time.time())).replace(
        b"content-length: 0", b"transfer-encoding: chunked"
    )
    chunk = b"800\r\n" + b" " * 2048 + b"\r\n"
    assert (await site.send(head, *[chunk] * 3)).status == 413
    assert site.inbox.stored == []


async def test_a_body_over_the_cap_of_the_gateway_is_not_waited_for(site: WebhookSite) -> None:
    head = request_bytes(b"", [], extra=[("content-length", "99999999999999999999")])
    assert (await site.send(head)).status in {400, 413}


async def test_a_body_that_stalls_is_cut_off() -> None:
    whole = request_bytes(BODY, credentials_of(ACME, BODY, time.time()))
    async with serving_webhooks(body_deadline_seconds=0.05) as site:
        answer = await site.send(whole[:-5])
    assert answer.status == 408


async def test_a_sender_that_leaves_in_its_body_leaves_nothing(
    site: WebhookSite, caplog: pytest.LogCaptureFixture
) -> None:
    whole = request_bytes(BODY, credentials_of(ACME, BODY, time.time()))
    _, writer = await asyncio.open_connection("127.0.0.1", site.port)
    writer.write(whole[:-5])
    await writer.drain()
    writer.close()
    assert (await site.post_acme({**PAYLOAD, "event_id": "e-2"})).status == 202
    assert [stored.message_id for stored in site.inbox.stored] == ["e-2"]
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "PATCH", "QUERY"])
async def test_other_methods_are_not_allowed(site: WebhookSite, method: str) -> None:
    whole = request_bytes(b"", []).replace(b"POST", method.encode())
    answer = await site.send(whole)
    assert answer.status == 405
    assert answer.headers["allow"] == "POST, OPTIONS"


async def test_options_says_what_is_allowed(site: WebhookSite) -> None:
    answer = await site.send(request_bytes(b"", []).replace(b"POST", b"OPTIONS"))
    assert (answer.status, answer.headers["allow"]) == (204, "POST, OPTIONS")


async def test_every_answer_carries_the_safety_headers(site: WebhookSite) -> None:
    for answer in (await site.post_acme(), await site.post(BODY, [])):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert "server" not in answer.headers
