"""The gateways of `gateway verify`: processes with no state, served for one transport each."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from gateway.testing.transports import (
    HANDSHAKE,
    MODERN,
    REST,
    SILENT_SECONDS,
    STDIO,
    Ask,
    Mcp,
    Rest,
    TransportFailed,
    client,
    over_http,
    over_pipes,
)
from gateway.testing.upstream_contracts import ContractBreach

PROCESS: Final = "gateway.testing.process"
READY: Final = "ready"
ENDED: Final = "ended"
BREACHES: Final = "breaches.jsonl"
"""The file of a verification in which processes write what breaks a contract of an upstream."""
KEY: Final = "key-of-a-verification-0123456789"
_LOG: Final = ".stderr"
_LAST_LINES: Final = 10
_MAX_LINE: Final = 2**30
"""Bytes of a message over stdio."""
UNLIMITED: Final = {"GATEWAY_CALL_LIMITS": "false"}
"""Each example is called several times, which a limit of a tool may not allow."""
FROZEN: Final = {
    "GATEWAY_MOCK_TIME": "2026-11-20T12:00:00Z",
    "GATEWAY_MOCK_SPEED": "0",
    **UNLIMITED,
}
"""The time for which the contracts' examples are written: their dates are after it."""


class World(Struct, frozen=True):
    """The parameters of all transports in one verification."""

    folder: Path
    """An empty folder for the state of the processes."""
    upstreams: tuple[str, ...]
    """All of them are mocked: no real system is called."""
    served: Mapping[str, str]
    """The variables that select what to serve, from any source of settings."""

    def environment(self) -> dict[str, str]:
        """This environment, without the operator's settings except those in `served`.

        The processes run in another folder, so they get this process's import path. The project's
        own package is in the folder of the command.
        """
        plain = {name: text for name, text in os.environ.items() if not name.startswith("GATEWAY_")}
        mocked = {f"GATEWAY_BACKEND_{name.upper()}": "mock" for name in self.upstreams}
        return {
            **plain,
            **self.served,
            **mocked,
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            **FROZEN,
            "GATEWAY_BOOTSTRAP_KEY": KEY,
            "GATEWAY_LOG_LEVEL": "error",
        }

    def last_words(self) -> list[str]:
        """The last lines of each process's standard error."""
        texts = (path.read_text("utf-8", "replace") for path in self.folder.glob(f"*{_LOG}"))
        return [line for text in texts for line in text.splitlines()[-_LAST_LINES:]]

    def breach(self) -> ContractBreach | None:
        """The first breach of an upstream's contract since this was asked last."""
        file = self.folder / BREACHES
        if not file.exists():
            return None
        first, *_ = file.read_bytes().splitlines()
        file.unlink()
        return msgspec.json.decode(first, type=ContractBreach)

    async def start(self, *arguments: str) -> Process:
        """A process under verification, with pipes, whose errors are kept."""
        with (self.folder / f"{arguments[0]}{_LOG}").open("wb") as log:
            return await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", PROCESS, *arguments),
                stdin=PIPE,
                stdout=PIPE,
                stderr=log,
                env=self.environment(),
                cwd=self.folder,
                limit=_MAX_LINE,
            )


class Gateways:
    """The gateways of a verification. Those over HTTP share a process, one after the other.

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
        if self._process is None:
            self._process = await self.world.start("serve")
        self._opened += 1
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise TransportFailed("the gateway's pipes cannot be used")
        stdin.write(f"{self.world.folder / f'serve-{self._opened}'}\n".encode())
        yield await awaited(stdout, READY, self._report)
        self._process.send_signal(signal.SIGTERM)
        await awaited(stdout, ENDED, self._report)


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


@asynccontextmanager
async def rest(gateways: Gateways) -> AsyncIterator[Ask]:
    """`POST /v1/<connector>/<tool>`."""
    async with gateways.serving() as url, client(url, KEY) as http:
        yield Rest(http).call


@asynccontextmanager
async def mcp(version: str, gateways: Gateways) -> AsyncIterator[Ask]:
    """Streamable HTTP, after `initialize` in the revision that has it."""
    async with gateways.serving() as url, client(url, KEY) as http:
        spoken = Mcp(over_http(http), version)
        if version == HANDSHAKE:
            await spoken.shake_hands()
        yield spoken.call


@asynccontextmanager
async def stdio(gateways: Gateways) -> AsyncIterator[Ask]:
    """`gateway mcp`, on the pipes of a child process."""
    process = await gateways.world.start("mcp", str(gateways.world.folder / "stdio"))
    async with over_pipes(process) as exchange:
        yield Mcp(exchange, MODERN).call


TRANSPORTS: Final[Mapping[str, Callable[[Gateways], AbstractAsyncContextManager[Ask]]]] = {
    REST: rest,
    f"MCP {MODERN}": partial(mcp, MODERN),
    f"MCP {HANDSHAKE}": partial(mcp, HANDSHAKE),
    STDIO: stdio,
}
