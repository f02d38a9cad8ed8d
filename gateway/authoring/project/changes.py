"""Writes several files into a project: all of them or none, undone at any time by a journal."""

import errno
import fcntl
import hashlib
import os
import shutil
import stat
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec
from msgspec import Struct

from gateway.errors import ConfigurationError
from gateway.project_folder import CHANGE, JOURNAL, is_unfinished

# Changes several files so that the change can be undone at any time, also by another process.
#
# A folder beside the files holds what is needed for that, until all of them are in their places:
#
#     .gateway-change/new/3         the new text of the file 3, which is moved over the old one
#     .gateway-change/old/3         its former text
#     .gateway-change/journal.json  the files by number; written before the first one is touched
#
# Without a journal, nothing has been touched or everything is done.

_DRAFT_SUFFIX: Final = ".gateway-draft"
_IGNORE_ALL: Final = b"*\n"


class JournalFile(Struct, frozen=True, kw_only=True):
    """A file that is written or removed."""

    path: str
    """Relative to the project's folder."""
    old: str | None
    """The SHA-256 of the former content. None: it did not exist."""
    new: str | None
    """The SHA-256 of the new content. None: it is removed."""


class Journal(Struct, frozen=True, kw_only=True):
    """A change of a project."""

    files: tuple[JournalFile, ...]
    folders: tuple[str, ...]
    """The folders that are made, each after the one that contains it."""


def prepare(
    folder: Path, files: Mapping[PurePosixPath, bytes], removed: Collection[PurePosixPath]
) -> Journal:
    """Write what is needed to change `folder`, and to undo that. None of the files is touched.

    Raises `OSError`.
    """
    room = folder / CHANGE
    _make_room(room)
    wanted: dict[PurePosixPath, bytes | None] = {**files, **dict.fromkeys(removed)}
    found = []
    for number, (path, content) in enumerate(wanted.items()):
        target = folder / path if content is None else _written_at(folder, path.as_posix())
        _keep(target, _old(room, number))
        _write(_new(room, number), content or b"", like=target)
        new = None if content is None else hashlib.sha256(content).hexdigest()
        found.append(JournalFile(path=path.as_posix(), old=_digest(target), new=new))
    journal = Journal(files=tuple(found), folders=_missing(folder, files))
    for each in (room / "old", room / "new"):
        _sync(each)
    _write(room / f"{JOURNAL}{_DRAFT_SUFFIX}", msgspec.json.encode(journal))
    (room / f"{JOURNAL}{_DRAFT_SUFFIX}").replace(room / JOURNAL)
    _sync(room)
    return journal


def carry_out(folder: Path, journal: Journal) -> None:
    """Move the new files to their places. Raises `OSError`, and `ConfigurationError` if another
    program changed one of the files since `prepare`. Then the change has to be undone."""
    for path in journal.folders:
        (folder / path).mkdir(exist_ok=True)
    for number, each in enumerate(journal.files):
        target, new = _target(folder, each), _new(folder / CHANGE, number)
        if _digest(target) != each.old:
            raise edited([each.path])
        if each.new is None:
            target.unlink(missing_ok=True)
            new.unlink()
        else:
            _move(new, target)
    for parent in {_target(folder, each).parent for each in journal.files}:
        _sync(parent)


def finish(folder: Path) -> None:
    """Forget how the change is undone: it is done. Raises `OSError`."""
    room = folder / CHANGE
    (room / JOURNAL).unlink(missing_ok=True)
    _sync(room)
    shutil.rmtree(room, ignore_errors=True)


def undo(folder: Path) -> tuple[str, ...]:
    """Make the project in `folder` what it was before a change that was not finished.

    Returns the files that were put back. Raises `OSError`, and `ConfigurationError` if one of them
    was changed again since. Then nothing is put back.
    """
    room = folder / CHANGE
    journal = _read(room)
    if journal is None:
        shutil.rmtree(room, ignore_errors=True)
        return ()
    _refuse_saved(folder, journal)
    touched = []
    for number, each in enumerate(journal.files):
        target = _target(folder, each)
        if _beside(target).exists():
            _beside(target).unlink()
        if _digest(target) != each.old and _is_touched(folder, number, each):
            _put_back(_old(room, number), target, each)
            touched.append(each.path)
    for path in reversed(journal.folders):
        # Another program may have put something into it.
        with suppress(OSError):
            (folder / path).rmdir()
    finish(folder)
    return tuple(touched)


def edited(paths: Iterable[str]) -> ConfigurationError:
    """The error for files that another program changed while a command was to change them."""
    return ConfigurationError(
        f"{', '.join(paths)} was changed while this command ran, and nothing is written; run it "
        "again"
    )


def _refuse_saved(folder: Path, journal: Journal) -> None:
    """Raise `ConfigurationError` for files that are neither what they were nor what was written."""
    room = folder / CHANGE
    for number, each in enumerate(journal.files):
        found = _digest(_target(folder, each))
        if found not in {each.old, each.new} and _is_touched(folder, number, each):
            raise ConfigurationError(
                f"a command was interrupted after it had changed {each.path}, which was changed "
                f"again since; what it held before is {_old(room, number)}. Put in place what you "
                f"need of that, and delete {room}"
            )


def _is_touched(folder: Path, number: int, each: JournalFile) -> bool:
    """Whether the change has reached the file: its draft is gone."""
    is_moved = not _new(folder / CHANGE, number).exists()
    return is_moved or _digest(_target(folder, each)) == each.new


def _read(room: Path) -> Journal | None:
    try:
        journal = msgspec.json.decode((room / JOURNAL).read_bytes(), type=Journal)
        # A project may come from a stranger, with a journal in it.
        _refuse_outside([*(each.path for each in journal.files), *journal.folders])
    except FileNotFoundError:
        return None
    except (msgspec.DecodeError, ValueError) as error:
        raise ConfigurationError(
            f"{room / JOURNAL} cannot be read ({error}); compare the files in {room}/old with the "
            "project's, and delete that folder"
        ) from None
    return journal


def _refuse_outside(paths: Iterable[str]) -> None:
    """Raise `ValueError` for a path that leads out of the project."""
    for path in map(PurePosixPath, paths):
        if path.is_absolute() or ".." in path.parts:
            raise ValueError(f"{path} is not in the project")


def _make_room(room: Path) -> None:
    room.mkdir(mode=0o700)
    for name in ("old", "new"):
        (room / name).mkdir()
    _write(room / ".gitignore", _IGNORE_ALL)


def _old(room: Path, number: int) -> Path:
    return room / "old" / str(number)


def _new(room: Path, number: int) -> Path:
    return room / "new" / str(number)


def _target(folder: Path, each: JournalFile) -> Path:
    return folder / each.path if each.new is None else _written_at(folder, each.path)


def _written_at(folder: Path, path: str) -> Path:
    """The file that is written: a link stays, and the file to which it leads is replaced."""
    target = folder / path
    return Path(os.path.realpath(target)) if target.is_symlink() else target


def _missing(folder: Path, paths: Iterable[PurePosixPath]) -> tuple[str, ...]:
    above = {parent for path in paths for parent in path.parents}
    missing = (each for each in above if not (folder / each).is_dir())
    return tuple(each.as_posix() for each in sorted(missing))


def _keep(target: Path, kept: Path) -> None:
    """Give the file `target`, if it exists, the second name `kept`, or copy it to that."""
    if not target.is_symlink() and not target.exists():
        return
    try:
        os.link(target, kept, follow_symlinks=False)
    except OSError:
        shutil.copy2(target, kept, follow_symlinks=False)
    if not kept.is_symlink():
        _sync(kept)


def _put_back(kept: Path, target: Path, each: JournalFile) -> None:
    if each.old is None:
        target.unlink(missing_ok=True)
    else:
        _move(kept, target)


def _move(source: Path, target: Path) -> None:
    """Replace `target` by `source` atomically."""
    try:
        source.replace(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        beside = _beside(target)
        shutil.copy2(source, beside)
        _sync(beside)
        beside.replace(target)
        source.unlink()


def _beside(target: Path) -> Path:
    """Where a file is copied to that comes from another file system."""
    return target.with_name(f".{target.name}{_DRAFT_SUFFIX}")


def _digest(file: Path) -> str | None:
    """The SHA-256 of the content in hexadecimal. None if it is no file."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def _write(file: Path, content: bytes, like: Path | None = None) -> None:
    """Write a new file, with the permissions and the owner of the file `like`, if it exists."""
    file.write_bytes(content)
    if like is not None and like.is_file():
        status = like.stat()
        # Only an administrator may give files away.
        with suppress(PermissionError):
            os.chown(file, status.st_uid, status.st_gid)
        file.chmod(stat.S_IMODE(status.st_mode))
    _sync(file)


def _sync(path: Path) -> None:
    """Make a file, or the names in a folder, durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some file systems cannot do this for folders.
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(descriptor)


# Writes several files into a project: all of them, or none, and over nothing that it did not read.
#
# Every command that changes a project holds it meanwhile. What a command left that was interrupted
# is undone first.

Files = Mapping[PurePosixPath, bytes]
"""Contents by path, relative to the project's folder."""

_State = Mapping[PurePosixPath, tuple[int, int, int]]
"""What tells of each file whether it was saved again: its inode, size and time of change."""
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
PATIENCE: Final = 60.0
"""The seconds that a command waits for another one."""
_POLL_SECONDS: Final = 0.05


class HeldProject:
    """A project that no other command changes."""

    def __init__(self, folder: Path, parts: Collection[PurePosixPath]) -> None:
        """Raises `ConfigurationError` if what an interrupted command left cannot be undone."""
        self._folder = folder
        self.undone = undo(folder)
        """The files that an interrupted command had changed. They are what they were before it."""
        self._parts = parts
        self._before = _state(folder, parts)

    def place(self, files: Files, removed: Collection[PurePosixPath] = ()) -> None:
        """Write `files`, and remove `removed` with the folders that are empty then.

        Raises `ConfigurationError` if something cannot be written, or was saved by another program
        since the project is held. Then everything is as before.
        """
        if not files and not removed:
            return
        self._refuse_edited([*files, *removed])
        try:
            self._change(files, removed)
        except OSError as error:
            raise _unwritable(self._folder, error) from None
        for path in removed:
            _remove_empty(self._folder, path.parent)

    def _change(self, files: Files, removed: Collection[PurePosixPath]) -> None:
        try:
            plan = prepare(self._folder, files, removed)
            carry_out(self._folder, plan)
            finish(self._folder)
        except BaseException:
            undo(self._folder)
            raise

    def _refuse_edited(self, paths: Iterable[PurePosixPath]) -> None:
        now = _state(self._folder, self._parts)
        if found := [str(each) for each in paths if now.get(each) != self._before.get(each)]:
            raise edited(found)


@contextmanager
def holding(folder: Path, parts: Collection[PurePosixPath]) -> Iterator[HeldProject]:
    """The project in `folder`, which is made if it does not exist, for a command that changes it.

    `parts` are the files and folders in it that the command may change, read or not. What it reads
    of them has to be read in the block. Raises `ConfigurationError` when another command holds the
    project, or when `folder` cannot be used.
    """
    with ExitStack() as stack:
        try:
            for each in _make_folder(folder):
                stack.callback(_remove, each)
            stack.enter_context(locked(folder))
            held = HeldProject(folder, parts)
        except OSError as error:
            raise _unwritable(folder, error) from None
        yield held


@contextmanager
def locked(folder: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the lock of the project in `folder` during a block. Waits up to `patience` seconds.

    The lock is on the folder itself, so that no file is needed. The system releases it when the
    process ends, also when it is killed. A file system without locks is used without one. Raises
    `ConfigurationError` when another process holds the lock for longer, and `OSError` if the folder
    cannot be opened.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        _take(descriptor, folder, time.monotonic() + patience)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int, folder: Path, until: float) -> None:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _wait(folder, until)
        except OSError:
            # Network file systems lock files only. What is placed is compared all the same.
            return
        else:
            return


def _wait(folder: Path, until: float) -> None:
    if time.monotonic() >= until:
        raise ConfigurationError(
            f"another command is changing the project in {folder}; run this again when it has "
            "ended, or stop it"
        )
    time.sleep(_POLL_SECONDS)


def occupied(folder: Path, paths: Iterable[PurePosixPath]) -> list[PurePosixPath]:
    """Those of `paths` that cannot be created in `folder` without replacing something."""
    return sorted(path for path in paths if _is_occupied(folder, path))


def place(folder: Path, files: Files, removed: Collection[PurePosixPath] = ()) -> None:
    """Hold the project in `folder`, and place these files. Existing ones are replaced."""
    with holding(folder, [*files, *removed]) as project:
        project.place(files, removed)


def _state(folder: Path, parts: Iterable[PurePosixPath]) -> _State:
    found = {}
    for path in (path for part in parts for path in _files(folder / part)):
        # Another program may remove it at this moment.
        with suppress(FileNotFoundError, NotADirectoryError):
            status = path.stat()
            name = PurePosixPath(path.relative_to(folder).as_posix())
            found[name] = (status.st_ino, status.st_size, status.st_mtime_ns)
    return found


def _files(part: Path) -> Iterable[Path]:
    return (path for path in part.rglob("*") if path.is_file()) if part.is_dir() else (part,)


def _unwritable(folder: Path, error: OSError) -> ConfigurationError:
    fix = "change its owner or permissions, or choose another folder"
    if error.errno in _FULL:
        fix = "free some space, or choose another folder"
    at = error.filename2 or error.filename or folder
    left = "nothing has changed"
    if is_unfinished(folder):
        left = "the next command that writes undoes what has changed"
    return ConfigurationError(f"{at} cannot be written ({error.strerror}), and {left}; {fix}")


def _is_occupied(folder: Path, path: PurePosixPath) -> bool:
    target = folder / path
    if target.is_symlink() or target.exists():
        return True
    above = (folder / parent for parent in path.parents)
    return any(each.exists() and not each.is_dir() for each in above)


def _remove_empty(folder: Path, path: PurePosixPath) -> None:
    """Remove the folder `path` and those above it in `folder`, while they are empty."""
    for each in (path, *path.parents):
        if each == PurePosixPath():
            return
        # A folder with what Python compiled of removed modules is still a package.
        for compiled in (folder / each).glob("__pycache__/*.pyc"):
            if not (folder / each / f"{compiled.name.partition('.')[0]}.py").exists():
                compiled.unlink(missing_ok=True)
        _remove(folder / each / "__pycache__")
        _remove(folder / each)


def _make_folder(folder: Path) -> tuple[Path, ...]:
    """Make `folder` and those above it. Returns the folders that are new."""
    if folder.is_dir():
        return ()
    above = _make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    return (*above, folder)


def _remove(folder: Path) -> None:
    # It may hold something, also of another program.
    with suppress(OSError):
        folder.rmdir()
