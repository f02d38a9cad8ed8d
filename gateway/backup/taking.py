"""Writes a backup while the gateway serves."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Final

from gateway.backup.archive import ArchiveWriter, DatabaseFacts, EncryptedWriter, Manifest
from gateway.backup.copies import COMPANIONS, copy_database, copy_rows, refuse_unknown
from gateway.backup.state import (
    DATABASES,
    DRAFT,
    FILES,
    SQLITE_ENTRY,
    SavedDatabase,
    SavedState,
    atomic_file,
    files_of,
    is_database,
    open_file,
)
from gateway.clock import SystemClock
from gateway.contract.fields.conversion import rfc3339
from gateway.errors import StoreError

Report = Callable[[str], None]
"""Called with a text about the progress."""
_PART_BYTES: Final = 4 * 1024 * 1024


async def take_backup(
    state: SavedState, output: Path, passphrase: str, version: str, report: Report
) -> Manifest:
    """Write `state` into the new file `output`. Returns the manifest.

    The backup contains everything that the gateway acknowledged before the call. The file gets its
    name when it is complete, and has mode 600. Raises `StoreError`.
    """
    _refuse_existing(output)
    try:
        with atomic_file(output) as file:
            writer = EncryptedWriter(file, passphrase)
            manifest = await _write(state, ArchiveWriter(writer), version, report)
            writer.finish()
    except OSError as error:
        raise StoreError(
            f"the backup cannot be written ({error.filename or output}: {error.strerror}); "
            "free disk space, make the folder writable, or name another file"
        ) from None
    return manifest


def _refuse_existing(output: Path) -> None:
    """Check early, before the long work. `atomic_file` checks again."""
    if output.exists():
        raise StoreError(f"{output} already exists; name a new file")


async def _write(
    state: SavedState, archive: ArchiveWriter, version: str, report: Report
) -> Manifest:
    # The databases first: the files that they refer to exist before.
    databases = {}
    for database in state.databases:
        facts = await _add_database(state, archive, database, report)
        if facts is not None:
            databases[database.name] = facts
    for name, content in state.configured.items():
        archive.add(f"{FILES}/{name}", content.encode())
    for name, path in files_of(state):
        if name in state.configured:
            continue
        report(name)
        if is_database(path):
            _add_copy(archive, f"{FILES}/{name}", path, report)
        else:
            with open_file(path) as file:
                archive.add_file(f"{FILES}/{name}", file, os.fstat(file.fileno()).st_size)
    manifest = Manifest(
        version=version,
        created_at=rfc3339(SystemClock().now()),
        databases=databases,
        entries=archive.entries,
    )
    archive.finish(manifest)
    return manifest


async def _add_database(
    state: SavedState, archive: ArchiveWriter, database: SavedDatabase, report: Report
) -> DatabaseFacts | None:
    """The manifest's entry. None if the workspace's file does not exist yet."""
    if database.path is None:
        return await _add_rows(state, archive, database, report)
    if not database.path.is_file():
        if database.name == "gateway":
            raise StoreError(f"{database.path} does not exist; name the data folder of a gateway")
        return None
    name = f"{DATABASES}/{database.name}/{SQLITE_ENTRY}"
    revisions = _add_copy(archive, name, database.path, report)
    _refuse_newer(state, database, revisions)
    return DatabaseFacts(engine=database.engine, revisions=revisions)


async def _add_rows(
    state: SavedState, archive: ArchiveWriter, database: SavedDatabase, report: Report
) -> DatabaseFacts:
    buffers: dict[str, bytearray] = {}
    parts: dict[str, int] = {}

    def flush(table: str) -> None:
        parts[table] = parts.get(table, 0) + 1
        name = f"{DATABASES}/{database.name}/{table}/{parts[table]:06}"
        archive.add(name, bytes(buffers.pop(table)))
        report(f"{table}, {parts[table] * _PART_BYTES // 2**20} MiB")

    def write(table: str, data: bytes) -> None:
        for other in [name for name in buffers if name != table]:
            flush(other)
        buffers.setdefault(table, bytearray()).extend(data)
        if len(buffers[table]) >= _PART_BYTES:
            flush(table)

    copy = await copy_rows(database.url, database.label, database.tables, write)
    for table in list(buffers):
        flush(table)
    _refuse_newer(state, database, dict(copy.revisions))
    return DatabaseFacts(
        engine=database.engine,
        revisions=dict(copy.revisions),
        columns={table: list(columns) for table, columns in copy.columns.items()},
        sequences={table: dict(columns) for table, columns in copy.sequences.items()},
    )


def _add_copy(archive: ArchiveWriter, name: str, path: Path, report: Report) -> dict[str, str]:
    """Add a database by a temporary copy beside it. Returns its revisions.

    The same contents are not encrypted there already.
    """
    copy = path.with_name(f"{DRAFT}{secrets.token_hex(6)}")
    try:
        revisions = copy_database(
            path, copy, lambda done, total: report(f"{path.name}, {100 * done // (total or 1)} %")
        )
        report(f"{path.name}, encrypting")
        with open_file(copy) as file:
            archive.add_file(name, file, os.fstat(file.fileno()).st_size)
    finally:
        for suffix in ("", *COMPANIONS):
            Path(f"{copy}{suffix}").unlink(missing_ok=True)
    return revisions


def _refuse_newer(state: SavedState, database: SavedDatabase, revisions: dict[str, str]) -> None:
    try:
        refuse_unknown(revisions, state.package)
    except StoreError as error:
        raise StoreError(f"{database.label}: {error.detail}") from None
