"""The project that a trial of attacks serves, and the gateway with little memory that serves it."""

import asyncio
import json
import os
import resource
import shutil
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

import hostile_documents as documents
from gateways import KEY, READY_SECONDS, ROOT, SECRET, ChaosError
from hostile_client import Target
from hostile_kinds import CANARY, PROXY
from msgspec import Struct

GATEWAY_CPU: Final = 0
OTHERS_CPU: Final = 1
CAN_PIN: Final = {GATEWAY_CPU, OTHERS_CPU} <= getattr(os, "sched_getaffinity", lambda _: set())(0)
"""Whether the gateway can have a core for itself."""
MOST_BYTES: Final = 512 << 20
LIMIT: Final = (
    "RLIMIT_DATA of 512 MB for each process; the resident memory of the process and its children "
    "is read ten times a second"
)
_LOOK_SECONDS: Final = 0.1
_STEP_SECONDS: Final = 300.0
_AGENTS: Final = ("hostile", "honest", "lesser", "rival")
_POLICIES: Final = """\
agents:
  administrator:
    description: Operators of this gateway.
    grants: ["*", gateway.events, gateway.operate]
  hostile:
    description: Attacks.
    grants: ["*", gateway.events]
  rival:
    description: Has the tools of hostile.
    grants: ["*"]
  honest:
    description: Behaves well.
    grants: [store.find_products, avinode.create_rfp]
  lesser:
    description: Has one tool.
    grants: [store.find_products]
"""


class Served(Struct, eq=False):
    """A gateway that serves, and the most memory that it had."""

    process: asyncio.subprocess.Process
    target: Target
    peak_mb: float = 0.0

    async def watch(self) -> None:
        """Read its memory until cancelled, or until it has ended."""
        while self.process.returncode is None:
            self.peak_mb = max(self.peak_mb, _resident(self.process.pid) / 1e6)
            await asyncio.sleep(_LOOK_SECONDS)


async def project_in(folder: Path) -> dict[str, str]:
    """Make the project, unless it is there, with all documents imported. Returns agents' keys."""
    known = folder / "keys.json"
    if not known.exists():
        known.write_text(json.dumps(await _make(folder)))
    keys: dict[str, str] = json.loads(known.read_text())
    return keys


async def _make(folder: Path) -> dict[str, str]:
    await run(folder, "init")
    await run(folder, "add", "avinode")
    tool = folder / "schemas" / "tools" / "avinode" / "create_rfp.yaml"
    text = tool.read_text()
    if "    task: auto\n" not in text:
        raise ChaosError("the contract of create_rfp has changed: change this script too")
    tool.write_text(text.replace("    task: auto\n", "    task: required\n"))
    (folder / "schemas" / "policies" / "agents.yaml").write_text(_POLICIES)
    for name, document in {
        "chains": documents.chains(),
        "patterns": documents.patterns(),
        "injected": documents.injected(),
        "evil": documents.evil(),
        "secretive": documents.secretive(),
    }.items():
        (folder / f"{name}.json").write_text(json.dumps(document))
        await run(folder, "import", f"{name}.json", "--as", name, "--yes")
    (folder / "hanging.json").write_text(documents.hanging())
    await run(folder, "generate")
    keys = {"administrator": KEY}
    for agent in _AGENTS:
        made = await run(folder, "keys", "create", agent, "--json", "--data", "keys")
        keys[agent] = json.loads(made)["key"]
    return keys


async def run(folder: Path, *argv: str) -> str:
    """What `gateway ARGV` prints. Raises `ChaosError` if it fails."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway", *argv),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=_environment({}),
        cwd=folder,
    )
    output, errors = await asyncio.wait_for(process.communicate(), _STEP_SECONDS)
    if process.returncode != 0:
        text = (output + errors).decode(errors="replace")[-800:]
        raise ChaosError(f"gateway {' '.join(argv)} ended with {process.returncode}: {text}")
    return output.decode()


@asynccontextmanager
async def serving(project: Path, keys: Mapping[str, str], upstream: str) -> AsyncIterator[Served]:
    """A gateway that serves `project` from a new database, with little memory."""
    shutil.rmtree(project / "data", ignore_errors=True)
    shutil.copytree(project / "keys", project / "data")
    with (project / "log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "gateway", "serve", "--port", "0", "--data", "data"),
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
            env=_environment(_settings(upstream)),
            cwd=project,
        )
        if CAN_PIN:
            os.sched_setaffinity(process.pid, {GATEWAY_CPU})
        resource.prlimit(process.pid, resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
        try:
            target = Target(
                url=await _ready(process, project / "log"),
                folder=project,
                process=process.pid,
                keys=dict(keys),
            )
            yield Served(process, target)
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def _settings(upstream: str) -> dict[str, str]:
    return {
        "GATEWAY_BOOTSTRAP_KEY": KEY,
        "GATEWAY_WEBHOOKS_AVINODE_SIGNED_SECRETS": SECRET,
        "GATEWAY_TRUSTED_PROXIES": f"{PROXY}/32",
        "GATEWAY_MOCK_SPEED": "0",
        # An open breaker would keep the attacks from their upstream.
        "GATEWAY_BREAKER_FAILURES": "0",
        "GATEWAY_BACKEND_EVIL": "live",
        "GATEWAY_BACKEND_SECRETIVE": "live",
        "GATEWAY_EVIL_BASE_URL": upstream,
        "GATEWAY_SECRETIVE_BASE_URL": upstream,
        "GATEWAY_SECRETIVE_OAUTH_TOKEN_URL": f"{upstream}/token",
        "GATEWAY_SECRETIVE_HEAD": f"{CANARY}-head",
        "GATEWAY_SECRETIVE_QUERY": f"{CANARY}-query",
        "GATEWAY_SECRETIVE_COOKIE": f"{CANARY}-cookie",
        "GATEWAY_SECRETIVE_BASIC_USERNAME": f"{CANARY}-user",
        "GATEWAY_SECRETIVE_BASIC_PASSWORD": f"{CANARY}-password",
        "GATEWAY_SECRETIVE_OAUTH_CLIENT_ID": f"{CANARY}-client",
        "GATEWAY_SECRETIVE_OAUTH_CLIENT_SECRET": f"{CANARY}-secret",
    }


def _environment(settings: Mapping[str, str]) -> dict[str, str]:
    own = {name: text for name, text in os.environ.items() if not name.startswith("GATEWAY_")}
    return {**own, "PYTHONPATH": str(ROOT), **settings}


async def _ready(process: asyncio.subprocess.Process, log: Path) -> str:
    line = b""
    if process.stdout is not None:
        async with asyncio.timeout(READY_SECONDS):
            line = await process.stdout.readline()
    if not line.startswith(b"ready "):
        text = await asyncio.to_thread(log.read_text, errors="replace")
        raise ChaosError(f"the gateway did not start: {text[-2000:]}")
    return line.decode().split()[1]


def _resident(pid: int) -> int:
    """Bytes of a process and of its children; 0 if it has ended."""
    found: dict[str, Any] = {}
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            name, _, value = line.partition(":")
            found[name] = value.split()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0
    own = int(found["VmRSS"][0]) * 1024 if "VmRSS" in found else 0
    return own + sum(_resident(int(child)) for child in children)
