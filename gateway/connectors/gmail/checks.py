"""Checks the parts of a mail. Each check returns the valid value or raises `InvalidArguments`.

The schemas of the tools have the same rules. These checks protect code that builds a mail without
them.
"""

import binascii
import re
from collections.abc import Sequence
from typing import Final

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
