"""Files with a checksum: the SHA-256 digest of the content, then the content.

They hold caches, which may be lost, but must not be used when they are damaged.
"""

import contextlib
import hashlib
import tempfile
from pathlib import Path
from typing import Final

_DIGEST_BYTES: Final = 32
_IGNORE_ALL: Final = "*\n"


def read_sealed(path: Path) -> bytes | None:
    """The content that `write_sealed` wrote. None if the file is missing or damaged."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    digest, payload = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    return payload if hashlib.sha256(payload).digest() == digest else None


def write_sealed(path: Path, payload: bytes) -> None:
    """Replace `path` atomically. A `.gitignore` keeps its folder out of version control.

    Does nothing if the folder cannot be written, because caches are optional.
    """
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / ".gitignore").write_text(_IGNORE_ALL, "utf-8")
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            draft = Path(folder) / path.name
            draft.write_bytes(hashlib.sha256(payload).digest() + payload)
            draft.replace(path)
