"""Serves the tools of this pack without a key: `python tests/conformance_pack/serve.py FOLDER`.

Makes a project in FOLDER, unless it is there, and prints the URL of the connector. The project is
served by `gateway serve`, as any author starts it. The official suite shows no key, so what stands
before the gateway adds one to each request.
"""

import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
from asyncio import StreamReader, StreamWriter
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import yaml

HERE: Final = Path(__file__).resolve().parent
PACK: Final = {"GATEWAY_SCHEMAS": ""}
"""The environment of a command that serves the project in whose folder it runs."""
KEY: Final = "key-of-the-conformance-pack-0123456789abcdef"
GATEWAY: Final = Path(sys.executable).with_name("gateway")
SETTINGS: Final = {
    "GATEWAY_BOOTSTRAP_KEY": KEY,
    # The suite reads the schemas that contracts have, and not those that a host is shown.
    "GATEWAY_LIST_MODE": "full",
    "GATEWAY_CLIENT_PROFILE": "source",
    # Less than the one second that the shortest of the suite's tasks takes.
    "GATEWAY_JOB_AFTER_SECONDS": "0.3",
}
_CREDENTIALS: Final = f"authorization: Bearer {KEY}\r\n\r\n".encode()
_LENGTH: Final = re.compile(rb"\r\ncontent-length:[ \t]*(\d+)", re.IGNORECASE)


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
    command = [GATEWAY, *arguments]
    subprocess.run(command, cwd=folder, env=_environment(), check=True, stdout=sys.stderr)


def _environment() -> dict[str, str]:
    return {name: text for name, text in os.environ.items() if not name.startswith("GATEWAY_")}


def serve(folder: Path) -> None:
    """Serve the project in `folder` until this process is stopped."""
    with subprocess.Popen(
        [GATEWAY, "serve", "--port", "0"],
        cwd=folder,
        env={**_environment(), **SETTINGS},
        stdout=subprocess.PIPE,
        text=True,
    ) as gateway:
        try:
            assert gateway.stdout is not None
            url = gateway.stdout.readline().removeprefix("ready ").strip()
            with suppress(KeyboardInterrupt):
                asyncio.run(_pass_on(urlsplit(url).port or 0))
        finally:
            gateway.terminate()


async def _pass_on(port: int) -> None:
    """Pass all connections on to the gateway at `port`."""

    async def serve_connection(reader: StreamReader, writer: StreamWriter) -> None:
        upstream, sender = await asyncio.open_connection("127.0.0.1", port)
        both = [
            asyncio.create_task(_requests(reader, sender)),
            asyncio.create_task(_answers(upstream, writer)),
        ]
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        for each in (writer, sender):
            each.close()
        for task in both:
            task.cancel()

    server = await asyncio.start_server(serve_connection, "127.0.0.1", 0)
    own = server.sockets[0].getsockname()[1]
    print(f"http://localhost:{own}/mcp/conformance", flush=True)  # noqa: T201 - its result
    await server.serve_forever()


async def _requests(reader: StreamReader, sender: StreamWriter) -> None:
    """Pass on the requests of a connection, each with the key."""
    with suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = _LENGTH.search(head)
            body = await reader.readexactly(int(length[1])) if length else b""
            sender.write(head[:-2] + _CREDENTIALS + body)
            await sender.drain()


async def _answers(upstream: StreamReader, writer: StreamWriter) -> None:
    with suppress(ConnectionError):
        while piece := await upstream.read(65536):
            writer.write(piece)
            await writer.drain()


def _stop(*_: object) -> None:
    sys.exit()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _stop)
    if not Path(sys.argv[1]).exists():
        make_project(Path(sys.argv[1]).resolve())
    serve(Path(sys.argv[1]).resolve())
