"""Steps of commands before and after they open the gateway in this process."""

import logging
import tempfile
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import click
from msgspec.structs import replace

from gateway.app import Gateway
from gateway.auth.keys import ADMINISTRATOR, BOOTSTRAP_FILE, NewKey
from gateway.bounds.rates import Rate
from gateway.catalogue import Catalogue
from gateway.cli.problems import plain
from gateway.cli.project import open_project
from gateway.observability.logs import configure_logs
from gateway.settings import Secret, Settings, unknown_variables

_log: Final = logging.getLogger(__name__)
_MEMORY: Final = Secret("memory:")
NO_ADMINISTRATOR: Final = (
    "the policies have no agent `administrator`, so its keys, such as the first one, may call "
    "nothing; add it to policies/agents.yaml, and run `gateway generate`"
)


def start_logs(
    settings: Settings,
    *,
    is_quiet: bool = False,
    catalogue: Catalogue | None = None,
    more_secrets: tuple[str, ...] = (),
) -> Catalogue:
    """Send logs to standard error, with all secrets of the settings masked.

    With `is_quiet`, only warnings are logged unless a level is set. It is for interactive commands.
    Without it, this logs a warning for each `GATEWAY_*` variable that nothing reads. `catalogue` is
    that of the project, if it is open already. `more_secrets` are masked too. Returns the
    catalogue.
    Raises `ContractError` if there is no generated package, which has the names of the secrets.
    """
    catalogue = open_project(settings) if catalogue is None else catalogue
    is_asked_for = "log_level" in settings.origins
    configure_logs(
        level="warning" if is_quiet and not is_asked_for else settings.log_level,
        form=settings.log_format,
        repeats=Rate(settings.log_lines_per_second, 10 * settings.log_lines_per_second),
        secrets=(*secrets_of(settings, catalogue), *more_secrets),
    )
    if not is_quiet:
        _report_unknown_variables(settings, catalogue)
    if ADMINISTRATOR not in catalogue.grants:
        _log.warning(NO_ADMINISTRATOR)
    return catalogue


@asynccontextmanager
async def open_apart(
    settings: Settings, catalogue: Catalogue, tools: Iterable[str]
) -> AsyncIterator[Gateway]:
    """A gateway for calls of `tools` alone, whose state is lost when it ends.

    The databases, the data folder, the Redis and the limits of the settings are not used.
    """
    with tempfile.TemporaryDirectory(prefix="gateway-apart-") as folder:
        apart = replace(
            settings,
            data=Path(folder),
            database_url=_MEMORY,
            workspace_url=_MEMORY,
            redis_url=None,
            bootstrap_key=None,
            call_limits=False,
        )
        gateway = Gateway.open(apart, grants={ADMINISTRATOR: frozenset(tools)})
        gateway.set_catalogue(catalogue)
        async with gateway:
            yield gateway


def secrets_of(settings: Settings, catalogue: Catalogue) -> tuple[str, ...]:
    """The texts that logs must not contain."""
    return settings.secrets(catalogue.upstreams.values(), catalogue.sources)


def report_new_key(new_key: NewKey | None, settings: Settings) -> None:
    """Report the file of the administrator's key, if this start has created the key.

    The key itself is not shown: the output of servers is kept by those who run them.
    """
    if new_key is not None:
        place = settings.data / BOOTSTRAP_FILE
        click.echo(plain(f"note: the first administrator's key is now in {place}"), err=True)


def _report_unknown_variables(settings: Settings, catalogue: Catalogue) -> None:
    # They are not refused: Kubernetes sets GATEWAY_SERVICE_HOST and others for a service with the
    # name `gateway`. The values may be secrets.
    unknown = unknown_variables(
        settings.sources.variables, catalogue.upstreams.values(), catalogue.sources
    )
    for name, fix in unknown.items():
        _log.warning("nothing reads the variable %s; %s", name, fix)
