"""A separate PostgreSQL server, which the trials restart and fill."""

import asyncio
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final

from gateways import ChaosError
from msgspec import Struct
from trial import free_port

_OWNER: Final = "postgres"
_SECONDS: Final = 60.0


class Cluster(Struct, frozen=True):
    """A server with its files in a folder."""

    folder: Path
    port: int
    tools: Path

    @property
    def url(self) -> str:
        """The URL of its first database."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    async def start(self) -> bool:
        """Start it. Returns whether it is running."""
        options = f"-p {self.port} -k {self.folder} -c max_wal_size=64MB -c min_wal_size=32MB"
        options += " -c max_connections=500"
        return await self._control("start", "-w", "-o", options, "-l", str(self.folder / "log"))

    async def restart(self, how: str) -> None:
        """Restart it: `immediate` is a crash, `fast` a shutdown. Raises `ChaosError`."""
        await self._control("stop", "-m", how, "-w")
        if not await self.start():
            raise ChaosError("PostgreSQL does not start again")

    async def is_up(self) -> bool:
        """Whether it accepts connections."""
        command = [str(self.tools / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return await _run(command)

    async def stop(self) -> None:
        """Stop it."""
        await self._control("stop", "-m", "immediate", "-w")

    async def _control(self, *arguments: str) -> bool:
        command = [str(self.tools / "pg_ctl"), "-D", str(self.folder / "cluster"), *arguments]
        return await _run(_as_owner(command))


@asynccontextmanager
async def cluster_in(folder: Path) -> AsyncIterator[Cluster]:
    """A new server with its files in `folder`. Raises `ChaosError` without PostgreSQL."""
    made = _place(folder)
    where = str(folder / "cluster")
    initdb = [str(made.tools / "initdb"), "-A", "trust", "-U", "postgres", "-D", where]
    if not await _run(_as_owner(initdb)):
        raise ChaosError("initdb has failed")
    if not await made.start():
        raise ChaosError("PostgreSQL does not start")
    try:
        yield made
    finally:
        await made.stop()


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that PostgreSQL's own user can access."""
    with tempfile.TemporaryDirectory(prefix="chaos-database-") as made:
        place = Path(made)
        place.chmod(0o711)
        yield place


def _place(folder: Path) -> Cluster:
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)
    if not installed:
        raise ChaosError("there is no PostgreSQL to start; install the package postgresql")
    folder.mkdir(parents=True, exist_ok=True)
    if os.geteuid() == 0:
        # PostgreSQL refuses to run as root.
        os.chown(folder, pwd.getpwnam(_OWNER).pw_uid, -1)
    return Cluster(folder, free_port(), installed[0].parent)


def _as_owner(command: Sequence[str]) -> list[str]:
    return ["runuser", "-u", _OWNER, "--", *command] if os.geteuid() == 0 else list(command)


async def _run(command: Sequence[str]) -> bool:
    """Whether the command succeeded. The output of started servers is not awaited."""
    if shutil.which(command[0]) is None:
        raise ChaosError(f"there is no {command[0]}")
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
    )
    try:
        return await asyncio.wait_for(process.wait(), _SECONDS) == 0
    except TimeoutError:
        process.kill()
        return False
