"""Small files of usual media types, with which the mock answers. Each is valid by its format."""

import base64
import struct
from collections.abc import Mapping
from typing import Final

SAMPLE: Final = b"sample"
"""The bytes of all other media types."""
PNG: Final = "image/png"
_SAMPLES_PER_SECOND: Final = 8000


def file_of(media_type: str) -> bytes:
    """The bytes of a file of `media_type`, which has no parameters."""
    return _FILES.get(media_type, SAMPLE)


def _jpeg() -> bytes:
    """An image of one grey pixel (ITU-T T.81, baseline). Each Huffman table has one code."""
    table = b"\x01" + bytes(16)
    return b"".join(
        (
            b"\xff\xd8",
            b"\xff\xdb\x00\x43\x00" + b"\x01" * 64,
            b"\xff\xc0\x00\x0b\x08\x00\x01\x00\x01\x01\x01\x11\x00",
            b"\xff\xc4\x00\x14\x00" + table,
            b"\xff\xc4\x00\x14\x10" + table,
            b"\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00",
            b"\x3f\xff\xd9",
        )
    )


def _wave() -> bytes:
    """One sample of silence (RIFF, PCM, mono, 16 bits)."""
    rate = _SAMPLES_PER_SECOND
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate, rate * 2, 2, 16)
    data = struct.pack("<4sIh", b"data", 2, 0)
    return struct.pack("<4sI4s", b"RIFF", 4 + len(form) + len(data), b"WAVE") + form + data


def _pdf() -> bytes:
    """A document with one empty page (ISO 32000-1)."""
    objects = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>",
    )
    text = b"%PDF-1.4\n"
    table = b"xref\n0 4\n0000000000 65535 f \n"
    for number, value in enumerate(objects, start=1):
        table += b"%010d 00000 n \n" % len(text)
        text += b"%d 0 obj%bendobj\n" % (number, value)
    end = b"trailer<</Size 4/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % len(text)
    return text + table + end


_WAVE: Final = _wave()
_FILES: Final[Mapping[str, bytes]] = {
    PNG: base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    ),
    "image/gif": base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"),
    "image/jpeg": _jpeg(),
    "image/webp": base64.b64decode("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="),
    "audio/wav": _WAVE,
    "audio/x-wav": _WAVE,
    "application/pdf": _pdf(),
    "application/zip": b"PK\x05\x06" + bytes(18),
}
