"""Mails that anybody may have written, and well-formed ones as the library reads them."""

import base64
from contextlib import suppress
from email import message_from_bytes
from email.header import Header
from email.headerregistry import Address
from email.message import EmailMessage, Message
from email.policy import SMTP, default

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.connectors.gmail import reading
from gateway.connectors.gmail.reading import decoded, html_text
from gateway.contract.fields.fieldmap import Unmappable
from tests.unit.tables import each_of

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "parts",
                    "headers",
                    "name",
                    "value",
                    "body",
                    "data",
                    "size",
                    "mimeType",
                    "filename",
                ]
            ),
            inner | st.sampled_from(["text/plain", "text/html", "from", "to", "subject"]),
            max_size=5,
        )
    ),
    max_leaves=20,
)


def part(text, mime_type="text/plain", charset="utf-8", **more):
    data = base64.urlsafe_b64encode(text.encode(charset, "surrogatepass")).decode()
    headers = [{"name": "Content-Type", "value": f'{mime_type}; charset="{charset}"'}]
    return {"mimeType": mime_type, "headers": headers, "body": {"data": data}, **more}


def headers(**values):
    return {
        "headers": [
            {"name": name.replace("_", "-"), "value": value} for name, value in values.items()
        ]
    }


@each_of(
    ("header", "addresses"),
    [
        ("a@example.com", ["a@example.com"]),
        ("John <a@example.com>, b@example.com", ["a@example.com", "b@example.com"]),
        ('"Doe, John" <a@example.com>', ["a@example.com"]),
        # A name that looks like an address names nobody.
        ('"ceo@bank.example" <evil@example.com>', ["evil@example.com"]),
        ("ceo@bank.example <evil@example.com>", ["evil@example.com"]),
        ("a@example.com (ceo@bank.example)", ["a@example.com"]),
        ("=?utf-8?q?ceo=40bank.example=2C?= <evil@example.com>", ["evil@example.com"]),
        ("Team: a@example.com, b@example.com;", ["a@example.com", "b@example.com"]),
        ('"john doe"@example.com', ['"john doe"@example.com']),
        ('<"john, doe"@example.com>, a@example.com', ['"john, doe"@example.com', "a@example.com"]),
        ('"ceo"@bank.example <evil@example.com>', ["evil@example.com"]),
        ('"a:b"@example.com', []),
        ('"never closed@example.com', []),
        ('x"y"@example.com', []),
        ("undisclosed-recipients:;", []),
        ("", []),
        ('"never closed <a@example.com>', []),
        ("a b@example.com", []),
        ("x" * 400 + "@example.com", []),
    ],
)
def test_addresses_are_reported_without_names(header, addresses):
    assert reading.to_addresses(headers(To=header)) == addresses


def test_header_names_are_read_in_any_case_and_the_first_sender_counts():
    payload = headers(FROM="a@example.com, b@example.com", cc="c@example.com", Bcc="d@example.com")
    assert reading.sender(payload) == "a@example.com"
    assert reading.cc_addresses(payload) == ["c@example.com"]
    assert reading.bcc_addresses(payload) == ["d@example.com"]
    assert reading.sender(headers(To="a@example.com")) is None


@each_of(
    ("raw", "subject"),
    [
        ("Plain", "Plain"),
        ("Grüße", "Grüße"),
        ("=?utf-8?b?R3LDvMOfZQ==?=", "Grüße"),
        ("=?iso-8859-1?q?Gr=FC=DFe?= =?utf-8?q?_dir?=", "Grüße dir"),
        ("two\r\n lines", "two lines"),
        ("Re: Grüße =?utf-8?b?R3LDvMOfZQ==?= dir", "Re: Grüße Grüße dir"),
        ("\\u0041 =?utf-8?q?B?= ü", "\\u0041 B ü"),
        ("=?utf-8?b?R3LD?= =?utf-8?b?vMOfZQ==?=", "Grüße"),
        ("=?nonsense?q?a?= =?utf-8?q?b?= ü =?utf-8?q?c?=", "=?nonsense?q?a?= =?utf-8?q?b?= ü c"),
        ("=?nonsense?q?a?=", "=?nonsense?q?a?="),
        ("=?utf-8?b?R?=", "=?utf-8?b?R?="),
        ("=?utf-7?q?+2AA-?=", "?"),
        ("x" * 3000, "x" * 2000),
    ],
)
def test_a_subject_is_decoded_into_one_line(raw, subject):
    assert reading.subject(headers(Subject=raw)) == subject


def test_a_mail_without_a_subject_has_an_empty_one():
    assert reading.subject({}) == reading.subject(None) == ""


@pytest.mark.parametrize(
    ("milliseconds", "moment"),
    [
        ("1792576800000", "2026-10-21T10:00:00.000Z"),
        ("1", "1970-01-01T00:00:00.001Z"),
        ("-1", "1969-12-31T23:59:59.999Z"),
    ],
)
def test_gmails_date_is_milliseconds(milliseconds, moment):
    assert reading.received_at(milliseconds) == moment


def test_a_date_beyond_the_calendar_is_refused():
    with pytest.raises(Unmappable):
        reading.received_at("999999999999999")


def test_a_snippet_is_no_html():
    assert reading.snippet("Tom &amp; Jerry&#39;s &lt;b&gt;") == "Tom & Jerry's <b>"
    assert reading.snippet(None) == ""


def test_plain_text_comes_before_html():
    alternative = {"parts": [part("<p>rich</p>", "text/html"), part("plain\r\ntext")]}
    assert reading.body_text(alternative) == "plain\ntext"
    assert reading.body_text(part("<p>rich</p>", "text/html")) == "rich"
    assert reading.body_text(None) == ""


def test_texts_of_nested_parts_are_joined_and_files_are_no_text():
    mail = {"parts": [{"parts": [part("one")]}, part("two"), part("file", filename="notes.txt")]}
    assert reading.body_text(mail) == "one\ntwo"
    assert reading.attachments(mail) == [
        {"filename": "notes.txt", "content_type": "text/plain", "size_bytes": 0}
    ]


@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1", "windows-1252", "utf-16"])
def test_the_part_says_its_charset_where_it_is_not_utf_8(charset):
    assert reading.body_text(part("Grüße", charset=charset)) == "Grüße"


def test_a_charset_that_is_none_or_slow_is_not_used():
    for named in ("punycode", "hex", "unicode_escape", "no-such-charset"):
        mail = part("Grüße", charset="latin-1")
        mail["headers"][0]["value"] = f"text/plain; charset={named}"
        assert reading.body_text(mail) == "Grüße"


def test_half_a_character_becomes_a_question_mark():
    mail = part("x", charset="utf-8")
    mail["headers"][0]["value"] = "text/plain; charset=utf-7"
    mail["body"]["data"] = base64.urlsafe_b64encode(b"+2AA-\xff").decode()
    assert reading.body_text(mail).encode()


@given(st.binary(max_size=100))
def test_base64url_is_read_with_and_without_padding(content):
    padded = base64.urlsafe_b64encode(content).decode()
    assert decoded(padded) == decoded(padded.rstrip("=")) == content


def test_a_body_that_is_not_base64url_breaks_gmails_contract():
    with pytest.raises(Unmappable):
        reading.body_text({"mimeType": "text/plain", "body": {"data": "!!!"}})


def test_a_long_text_is_cut_and_says_so():
    mail = part("x" * (reading.MAX_BODY + 1))
    assert len(reading.body_text(mail)) == reading.MAX_BODY
    assert reading.is_body_truncated(mail)
    assert not reading.is_body_truncated(part("x" * reading.MAX_BODY))
    (message,) = reading.newest_messages([{"id": "1", "internalDate": "0", "payload": mail}], 10)
    assert message["body_truncated"]
    assert len(message["body_text"]) == reading.MAX_BODY_IN_THREAD


def test_the_newest_messages_are_reported_in_order_of_their_dates():
    messages = [{"id": str(date), "internalDate": str(date)} for date in (5, 1, 9, 3)]
    assert [each["id"] for each in reading.newest_messages(messages, 3)] == ["3", "5", "9"]


@each_of(
    ("source", "text"),
    [
        ("<p>One</p><p>Two</p>", "One\n\nTwo"),
        ("a<br>b<br/>c", "a\nb\nc"),
        ("<b>bold</b>  and\n plain", "bold and plain"),
        ("<style>p{}</style>x<script>alert('<p>')</script>y", "xy"),
        ("<!-- a > b -->x", "x"),
        ("1 < 2 &amp; 3 &lt; 4", "1 < 2 & 3 < 4"),
        ("<title>T</title>x", "x"),
        ("x<!-- never closed", "x"),
        ("x<script>never closed", "x"),
        ("x<p", "x"),
        ("<!DOCTYPE html><?xml ?>x", "x"),
    ],
)
def test_html_is_reported_as_text(source, text):
    assert html_text(source) == text


@each_of(
    "piece",
    ["<", "<!--", "<script>", "<p", "</p>", "&", "< a", "<style></", '"', "\\", "(", "=?a?q?"],
)
def test_no_mail_takes_more_than_its_size_in_time(piece):
    """Milliseconds for 400 kB; what looks again at what it has seen ends in no test's patience."""
    long = piece * (400_000 // len(piece))
    assert isinstance(html_text(long), str)
    assert isinstance(reading.to_addresses(headers(To=long)), list)
    assert isinstance(reading.subject(headers(Subject=long)), str)


@given(json_values)
def test_whatever_a_payload_holds_the_answer_is_of_the_right_kind(value):
    """Or the body is not base64url, and the reply is refused."""
    payload = value if isinstance(value, dict) else {"parts": [value], "headers": value}
    assert all(isinstance(each, str) for each in reading.to_addresses(payload))
    assert isinstance(reading.subject(payload), str)
    assert isinstance(reading.rfc_message_id(payload), str | None)
    for file in reading.attachments(payload):
        assert isinstance(file["size_bytes"], int)
    with suppress(Unmappable):
        assert isinstance(reading.body_text(payload), str)


KEPT_BACK = {"mimeType": "text/plain", "body": {"attachmentId": "ANGjdJ8", "size": 120_000}}


def test_a_text_that_gmail_keeps_back_as_an_attachment_is_said_to_be_missing():
    mail = {"mimeType": "multipart/mixed", "parts": [KEPT_BACK]}
    assert (reading.body_text(mail), reading.is_body_truncated(mail)) == ("", True)
    message = {"id": "1", "internalDate": "0", "payload": mail}
    [summary] = reading.newest_messages([message], 9)
    assert summary["body_truncated"] is True


def test_the_text_of_the_html_stands_in_for_a_plain_one_that_is_kept_back():
    mail = {"parts": [KEPT_BACK, part("<p>Hello</p>", "text/html")]}
    assert (reading.body_text(mail).strip(), reading.is_body_truncated(mail)) == ("Hello", False)


def test_an_attachment_beside_the_text_is_not_the_text():
    file = {"mimeType": "text/plain", "filename": "a.txt", "body": {"attachmentId": "b", "size": 1}}
    mail = {"parts": [part("Hello"), file]}
    assert (reading.body_text(mail), reading.is_body_truncated(mail)) == ("Hello", False)


TEXTS = {
    "us-ascii": "Hello",
    "utf-8": "Grüße, 東京",
    "iso-8859-15": "Grüße €",
    "windows-1252": "“Grüße”",
    "koi8-r": "Привет",
    "gb18030": "你好",
    "big5": "你好",
    "euc-jp": "東京へ",
    "shift_jis": "東京へ",
    "iso-2022-jp": "東京へ ASCII ようこそ",
    "iso-2022-kr": "안녕하세요",
    "hz-gb-2312": "你好 ASCII",
    "utf-16": "Grüße, 東京",
    "utf-16-le": "Hello",
    "utf-16-be": "Hello, 東京",
    "utf-32": "Grüße",
}
WORDS = st.text(
    st.characters(min_codepoint=0x20, max_codepoint=0x2FFF, categories=("L", "N")),
    min_size=1,
    max_size=12,
)


def as_gmail_shows(mail: Message) -> dict:
    """The part of a mail with one text, whose bytes Gmail has not converted."""
    data = base64.urlsafe_b64encode(mail.get_payload(decode=True)).decode()
    named = [{"name": name, "value": str(value)} for name, value in mail.items()]
    return {"mimeType": mail.get_content_type(), "headers": named, "body": {"data": data}}


@pytest.mark.parametrize("charset", TEXTS)
def test_a_body_is_read_by_its_charset(charset):
    mail = EmailMessage()
    mail["Content-Type"] = f'text/plain; format=flowed; charset="{charset.upper()}"'
    mail["Content-Transfer-Encoding"] = "base64"
    mail.set_payload(base64.b64encode(TEXTS[charset].encode(charset)).decode())
    parsed = message_from_bytes(mail.as_bytes(), policy=default)
    assert parsed.get_content() == TEXTS[charset]
    assert reading.body_text(as_gmail_shows(parsed)) == TEXTS[charset]


@pytest.mark.parametrize("charset", TEXTS)
def test_a_body_that_gmail_has_converted_is_read_as_it_is(charset):
    part = {
        "mimeType": "text/plain",
        "headers": [{"name": "Content-Type", "value": f"text/plain; charset={charset}"}],
        "body": {"data": base64.urlsafe_b64encode(TEXTS[charset].encode()).decode()},
    }
    assert reading.body_text(part) == TEXTS[charset]


@given(st.lists(st.tuples(WORDS, st.sampled_from([None, "utf-8", "iso-2022-jp"])), max_size=5))
def test_a_subject_may_mix_encoded_and_raw_text(words):
    written = []
    for text, charset in words:
        try:
            written.append(text if charset is None else Header(text, charset).encode())
        except UnicodeEncodeError:
            written.append(text)
    raw = " ".join(written)
    mail = {"headers": [{"name": "Subject", "value": raw}]}
    expected = default.header_factory("subject", raw.replace("\n", ""))
    assert reading.subject(mail) == " ".join(str(expected).split())


@given(
    st.lists(
        st.tuples(WORDS, st.text('abc .,:;<>()@\\"', min_size=1, max_size=12)),
        min_size=1,
        max_size=4,
    )
)
def test_addresses_are_those_of_the_library_or_left_out(people):
    made = [Address(name, local, "example.com") for name, local in people if local.strip() == local]
    mail = EmailMessage(policy=SMTP)
    mail["To"] = made
    found = reading.to_addresses({"headers": [{"name": "To", "value": str(mail["To"])}]})
    assert set(found) <= {each.addr_spec for each in made}
    plain = [each.addr_spec for each in made if each.username.isalpha()]
    assert [
        each for each in found if each[0] != '"' and each[0].isalpha() and each in plain
    ] == plain
