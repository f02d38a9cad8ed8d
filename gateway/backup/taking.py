"""Taking a backup while the gateway serves."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Final

from gateway.backup.archive import ArchiveWriter, DatabaseFacts, Manifest
from gateway.backup.places import (
    DATABASES,
    DRAFT,
    FILES,
    SQLITE_ENTRY,
    DatabasePlace,
    SavedState,
    files_of,
    is_database,
    opened,
)
from gateway.backup.placing import appearing
from gateway.backup.sealing import Sealed
from gateway.backup.server_copies import copy_rows, refuse_unknown
from gateway.backup.sqlite_copies import COMPANIONS, copy_database
from gateway.clock import SystemClock
from gateway.contract.fields.conversion import rfc3339
from gateway.errors import StoreError

Report = Callable[[str], None]
"""Called with what is being done."""
_PART_BYTES: Final = 4 * 1024 * 1024


async def take_backup(
    state: SavedState, output: Path, passphrase: str, version: str, report: Report
) -> Manifest:
    """Write everything that `state` names into the new file `output`; what it holds.

    What the gateway had acknowledged before the call is in it. The file is there only when it is
    whole, and has mode 600. Raises `StoreError`.
    """
    _refuse_taken(output)
    try:
        with appearing(output) as file:
            sealed = Sealed(file, passphrase)
            manifest = await _write(state, ArchiveWriter(sealed), version, report)
            sealed.finish()
    except OSError as error:
        raise StoreError(
            f"the backup cannot be written ({error.filename or output}: {error.strerror}); "
            "make room or the folder writable, or name another file"
        ) from None
    return manifest


def _refuse_taken(output: Path) -> None:
    """Before the work; whether it is still free is seen when it appears."""
    if output.exists():
        raise StoreError(f"{output} is there already; name a new file")


async def _write(
    state: SavedState, archive: ArchiveWriter, version: str, report: Report
) -> Manifest:
    # The databases first: what they refer to in files was there before.
    databases = {}
    for place in state.databases:
        facts = await _add_database(state, archive, place, report)
        if facts is not None:
            databases[place.name] = facts
    for name, content in state.configured.items():
        archive.add(f"{FILES}/{name}", content.encode())
    for name, path in files_of(state):
        if name in state.configured:
            continue
        report(name)
        if is_database(path):
            _add_copy(archive, f"{FILES}/{name}", path, report)
        else:
            with opened(path) as file:
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
    state: SavedState, archive: ArchiveWriter, place: DatabasePlace, report: Report
) -> DatabaseFacts | None:
    """None for a file that is not there: no call has needed it yet."""
    if place.path is None:
        return await _add_rows(state, archive, place, report)
    if not place.path.is_file():
        if place.name == "gateway":
            raise StoreError(f"{place.path} is not there; name the data folder of a gateway")
        return None
    name = f"{DATABASES}/{place.name}/{SQLITE_ENTRY}"
    revisions = _add_copy(archive, name, place.path, report)
    _refuse_newer(state, place, revisions)
    return DatabaseFacts(engine=place.engine, revisions=revisions)


async def _add_rows(
    state: SavedState, archive: ArchiveWriter, place: DatabasePlace, report: Report
) -> DatabaseFacts:
    waiting: dict[str, bytearray] = {}
    parts: dict[str, int] = {}

    def flush(table: str) -> None:
        parts[table] = parts.get(table, 0) + 1
        name = f"{DATABASES}/{place.name}/{table}/{parts[table]:06}"
        archive.add(name, bytes(waiting.pop(table)))
        report(f"{table}, {parts[table] * _PART_BYTES // 2**20} MiB")

    def take(table: str, data: bytes) -> None:
        for other in [name for name in waiting if name != table]:
            flush(other)
        waiting.setdefault(table, bytearray()).extend(data)
        if len(waiting[table]) >= _PART_BYTES:
            flush(table)

    copy = await copy_rows(place.url, place.place, place.tables, take)
    for table in list(waiting):
        flush(table)
    _refuse_newer(state, place, dict(copy.revisions))
    return DatabaseFacts(
        engine=place.engine,
        revisions=dict(copy.revisions),
        columns={table: list(columns) for table, columns in copy.columns.items()},
        sequences={table: dict(columns) for table, columns in copy.sequences.items()},
    )


def _add_copy(archive: ArchiveWriter, name: str, path: Path, report: Report) -> dict[str, str]:
    """Through a copy beside the database: a place that holds these contents unsealed already."""
    copy = path.with_name(f"{DRAFT}{secrets.token_hex(6)}")
    try:
        revisions = copy_database(
            path, copy, lambda done, every: report(f"{path.name}, {100 * done // (every or 1)} %")
        )
        report(f"{path.name}, sealing")
        with opened(copy) as file:
            archive.add_file(name, file, os.fstat(file.fileno()).st_size)
    finally:
        for end in ("", *COMPANIONS):
            Path(f"{copy}{end}").unlink(missing_ok=True)
    return revisions


def _refuse_newer(state: SavedState, place: DatabasePlace, revisions: dict[str, str]) -> None:
    try:
        refuse_unknown(revisions, state.package)
    except StoreError as error:
        raise StoreError(f"{place.place}: {error.detail}") from None
