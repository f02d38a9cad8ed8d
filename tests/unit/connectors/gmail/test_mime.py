"""Mails as bytes: whatever their values are, an independent parser reads what was given."""

import base64
import re
from email import message_from_bytes
from email.policy import SMTP

from hypothesis import example, given
from hypothesis import strategies as st

from gateway.connectors.gmail.mime import (
    MAX_ATTACHED,
    Attachment,
    Mail,
    encoded,
    mail_bytes,
    message_id,
)
from gateway.errors import InvalidArguments
from tests.unit.tables import each_of

NOW = "2026-11-20T14:30:00.000Z"
HEADERS = ["To", "Subject", "Date", "Message-ID", "MIME-Version"]
HOSTILE = (
    "=?utf-8?q?=0ABcc:_evil@example.com?=",
    "=?utf-8?b?DQpCY2M6IGV2aWxAZXhhbXBsZS5jb20=?=",
    "\r\nBcc: evil@example.com",
    "\nX-Evil: 1",
    "\r\n\r\n<script>",
    "\x00",
    "\x0bBcc: evil@example.com",
    "\x85Bcc: evil@example.com",
    "\u2028Bcc: evil@example.com",
    "\u2029",
    '"; filename="evil.exe',
    "utf-8''%0d%0aevil",
    "%0D%0A",
    "(comment) <evil@example.com>",
    " padded ",
    "\u202egpj.exe",
    "שלום",
    "😀" * 300,
    "x" * 998,
    "a b " * 240,
)


def texts(max_size: int = 80) -> st.SearchStrategy[str]:
    """Anything that JSON can hold, and pieces that attack."""
    anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=max_size)
    pieces = st.lists(anything | st.sampled_from(HOSTILE), max_size=4)
    return pieces.map("".join)


def mail(**given) -> Mail:
    return Mail(**{"to": "client@example.com", "subject": "Hello", "text": "Hi"} | given)


def parsed(given: Mail, call: str = "call-1"):
    return message_from_bytes(mail_bytes(given, call, NOW), policy=SMTP)


def parts(message):
    return [part for part in message.walk() if not part.is_multipart()]


def read(message) -> str:
    return message.get_content().replace("\r\n", "\n")


def refusal(given: Mail) -> str | None:
    """Where the mail is refused; None when it is not."""
    try:
        mail_bytes(given, "call-1", NOW)
    except InvalidArguments as error:
        return ",".join(violation.pointer for violation in error.violations)
    return None


@given(texts())
@example("")
@example("=?utf-8?q?=0A?=")
def test_no_subject_becomes_more_than_a_subject(subject):
    """It is refused, or read back as it was; the mail has the same headers and parts as ever."""
    if refused := refusal(mail(subject=subject)):
        assert refused == "/subject"
        assert len(subject) > 998 or re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", subject)
        return
    message = parsed(mail(subject=subject))
    assert message["Subject"] == subject
    assert [*message.keys()][:5] == HEADERS
    assert len(message.keys()) == len(HEADERS) + 2
    assert read(message) == "Hi"
    assert message.defects == []


@given(texts(60))
@example("=?utf-8?q?=0A?=.pdf")
@example("a\\b.pdf")
@example("..")
def test_no_filename_becomes_more_than_a_filename(filename):
    """This reader takes spaces from both ends, however they are encoded."""
    given_mail = mail(attachments=[Attachment(filename, "QUJD", "application/pdf")])
    if refused := refusal(given_mail):
        assert refused == "/attachments/0/filename"
        return
    message = parsed(given_mail)
    body, file = parts(message)
    assert (read(body), file.get_content()) == ("Hi", b"ABC")
    assert file.get_filename().strip() == filename.strip()
    assert file.get_content_type() == "application/pdf"
    assert file.keys() == ["Content-Type", "Content-Transfer-Encoding", "Content-Disposition"]
    assert "/" not in filename
    assert "\\" not in filename
    assert "=?" not in filename
    assert message.defects == file.defects == []


@given(texts(40) | st.emails())
@example("a@example.com\r\nBcc: evil@example.com")
@example("a@example.com, evil@example.com")
@example("a@example.com>")
@example('"a\r\nb"@example.com')
@example("=?utf-8?q?a=0A?=@example.com")
@example("a@[127.0.0.1]")
@example("a@exa..mple.com")
def test_no_address_becomes_two(text):
    """In each place of addresses."""
    for place in ("to", "cc", "bcc", "reply_to"):
        value = [text] if place in {"cc", "bcc"} else text
        if refused := refusal(mail(**{place: value})):
            assert refused in {f"/{place}", f"/{place}/0"}
            continue
        message = parsed(mail(**{place: value}))
        header = message[place.replace("_", "-")]
        assert [each.addr_spec for each in header.addresses] == [text]
        assert set(message.keys()) <= {*HEADERS, "Cc", "Bcc", "Reply-To"} | set(message.keys()[5:])
        assert "evil@example.com" not in text


@given(texts(400), texts(400))
@example("--=_x\n\n--\n.\n", "\r\n.\r\nMAIL FROM:<evil@example.com>")
@example(" \t", "trailing \n\n  spaces \t\n")
def test_no_body_becomes_a_part(text, html):
    """Both bodies are read back, but for the kind of their line ends."""
    message = parsed(mail(text=text, html=html, attachments=[Attachment("a.txt", "QUJD")]))
    plain, rich, file = parts(message)
    assert (plain.get_content_type(), rich.get_content_type()) == ("text/plain", "text/html")
    for part, given_text in ((plain, text), (rich, html)):
        unified = re.sub(r"\r\n?", "\n", given_text)
        assert part.get_payload(decode=True).decode().replace("\r\n", "\n") == unified
    assert file.get_content() == b"ABC"


@given(st.text("-=_ab01\r\n", max_size=300))
def test_a_boundary_occurs_where_parts_begin_and_nowhere_else(text):
    """Also for a caller who chose the call's id and so knows the boundary."""
    first = mail_bytes(mail(html="x"), "chosen", NOW)
    boundary = re.search(rb'boundary="([^"]+)"', first)[1].decode()
    again = mail_bytes(mail(text=f"{text}\r\n--{boundary}\r\n{text}", html="x"), "chosen", NOW)
    assert again.count(f"--{boundary}".encode()) == 3


@given(st.binary(max_size=300))
def test_files_arrive_byte_for_byte(content):
    data = base64.b64encode(content).decode()
    message = parsed(mail(attachments=[Attachment("a.bin", data)]))
    assert parts(message)[1].get_content() == content


@given(texts(300), texts(300))
def test_lines_are_ascii_and_of_lawful_length(subject, text):
    """RFC 5322 §2.1.1: 998 characters and CRLF; nothing but CRLF ends a line."""
    if refusal(mail(subject=subject, text=text)):
        subject = "Hello"
    raw = mail_bytes(mail(subject=subject, text=text), "call-1", NOW)
    assert raw.isascii()
    assert max(map(len, raw.split(b"\r\n"))) <= 998
    assert not re.search(rb"(?<!\r)\n|\r(?!\n)", raw)


def test_the_same_call_makes_the_same_bytes():
    """Another call makes another Message-ID and other boundaries."""
    given_mail = mail(html="<p>Hi</p>", attachments=[Attachment("a.txt", "QUJD")])
    once = mail_bytes(given_mail, "call-1", NOW)
    assert once == mail_bytes(given_mail, "call-1", NOW)
    other = mail_bytes(given_mail, "call-2", NOW)
    changed = {a for a, b in zip(once.split(b"\r\n"), other.split(b"\r\n"), strict=True) if a != b}
    assert all(line.startswith((b"Message-ID", b" boundary", b"--=_")) for line in changed)
    assert message_id("call-1").encode() in once


def test_the_mail_is_dated_when_the_call_came():
    assert parsed(mail())["Date"] == "Fri, 20 Nov 2026 14:30:00 +0000"


def test_everybody_is_named_in_the_right_header():
    message = parsed(mail(cc=["b@example.com", "c@example.com"], bcc=["d@example.com"]))
    assert message["Cc"] == "b@example.com, c@example.com"
    assert message["Bcc"] == "d@example.com"
    assert "From" not in message


def test_gmail_is_given_base64url():
    assert encoded(b"\xff\xfe\xfd") == "__79"


@each_of("content", ["QUJ", "QUJD=", "QU JD", "QUJD\n", "QU-_", "=", "Q===", "QUJD====", "é"])
def test_what_is_not_strictly_base64_is_refused(content):
    broken = [Attachment("a.txt", "QUJD"), Attachment("b.txt", content)]
    assert refusal(mail(attachments=broken)) == "/attachments/1/content"


@each_of(
    "content_type",
    [
        "multipart/mixed",
        "Message/RFC822",
        "text/html; charset=utf-8",
        "text",
        "text/html\r\nX-Evil: 1",
        "text/",
        "a/" + "b" * 130,
        "",
    ],
)
def test_a_file_has_a_type_that_holds_no_further_parts(content_type):
    files = [Attachment("a.txt", "QUJD", content_type)]
    assert refusal(mail(attachments=files)) == "/attachments/0/content_type"


def test_files_together_are_limited_and_the_one_too_many_is_named():
    half = "A" * (MAX_ATTACHED // 2)
    fitting = [Attachment("a", half), Attachment("b", half)]
    assert refusal(mail(attachments=[*fitting, Attachment("c", "QUJD")])) == (
        "/attachments/2/content"
    )
    assert len(mail_bytes(mail(attachments=fitting), "call-1", NOW)) > MAX_ATTACHED
