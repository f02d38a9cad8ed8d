"""The releases in git: each commit that changed `contracts.lock` is one."""

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from msgspec import Struct

from gateway.authoring.contracts.finding import ContractRefused
from gateway.authoring.diff.changes import ContractChange
from gateway.authoring.diff.git import last_commits, text_at
from gateway.authoring.diff.sides import changes_between, read_side
from gateway.authoring.versions.bumps import Release
from gateway.authoring.versions.lock import FILE, Lock, read_lock
from gateway.errors import ContractError

_SHORT: Final = 12


class History(Struct, frozen=True, kw_only=True):
    """Where the releases of a project are found, and with what they are compared."""

    folder: Path
    """That of `contracts.lock`."""
    schemas: Path
    packages: Sequence[str]
    """The connector packages of the project."""
    step: Callable[[str], None]
    """Takes what is being done, for a person who waits."""

    def releases(self) -> tuple[Release | None, Release | None]:
        """The last two that are committed, the last one first. None: there is none, or no git."""
        found = [self.release(each) for each in last_commits(self.folder / FILE, 2)]
        last, before, *_ = (*found, None, None)
        return last, before

    def release(self, ref: str) -> Release | None:
        """The release at the commit `ref`. None: it has no lock that can be read."""
        lock = self._lock_at(ref)
        return None if lock is None else self.since(ref, lock)

    def since(self, ref: str, lock: Lock) -> Release:
        """What changed since the commit `ref`, with the versions of `lock`."""
        return Release(lock, ref[:_SHORT], lambda: self._changes(ref))

    def _lock_at(self, ref: str) -> Lock | None:
        text = text_at(ref, self.folder / FILE)
        if text is None:
            return None
        with TemporaryDirectory(prefix="gateway-release-") as folder:
            (Path(folder) / FILE).write_bytes(text)
            try:
                recorded = read_lock(Path(folder))
            except ContractRefused:
                return None
        return None if recorded is None else recorded.lock

    def _changes(self, ref: str) -> Sequence[ContractChange]:
        """All changes from the contracts at `ref` to those of the folder.

        Raises `LookupError` if one side cannot be read.
        """
        try:
            old = read_side(ref, self.schemas, self.packages, self.step)
            new = read_side(str(self.schemas), self.schemas, self.packages, self.step)
            self.step("comparing")
            return changes_between(old, new, "files", self.step)
        except ContractError as error:
            raise LookupError(str(error)) from None
