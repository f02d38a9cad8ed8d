"""One process that serves one gateway after the other, each with no state, for the transports."""

import asyncio
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from gateway.cli.verification.world import LOG, SILENT_SECONDS, TransportFailed, World

PROCESS: Final = "gateway.cli.verification.process"
READY: Final = "ready"
ENDED: Final = "ended"


class Gateways:
    """The gateways of a verification. The process starts with the first one, and ends with these.

    So what a start reads and compiles is paid once, and no two gateways share the machine.
    """

    def __init__(self, world: World, report: Callable[[str], None]) -> None:
        self.world = world
        self._report = report
        self._process: Process | None = None
        self._opened = 0

    async def __aenter__(self) -> "Gateways":
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._process is not None:
            # Each gateway has ended, unless the verification failed.
            if self._process.returncode is None:
                self._process.kill()
            await self._process.communicate()

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        """The URL of a gateway with no state, until the block ends. Raises `TransportFailed`."""
        process = await self._started()
        self._opened += 1
        folder = self.world.folder / f"serve-{self._opened}"
        stdin, stdout = process.stdin, process.stdout
        if stdin is None or stdout is None:
            raise TransportFailed("the gateway's pipes cannot be used")
        stdin.write(f"{folder}\n".encode())
        yield await awaited(stdout, READY, self._report)
        process.send_signal(signal.SIGTERM)
        await awaited(stdout, ENDED, self._report)

    async def _started(self) -> Process:
        if self._process is None:
            with (self.world.folder / f"serve{LOG}").open("wb") as log:
                self._process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-m", PROCESS, "serve"),
                    stdin=PIPE,
                    stdout=PIPE,
                    stderr=log,
                    env=self.world.environment(),
                    cwd=self.world.folder,
                )
        return self._process


async def awaited(
    output: asyncio.StreamReader,
    word: str,
    report: Callable[[str], None],
    silent_seconds: float = SILENT_SECONDS,
) -> str:
    """What follows `word` in the first line that begins with it. The lines before are reported.

    It may take any time, as long as the process says something. Raises `TransportFailed` when it
    ends or is silent.
    """
    last = "starting"
    while True:
        report(last)
        try:
            async with asyncio.timeout(silent_seconds):
                line = (await output.readline()).decode("utf-8", "replace").strip()
        except TimeoutError:
            raise TransportFailed(
                f"the gateway has said nothing for {silent_seconds:g} seconds after: {last}"
            ) from None
        if not line:
            raise TransportFailed(f"the gateway ended unasked after: {last}")
        first, _, rest = line.partition(" ")
        if first == word:
            return rest
        last = line
