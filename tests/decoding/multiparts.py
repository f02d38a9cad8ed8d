"""Multipart bodies back to their parts (RFC 2046 §5.1.1, RFC 7578)."""

import re
from dataclasses import dataclass
from typing import Final

from tests.decoding.schemas import Undecodable

PARAMETER: Final = re.compile(r';\s*([!#$%&*+.^_|~0-9A-Za-z-]+)=(?:"([^"]*)"|([^;\s]*))')


@dataclass(frozen=True)
class ReceivedPart:
    """A part: its name, file name, header fields (names in lower case) and content."""

    name: str
    filename: str | None
    headers: dict[str, str]
    content: bytes


def parameters(value: str) -> dict[str, str]:
    """The parameters of a header such as Content-Type."""
    return {name.lower(): quoted or bare for name, quoted, bare in PARAMETER.findall(value)}


def parts(body: bytes, content_type: str) -> list[ReceivedPart]:
    """The parts of a body, each delimited by CRLF, two hyphens and the boundary."""
    delimiter = b"\r\n--" + parameters(content_type)["boundary"].encode()
    pieces = (b"\r\n" + body).split(delimiter)
    if pieces[0] != b"" or pieces[-1] != b"--\r\n" or len(pieces) < 2:
        raise Undecodable("the multipart body is not closed")
    return [_part(piece) for piece in pieces[1:-1]]


def _part(piece: bytes) -> ReceivedPart:
    if not piece.startswith(b"\r\n"):
        raise Undecodable("text follows a boundary")
    head, separator, content = piece[2:].partition(b"\r\n\r\n")
    if not separator:
        raise Undecodable("a part has no content")
    fields = [line.partition(":") for line in head.decode().split("\r\n")]
    headers = {name.lower(): value.strip(" \t") for name, _, value in fields}
    disposition = headers.pop("content-disposition")
    if disposition.partition(";")[0] != "form-data":
        raise Undecodable("a part is not form-data")
    found = parameters(disposition)
    return ReceivedPart(found["name"], found.get("filename"), headers, content)
