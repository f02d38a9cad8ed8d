"""The TypeScript clients, each in a Node.js process of its own."""

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import msgspec

from tests.clients.conversation import (
    HANDSHAKE,
    MODERN,
    ClientFailed,
    ClientUnderTest,
    Step,
    Transcript,
    Transport,
    read_transcript,
)
from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import REPOSITORY, clean_environment

FOLDER: Final = Path(__file__).resolve().parent / "node"
PACKAGES: Final = FOLDER / "node_modules"
OLDEST_NODE: Final = (22, 19)
INSTALL: Final = "tests/clients/install"


@cache
def missing() -> str | None:
    """Why the Node.js clients cannot run here, or None when they can."""
    stamp = PACKAGES / ".installed-from.json"
    if not stamp.exists():
        return f"the npm clients are not installed: run {INSTALL}"
    if stamp.read_bytes() != (FOLDER / "package-lock.json").read_bytes():
        return f"the npm clients are those of another lock file: run {INSTALL}"
    wanted = msgspec.json.decode((FOLDER / "package.json").read_bytes())["dependencies"]
    if lost := [name for name in wanted if not (PACKAGES / name / "package.json").exists()]:
        again = f"rm -r {PACKAGES.relative_to(REPOSITORY)} && {INSTALL}"
        return f"the npm clients are not complete, {lost[0]} is missing: run {again}"
    if _version(node()) < OLDEST_NODE:
        needed = ".".join(map(str, OLDEST_NODE))
        return f"the npm clients need Node.js {needed}, which they bring along: run {INSTALL}"
    return None


@cache
def node() -> str:
    """The Node.js that the lock file brings, else the one on PATH."""
    own = PACKAGES / ".bin" / "node"
    return str(own) if own.exists() else (shutil.which("node") or str(own))


def run_node(
    *arguments: str,
    text: bytes = b"",
    environment: Mapping[str, str] | None = None,
    seconds: float = PATIENCE_SECONDS,
) -> subprocess.CompletedProcess[bytes]:
    """Run a Node.js program to its end, without the developer's own settings."""
    return subprocess.run(
        [node(), *arguments],
        input=text,
        capture_output=True,
        env=clean_environment(environment),
        cwd=FOLDER,
        timeout=seconds,
        check=False,
    )


def converse(script: str, mode: str, transport: Transport, steps: Sequence[Step]) -> Transcript:
    """Hold the conversation with one of the scripts beside the packages."""
    order: dict[str, Any] = {"mode": mode, "transport": transport, "steps": steps}
    done = run_node(script, text=msgspec.json.encode(order))
    if done.returncode != 0:
        raise ClientFailed(done.stderr.decode(errors="replace"))
    return read_transcript(done.stdout)


def _version(program: str) -> tuple[int, ...]:
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return ()
    return tuple(map(int, re.findall(r"[0-9]+", done.stdout)))


NODE_CLIENTS: Final = (
    ClientUnderTest(
        name="sdk-v1",
        protocol=HANDSHAKE,
        converse=partial(converse, "sdk_v1.mjs", "legacy"),
        transports=("http", "stdio"),
    ),
    *(
        ClientUnderTest(
            name=f"client-v2-{mode}",
            protocol=protocol,
            converse=partial(converse, "client_v2.mjs", mode),
            transports=transports,
            is_own_program=mode == MODERN,
        )
        for mode, protocol, transports in (
            ("legacy", HANDSHAKE, ("http",)),
            ("auto", MODERN, ("http",)),
            (MODERN, MODERN, ("http", "bridge")),
        )
    ),
)
