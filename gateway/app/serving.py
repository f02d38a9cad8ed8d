"""The gateway as an HTTP server, until SIGINT or SIGTERM."""

import asyncio
import gc
from collections.abc import Callable
from typing import Final

import uvloop

from gateway.app.gateway import Gateway, Grants
from gateway.app.http_app import connection_limits
from gateway.auth.keys import NewKey
from gateway.catalogue import Catalogue
from gateway.errors import ConfigurationError
from gateway.job_policy import WORK_POLICY, WorkPolicy
from gateway.settings import Settings
from gateway.transports.connections.listen import StopPlan, bind, serve_http, url_of

SERVING_THRESHOLDS: Final = (10_000, 10, 10)
"""The thresholds of Python's garbage collector. A call makes thousands of objects but no cycles, so
Python's own threshold of 700 would cost each call a few per cent."""

_GRACE_BEYOND_TOOLS_SECONDS: Final = 5.0

OnReady = Callable[[str, NewKey | None], None]
"""Called with the address, and the administrator's key when this start made one."""


def serve(
    settings: Settings,
    on_ready: OnReady,
    grants: Grants | None = None,
    work: WorkPolicy = WORK_POLICY,
    catalogue: Catalogue | None = None,
) -> None:
    """Serve over HTTP until SIGINT or SIGTERM. Raises an `OperatorError` when it cannot start.

    `catalogue`: that of the settings, if it is open already.
    """
    gateway = Gateway.open(settings, grants=grants, is_server=True)
    gateway.set_work_policy(work)
    if catalogue is not None:
        gateway.set_catalogue(catalogue)
    # Imported objects stay. Excluding them leaves a third of the objects to the collection below.
    gc.freeze()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(settings, on_ready, gateway))


async def _serve(settings: Settings, on_ready: OnReady, gateway: Gateway) -> None:
    # Bind the port before opening the store: a second start must not touch the first one's store.
    with bind(settings.host, settings.port) as listener:
        async with gateway:
            new_key = gateway.parts.new_key
            grace = _grace_seconds(settings, gateway.parts.catalogue)
            app = gateway.http_app()
            # The objects of the start live as long as the process. A full collection that visits
            # them stops all calls for 50 ms.
            gc.collect()
            gc.freeze()
            gc.set_threshold(*SERVING_THRESHOLDS)
            url = url_of(listener)
            async with gateway.at_work(url):
                await serve_http(
                    app,
                    listener,
                    lambda: on_ready(url, new_key),
                    StopPlan(
                        announce=gateway.announce_stop,
                        end_streams=gateway.stop_streams,
                        grace_seconds=grace,
                        cut=gateway.parts.work.worker.cut,
                    ),
                    connection_limits(settings),
                )


def _grace_seconds(settings: Settings, catalogue: Catalogue) -> float:
    """The grace period for running calls. Raises `ConfigurationError` if a call may need longer."""
    longest = max(catalogue.entries, key=lambda each: each.operation.timeout_seconds, default=None)
    limit = longest.operation.timeout_seconds if longest else 0.0
    given = settings.stop_grace_seconds
    if given is None:
        return limit + _GRACE_BEYOND_TOOLS_SECONDS
    if longest is not None and given < limit:
        origin = settings.origins.get("stop_grace_seconds", "stop_grace_seconds")
        raise ConfigurationError(
            f"{origin}: {longest.id} may take {limit:g} seconds, and would be cut off after"
            f" {given:g}; set it to at least {limit:g}"
        )
    return given
