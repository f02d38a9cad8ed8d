"""`gateway worker`."""

import asyncio
from typing import Any, Final

import click
from msgspec.structs import replace

from gateway.app import Gateway
from gateway.catalogue import Catalogue
from gateway.cli.local import report_new_key, start_logs
from gateway.cli.options import FLAGS, settings_of, settings_options, work_policy
from gateway.cli.signals import until_stopped
from gateway.errors import ConfigurationError
from gateway.job_policy import WorkPolicy
from gateway.observability.slow_callbacks import loop_factory
from gateway.settings import Settings
from gateway.store.sql.engines import POSTGRES_PREFIXES

_KEYS: Final = tuple(key for key in FLAGS if key not in {"host", "port"})


@click.command(
    epilog="Example: GATEWAY_DATABASE_URL=postgresql://gateway@db/gateway gateway worker "
    "--workers 8"
)
@settings_options(*_KEYS)
def command(**flags: Any) -> None:
    """Process webhooks and deliver events until stopped, next to gateways that serve.

    Any number of workers can run on one PostgreSQL database. A gateway with the setting `workers`
    at 0 processes no jobs itself. Prints `ready` when it can work. On SIGTERM, it claims no more
    jobs and finishes the running ones.
    """
    settings = settings_of(flags)
    if not settings.database.startswith(POSTGRES_PREFIXES):
        raise ConfigurationError(
            "separate workers need PostgreSQL, because only one process can use a SQLite file;"
            " set GATEWAY_DATABASE_URL=postgresql://…, or let `gateway serve` process the jobs"
        )
    catalogue = start_logs(settings)
    work = work_policy()
    settings = replace(settings, workers=settings.workers or work.size)
    with asyncio.Runner(loop_factory=loop_factory(settings.slow_callback_seconds)) as runner:
        runner.run(until_stopped(_work(settings, work, catalogue)))


async def _work(settings: Settings, work: WorkPolicy, catalogue: Catalogue) -> None:
    gateway = Gateway.open(settings)
    gateway.set_work_policy(work)
    gateway.set_catalogue(catalogue)
    async with gateway:
        report_new_key(gateway.parts.new_key, settings)
        async with gateway.at_work():
            click.echo("ready")
            await asyncio.Event().wait()
