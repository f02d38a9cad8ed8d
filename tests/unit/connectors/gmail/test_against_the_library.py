"""Mails that are well-formed are read as the parser of the standard library reads them."""

import base64
from email import message_from_bytes
from email.header import Header
from email.headerregistry import Address
from email.message import EmailMessage, Message
from email.policy import SMTP, default

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.connectors.gmail import reading

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
