"""Makes a project whose calls become jobs: one tool with `required`, and one with `auto`."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Final

from gateways import ChaosError

REQUIRED: Final = "send_push_notification"
AUTO: Final = "send_late"
_STEP_SECONDS: Final = 120.0
_EFFECT: Final = "    effect: write\n"
_TIME_LIMIT: Final = "timeoutSeconds: 30\n"
_LONGEST: Final = "timeoutSeconds: 300\n"
_ALIASES: Final = f"    aliases: [{REQUIRED}]\n"


async def slow_project(folder: Path, tree: Path) -> Path:
    """A tree for the nursery: the gateway of `tree` beside a project with two tools of ntfy.

    Raises `ChaosError`.
    """
    made = folder / "tree"
    made.mkdir()
    await _run(made, tree, "init")
    await _run(made, tree, "add", "ntfy")
    await asyncio.to_thread(_change_contracts, made / "schemas")
    await _run(made, tree, "generate")
    (made / "gateway").symlink_to(tree / "gateway")
    return made


def _change_contracts(schemas: Path) -> None:
    tools = schemas / "tools" / "ntfy"
    contract = (tools / f"{REQUIRED}.yaml").read_text()
    if not all(each in contract for each in (_EFFECT, _TIME_LIMIT, _ALIASES)):
        raise ChaosError(f"the contract of {REQUIRED} has changed: change slow_project.py too")
    contract = contract.replace(_TIME_LIMIT, _LONGEST)
    late = contract.replace(_ALIASES, "").replace(REQUIRED, AUTO)
    (tools / f"{REQUIRED}.yaml").write_text(_with_task(contract, "required"))
    (tools / f"{AUTO}.yaml").write_text(_with_task(late, "auto"))
    for part in ("input.json", "output.json"):
        (tools / f"{AUTO}.{part}").write_bytes((tools / f"{REQUIRED}.{part}").read_bytes())
    with (schemas / "openapi.yaml").open("a") as index:
        index.write(f"  /v1/ntfy/{AUTO}: {{$ref: ./tools/ntfy/{AUTO}.yaml}}\n")


def _with_task(contract: str, task: str) -> str:
    return contract.replace(_EFFECT, f"{_EFFECT}    task: {task}\n")


async def _run(folder: Path, tree: Path, *argv: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway", *argv),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, "PYTHONPATH": str(tree), "GATEWAY_SCHEMAS": ""},
        cwd=folder,
    )
    output, _ = await asyncio.wait_for(process.communicate(), _STEP_SECONDS)
    if process.returncode != 0:
        text = output.decode(errors="replace")[-500:]
        raise ChaosError(f"gateway {argv[0]} ended with {process.returncode}: {text}")
