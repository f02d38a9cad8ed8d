"""A message of a sender who is not authenticated yet, and the places of its parts."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import parse_qsl, quote, urlencode, urlsplit
from zlib import crc32

import msgspec
from msgspec import Struct
from msgspec.structs import replace

# Reads header fields of a message whose sender is not authenticated yet.

Fields: TypeAlias = Sequence[tuple[bytes, bytes]]
"""Pairs of a lower-case name and a value, in the order of arrival."""

# Only ASCII digits: `int` and `float` also accept signs, spaces, underscores and other scripts.
_SECONDS: Final = re.compile(rb"[0-9]{1,12}")


def only_value(fields: Fields, name: str) -> bytes | None:
    """The value of the field `name` (in any case), or None if it is absent or repeated."""
    lowered = name.lower().encode("ascii")
    values = [value for key, value in fields if key == lowered]
    return values[0] if len(values) == 1 else None


def is_recent(timestamp: bytes, now: float, tolerance_seconds: int) -> bool:
    """Whether `timestamp`, in whole seconds since 1970, is within the tolerance of `now`."""
    if not _SECONDS.fullmatch(timestamp):
        return False
    return abs(int(now) - int(timestamp)) <= tolerance_seconds


# A message of a sender who is not authenticated yet, and the places of its parts.

MAX_FORM_FIELDS: Final = 1_000
_NO_SETTINGS: Final[Mapping[str, str]] = {}
_DIGITS: Final = re.compile(r"[0-9]{1,15}")
_PER_SECOND: Final = {"seconds": 1, "milliseconds": 1000}


class Received(Struct, frozen=True, kw_only=True):
    """A request as it arrived. Only a scheme that reads a member of the body parses it."""

    fields: Fields
    body: bytes
    method: str = "POST"
    url: str = ""
    """The address that the sender was given, with its query."""
    path: str = ""
    """The rest of the path after the provider's name."""
    settings: Mapping[str, str] = _NO_SETTINGS
    """The operator's settings of the source."""


class RequestPlace(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The place of a text in a request. Exactly one of header, query, pointer and path is set."""

    header: str | None = None
    query: str | None = None
    """The name of a parameter of the query."""
    pointer: str | None = None
    """JSON Pointer into the body."""
    path: bool = False
    """The rest of the path after the provider's name."""

    def __post_init__(self) -> None:
        """Raises `ValueError` if it is not one place."""
        places = (self.header, self.query, self.pointer, self.path or None)
        if sum(place is not None for place in places) != 1:
            raise ValueError("it has not one place; name one: header, query, pointer or path")

    def text(self, received: Received) -> str | None:
        """The text, or None if it is absent or repeated. A whole number counts as its digits."""
        if self.header is not None:
            value = only_value(received.fields, self.header)
            return None if value is None else value.decode("latin-1")
        if self.query is not None:
            return _only(form_of(urlsplit(received.url).query), self.query)
        if self.pointer is not None:
            return member_of(received.body, self.pointer)
        return received.path or None

    def with_text(self, received: Received, text: str) -> Received:
        """The request with `text` there. Raises `ValueError` as `with_member`."""
        if self.header is not None:
            field = (self.header.lower().encode("ascii"), text.encode("latin-1"))
            return replace(received, fields=[*received.fields, field])
        if self.query is not None:
            joint = "&" if "?" in received.url else "?"
            return replace(received, url=f"{received.url}{joint}{urlencode({self.query: text})}")
        if self.pointer is not None:
            return replace(received, body=with_member(received.body, self.pointer, text))
        address, mark, query = received.url.partition("?")
        url = f"{address}/{quote(text, safe='')}{mark}{query}"
        return replace(received, url=url, path=text)

    @property
    def words(self) -> str:
        """The place for people, as Markdown."""
        if self.header is not None:
            return f"the header `{self.header}`"
        if self.query is not None:
            return f"the query's `{self.query}`"
        return f"`{self.pointer}` of the body" if self.pointer else "the end of the path"


class ListedPlace(RequestPlace, frozen=True, kw_only=True):
    """A place whose text has several pieces, such as `t=1,v1=ab,v1=cd`."""

    separator: str | None = None
    """The text between the pieces. None: the text is one piece."""
    prefix: str = ""
    """The text before the value in each of its pieces, such as `v1=`."""

    def pieces(self, received: Received) -> Iterator[str]:
        """The values, without the prefix. A piece with another prefix is left out."""
        text = self.text(received)
        for piece in [] if text is None else self._split(text):
            if piece.startswith(self.prefix):
                yield piece.removeprefix(self.prefix)

    def _split(self, text: str) -> list[str]:
        if self.separator is None:
            return [text]
        return [piece.strip() for piece in text.split(self.separator)]


class TimePlace(ListedPlace, frozen=True, kw_only=True):
    """The place of the time when a message was sent."""

    unit: Literal["seconds", "milliseconds", "rfc3339"] = "seconds"

    def only(self, received: Received) -> str | None:
        """The text of the time. None if there is none, or more than one."""
        pieces = list(self.pieces(received))
        return pieces[0] if len(pieces) == 1 else None

    def is_recent(self, text: str, now: float, tolerance_seconds: int) -> bool:
        """Whether `text` is a time of this unit that differs at most so much from `now`."""
        moment = self.moment(text)
        return moment is not None and abs(now - moment) < tolerance_seconds + 1

    def moment(self, text: str) -> float | None:
        """The time that `text` is, in seconds since 1970. None if it is none of this unit."""
        if self.unit == "rfc3339":
            return _moment(text)
        return int(text) / _PER_SECOND[self.unit] if _DIGITS.fullmatch(text) else None

    def written(self, timestamp: int) -> str:
        """`timestamp`, in seconds since 1970, as this unit writes it."""
        if self.unit == "rfc3339":
            return f"{datetime.fromtimestamp(timestamp, UTC):%Y-%m-%dT%H:%M:%SZ}"
        return str(timestamp * _PER_SECOND[self.unit])

    def member(self, timestamp: int) -> int | str:
        """The same, as a member of JSON."""
        text = self.written(timestamp)
        return text if self.unit == "rfc3339" else int(text)


def form_of(text: str) -> list[tuple[str, str]]:
    """The fields of a form or a query (`application/x-www-form-urlencoded`), in their order.

    None of them if there are more than `MAX_FORM_FIELDS`, or if they are not UTF-8.
    """
    try:
        return parse_qsl(
            text, keep_blank_values=True, errors="strict", max_num_fields=MAX_FORM_FIELDS
        )
    except ValueError:
        return []


def member_of(body: bytes, pointer: str) -> str | None:
    """The text or the whole number at `pointer` of a JSON body. None if there is none."""
    return identity_of(value_at(parsed(body), pointer))


def parsed(body: bytes) -> Any:
    """The JSON value of a body whose sender is not known. None if it has none."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return None


def value_at(value: Any, pointer: str) -> Any:
    """What objects have at `pointer`. None if they have nothing there."""
    for step in pointer.split("/")[1:]:
        if not isinstance(value, dict):
            return None
        value = value.get(step.replace("~1", "/").replace("~0", "~"))
    return value


def identity_of(value: Any) -> str | None:
    """`value` as an identity: a text, or a whole number in digits. None for anything else."""
    if isinstance(value, str):
        return value
    return str(value) if type(value) is int else None


def with_member(body: bytes, pointer: str, value: Any) -> bytes:
    """A JSON body with `value` at `pointer`, in objects that are made if they do not exist.

    Raises `ValueError` if the body is no JSON object, or has something else on the way.
    """
    whole = msgspec.json.decode(body)
    *way, last = (step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])
    found = whole
    for step in way:
        found = found.setdefault(step, {}) if isinstance(found, dict) else None
    if not isinstance(found, dict):
        raise ValueError(f"the body has no object for {pointer}")  # noqa: TRY004 - of the value
    found[last] = value
    return msgspec.json.encode(whole)


def crc32_of(body: bytes) -> bytes:
    """The CRC-32 of a body in decimal digits."""
    return b"%d" % crc32(body)


def sorted_form(body: bytes) -> bytes:
    """Names and values of a form without separators, sorted by name, as Twilio signs them."""
    pairs = sorted(set(form_of(body.decode("ascii", "replace"))))
    return "".join(f"{name}{value}" for name, value in pairs).encode("utf-8")


def _only(pairs: list[tuple[str, str]], name: str) -> str | None:
    values = [value for key, value in pairs if key == name]
    return values[0] if len(values) == 1 else None


def _moment(text: str) -> float | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return None if moment.tzinfo is None else moment.timestamp()
