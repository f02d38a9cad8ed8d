"""Reads files of a git commit, without touching the working tree."""

import io
import subprocess
import tarfile
from pathlib import Path
from typing import Final

from gateway.errors import ContractError

_SECONDS: Final = 60
_MAX_BYTES: Final = 512 * 1024 * 1024


def is_ref(text: str, folder: Path) -> bool:
    """Whether the repository around `folder` has a commit of this name."""
    if not text or text.startswith("-"):
        return False
    asked = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{text}^{{commit}}"]
    return _git(asked, folder).returncode == 0


class GitMissing(ContractError):
    """There is no git that can be run."""


def unknown(folder: Path, instead: str) -> str:
    """Why a name is no commit, and what to do: the end of a sentence about it.

    `instead` is what to do without a repository. Raises `GitMissing`.
    """
    place = folder.absolute()
    asked = _git(["rev-parse", "--git-dir"], folder)
    if asked.returncode == 0:
        return (
            f"no commit of the git repository at {place}; correct the name, or fetch it with "
            "`git fetch`"
        )
    said = asked.stderr.decode("utf-8", "replace").partition("\n")[0]
    return f"no commit, because git reads no repository at {place} ({said}); {instead}"


def extract(ref: str, path: Path, target: Path) -> Path:
    """Write the file or folder `path`, as it was at `ref`, below `target`. Returns where it is.

    Raises `ContractError` if there is no such commit, or it has nothing at `path`.
    """
    folder = path if path.is_dir() else path.parent
    while not folder.is_dir():
        folder = folder.parent
    named = f"{ref or 'an empty name'} is no file, no folder, and"
    try:
        if not is_ref(ref, folder):
            raise ContractError(f"{named} {unknown(folder, 'name two folders or two documents')}")
    except GitMissing as error:
        raise ContractError(f"{named} {error}") from None
    relative = path.absolute().relative_to(folder.absolute())
    commit = f"{ref}^{{commit}}"
    archived = _git(["archive", "--format=tar", commit, "--", relative.as_posix()], folder)
    if archived.returncode != 0:
        raise ContractError(
            f"the commit {ref} has nothing at {path}; name a commit that has it, or write REF:PATH"
        )
    if len(archived.stdout) > _MAX_BYTES:
        raise ContractError(f"{path} at {ref} is larger than {_MAX_BYTES:,} bytes; name a part")
    with tarfile.open(fileobj=io.BytesIO(archived.stdout)) as tar:
        tar.extractall(target, filter="data")
    return target / relative


def last_commits(file: Path, number: int) -> list[str]:
    """The last commits that changed `file`, the last one first. Empty without git."""
    try:
        listed = _git(["log", f"-{number}", "--format=%H", "--", file.name], file.parent)
    except ContractError:
        return []
    return listed.stdout.decode().split() if listed.returncode == 0 else []


def commit_before(day: str, file: Path) -> str | None:
    """The last commit until the end of a day, `2026-11-30`, that changed `file`. None: none did."""
    asked = ["rev-list", "-1", f"--before={day}T23:59:59", "HEAD", "--", file.name]
    listed = _git(asked, file.parent)
    return listed.stdout.decode().strip() or None if listed.returncode == 0 else None


def commit_of(ref: str, folder: Path) -> str | None:
    """The full name of the commit `ref`. None: there is none of this name."""
    if not is_ref(ref, folder):
        return None
    return _git(["rev-parse", f"{ref}^{{commit}}"], folder).stdout.decode().strip()


def text_at(ref: str, file: Path) -> bytes | None:
    """What `file` was at the commit `ref`. None: it was not there."""
    shown = _git(["show", "--end-of-options", f"{ref}:./{file.name}"], file.parent)
    return shown.stdout if shown.returncode == 0 else None


def _git(arguments: list[str], folder: Path) -> "subprocess.CompletedProcess[bytes]":
    try:
        return subprocess.run(  # noqa: S603 - no shell; a ref never begins with a dash
            ["git", "-C", str(folder), *arguments],  # noqa: S607 - the user's own git
            capture_output=True,
            check=False,
            timeout=_SECONDS,
        )
    except OSError as error:
        raise GitMissing(
            f"git cannot be run ({error.strerror}), so no commit can be read; install git, or name "
            "two folders or two documents"
        ) from None
    except subprocess.TimeoutExpired:
        raise ContractError("git does not answer; try `git status` in the folder") from None
