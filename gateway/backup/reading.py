"""Looking at a backup: what is in it, and whether it is what its manifest says."""

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from gateway.backup.archive import ArchiveEntry, ArchiveReader, Manifest
from gateway.backup.sealing import Unsealed
from gateway.errors import StoreError


@contextmanager
def opened(path: Path, passphrase: str) -> Iterator[ArchiveReader]:
    """The archive in the file. Raises `StoreError`."""
    try:
        with path.open("rb") as file:
            yield ArchiveReader(io.BufferedReader(Unsealed(file, passphrase, str(path))))
    except OSError as error:
        raise StoreError(f"{path} cannot be read ({error.strerror}); name another file") from None


def verified(path: Path, passphrase: str, report: Callable[[str], None]) -> Manifest:
    """Read all of it, write nothing; the manifest. Raises `StoreError` when anything differs."""
    with opened(path, passphrase) as archive:
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
        odd = next((n for n in {**listed, **found} if listed.get(n) != found.get(n)), "manifest")
        raise StoreError(f"{path}: {odd} does not match the manifest; use another copy")
    return manifest
