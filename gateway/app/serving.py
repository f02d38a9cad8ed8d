"""The gateway as a server, until it is told to stop."""

import asyncio
import gc
from collections.abc import Callable
from typing import Final

import uvloop

from gateway.app.gateway import Gateway, Grants
from gateway.auth.keys import NewKey
from gateway.settings import Settings
from gateway.transports.listen import bind, serve_http, url_of

USUAL_THRESHOLDS: Final = (700, 10, 10)
"""Of Python's garbage collector; the command line has raised them for the start."""

OnReady = Callable[[str, NewKey | None], None]
"""Told the address, and the administrator's key when this start made one."""


def serve(settings: Settings, on_ready: OnReady, grants: Grants | None = None) -> None:
    """Serve over HTTP until SIGINT or SIGTERM. Raises an `OperatorError` when it cannot start."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(settings, on_ready, grants))


async def _serve(settings: Settings, on_ready: OnReady, grants: Grants | None) -> None:
    # The port before the store: a second start must not touch what the first one has open.
    with bind(settings.host, settings.port) as listener:
        async with Gateway.open(settings, grants=grants) as gateway:
            new_key = gateway.parts.new_key
            site = gateway.site()
            # What the start has made lives as long as the process: a full collection that looks
            # through it all again stops every call for 50 ms.
            gc.collect()
            gc.freeze()
            gc.set_threshold(*USUAL_THRESHOLDS)
            url = url_of(listener)
            async with gateway.at_work(url):
                await serve_http(
                    site, listener, lambda: on_ready(url, new_key), gateway.stop_streams
                )
