"""Restores a backup into an empty folder and empty databases."""

import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct

from gateway.backup.archive import (
    ArchiveReader,
    Content,
    Contents,
    DatabaseFacts,
    Manifest,
    open_archive,
    verify,
)
from gateway.backup.copies import (
    COMPANIONS,
    ServerCopy,
    ServerRestore,
    changed,
    refuse_unknown,
    restoring,
)
from gateway.backup.state import (
    DATABASES,
    DRAFT,
    FILES,
    SQLITE_ENTRY,
    NewFiles,
    SavedState,
    new_file,
)
from gateway.errors import StoreError
from gateway.store.records import RESTORED
from gateway.store.sql.sqlite import LOCK, only_owner

Report = Callable[[str], None]
_OWN: Final = "gateway"
"""The database of the gateway itself. A workspace may have a table of any name."""
_JOBS: Final = "jobs"
_MARK: Final = f"UPDATE {_JOBS} SET actor = '{RESTORED}' WHERE "  # noqa: S608 - constants
_MARK_UNENDED: Final = (
    _MARK + "state IN ('pending', 'retryable', 'waiting', 'processing', 'failed')"
    " AND kind IN ('webhook', 'call', 'task') RETURNING kind"
)
"""A backup that is older than the tables has no state that is not among these."""
_MARK_RUNNING: Final = _MARK + "state = 'processing' AND kind = 'task' RETURNING kind"
"""What ran when the backup was made may have begun since: the restored audit cannot tell."""


class Restored(Struct, frozen=True, kw_only=True):
    """What a restore did."""

    manifest: Manifest
    calls_in_doubt: int
    """How many calls had not ended when the backup was made, and may have been made since."""


async def restore_backup(
    path: Path, state: SavedState, passphrase: str, report: Report, *, run_pending: bool = False
) -> Restored:
    """Restore the backup `path` into the folder and the databases of `state`.

    Jobs that have not ended are marked as `RESTORED`, so that no write is made again. With
    `run_pending`, only the calls of callers that ran are.
    The whole backup is checked before anything is written, and nothing is replaced. Files get their
    names before the transactions on servers are committed, and are removed if a commit fails.
    Raises `StoreError`.
    """
    manifest = verify(path, passphrase, report)
    _refuse_unsuitable(manifest, state, path)
    _refuse_existing(state)
    with only_owner(*_files_of_databases(state)):
        _refuse_existing(state)
        with _staging(state.data) as staging, open_archive(path, passphrase) as archive:
            mark = _MARK_RUNNING if run_pending else _MARK_UNENDED
            restore = _Restore(state, manifest, staging, report, mark=mark)
            await restore.run(archive)
    return Restored(manifest=manifest, calls_in_doubt=restore.calls_in_doubt)


@contextmanager
def _staging(data: Path) -> Iterator[Path]:
    """A folder for what is not named yet."""
    staging = data / f"{DRAFT}{secrets.token_hex(6)}"
    with _writing(data):
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        staging.mkdir(mode=0o700)
    try:
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Turn an error of writing files into a `StoreError`.

    It surrounds each write, so that errors of reading the backup and of databases are not included.
    """
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{error.filename2 or error.filename or path} cannot be written ({error.strerror}); "
            "free disk space or make the folder writable, and restore again"
        ) from None


def _refuse_unsuitable(manifest: Manifest, state: SavedState, path: Path) -> None:
    """Raise `StoreError` for a backup that this version, or these settings, cannot take."""
    databases = {database.name: database for database in state.databases}
    for name, facts in manifest.databases.items():
        if name not in databases:
            raise StoreError(
                f"{path}: this version has no {name!r} database; install a newer version"
            )
        if facts.engine != databases[name].engine:
            raise StoreError(
                f"{path} contains a {name} database of {facts.engine}, and the settings name one "
                f"of {databases[name].engine}; name one of {facts.engine}"
            )
        try:
            refuse_unknown(facts.revisions, state.package)
        except StoreError as error:
            raise StoreError(f"{path}: {error.detail}") from None
        known = {table.name for table in databases[name].tables.tables}
        unknown = sorted(({*facts.columns, *facts.sequences}) - known)
        if unknown:
            raise StoreError(
                f"{path} contains the table {unknown[0]!r}, which no contract of this project "
                "declares; restore with the generated package of the backup"
            )
    for name in manifest.entries:
        kind, _, rest = name.partition("/")
        database = rest.partition("/")[0]
        if kind not in {DATABASES, FILES} or (
            kind == DATABASES and database not in manifest.databases
        ):
            raise StoreError(
                f"{path} contains {name[:200]!r}, which this version does not know; use another "
                "backup"
            )


def _files_of_databases(state: SavedState) -> list[Path]:
    return [database.path for database in state.databases if database.path is not None]


def _refuse_databases(state: SavedState) -> None:
    for path in _files_of_databases(state):
        for each in (Path(f"{path}{suffix}") for suffix in ("", *COMPANIONS)):
            if each.exists():
                raise StoreError(f"{each} already exists; restore into an empty folder")


def _refuse_existing(state: SavedState) -> None:
    """Raise `StoreError` for databases that exist and for a folder that is not empty.

    Lock files may exist: a restore creates them itself.
    """
    _refuse_databases(state)
    locks = {Path(f"{path.resolve()}{LOCK}") for path in _files_of_databases(state)}
    if state.data.exists() and (
        not state.data.is_dir() or {*state.data.resolve().iterdir()} - locks
    ):
        raise StoreError(f"{state.data} is not empty; name a new folder with --data")


class _Restore:
    """One restore: it writes to `staging` and open transactions, then names and commits all."""

    def __init__(
        self,
        state: SavedState,
        manifest: Manifest,
        staging: Path,
        report: Report,
        *,
        mark: str,
    ) -> None:
        self.calls_in_doubt = 0
        self._mark = mark
        self._state = state
        self._manifest = manifest
        self._staging = staging
        self._report = report
        self._databases = {database.name: database for database in state.databases}

    async def run(self, archive: ArchiveReader) -> None:
        committed: list[str] = []
        try:
            async with AsyncExitStack() as stack:
                new_files = stack.enter_context(NewFiles())
                servers = await self._open_servers(stack, committed)
                contents = Contents(archive.entries())
                while (content := contents.next()) is not None:
                    self._report(content.name)
                    await self._take(content, contents, servers)
                for name, server in servers.items():
                    facts = self._manifest.databases[name]
                    await server.set_sequences(_server_copy(facts))
                    if name == _OWN and _JOBS in facts.columns:
                        self._note(await server.changed(self._mark))
                # The database comes last: no gateway uses a folder without its database.
                with _writing(self._state.data):
                    self._add_files(new_files)
                    self._add_databases(new_files)
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
        """Begin a transaction for each database on a server. They end with `stack`, in reverse."""
        servers = {}
        for name, facts in self._manifest.databases.items():
            database = self._databases[name]
            if database.path is None:
                stack.push(_note_commit(name, committed))
                server = await stack.enter_async_context(
                    restoring(database.url, f"{name} database", database.tables)
                )
                await server.refuse_existing()
                await server.make_tables(_server_copy(facts))
                servers[name] = server
        return servers

    async def _take(
        self, content: Content, contents: Contents, servers: dict[str, ServerRestore]
    ) -> None:
        kind, name, *rest = content.name.split("/")
        if kind == FILES or name not in servers:
            self._stage(content)
            return
        columns = self._manifest.databases[name].columns
        if len(rest) != 2 or rest[0] not in columns:
            raise StoreError(
                f"the backup contains {content.name!r}, which belongs to no table; use another "
                "backup"
            )
        prefix = f"{DATABASES}/{name}/{rest[0]}/"
        await servers[name].add(rest[0], columns[rest[0]], contents.joined(content, prefix))

    def _stage(self, content: Content) -> None:
        """Write one entry to `staging`. `ArchiveReader` has checked its name."""
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

    def _add_files(self, new_files: NewFiles) -> None:
        staged = self._staging / FILES
        for path in sorted(each for each in staged.rglob("*") if each.is_file()):
            name = path.relative_to(staged)
            if name.parts[0] not in self._state.configured:
                new_files.add(path, self._state.data / name)

    def _add_databases(self, new_files: NewFiles) -> None:
        # Check again: SQLite would apply a log file that was created meanwhile to the database.
        _refuse_databases(self._state)
        for name, database in self._databases.items():
            staged = self._staging / DATABASES / name / SQLITE_ENTRY
            if database.path is not None and staged.is_file():
                if name == _OWN:
                    self._note(changed(staged, _JOBS, self._mark))
                new_files.add(staged, database.path)

    def _note(self, kinds: Sequence[str]) -> None:
        self.calls_in_doubt += sum(kind != "webhook" for kind in kinds)


def _note_commit(name: str, committed: list[str]) -> Callable[..., None]:
    """An exit callback that adds `name` to `committed` if the block ends without an error.

    It must be pushed before the transaction, so that it runs after the commit.
    """

    def note(kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            committed.append(name)

    return note


def _server_copy(facts: DatabaseFacts) -> ServerCopy:
    return ServerCopy(revisions=facts.revisions, columns=facts.columns, sequences=facts.sequences)
