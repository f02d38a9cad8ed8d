"""Field functions of the tools that read mails: they convert Gmail's replies to results.

Gmail shows a message as a tree of parts (`users.messages`, format `full`). The mail is untrusted
input: invalid parts count as missing, and every step takes time in proportion to the size of the
mail. Texts and lists are cut to the maximum sizes of the output schemas.
"""

import base64
import html
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.message import Message
from itertools import islice
from typing import Any, Final

from gateway.contract.connector import mapping_function
from gateway.contract.fields.conversion import rfc3339
from gateway.contract.fields.fieldmap import Unmappable

_TAG: Final = re.compile(r"/?([A-Za-z][A-Za-z0-9]*)")
_SPACES: Final = re.compile(r"[ \t\r\n\f]+")
_SPACES_AT_LINE_END: Final = re.compile(r" ?\n ?")
_MANY_LINE_ENDS: Final = re.compile(r"\n{3,}")
_WITHOUT_TEXT: Final = {
    name: re.compile(f"</{name}", re.IGNORECASE) for name in ("script", "style", "title")
}
"""Elements whose content is not text of the document, with their end tags."""
_BLOCKS: Final = re.compile(
    "address|article|blockquote|br|dd|div|dl|dt|figure|footer|form|h[1-6]|header|hr|li|main|nav|ol"
    "|p|pre|section|table|tr|ul"
)


def html_text(source: str) -> str:
    """The visible text, with one line per block.

    It takes one pass from left to right. An element that is not closed ends the text, so that no
    input is searched twice.
    """
    text = html.unescape("".join(_html_texts(source))).replace("\u00a0", " ")
    lines = _SPACES_AT_LINE_END.sub("\n", text)
    return _MANY_LINE_ENDS.sub("\n\n", lines).strip()


def _html_texts(source: str) -> Iterator[str]:
    """The texts between tags, with collapsed spaces and a line break around each block."""
    at = 0
    while (start := source.find("<", at)) >= 0:
        yield _SPACES.sub(" ", source[at:start])
        tag = _TAG.match(source, start + 1)
        if tag is None and not source.startswith(("!", "?"), start + 1):
            yield "<"
            at = start + 1
            continue
        name = tag[1].lower() if tag else ""
        if _BLOCKS.fullmatch(name):
            yield "\n"
        at = _end(source, start, name)
        if at < 0:
            return
    yield _SPACES.sub(" ", source[at:])


def _end(source: str, start: int, name: str) -> int:
    """The index after the tag or comment at `start`; -1 if it is not closed."""
    if source.startswith("<!--", start):
        closed = source.find("-->", start + 4)
        return closed + 3 if closed >= 0 else -1
    closed = source.find(">", start)
    if closed < 0 or name not in _WITHOUT_TEXT or source[start + 1] == "/":
        return closed + 1 if closed >= 0 else -1
    end = _WITHOUT_TEXT[name].search(source, closed)
    return end.start() if end else -1


Part = Mapping[str, Any]
MAX_PARTS: Final = 1000
_CHARSET: Final = re.compile(
    r"(?:us-ascii|utf-|iso-|windows-|koi8-|gb|big5|euc-|shift_jis|hz-gb)[a-z0-9_-]{0,20}"
)
"""Accepted charsets. Python has more codecs: some are not charsets, and some are slow."""
_MAX_CONTENT_TYPE: Final = 1_000
_SHIFTS: Final[Mapping[str, str]] = {"iso-2022": "\x1b", "hz": "~{", "utf-16": "\0", "utf-32": "\0"}
"""What only text in these charsets has. Its bytes may be valid UTF-8 as well."""


def header_values(part: Part, name: str) -> list[str]:
    """The values of all headers with this name, in the order of the mail."""
    return [
        header["value"]
        for header in _members(part.get("headers"))
        if text_member(header, "name").lower() == name and isinstance(header.get("value"), str)
    ]


def files(part: Part) -> Iterator[Part]:
    """The parts with a file name."""
    return (each for each in _walk(part) if text_member(each, "filename"))


def text_member(part: Part, name: str) -> str:
    """A member that should be text; empty if it is not."""
    value = part.get(name)
    return value if isinstance(value, str) else ""


def whole_characters(text: str) -> str:
    """`text` without lone surrogates. Some charsets produce them, and JSON cannot contain them."""
    return text.encode("utf-8", "replace").decode("utf-8")


def text_of(part: Part) -> str:
    """The plain text of the mail, or the text of its HTML if it has no plain text.

    Raises `Unmappable` if the text is not base64url.
    """
    plain = _texts(part, "plain")
    html = _texts(part, "html")
    # Where Gmail keeps the plain text back, that of the HTML may still be there.
    if plain and not (any(map(_is_kept_back, plain)) and html):
        return "\n".join(map(_content, plain)).rstrip()
    return "\n".join(html_text(_content(each)) for each in html)


def is_text_kept_back(part: Part) -> bool:
    """Whether Gmail sends a part of the text only as an attachment, so that `text_of` lacks it."""
    plain, html = _texts(part, "plain"), _texts(part, "html")
    read = html if html and (not plain or any(map(_is_kept_back, plain))) else plain
    return any(map(_is_kept_back, read))


def decoded(data: str) -> bytes:
    """The bytes of base64url (RFC 4648 §5), with or without padding. Raises `ValueError`."""
    bare = data.rstrip("=")
    return base64.b64decode(bare + "=" * (-len(bare) % 4), altchars=b"-_", validate=True)


def _walk(part: Part) -> Iterator[Part]:
    """`part` and all parts in it, in reading order; at most `MAX_PARTS`."""
    waiting: list[Part] = [part]
    for _ in range(MAX_PARTS):
        if not waiting:
            return
        current = waiting.pop()
        yield current
        waiting.extend(reversed(_members(current.get("parts"))))


def _is_text(part: Part, subtype: str) -> bool:
    mime_type = text_member(part, "mimeType").lower()
    return mime_type == f"text/{subtype}" and not text_member(part, "filename")


def _texts(part: Part, subtype: str) -> list[Part]:
    return [each for each in _walk(part) if _is_text(each, subtype)]


def _is_kept_back(part: Part) -> bool:
    body = part.get("body")
    has_id = isinstance(body, Mapping) and bool(text_member(body, "attachmentId"))
    return has_id and not text_member(body or {}, "data")


def _content(part: Part) -> str:
    body = part.get("body")
    data = text_member(body, "data") if isinstance(body, Mapping) else ""
    try:
        content = decoded(data)
    except ValueError:
        raise Unmappable("/payload", "holds a body that is not base64url") from None
    return _characters(content, part).replace("\r\n", "\n")


def _characters(content: bytes, part: Part) -> str:
    """Decode UTF-8, otherwise the charset of the part: Gmail does not always convert to UTF-8."""
    charset = _charset(part)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        text = None
    shift = next((sign for name, sign in _SHIFTS.items() if charset.startswith(name)), None)
    if text is not None and (shift is None or shift not in text):
        return text
    try:
        return whole_characters(content.decode(charset, "replace"))
    except (LookupError, ValueError):  # a charset that Python does not support
        return content.decode("latin-1") if text is None else text


def _charset(part: Part) -> str:
    """The charset that the part names, in lower case; `latin-1` if it is none."""
    header = Message()
    header["content-type"] = next(iter(header_values(part, "content-type")), "")[:_MAX_CONTENT_TYPE]
    charset = header.get_content_charset("")
    return charset if _CHARSET.fullmatch(charset) else "latin-1"


def _members(value: Any) -> Sequence[Part]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


MAX_BODY: Final = 100_000
MAX_BODY_IN_THREAD: Final = 20_000
_MAX_ADDRESSES: Final = 500
_MAX_ADDRESS: Final = 320
_MAX_HEADER: Final = 100_000
_MAX_SUBJECT: Final = 2_000
_MAX_RAW_SUBJECT: Final = 8_000
_MAX_SNIPPET: Final = 1_000
_MAX_MESSAGE_ID: Final = 998
_MAX_LABELS: Final = 200
_MAX_LABEL: Final = 255
_MAX_FILES: Final = 200
_MAX_NAME: Final = 255
_EPOCH: Final = datetime.fromtimestamp(0, UTC)
_PIECE: Final = re.compile(
    r'(?P<local>"(?:[^"\\]|\\.)*"@)|(?P<dropped>"(?:[^"\\]|\\.?)*(?:"|\Z)|\([^()]*\))'
    r'|(?P<end>[,;])|[^"(,;]+|\(',
    re.DOTALL,
)
"""A part of a list of addresses. A match ends at the end of the text at the latest, so that nothing
is searched more than twice."""
_ADDRESS: Final = re.compile(r'(?:"(?:[^"\\]|\\.)*"|[^\s"]*)@[^\s"]*')
_WORD: Final = re.compile(r"=\?[^?\s]{1,80}\?[bq]\?[^?]*\?=", re.IGNORECASE)
"""An encoded word (RFC 2047 §2). Senders also write spaces in it."""
_BRACKETED: Final = re.compile(r"<([^<>]*)>[^<>]*\Z", re.DOTALL)


@mapping_function
def rfc_message_id(payload: Part | None) -> str | None:
    """The Message-ID of the header; None if there is none."""
    return next(iter(_values(payload, "message-id")), "").strip()[:_MAX_MESSAGE_ID] or None


@mapping_function
def sender(payload: Part | None) -> str | None:
    """The address of From; None if there is none."""
    return next(iter(_addresses(payload, "from")), None)


@mapping_function
def to_addresses(payload: Part | None) -> list[str]:
    """The addresses of To."""
    return _addresses(payload, "to")


@mapping_function
def cc_addresses(payload: Part | None) -> list[str]:
    """The addresses of Cc."""
    return _addresses(payload, "cc")


@mapping_function
def bcc_addresses(payload: Part | None) -> list[str]:
    """The addresses of Bcc, which only the sender's copy has."""
    return _addresses(payload, "bcc")


@mapping_function
def subject(payload: Part | None) -> str:
    """The subject in one line, with its encoded words (RFC 2047) decoded."""
    raw = next(iter(_values(payload, "subject")), "")[:_MAX_RAW_SUBJECT]
    return " ".join(_words_decoded(raw).split())[:_MAX_SUBJECT]


@mapping_function
def received_at(internal_date: str) -> str:
    """Gmail's date, in milliseconds since 1970, as RFC 3339 in UTC.

    Raises `Unmappable` for a date outside the years 1 to 9999.
    """
    try:
        return rfc3339(_EPOCH + timedelta(milliseconds=int(internal_date)))
    except OverflowError:
        detail = "is not a date of the years 1 to 9999"
        raise Unmappable("/internalDate", detail) from None


@mapping_function
def labels(label_ids: Sequence[str] | None) -> list[str]:
    """Gmail's labels."""
    return [label[:_MAX_LABEL] for label in islice(label_ids or (), _MAX_LABELS)]


@mapping_function
def snippet(text: str | None) -> str:
    """The beginning of the text. Gmail escapes it as in HTML."""
    return html.unescape(text or "")[:_MAX_SNIPPET]


@mapping_function
def body_text(payload: Part | None) -> str:
    """The text without formatting, at most `MAX_BODY` characters. Raises `Unmappable`."""
    return _text(payload)[:MAX_BODY]


@mapping_function
def is_body_truncated(payload: Part | None) -> bool:
    """Whether the mail has more text: beyond `MAX_BODY` characters, or kept back by Gmail.

    Raises `Unmappable`.
    """
    return len(_text(payload)) > MAX_BODY or is_text_kept_back(payload or {})


@mapping_function
def attachments(payload: Part | None) -> list[dict[str, Any]]:
    """The files of the mail: their names, types and sizes."""
    return [
        {
            "filename": text_member(part, "filename")[:_MAX_NAME],
            "content_type": text_member(part, "mimeType")[:_MAX_NAME],
            "size_bytes": _size(part),
        }
        for part in islice(files(payload or {}), _MAX_FILES)
    ]


@mapping_function
def newest_messages(messages: Sequence[Mapping[str, Any]], limit: int) -> list[dict[str, Any]]:
    """The last `limit` messages of a thread, oldest first. Raises `Unmappable`."""
    ordered = sorted(messages, key=lambda message: int(message["internalDate"]))
    return [_summary(message) for message in ordered[-int(limit) :]]


def _words_decoded(raw: str) -> str:
    """`raw` with its encoded words decoded. Other text stays, whatever its characters."""
    done, start, end = "", 0, 0
    for word in _WORD.finditer(raw):
        if end and not raw[end : word.start()].strip():
            end = word.end()  # The space between two encoded words is not part of the text.
            continue
        done += _run_decoded(raw[start:end]) + raw[end : word.start()]
        start, end = word.span()
    return done + _run_decoded(raw[start:end]) + raw[end:]


def _run_decoded(run: str) -> str:
    """Encoded words that follow each other. One that cannot be decoded stays as it is."""
    try:
        return whole_characters(str(make_header(decode_header(run)))) if run else ""
    except (HeaderParseError, LookupError, ValueError):
        return run


def _summary(message: Mapping[str, Any]) -> dict[str, Any]:
    payload = message.get("payload")
    text = _text(payload)
    found = {
        "id": message["id"],
        "from": sender(payload),
        "to": to_addresses(payload),
        "subject": subject(payload),
        "date": received_at(message["internalDate"]),
        "snippet": snippet(message.get("snippet")),
        "body_text": text[:MAX_BODY_IN_THREAD],
        "body_truncated": len(text) > MAX_BODY_IN_THREAD or is_text_kept_back(payload or {}),
    }
    return {name: value for name, value in found.items() if value is not None}


def _text(payload: Part | None) -> str:
    return text_of(payload or {})


def _size(part: Part) -> int:
    body = part.get("body")
    size = body.get("size") if isinstance(body, Mapping) else None
    return max(size, 0) if isinstance(size, int) else 0


def _values(payload: Part | None, name: str) -> list[str]:
    return header_values(payload or {}, name)


def _addresses(payload: Part | None, name: str) -> list[str]:
    """The addresses without names. Text in quotes and in comments is ignored, except in front of @.

    Names are not decoded, because a decoded name could contain an address.
    """
    text = ",".join(_values(payload, name))[:_MAX_HEADER]
    found = (_address(fragment) for fragment in _fragments(text))
    return list(islice(filter(None, found), _MAX_ADDRESSES))


def _fragments(text: str) -> Iterator[str]:
    """The parts of a list of addresses, without quoted names and comments."""
    fragment: list[str] = []
    for piece in _PIECE.finditer(text):
        if piece["end"]:
            yield "".join(fragment)
            fragment.clear()
        else:
            fragment.append(" " if piece["dropped"] is not None else piece[0])
    yield "".join(fragment)


def _address(fragment: str) -> str | None:
    """The address in brackets, or the fragment if it is an address; after the colon of a group."""
    bracketed = _BRACKETED.search(fragment)
    text = bracketed[1] if bracketed else fragment.rpartition(":")[2]
    text = text.strip()
    is_address = len(text) <= _MAX_ADDRESS and text.isprintable()
    return text if is_address and _ADDRESS.fullmatch(text) else None
