"""The gateway as an HTTP server, until SIGINT or SIGTERM."""

import asyncio
import gc
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import Final

from msgspec import Struct

from gateway.app.background import Task, running
from gateway.app.gateway import Gateway, Grants
from gateway.app.http_app import connection_limits
from gateway.app.memory import exclude_imports, keep_memory_small
from gateway.app.parts.foundation import Foundation
from gateway.app.processes.child import ChildProcess
from gateway.app.processes.record import recorded
from gateway.app.readings import GatewayReadings
from gateway.app.reloading import Generation, Reloader, ReloadSources, Switch
from gateway.auth.keys import NewKey
from gateway.catalogue import Catalogue
from gateway.job_policy import WORK_POLICY, WorkPolicy
from gateway.observability.metrics import WRITE_SECONDS
from gateway.observability.slow_callbacks import loop_factory
from gateway.settings import Settings
from gateway.transports.connections.listen import StopPlan, bind, serve_http, url_of

SERVING_THRESHOLDS: Final = (10_000, 1, 60)
"""The thresholds of Python's garbage collector. A call makes thousands of objects but no cycles, so
Python's own threshold of 700 would cost each call a few per cent. What is no longer young is
visited after two collections, so a new generation is not visited together with the next one."""

OnReady = Callable[[str, NewKey | None], None]
"""Called with the address, and the administrator's key when this start made one."""


class ServeOptions(Struct, frozen=True, kw_only=True):
    """What a program that serves can choose. There are no settings for it."""

    grants: Grants | None = None
    """Agent to the operation ids it may call. They replace the grants of the policies."""
    work: WorkPolicy = WORK_POLICY
    catalogue: Callable[[], Catalogue | None] = lambda: None
    """Hands over that of the settings, if it is open already. Nothing else may keep it: it ends
    with the first reload."""
    sources: ReloadSources | None = None
    """What SIGHUP reads again. None: SIGHUP ends the server, as SIGTERM does."""
    child: ChildProcess | None = None
    """Set in a process that serves with others."""
    watch: Callable[[Callable[[], None]], Awaitable[None]] | None = None
    """Runs while the server does, and calls its argument to ask for a reload."""


_USUAL: Final = ServeOptions()
_SWITCH_SECONDS: Final = 0.00002
"""How long the event loop or a thread waits for Python's lock before it asks for it.

Each callback may have to wait: with Python's own 5 ms, an answer takes 12 ms beside a thread that
works. A busy event loop gives the lock back between callbacks, and takes it again at once. A thread
that this wakes comes too late and, before it asks, waits once more. So where callbacks are shorter
than this, no thread stores anything: with 0.5 ms, calls took 126 ms beside clients that read none
of their pages, and 6 ms with this (p99).
"""


def serve(settings: Settings, on_ready: OnReady, options: ServeOptions = _USUAL) -> None:
    """Serve over HTTP until SIGINT or SIGTERM. Raises an `OperatorError` when it cannot start."""
    sys.setswitchinterval(_SWITCH_SECONDS)
    exclude_imports()
    keep_memory_small()
    with asyncio.Runner(loop_factory=loop_factory(settings.slow_callback_seconds)) as runner:
        runner.run(_serve(settings, on_ready, options))


async def _serve(settings: Settings, on_ready: OnReady, options: ServeOptions) -> None:
    # Bind the port before opening the store: a second start must not touch the first one's store.
    child = options.child
    with child.listener if child else bind(settings.host, settings.port) as listener:
        url = url_of(listener)
        async with AsyncExitStack() as process:
            # What is opened first is closed last: the generations, and then the foundation.
            foundation = Foundation(process)
            if child is not None:
                foundation.metrics.together = child.metrics(settings.data)
                process.enter_context(child.mailbox.delivering(foundation.questions))
            open_next = partial(_gateway, foundation, options)
            switch = Switch(await Generation.open(open_next(settings, options.catalogue()), url))
            new_key = switch.current.gateway.parts.new_key
            reloader = Reloader(switch, settings, options.sources, open_next, url)
            process.push_async_callback(reloader.close)
            reloader.grace_seconds()
            # The next collections, of young objects, need not visit what is served.
            gc.collect()
            gc.set_threshold(*SERVING_THRESHOLDS)
            if child is not None:
                reloader.on_verdict = child.report
            else:
                reloader.on_verdict = process.enter_context(recorded(settings.data, url)).write
            async with running(_tasks(reloader, switch, options)):
                await serve_http(
                    switch,
                    listener,
                    partial(_report_ready, child, partial(on_ready, url, new_key)),
                    _stop_plan(reloader, options),
                    connection_limits(settings, foundation.metrics),
                )


def _report_ready(child: ChildProcess | None, on_ready: Callable[[], None]) -> None:
    on_ready()
    if child is not None:
        child.report()


def _tasks(reloader: Reloader, switch: Switch, options: ServeOptions) -> dict[str, Task]:
    tasks: dict[str, Task] = {"reload": reloader.run}
    if options.child is not None:
        tasks["metrics"] = partial(_share_metrics, switch)
    if options.watch is not None:
        tasks["watch"] = partial(options.watch, reloader.request)
    return tasks


async def _share_metrics(switch: Switch) -> None:
    while True:
        parts = switch.current.gateway.parts
        parts.metrics.share(GatewayReadings(parts).of_process())
        await asyncio.sleep(WRITE_SECONDS)


def _gateway(
    foundation: Foundation, options: ServeOptions, settings: Settings, catalogue: Catalogue | None
) -> Gateway:
    gateway = Gateway.open(settings, grants=options.grants, is_server=True)
    gateway.set_work_policy(options.work)
    gateway.set_foundation(foundation)
    if catalogue is not None:
        gateway.set_catalogue(catalogue)
    return gateway


def _stop_plan(reloader: Reloader, options: ServeOptions) -> StopPlan:
    return StopPlan(
        announce=reloader.announce_stop,
        end_streams=reloader.stop_streams,
        grace_seconds=reloader.grace_seconds,
        cut=reloader.cut,
        on_hangup=None if options.sources is None else reloader.request,
        commands=options.child.commands if options.child else None,
        turn=options.child.turn if options.child else None,
    )
