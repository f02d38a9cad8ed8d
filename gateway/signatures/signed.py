"""Signatures of which a contract says the place, the content, the time and the encoding."""

import base64
import binascii
import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from hashlib import sha256
from itertools import islice
from typing import Final, Literal, TypeAlias

from msgspec.structs import replace

from gateway.signatures.received import (
    ListedPlace,
    Received,
    RequestPlace,
    TimePlace,
    crc32_of,
    sorted_form,
    with_member,
)
from gateway.signatures.scheme import SignatureScheme, Verify

# The bytes that a signature covers, put together from the parts that a contract lists.

Content: TypeAlias = Sequence[str | Sequence[str]]
"""Parts in order. A text that begins with `$` reads the request; `$$` begins a text with a dollar
sign. A list of parts is left out as a whole if a place that it reads is absent."""
TIME: Final = "$time"
BODY: Final = "$request.body"
_URL: Final = "$request.url"
_SETTING: Final = re.compile(r"\$settings\.([a-z][a-z0-9_]{0,31})")
_HEADER: Final = re.compile(r"\$request\.header\.([!#$%&'*+^_`|~0-9A-Za-z-]{1,100})")
_QUERY: Final = re.compile(r"\$request\.query\.(.{1,100})", re.DOTALL)
_POINTER: Final = re.compile(r"\$request\.body#((?:/(?:[^~/]|~[01])*)+)")
_OF_BODY: Final = frozenset({BODY, f"{BODY}.crc32", "$request.form"})
_Read: TypeAlias = Callable[[Received, str | None], bytes | None]
"""Reads a part of a request. The text is its time, or None."""
_WHOLE: Final[dict[str, _Read]] = {
    TIME: lambda _, time: _bytes_of(time),
    BODY: lambda received, _: received.body,
    f"{BODY}.crc32": lambda received, _: crc32_of(received.body),
    "$request.form": lambda received, _: sorted_form(received.body),
    "$request.method": lambda received, _: received.method.encode("ascii"),
    _URL: lambda received, _: received.url.encode("utf-8"),
}


class InvalidContent(ValueError):
    """A part of a signed content is no part that the gateway knows."""


class SignedContent:
    """What a signature covers. Raises `InvalidContent`."""

    def __init__(self, content: Content) -> None:
        self._groups = [
            (isinstance(part, str), tuple(map(_read, (part,) if isinstance(part, str) else part)))
            for part in content
        ]
        self._parts = frozenset(_flat(content))
        self.headers = frozenset(
            match[1].lower() for each in self._parts if (match := _HEADER.fullmatch(each))
        )
        """Lower-case names of the header fields that it covers."""
        self.settings = frozenset(
            match[1] for each in self._parts if (match := _SETTING.fullmatch(each))
        )
        """The names of the settings that it covers."""
        self.covers_time = TIME in self._parts

    def covers(self, place: RequestPlace) -> bool:
        """Whether what stands at a place of the request is a part."""
        if place.header is not None:
            return place.header.lower() in self.headers
        if place.pointer is not None:
            return not self._parts.isdisjoint({*_OF_BODY, f"{BODY}#{place.pointer}"})
        return not self._parts.isdisjoint({_URL, f"$request.query.{place.query}"})

    def of(self, received: Received, time: str | None) -> bytes | None:
        """The bytes. None if a part that is not optional is absent."""
        found: list[bytes] = []
        for is_required, reads in self._groups:
            parts = [read(received, time) for read in reads]
            present = [part for part in parts if part is not None]
            if len(present) == len(parts):
                found += present
            elif is_required:
                return None
        return b"".join(found)


def _flat(content: Content) -> list[str]:
    return [
        each for part in content for each in ((part,) if isinstance(part, str) else tuple(part))
    ]


def _read(part: str) -> _Read:
    if not part.startswith("$") or part.startswith("$$"):
        text = part.removeprefix("$").encode() if part.startswith("$$") else part.encode()
        return lambda _received, _time: text
    if part in _WHOLE:
        return _WHOLE[part]
    if match := _SETTING.fullmatch(part):
        name = match[1]
        return lambda received, _: _bytes_of(received.settings.get(name))
    place = _place(part)
    # Header fields are read as Latin-1, so these are the bytes that were sent.
    encoding = "utf-8" if place.header is None else "latin-1"
    return lambda received, _: _bytes_of(place.text(received), encoding)


def _place(part: str) -> RequestPlace:
    if match := _HEADER.fullmatch(part):
        return RequestPlace(header=match[1].lower())
    if match := _QUERY.fullmatch(part):
        return RequestPlace(query=match[1])
    if match := _POINTER.fullmatch(part):
        return RequestPlace(pointer=match[1])
    known = ", ".join((*_WHOLE, "$request.header.<name>", "$request.query.<name>"))
    raise InvalidContent(
        f"{part} is no part of a request; known are {known}, {BODY}#/<pointer>, $settings.<name>"
    )


def _bytes_of(text: str | None, encoding: str = "utf-8") -> bytes | None:
    return None if text is None else text.encode(encoding, "surrogatepass")


# Signatures of which a contract says the place, the content, the time and the encoding.

MAX_CANDIDATES: Final = 16
"""A message with more signatures is not verified. No legitimate sender needs as many."""
_SECONDS: Final = 300


class PlacedSignature(SignatureScheme, frozen=True, kw_only=True, dict=True):
    """A signature in a header, the query or the body, over parts of the request.

    Raises `ValueError` if it has no place or more than one, if its content is invalid, or if its
    time is not signed. The fix stands after a semicolon.
    """

    header: str | None = None
    """The name of the header with the signature, in any case."""
    query: str | None = None
    pointer: str | None = None
    """JSON Pointer to the signature in the body."""
    separator: str | None = None
    """The text between several signatures in one place."""
    prefix: str = ""
    """The text before a signature, such as `sha256=`."""
    encoding: Literal["hex", "base64"] = "hex"
    timestamp_header: str | None = None
    """Short for `time` with this header and seconds since 1970."""
    time: TimePlace | None = None
    content: tuple[str | tuple[str, ...], ...] = ()
    """What is signed. Empty: the body or, with a time, `<time>.<body>`."""
    digest: RequestPlace | None = None
    """The place of the body's SHA-256 in hex, which is signed in place of the body."""
    tolerance_seconds: int = _SECONDS

    security = None
    challenge = None

    def __post_init__(self) -> None:
        if self.timestamp_header is not None and self.time is not None:
            raise ValueError("timestampHeader is short for time; keep one")
        time, content = self._time, self._content
        if time is None and content.covers_time:
            raise ValueError(f"{TIME} is in the content, but no time is declared; declare it")
        if self.digest is not None and not content.covers(self.digest):
            raise ValueError(
                f"the digest in {self.digest.words} is not signed, so anyone could send another "
                "body; add its place to content"
            )
        if time is not None and not (content.covers_time or self._signs(time)):
            raise ValueError(
                f"the time in {time.words} is not signed, so whoever has seen a message could send "
                f"it again with another time; add {TIME} to content, where the sender signs it, or "
                "leave the time out"
            )
        _ = self._place

    @cached_property
    def _content(self) -> SignedContent:
        return SignedContent(self.content or (BODY,) if self._time is None else self._timed)

    @property
    def _timed(self) -> tuple[str | tuple[str, ...], ...]:
        return self.content or (TIME, ".", BODY)

    @cached_property
    def _time(self) -> TimePlace | None:
        return TimePlace(header=self.timestamp_header) if self.timestamp_header else self.time

    @cached_property
    def _place(self) -> ListedPlace:
        return ListedPlace(
            header=self.header,
            query=self.query,
            pointer=self.pointer,
            separator=self.separator,
            prefix=self.prefix,
        )

    @property
    def headers(self) -> Mapping[str, str]:
        """The signature, and the time if it has a header of its own."""
        found = {}
        if self.header is not None:
            prefix = f"`{self.prefix}` and the " if self.prefix else "The "
            found[self.header] = f"{prefix}{self.encoding} {self.title} of {self._signed_words}."
        time = self._time
        if time is not None and time.header is not None and time.header != self.header:
            found[time.header] = f"When it was sent, in {_UNITS[time.unit]}."
        return found

    @property
    def _signed_words(self) -> str:
        if self.content:
            parts = ((part,) if isinstance(part, str) else part for part in self.content)
            words = " ".join(f"`{each}`" for part in parts for each in part)
            digest = self.digest
            return f"{words}, with the body's SHA-256 in {digest.words}" if digest else words
        return "the body" if self._time is None else "timestamp, a full stop and the body"

    @property
    def credential_headers(self) -> frozenset[str]:
        """The signature."""
        return frozenset({self.header.lower()} if self.header else ())

    @property
    def signed_headers(self) -> frozenset[str]:
        """The headers that are parts of the content, and the time's, if it is signed."""
        time = self._time
        if time is None or time.header is None or not self._content.covers_time:
            return self._content.headers
        return self._content.headers | {time.header.lower()}

    @property
    def signed_settings(self) -> frozenset[str]:
        """The settings that are parts of the content."""
        return self._content.settings

    def sent_at(self, received: Received) -> float | None:
        """See `SignatureScheme`."""
        time = self._time
        text = None if time is None else time.only(received)
        return None if time is None or text is None else time.moment(text)

    def spellings(self, secret: str) -> tuple[str, ...]:
        """The secret alone, because requests do not contain it."""
        return (secret,)

    def id_refusal(self, message_id: str) -> str | None:  # noqa: ARG002 - the signature of `SignatureScheme`
        """None, because any id is allowed."""
        return None

    def signs_member(self, pointer: str) -> bool:
        """Whether the content has the body, or this member of it."""
        return self._signs(RequestPlace(pointer=pointer))

    def _signs(self, place: RequestPlace) -> bool:
        is_digested = self.digest is not None and place.pointer is not None
        return is_digested or self._content.covers(place)

    def _has_digest(self, received: Received) -> bool:
        """Whether the digest is that of the body, if one is declared."""
        if self.digest is None:
            return True
        text = self.digest.text(received) or ""
        return text.lower() == sha256(received.body).hexdigest()

    def signed_content(self, received: Received) -> bytes | None:
        """The content of an authentic message."""
        return self._content.of(received, self._time.only(received) if self._time else None)

    def verifier(self, keys: Sequence[bytes]) -> Verify:
        """The check that a message is signed with one of `keys`, and is recent if it has a time."""
        return partial(self._is_authentic, tuple(map(self.check_of, keys)))

    @abstractmethod
    def check_of(self, key: bytes) -> Callable[[bytes, Sequence[bytes]], bool]:
        """The check that one of several signatures is that of a content by `key`."""

    @abstractmethod
    def sign(self, key: bytes, content: bytes) -> bytes:
        """The signature of a content. Raises `InvalidSecret` if `key` only verifies."""

    def signed_fields(
        self,
        keys: Sequence[bytes],
        message_id: str,
        timestamp: int,
        body: bytes,
        request: Received | None = None,
    ) -> dict[str, str]:
        """The signature by the first key, and the time if it has a header.

        Other headers that are signed have the message's id. `request` has the address and the
        settings, if they are signed. Raises `InvalidSecret` if the key only verifies, and
        `ValueError` if the signature has no header, or if a part of its content is absent.
        """
        if self.header is None:
            raise ValueError("the signature is not in a header")
        time = None if self._time is None else self._time.written(timestamp)
        fields = dict.fromkeys(self._content.headers, message_id)
        drafted = tuple((name.encode(), value.encode()) for name, value in fields.items())
        base = request or Received(fields=(), body=body)
        if not self._has_digest(base):
            raise ValueError("the digest of the body is not in a header")
        content = self._content.of(replace(base, fields=drafted, body=body), time)
        if content is None:
            raise ValueError("a part of the signed content is absent")
        signature = self.prefix + self._encoded(self.sign(keys[0], content))
        place = self._time
        if place is None or place.header is None or time is None:
            return {**fields, self.header: signature}
        if place.header.lower() == self.header.lower():
            joined = f"{place.prefix}{time}{self.separator or ''}{signature}"
            return {**fields, self.header: joined}
        return {**fields, place.header: f"{place.prefix}{time}", self.header: signature}

    def authenticated(
        self, keys: Sequence[bytes], received: Received, message_id: str, timestamp: int
    ) -> Received:
        """See `SignatureScheme`."""
        time = self._time
        if time is not None and time.pointer is not None:
            body = with_member(received.body, time.pointer, time.member(timestamp))
            received = replace(received, body=body)
        if self.digest is not None:
            digest = sha256(received.body).hexdigest()
            received = self.digest.with_text(received, digest)
        if self.pointer is None:
            return super().authenticated(keys, received, message_id, timestamp)
        content = self._content.of(received, None if time is None else time.only(received))
        if content is None:
            raise ValueError("a part of the signed content is absent")
        signature = self.prefix + self._encoded(self.sign(keys[0], content))
        return replace(received, body=with_member(received.body, self.pointer, signature))

    def _is_authentic(
        self,
        checks: Sequence[Callable[[bytes, Sequence[bytes]], bool]],
        received: Received,
        now: float,
    ) -> bool:
        signatures = list(self._signatures(received))
        if not signatures or not self._has_digest(received):
            return False
        time = None
        if self._time is not None:
            time = self._time.only(received)
            if time is None or not self._time.is_recent(time, now, self.tolerance_seconds):
                return False
        content = self._content.of(received, time)
        if content is None:
            return False
        found = False
        # Every key is tried, so that the duration does not reveal which one matched.
        for check in checks:
            found |= check(content, signatures)
        return found

    def _signatures(self, received: Received) -> Iterator[bytes]:
        pieces = list(islice(self._place.pieces(received), MAX_CANDIDATES + 1))
        for piece in pieces if len(pieces) <= MAX_CANDIDATES else ():
            decoded = self._decoded(piece)
            if decoded is not None:
                yield decoded

    def _decoded(self, text: str) -> bytes | None:
        try:
            if self.encoding == "hex":
                return bytes.fromhex(text) if text.isalnum() else None
            return base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            return None

    def _encoded(self, signature: bytes) -> str:
        if self.encoding == "hex":
            return signature.hex()
        return base64.b64encode(signature).decode("ascii")


_UNITS: Final[Mapping[str, str]] = {
    "seconds": "seconds since 1970",
    "milliseconds": "milliseconds since 1970",
    "rfc3339": "RFC 3339",
}
