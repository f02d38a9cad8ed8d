"""The process under verification: a gateway with all tools granted, and only mocks.

`python -m gateway.testing.process serve|mcp`. `serve` reads folders from its standard
input, and serves from each until SIGTERM; `mcp FOLDER` serves on its pipes. Tools that no agent is
granted are verified too. `gateway serve` has no setting to grant more than the policy, so this
module exists. What its mocks are sent is judged by the contracts of the upstreams.
"""

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from gateway.app import VERSION, Gateway, ServeOptions, serve
from gateway.app.gateway import Grants
from gateway.auth.keys import ADMINISTRATOR
from gateway.backends.mock.backend import MockBackend
from gateway.catalogue import Catalogue, open_catalogue
from gateway.clock import Clock
from gateway.contract.upstream import Upstream
from gateway.errors import OperatorError
from gateway.settings import Settings, read_settings
from gateway.testing.served import BREACHES, ENDED, READY
from gateway.testing.upstream_contracts import ContractBreach, UpstreamJudge
from gateway.transports.stdio.server import serve_stdio


def main(transport: str, folders: Sequence[str]) -> None:
    """Serve until stopped, or until standard input ends."""
    _judge_mocks(Path(os.environ["GATEWAY_SCHEMAS"]))
    if transport == "mcp":
        settings = _settings(Path(folders[0]))
        asyncio.run(_serve_stdio(settings, _grants(_catalogue(settings))))
        return
    catalogue: Catalogue | None = None
    for line in sys.stdin:
        settings = _settings(Path(line.rstrip("\n")))
        if catalogue is None:
            _say("reading the contracts")
            catalogue = _catalogue(settings)
        _serve(settings, catalogue)


def _judge_mocks(schemas: Path) -> None:
    """Append what mocks are sent or answer against a contract to a file of the working folder."""

    def report(breach: ContractBreach) -> None:
        with Path(BREACHES).open("ab") as file:
            file.write(msgspec.json.encode(breach) + b"\n")

    judge, opened = UpstreamJudge(schemas, report), MockBackend.__init__

    def judged(backend: MockBackend, upstream: Upstream, clock: Clock, **options: Any) -> None:
        opened(backend, upstream, clock, **options)
        judge.watch(backend, upstream.name)

    MockBackend.__init__ = judged  # type: ignore[method-assign,assignment]  # of this process


def _serve(settings: Settings, catalogue: Catalogue) -> None:
    _say("opening a gateway")
    options = ServeOptions(grants=_grants(catalogue), catalogue=lambda: catalogue)
    serve(settings, lambda url, _: _say(f"{READY} {url}"), options)
    _say(ENDED)


def _settings(data: Path) -> Settings:
    return read_settings(os.environ, None, {"data": data, "port": 0})


def _catalogue(settings: Settings) -> Catalogue:
    return open_catalogue(settings.package, settings.handler_packages)


def _grants(catalogue: Catalogue) -> Grants:
    return {ADMINISTRATOR: frozenset(entry.id for entry in catalogue.entries)}


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def _serve_stdio(settings: Settings, grants: Grants) -> None:
    async with Gateway.open(settings, grants=grants) as gateway:
        await serve_stdio(
            gateway.local_tools(ADMINISTRATOR),
            VERSION,
            max_message_bytes=settings.max_body_bytes,
            max_upload_bytes=settings.max_upload_bytes,
        )


if __name__ == "__main__":
    try:
        main(sys.argv[1], sys.argv[2:])
    except OperatorError as error:
        sys.exit(f"error: {error.detail}")
