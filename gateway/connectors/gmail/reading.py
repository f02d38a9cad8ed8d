"""Field functions of the tools that read mails: they convert Gmail's replies to results.

Texts and lists are cut to the maximum sizes of the output schemas, because a mail can be longer.
"""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from itertools import islice
from typing import Any, Final

from gateway.connectors.gmail.parts import (
    Part,
    files,
    header_values,
    is_text_kept_back,
    text_member,
    text_of,
    whole_characters,
)
from gateway.contract.connector import mapping_function
from gateway.contract.fields.conversion import rfc3339
from gateway.contract.fields.fieldmap import Unmappable

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
