"""Files that prove they are whole: a digest, then what it is the digest of.

For what may be lost but must not be believed when it is damaged.
"""

import contextlib
import hashlib
import tempfile
from pathlib import Path
from typing import Final

_DIGEST_BYTES: Final = 32
_IGNORE_ALL: Final = "*\n"


def read_sealed(path: Path) -> bytes | None:
    """What `write_sealed` wrote; None when the file is not there, or is not what was written."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    digest, payload = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    return payload if hashlib.sha256(payload).digest() == digest else None


def write_sealed(path: Path, payload: bytes) -> None:
    """Replace `path` at once, in a folder that keeps itself out of version control.

    A folder that cannot be written is left alone: nothing that is sealed is needed.
    """
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / ".gitignore").write_text(_IGNORE_ALL, "utf-8")
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            draft = Path(folder) / path.name
            draft.write_bytes(hashlib.sha256(payload).digest() + payload)
            draft.replace(path)
