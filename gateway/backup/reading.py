"""Opens backups, and checks them against their manifests."""

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from gateway.backup.archive import ArchiveEntry, ArchiveReader, Manifest
from gateway.backup.encryption import EncryptedReader
from gateway.errors import StoreError


@contextmanager
def open_archive(path: Path, passphrase: str) -> Iterator[ArchiveReader]:
    """Open the archive in the backup `path`. Raises `StoreError`."""
    try:
        with path.open("rb") as file:
            reader = EncryptedReader(file, passphrase, str(path))
            yield ArchiveReader(io.BufferedReader(reader))
    except OSError as error:
        raise StoreError(f"{path} cannot be read ({error.strerror}); name another file") from None


def verify(path: Path, passphrase: str, report: Callable[[str], None]) -> Manifest:
    """Read the whole backup and return its manifest.

    Raises `StoreError` when an entry differs from the manifest.
    """
    with open_archive(path, passphrase) as archive:
        found = {}
        for content in archive.entries():
            report(content.name)
            digest = sha256()
            for block in content.blocks():
                digest.update(block)
            found[content.name] = ArchiveEntry(content.size, digest.hexdigest())
        manifest = archive.manifest
    if manifest is None or manifest.entries != found:
        listed = {} if manifest is None else manifest.entries
        name = next((n for n in {**listed, **found} if listed.get(n) != found.get(n)), "manifest")
        raise StoreError(f"{path}: {name} does not match the manifest; use another copy")
    return manifest
