"""Encodes mails as bytes (RFC 5322, RFC 2045 to 2047, RFC 2231), safe against header injection.

The standard library's `EmailMessage` is not used: it decodes encoded words in a value
(`=?utf-8?q?=0A?=`) and writes the line break that it finds. The bytes depend only on the mail, the
call's id and its time, so the same call gives the same bytes.

Each check of a part returns the valid value or raises `InvalidArguments`. The schemas of the tools
have the same rules. The checks protect code that builds a mail without them.
"""

import base64
import binascii
import hashlib
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from email.utils import format_datetime
from typing import Final
from urllib.parse import quote

from msgspec import Struct

from gateway.contract.connector import mapping_function
from gateway.errors import InvalidArguments

MAX_ATTACHED: Final = 25 * 2**20
"""Base64 characters of all attachments of a mail together: Gmail's limit of 25 MB."""
_MAX_ADDRESS: Final = 254
_MAX_LINE: Final = 998
_MAX_FILENAME: Final = 255
_MAX_CONTENT_TYPE: Final = 127
_ADDRESS: Final = re.compile(
    r"[A-Za-z0-9!#$%&'*+/=^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=^_`{|}~-]+)*"
    r"@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*"
)
"""Dot-atoms (RFC 5322 §3.4.1) without `?`: readers would decode `=?utf-8?q?=0A?=@example.com`."""
_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Control characters, and characters that a program may treat as the end of a line."""
_NOT_IN_FILENAME: Final = re.compile(r"[/\\\u202a-\u202e\u2066-\u2069]|=\?|\A\.{1,2}\Z")
"""Path separators and folders. Direction marks, with which `fdp.exe` looks like `exe.pdf`. The
start of encoded words, which mail programs decode even in an RFC 2231 name.
"""
_CONTENT_TYPE: Final = re.compile(
    r"(?!(?:multipart|message)/)[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*"
)
"""A media type (RFC 6838), except types whose content mail programs read as further parts."""


def checked_address(text: str, pointer: str) -> str:
    """An address of the form `local@domain`, without quoting, comments or an IP address."""
    if len(text) > _MAX_ADDRESS or not _ADDRESS.fullmatch(text):
        raise InvalidArguments.at(pointer, "format", "is not an address such as name@example.com")
    return text


def checked_line(text: str, pointer: str) -> str:
    """One line of text."""
    if _UNPRINTABLE.search(text):
        raise InvalidArguments.at(
            pointer, "pattern", "holds a line break or another control character"
        )
    if len(text) > _MAX_LINE:
        raise InvalidArguments.at(pointer, "maxLength", f"is longer than {_MAX_LINE} characters")
    return text


def checked_filename(text: str, pointer: str) -> str:
    """A file's name without a path."""
    if not 0 < len(text) <= _MAX_FILENAME or _NOT_IN_FILENAME.search(text):
        raise InvalidArguments.at(pointer, "pattern", "is not the name of a file without its path")
    return checked_line(text, pointer)


def checked_content_type(text: str, pointer: str) -> str:
    """A media type without parameters, in lower case."""
    lower = text.lower()
    if len(text) > _MAX_CONTENT_TYPE or not _CONTENT_TYPE.fullmatch(lower):
        raise InvalidArguments.at(
            pointer, "pattern", "is not the type of a file, such as application/pdf"
        )
    return lower


def checked_content(text: str, pointer: str) -> bytes:
    """The bytes of base64 with padding."""
    try:
        content = binascii.a2b_base64(text, strict_mode=True)
    except ValueError:  # includes binascii.Error and the error for non-ASCII text
        content = b""
    # The strict mode accepts padding that is too long.
    if len(text) != 4 * ((len(content) + 2) // 3):
        raise InvalidArguments.at(pointer, "pattern", "is not base64 with padding")
    return content


def checked_total(contents: Sequence[str]) -> None:
    """Check that all attachments together have at most `MAX_ATTACHED` base64 characters."""
    total = 0
    for index, content in enumerate(contents):
        total += len(content)
        if total > MAX_ATTACHED:
            detail = f"makes the attachments larger than {MAX_ATTACHED} base64 characters together"
            raise InvalidArguments.at(f"/attachments/{index}/content", "maxLength", detail)


_DOMAIN: Final = "contract-gateway.invalid"
"""A Message-ID needs a domain (RFC 5322 §3.6.4). RFC 2606 reserves this one, so nobody owns it."""
_PLAIN: Final = re.compile(r"(?!.*=\?)[!-~](?:[ -~]{0,898}[!-~])?")
"""Text that needs no encoding in a header: at most 998 characters per line, no encoded word."""
_PLAIN_FILENAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,59}")
_WORD_BYTES: Final = 45
"""Bytes in an encoded word: 60 base64 characters. A word may have 75 characters (RFC 2047)."""
_PARAMETER_CHARACTERS: Final = 700
"""Characters of a file name in one parameter, within one line of the header. Not every mail program
joins several parameters.
"""
_LINE_END: Final = re.compile(r"\r\n?|\n")
_BARE_LINE_FEED: Final = re.compile(rb"(?<!\r)\n")
_CRLF: Final = b"\r\n"


class Attachment(Struct, frozen=True):
    """An attached file."""

    filename: str
    content: str
    """Base64 (RFC 4648 §4) with padding."""
    content_type: str = "application/octet-stream"


class Mail(Struct, frozen=True, kw_only=True):
    """A mail to send, with `text`, `html`, or both with the same content."""

    to: str
    subject: str
    text: str | None = None
    html: str | None = None
    cc: Sequence[str] = ()
    bcc: Sequence[str] = ()
    reply_to: str | None = None
    attachments: Sequence[Attachment] = ()


class _Entity(Struct, frozen=True):
    """A MIME entity: its header lines and its encoded body."""

    headers: Sequence[str]
    body: bytes

    def encode(self) -> bytes:
        lines = "".join(f"{line}\r\n" for line in self.headers)
        return lines.encode("ascii") + _CRLF + self.body


@mapping_function
def message_id(call_id: str) -> str:
    """The Message-ID of the mail that a call sends, in angle brackets."""
    return f"<{_digest('message-id', call_id)}@{_DOMAIN}>"


def mail_bytes(mail: Mail, call_id: str, now: str) -> bytes:
    """The mail as RFC 5322 bytes, dated `now` (RFC 3339).

    It has no From: Gmail fills in the address of the account that sends. Raises `InvalidArguments`
    for invalid text in a header, a file name or an attachment.
    """
    headers = [
        *_headers(mail),
        f"Date: {format_datetime(datetime.fromisoformat(now))}",
        f"Message-ID: {message_id(call_id)}",
        "MIME-Version: 1.0",
    ]
    checked_total([attachment.content for attachment in mail.attachments])
    body = _body(mail, call_id)
    if mail.attachments:
        files = [_file(index, each) for index, each in enumerate(mail.attachments)]
        body = _container("mixed", [body, *files], call_id)
    return _Entity([*headers, *body.headers], body.body).encode()


def encoded(mail: bytes) -> str:
    """`mail` in Gmail's form: base64url (RFC 4648 §5)."""
    return base64.urlsafe_b64encode(mail).decode("ascii")


def _headers(mail: Mail) -> Iterator[str]:
    yield f"To: {checked_address(mail.to, '/to')}"
    for name, addresses in (("cc", mail.cc), ("bcc", mail.bcc)):
        if addresses:
            checked = [
                checked_address(text, f"/{name}/{index}") for index, text in enumerate(addresses)
            ]
            yield f"{name.capitalize()}: " + ",\r\n ".join(checked)
    if mail.reply_to is not None:
        yield f"Reply-To: {checked_address(mail.reply_to, '/reply_to')}"
    yield f"Subject: {_unstructured(checked_line(mail.subject, '/subject'))}"


def _unstructured(text: str) -> str:
    """`text` for a header, as encoded words (RFC 2047) if it needs encoding."""
    if not text or _PLAIN.fullmatch(text):
        return text
    return "\r\n ".join(
        f"=?utf-8?b?{base64.b64encode(part).decode('ascii')}?="
        for part in _pieces([character.encode() for character in text], _WORD_BYTES)
    )


def _body(mail: Mail, call_id: str) -> _Entity:
    versions = [
        _text(text, subtype)
        for text, subtype in ((mail.text, "plain"), (mail.html, "html"))
        if text is not None
    ]
    return versions[0] if len(versions) == 1 else _container("alternative", versions, call_id)


def _text(text: str, subtype: str) -> _Entity:
    """A text part, always encoded: no encoding contains `=_`, the start of every boundary."""
    content = _LINE_END.sub("\r\n", text).encode()
    in_base64 = base64.encodebytes(content).replace(b"\n", _CRLF)
    quoted = _BARE_LINE_FEED.sub(_CRLF, binascii.b2a_qp(content))
    is_quoted = len(quoted) <= len(in_base64)
    headers = [
        f"Content-Type: text/{subtype}; charset=utf-8",
        f"Content-Transfer-Encoding: {'quoted-printable' if is_quoted else 'base64'}",
    ]
    return _Entity(headers, quoted if is_quoted else in_base64)


def _file(index: int, attachment: Attachment) -> _Entity:
    pointer = f"/attachments/{index}"
    content_type = checked_content_type(attachment.content_type, f"{pointer}/content_type")
    filename = checked_filename(attachment.filename, f"{pointer}/filename")
    content = checked_content(attachment.content, f"{pointer}/content")
    headers = [
        f"Content-Type: {content_type}",
        "Content-Transfer-Encoding: base64",
        ";\r\n ".join(("Content-Disposition: attachment", *_filename_parameters(filename))),
    ]
    return _Entity(headers, base64.encodebytes(content).replace(b"\n", _CRLF))


def _filename_parameters(filename: str) -> Iterator[str]:
    """The parameter `filename`, encoded with RFC 2231 if it is not a plain token."""
    if _PLAIN_FILENAME.fullmatch(filename):
        yield f'filename="{filename}"'
        return
    characters = [quote(character, safe="").encode("ascii") for character in filename]
    pieces = [part.decode("ascii") for part in _pieces(characters, _PARAMETER_CHARACTERS)]
    if len(pieces) == 1:
        yield f"filename*=utf-8''{pieces[0]}"
        return
    for number, piece in enumerate(pieces):
        charset = "" if number else "utf-8''"
        yield f"filename*{number}*={charset}{piece}"


def _pieces(units: Sequence[bytes], limit: int) -> Iterator[bytes]:
    """`units` joined into pieces of at most `limit` bytes; no unit is divided."""
    piece = b""
    for unit in units:
        if len(piece) + len(unit) > limit:
            yield piece
            piece = b""
        piece += unit
    yield piece


def _container(subtype: str, parts: Sequence[_Entity], call_id: str) -> _Entity:
    boundary = f"=_{_digest(subtype, call_id)}"
    delimiter = f"\r\n--{boundary}".encode("ascii")
    pieces = [piece for part in parts for piece in (delimiter, _CRLF, part.encode())]
    header = f'Content-Type: multipart/{subtype};\r\n boundary="{boundary}"'
    # A line break before the first delimiter would be an empty preamble.
    return _Entity([header], b"".join([*pieces, delimiter, b"--", _CRLF]).removeprefix(_CRLF))


def _digest(purpose: str, call_id: str) -> str:
    return hashlib.sha256(f"{purpose}\0{call_id}".encode()).hexdigest()[:32]
