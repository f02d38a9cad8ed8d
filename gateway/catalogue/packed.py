"""Texts that are kept compressed: the published document of ten thousand tools has 50 MB."""

import zlib
from collections.abc import Callable
from functools import cached_property
from hashlib import sha256
from typing import Final

_SMALL: Final = 1 << 20
"""Bytes. Shorter texts are kept as they are."""
_FAST: Final = 1
"""The level of compression: higher ones take twice the time of a start and save little."""


class PackedText:
    """A text of which a copy is made when it is read, if it is large."""

    __slots__ = ("_is_packed", "_kept", "digest")

    def __init__(self, text: bytes, *, is_read_often: bool = False) -> None:
        """`is_read_often`: it is kept as it is, and never copied."""
        self._is_packed = len(text) >= _SMALL and not is_read_often
        self._kept = zlib.compress(text, _FAST) if self._is_packed else text
        self.digest = sha256(text).hexdigest()
        """The SHA-256 digest of the text, in hexadecimal."""

    def read(self) -> bytes:
        """The text. To unpack a large one takes milliseconds for each MB."""
        return zlib.decompress(self._kept) if self._is_packed else self._kept


class LateText:
    """A packed text that is read when it is first needed."""

    def __init__(self, text: bytes | Callable[[], bytes]) -> None:
        """`text`: the text, or what reads it."""
        self._text = text

    @cached_property
    def packed(self) -> PackedText:
        """The text. To read and pack a large one takes milliseconds for each MB."""
        return PackedText(self._text if isinstance(self._text, bytes) else self._text())

    def read(self) -> bytes:
        """See `PackedText.read`."""
        return self.packed.read()
