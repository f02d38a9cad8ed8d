"""Serves the tools of this pack without a key: `python tests/conformance_pack/serve.py FOLDER`.

Makes a project in FOLDER, unless it is there, and prints the URL of the connector. The official
suite shows no key, so each request gets one here.
"""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import yaml
from msgspec.structs import replace

from gateway.app.gateway import Gateway
from gateway.app.reloading.generation import Generation, Switch
from gateway.job_policy import WORK_POLICY
from gateway.settings import Settings, read_settings
from gateway.testing.asgi_server import serving

HERE: Final = Path(__file__).resolve().parent
PACK: Final = {"GATEWAY_SCHEMAS": ""}
"""The environment of a command that serves the project in whose folder it runs."""
KEY: Final = "key-of-the-conformance-pack-0123456789abcdef"
GATEWAY: Final = Path(sys.executable).with_name("gateway")
AS_WRITTEN: Final = {"list_mode": "full", "client_profile": "source"}
"""The suite reads the schemas that contracts have, and not those that a host is shown."""
JOB_AFTER_SECONDS: Final = 0.3
"""Less than the one second that the shortest of the suite's tasks takes."""
RELOADS_READY: Final = 4
"""The suite reloads four times in a scenario."""
GRACE_SECONDS: Final = 5.0
"""How long the requests of a gateway that is replaced may take."""


def make_project(folder: Path) -> None:
    """Make a project with the contracts and the handlers of this pack."""
    folder.mkdir(parents=True)
    _run(folder, "init", "--name", "conformance", ".")
    shutil.copytree(HERE / "contracts", folder / "schemas" / "tools" / "conformance")
    for kind in ("resources", "prompts"):
        shutil.copytree(HERE / "offered" / kind, folder / "schemas" / kind / "conformance")
    shutil.copy(HERE / "handlers.py", folder / "handlers" / "conformance.py")
    for path in HERE.glob("*_handlers.py"):
        name = f"conformance_{path.stem.removesuffix('_handlers')}.py"
        shutil.copy(path, folder / "handlers" / name)
    index = folder / "schemas" / "openapi.yaml"
    document = yaml.safe_load(index.read_text())
    tag = {"name": "conformance", "description": "The tools of the conformance suite."}
    document["tags"].append(tag)
    for path in sorted((HERE / "contracts").glob("*.yaml")):
        found = {"$ref": f"./tools/conformance/{path.name}"}
        document["paths"][f"/v1/conformance/{path.stem}"] = found
    index.write_text(yaml.safe_dump(document, sort_keys=False, width=10_000))
    _run(folder, "generate")


def _run(folder: Path, *arguments: str) -> None:
    clean = {name: text for name, text in os.environ.items() if not name.startswith("GATEWAY_")}
    subprocess.run([GATEWAY, *arguments], cwd=folder, env=clean, check=True, stdout=sys.stderr)


class KeyedApp:
    """Adds the key to each request."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request."""
        if scope["type"] == "http":
            key = (b"authorization", f"Bearer {KEY}".encode())
            scope = {**scope, "headers": [*scope["headers"], key]}
        await self._app(scope, receive, send)


async def serve(folder: Path) -> None:
    """Serve the project in `folder` until the process is stopped. SIGUSR1 reloads it."""
    os.chdir(folder)
    # Before this repository, which has a package `generated` too.
    sys.path.insert(0, str(folder))
    values = {"data": folder / "data", "database_url": "memory:", **AS_WRITTEN}
    settings = read_settings({"GATEWAY_BOOTSTRAP_KEY": KEY}, folder / "gateway.toml", values)
    switch = Switch(await opened(settings))
    ready: asyncio.Queue[Generation] = asyncio.Queue(RELOADS_READY)
    for _ in range(RELOADS_READY):
        await ready.put(await opened(settings))
    wanted = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, wanted.set)
    async with asyncio.TaskGroup() as tasks, serving(KeyedApp(switch)) as url:
        print(f"{url.replace('127.0.0.1', 'localhost')}/mcp/conformance", flush=True)  # noqa: T201 - its result
        tasks.create_task(prepare(settings, ready))
        while await wanted.wait():
            wanted.clear()
            before, switch.current = switch.current, await ready.get()
            tasks.create_task(before.drain(GRACE_SECONDS))


async def opened(settings: Settings) -> Generation:
    """A gateway that serves the project."""
    gateway = Gateway.open(settings)
    policy = replace(WORK_POLICY, job_after_seconds=JOB_AFTER_SECONDS, poll_seconds=0.1)
    gateway.set_work_policy(policy)
    return await Generation.open(gateway, "http://localhost")


async def prepare(settings: Settings, ready: asyncio.Queue[Generation]) -> None:
    """Keep some ready: the suite waits 1.5 s for a reload, and opening one may take longer."""
    while True:
        await ready.put(await opened(settings))


if __name__ == "__main__":
    if not Path(sys.argv[1]).exists():
        make_project(Path(sys.argv[1]).resolve())
    with suppress(KeyboardInterrupt):
        asyncio.run(serve(Path(sys.argv[1]).resolve()))
