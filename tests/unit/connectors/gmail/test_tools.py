"""The Gmail tools through their field maps, against the mock."""

import base64
import json
from email import message_from_bytes
from email.policy import SMTP

import pytest

from gateway.errors import (
    InvalidArguments,
    InvalidReply,
    ToolFailed,
    UpstreamNotSetUp,
    UpstreamRateLimited,
    UpstreamUnavailable,
)
from gateway.testing.cases import example_cases
from tests.unit import shipped
from tests.unit.connectors.tools import ConnectorTools
from tests.unit.tables import each_of

THREAD = "18c0f3a2b4d5e601"
MAIL = {"to": "client@example.com", "subject": "Grüße", "body": "<p>Drei&nbsp;Flüge</p>"}
FILE = {"filename": "Angebot ü.pdf", "content": "QUJD", "content_type": "application/pdf"}
FOLLOW_UP = {
    "client_name": "John",
    "topic": "Van Nuys",
    "message": "Hello",
    "agent_name": "Jane",
    "contact_phone": "+1 555 123",
}
TEMPLATED = {"to": "client@example.com", "template_name": "follow_up", "template_data": FOLLOW_UP}


AIRCRAFT = {
    "type": "Citation X",
    "price_usd": 48200,
    "operator_name": "Executive Jet Management",
    "capacity": 8,
    "features": "Wi-Fi",
}
PROPOSAL = {
    "client_name": "John",
    "departure_airport": "Teterboro",
    "arrival_airport": "Van Nuys",
    "departure_date": "2026-12-01",
    "contact_phone": "+1 555 123",
}


class Tools(ConnectorTools):
    """The tools, and the mail that was sent last."""

    def __init__(self, *faults):
        super().__init__("gmail", *faults)

    async def call(self, tool, values):
        return await super().call(tool, **values)

    @property
    def sent(self):
        """The mail of the last request."""
        body = self.requests[-1].body
        raw = base64.urlsafe_b64decode(body.get("message", body)["raw"])
        return message_from_bytes(raw, policy=SMTP)


def refused(tool, values):
    """Where the tool's schema refuses `values`."""
    return [
        (v.pointer, v.keyword)
        for v in shipped.catalogue().find(f"gmail.{tool}").input.violations(values)
    ]


async def test_every_example_of_the_contracts_works_in_order():
    tools = Tools()
    for case in example_cases(shipped.catalogue(), "gmail"):
        arguments = json.loads(case.arguments)
        assert await tools.call(case.contract.removeprefix("gmail."), arguments)


async def test_a_sent_mail_can_be_read_by_the_id_that_sending_answered():
    tools = Tools()
    sent = await tools.call(
        "send_email",
        {**MAIL, "cc": ["b@example.com"], "bcc": ["c@example.com"], "attachments": [FILE]},
    )
    assert sent["sent_at"] == "2026-11-20T14:30:00.000Z"
    assert sent["recipients"] == {
        "to": ["client@example.com"],
        "cc": ["b@example.com"],
        "bcc": ["c@example.com"],
    }

    read = await tools.call("get_email", {"message_id": sent["message_id"]})
    assert read == {
        "message_id": sent["message_id"],
        "thread_id": sent["thread_id"],
        "rfc_message_id": sent["rfc_message_id"],
        "from": "agent@example.com",
        "to": ["client@example.com"],
        "cc": ["b@example.com"],
        "bcc": ["c@example.com"],
        "subject": "Grüße",
        "date": "2026-11-20T14:30:00.000Z",
        "labels": ["SENT"],
        "snippet": "Drei Flüge",
        "body_text": "Drei Flüge",
        "body_truncated": False,
        "attachments": [
            {"filename": "Angebot ü.pdf", "content_type": "application/pdf", "size_bytes": 3}
        ],
    }


async def test_a_draft_is_kept_and_not_sent():
    tools = Tools()
    draft = await tools.call("create_draft", MAIL)
    assert draft["status"] == "draft"
    assert tools.requests[-1].path == ("gmail", "v1", "users", "me", "drafts")
    read = await tools.call("get_email", {"message_id": draft["message_id"]})
    assert read["labels"] == ["DRAFT"]


async def test_text_is_sent_as_text_and_html_by_default():
    tools = Tools()
    await tools.call("send_email", MAIL)
    assert tools.sent.get_content_type() == "text/html"
    await tools.call("send_email", {**MAIL, "body_type": "text"})
    assert tools.sent.get_content_type() == "text/plain"


async def test_a_template_is_sent_as_html_with_a_text_alternative():
    tools = Tools()
    sent = await tools.call("send_template_email", {**TEMPLATED, "attachments": [FILE]})
    assert sent["subject"] == tools.sent["Subject"] == "Following up: Van Nuys"
    kinds = [part.get_content_type() for part in tools.sent.walk()]
    assert kinds == [
        "multipart/mixed",
        "multipart/alternative",
        "text/plain",
        "text/html",
        "application/pdf",
    ]


async def test_the_same_call_sends_the_same_bytes():
    once, again = Tools(), Tools()
    await once.call("send_email", {**MAIL, "attachments": [FILE]})
    await again.call("send_email", {**MAIL, "attachments": [FILE]})
    assert once.requests == again.requests


async def test_a_thread_is_reported_oldest_first_and_cut_to_the_newest():
    tools = Tools()
    whole = await tools.call("get_thread_history", {"thread_id": THREAD})
    dates = [message["date"] for message in whole["messages"]]
    assert dates == sorted(dates)
    assert (len(dates), whole["message_count"]) == (3, 3)

    newest = await tools.call("get_thread_history", {"thread_id": THREAD, "max_messages": 2})
    assert newest["messages"] == whole["messages"][1:]
    assert newest["message_count"] == 3


@pytest.mark.parametrize(
    ("tool", "argument", "reason"),
    [
        ("get_email", {"message_id": "18c0ffffffffffff"}, "email_not_found"),
        # An id of another kind is answered by 400 instead of 404.
        ("get_email", {"message_id": "msg_001"}, "email_not_found"),
        ("get_thread_history", {"thread_id": "18c0ffffffffffff"}, "thread_not_found"),
        ("get_thread_history", {"thread_id": "thread_xyz"}, "thread_not_found"),
        ("send_email", {**MAIL, "to": "client@localhost"}, "mail_refused"),
    ],
)
async def test_what_gmail_refuses_is_a_declared_error(tool, argument, reason):
    with pytest.raises(ToolFailed) as caught:
        await Tools().call(tool, argument)
    assert caught.value.reason == reason


@each_of(
    ("fault", "error"),
    [
        ("status=403", UpstreamNotSetUp),
        ("status=429;retry-after=7", UpstreamRateLimited),
        ("status=503", UpstreamUnavailable),
        ("truncate", InvalidReply),
        ("close", UpstreamUnavailable),
        ("break-contract", InvalidReply),
    ],
)
@each_of("tool", ["send_email", "create_draft"])
async def test_a_mail_that_fails_is_not_sent_again(tool, fault, error):
    tools = Tools(f"sendMessage 1 {fault}", f"createDraft 1 {fault}")
    with pytest.raises(error):
        await tools.call(tool, MAIL)
    assert len(tools.requests) == 1


async def test_a_read_that_fails_for_a_while_is_tried_again():
    tools = Tools("readMessage 2 status=503")
    assert await tools.call("get_email", {"message_id": THREAD})
    assert len(tools.requests) == 3
    assert [int(seconds) for seconds in tools.waits] == [1, 2]


@pytest.mark.parametrize("tool", ["get_email", "get_thread_history"])
async def test_reading_too_much_is_reported_by_403_and_tried_again(tool):
    tools = Tools()
    name = "message_id" if tool == "get_email" else "thread_id"
    with pytest.raises(UpstreamRateLimited):
        await tools.call(tool, {name: "18c0f3a2b4d5e403"})
    assert len(tools.requests) == 3


async def test_too_many_mails_are_reported_by_403_and_mean_a_rate_limit():
    tools = Tools()
    with pytest.raises(UpstreamRateLimited) as caught:
        await tools.call("send_email", {**MAIL, "to": "limited@example.com"})
    assert caught.value.is_retryable
    assert len(tools.requests) == 1


@each_of(
    ("name", "value"),
    [
        ("subject", "Hi\r\nBcc: evil@example.com"),
        ("subject", "Hi\nX-Evil: 1"),
        ("subject", "Hi\x00"),
        ("subject", "x" * 999),
        ("to", "a@example.com\r\nBcc: evil@example.com"),
        ("to", "a@example.com, evil@example.com"),
        ("to", "=?utf-8?q?=0A?=@example.com"),
        ("reply_to", "Name <a@example.com>"),
        ("body_type", "markdown"),
    ],
)
def test_hostile_headers_are_refused_by_the_schema(name, value):
    for tool in ("send_email", "create_draft"):
        assert {pointer for pointer, _ in refused(tool, {**MAIL, name: value})} == {f"/{name}"}


@each_of(
    ("name", "value"),
    [
        ("filename", "../secrets.txt"),
        ("filename", "a\\b.txt"),
        ("filename", ".."),
        ("filename", ""),
        ("filename", "\u202efdp.exe"),
        ("filename", "a\r\nb.txt"),
        ("filename", "=?utf-8?q?=0A?=.exe"),
        ("content", "not base64!"),
        ("content", "QUJ"),
        ("content", "QUJD="),
        ("content", "QU-_"),
        ("content_type", "multipart/mixed"),
        ("content_type", "Message/rfc822"),
        ("content_type", "text/html; charset=utf-8"),
    ],
)
def test_hostile_files_are_refused_by_the_schema(name, value):
    for tool, values in (("send_email", MAIL), ("send_template_email", TEMPLATED)):
        found = refused(tool, {**values, "attachments": [FILE, {**FILE, name: value}]})
        assert {pointer for pointer, _ in found} == {f"/attachments/1/{name}"}


def test_no_more_than_fifty_files_are_sent():
    assert refused("send_email", {**MAIL, "attachments": [FILE] * 51}) == [
        ("/attachments", "maxItems")
    ]


async def test_files_too_large_together_are_refused_before_anything_is_sent():
    tools = Tools()
    half = {"filename": "a.bin", "content": "A" * (13 * 2**20)}
    with pytest.raises(InvalidArguments) as caught:
        await tools.call("send_email", {**MAIL, "attachments": [half, half, FILE]})
    assert [each.pointer for each in caught.value.violations] == ["/attachments/1/content"]
    assert tools.requests == []


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ({**FOLLOW_UP, "extra": 1}, {("/template_data/extra", "additionalProperties")}),
        (
            {name: value for name, value in FOLLOW_UP.items() if name != "topic"},
            {("/template_data/topic", "required")},
        ),
        ({**FOLLOW_UP, "topic": "a\r\nBcc: x"}, {("/template_data/topic", "pattern")}),
        (
            {**FOLLOW_UP, "contact_phone": "javascript:"},
            {("/template_data/contact_phone", "pattern")},
        ),
    ],
)
def test_variables_that_no_template_takes_are_refused_by_the_schema(data, found):
    assert set(refused("send_template_email", {**TEMPLATED, "template_data": data})) == found


def test_variables_of_another_template_are_refused_by_the_schema():
    found = refused("send_template_email", {**TEMPLATED, "template_name": "payment_receipt"})
    assert set(found) == {
        (f"/template_data/{name}", "required")
        for name in (
            "receipt_number",
            "payment_date",
            "amount_usd",
            "payment_method",
            "payment_for",
        )
    }


@pytest.mark.parametrize(("count", "listed"), [(7, 1), (1, 2), (2, 2)])
async def test_a_proposal_says_how_many_options_it_lists(count, listed):
    tools = Tools()
    data = {**PROPOSAL, "proposal_count": count, "aircraft": [AIRCRAFT] * listed}
    asked = {"to": "a@example.com", "template_name": "flight_proposal", "template_data": data}
    if count == listed:
        await tools.call("send_template_email", asked)
        return
    with pytest.raises(InvalidArguments) as caught:
        await tools.call("send_template_email", asked)
    assert [each.pointer for each in caught.value.violations] == ["/template_data/proposal_count"]
    assert tools.asked == []
