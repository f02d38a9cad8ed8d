"""Putting a backup where nothing is yet."""

import os
import secrets
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

from gateway.backup.archive import ArchiveReader, Content, DatabaseFacts, Manifest
from gateway.backup.places import DATABASES, DRAFT, FILES, SQLITE_ENTRY, SavedState
from gateway.backup.placing import Placing, new_file
from gateway.backup.reading import opened, verified
from gateway.backup.server_copies import ServerCopy, ServerRestore, refuse_unknown, restoring
from gateway.backup.sqlite_copies import COMPANIONS
from gateway.errors import StoreError
from gateway.store.sql.sqlite.lock import LOCK, only_owner

Report = Callable[[str], None]


async def restore_backup(
    path: Path, state: SavedState, passphrase: str, report: Report
) -> Manifest:
    """Put what the backup holds where `state` says; the manifest of what is there now.

    All of the backup is checked before anything is written, and nothing that is there is replaced.
    Files appear before what a server holds is committed, and are taken back if it is not. Raises
    `StoreError`.
    """
    manifest = verified(path, passphrase, report)
    _refuse_unsuitable(manifest, state, path)
    _refuse_taken(state)
    with only_owner(*_files_of_databases(state)):
        _refuse_taken(state)
        await _put(path, manifest, state, passphrase, report)
    return manifest


async def _put(
    path: Path, manifest: Manifest, state: SavedState, passphrase: str, report: Report
) -> None:
    staging = state.data / f"{DRAFT}{secrets.token_hex(6)}"
    with _writing(state.data):
        state.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        staging.mkdir(mode=0o700)
    try:
        with opened(path, passphrase) as archive:
            await _Restore(state, manifest, staging, report).run(archive)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


@contextmanager
def _writing(place: Path) -> Iterator[None]:
    """Entered around each step: it says whether an error is the backup's or a database's."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{error.filename2 or error.filename or place} cannot be written ({error.strerror}); "
            "free disk space or make the folder writable, and restore again"
        ) from None


def _refuse_unsuitable(manifest: Manifest, state: SavedState, path: Path) -> None:
    """Raise `StoreError` for a backup that this version, or these settings, cannot take."""
    places = {place.name: place for place in state.databases}
    for name, facts in manifest.databases.items():
        if name not in places:
            raise StoreError(f"{path}: this version knows no {name!r} database; use a newer one")
        if facts.engine != places[name].engine:
            raise StoreError(
                f"{path} holds a {name} database of {facts.engine}, and the settings name one of "
                f"{places[name].engine}; name one of {facts.engine}"
            )
        try:
            refuse_unknown(facts.revisions, state.package)
        except StoreError as error:
            raise StoreError(f"{path}: {error.detail}") from None
        known = {table.name for table in places[name].tables.tables}
        odd = sorted(({*facts.columns, *facts.sequences}) - known)
        if odd:
            raise StoreError(
                f"{path} holds the table {odd[0]!r}, which no contract of this project declares; "
                "restore with the generated package of the backup"
            )
    for name in manifest.entries:
        kind, _, rest = name.partition("/")
        database = rest.partition("/")[0]
        if kind not in {DATABASES, FILES} or (
            kind == DATABASES and database not in manifest.databases
        ):
            raise StoreError(
                f"{path} holds {name[:200]!r}, which this version does not know; use another backup"
            )


def _files_of_databases(state: SavedState) -> list[Path]:
    return [place.path for place in state.databases if place.path is not None]


def _refuse_databases(state: SavedState) -> None:
    for path in _files_of_databases(state):
        for each in (Path(f"{path}{end}") for end in ("", *COMPANIONS)):
            if each.exists():
                raise StoreError(f"{each} is there already; restore into an empty folder")


def _refuse_taken(state: SavedState) -> None:
    """What this or another restore needs there itself is not in the way."""
    _refuse_databases(state)
    locks = {Path(f"{path.resolve()}{LOCK}") for path in _files_of_databases(state)}
    if state.data.exists() and (
        not state.data.is_dir() or {*state.data.resolve().iterdir()} - locks
    ):
        raise StoreError(f"{state.data} is not empty; name a new folder with --data")


class _Restore:
    """One run: first into `staging` and uncommitted, then all of it."""

    def __init__(
        self, state: SavedState, manifest: Manifest, staging: Path, report: Report
    ) -> None:
        self._state = state
        self._manifest = manifest
        self._staging = staging
        self._report = report
        self._places = {place.name: place for place in state.databases}

    async def run(self, archive: ArchiveReader) -> None:
        committed: list[str] = []
        try:
            async with AsyncExitStack() as stack:
                placing = stack.enter_context(Placing())
                servers = await self._open_servers(stack, committed)
                contents = _Contents(archive.entries())
                while (content := contents.next()) is not None:
                    self._report(content.name)
                    await self._take(content, contents, servers)
                for name, server in servers.items():
                    await server.set_sequences(_server_copy(self._manifest.databases[name]))
                # Without its database, no gateway takes the folder for its own: that comes last.
                with _writing(self._state.data):
                    self._place_files(placing)
                    self._place_databases(placing)
        except StoreError as error:
            if not committed:
                raise
            names = " and ".join(committed)
            raise StoreError(
                f"{error.detail}; before that, the {names} database was restored: empty that one "
                "before you restore again"
            ) from None

    async def _open_servers(
        self, stack: AsyncExitStack, committed: list[str]
    ) -> dict[str, ServerRestore]:
        """Each is a transaction that ends with `stack`, the last one first."""
        servers = {}
        for name, facts in self._manifest.databases.items():
            place = self._places[name]
            if place.path is None:
                stack.push(_noting(name, committed))
                server = await stack.enter_async_context(
                    restoring(place.url, f"{name} database", place.tables)
                )
                await server.refuse_taken()
                await server.make_tables(_server_copy(facts))
                servers[name] = server
        return servers

    async def _take(
        self, content: Content, contents: "_Contents", servers: dict[str, ServerRestore]
    ) -> None:
        kind, name, *rest = content.name.split("/")
        if kind == FILES or name not in servers:
            self._stage(content)
            return
        columns = self._manifest.databases[name].columns
        if len(rest) != 2 or rest[0] not in columns:
            raise StoreError(
                f"the backup holds {content.name!r}, which belongs to no table; use another backup"
            )
        prefix = f"{DATABASES}/{name}/{rest[0]}/"
        await servers[name].add(rest[0], columns[rest[0]], contents.joined(content, prefix))

    def _stage(self, content: Content) -> None:
        """Names are checked where they are read, and nobody else writes in the new folder."""
        path = self._staging.joinpath(*content.name.split("/"))
        with _writing(path):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = new_file(path)
        with file:
            for block in content.blocks():
                with _writing(path):
                    file.write(block)
            with _writing(path):
                file.flush()
                os.fsync(file.fileno())

    def _place_files(self, placing: Placing) -> None:
        staged = self._staging / FILES
        for path in sorted(each for each in staged.rglob("*") if each.is_file()):
            name = path.relative_to(staged)
            if name.parts[0] not in self._state.configured:
                placing.place(path, self._state.data / name)

    def _place_databases(self, placing: Placing) -> None:
        # Once more: SQLite takes a log that has come meanwhile for the database's own.
        _refuse_databases(self._state)
        for name, place in self._places.items():
            staged = self._staging / DATABASES / name / SQLITE_ENTRY
            if place.path is not None and staged.is_file():
                placing.place(staged, place.path)


class _Contents:
    """The entries of an archive, with one looked at in advance."""

    def __init__(self, entries: Iterator[Content]) -> None:
        self._entries = entries
        self._waiting: Content | None = None

    def next(self) -> Content | None:
        """The next entry; None after the last."""
        waiting, self._waiting = self._waiting, None
        return waiting or next(self._entries, None)

    async def joined(self, first: Content, prefix: str) -> AsyncIterator[bytes]:
        """The blocks of `first` and of the entries that follow it and begin like it."""
        content: Content | None = first
        while content is not None and content.name.startswith(prefix):
            for block in content.blocks():
                yield block
            content = self.next()
        self._waiting = content


def _noting(name: str, committed: list[str]) -> Callable[..., None]:
    """At the end of a stack: notes that the transaction that was begun next has been committed."""

    def note(kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            committed.append(name)

    return note


def _server_copy(facts: DatabaseFacts) -> ServerCopy:
    return ServerCopy(revisions=facts.revisions, columns=facts.columns, sequences=facts.sequences)
