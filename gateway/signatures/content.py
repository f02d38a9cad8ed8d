"""The bytes that a signature covers, put together from the parts that a contract lists."""

import re
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from gateway.signatures.received import Received, RequestPlace, crc32_of, sorted_form

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
