"""`gateway serve`."""

from collections.abc import Callable
from functools import partial
from typing import Any

import click

from gateway.app import ReloadSources, ServeOptions, serve
from gateway.app.memory import exclude_imports
from gateway.app.processes.child import ChildProcess
from gateway.auth.keys import NewKey
from gateway.catalogue import Catalogue
from gateway.cli.exits import OK
from gateway.cli.local import report_new_key, secrets_of, start_logs
from gateway.cli.options import FLAGS, settings_of, settings_options, work_policy
from gateway.cli.output import announce
from gateway.cli.project import open_project
from gateway.cli.serving.processes import supervise
from gateway.cli.serving.start import Start, is_on_screen, keep_for_start, report_start, start_of
from gateway.cli.serving.watching import Watcher
from gateway.codegen.libraries import require_libraries
from gateway.settings import Settings


@click.command(epilog="Example: gateway serve --port 8700 --data /var/lib/gateway")
@click.option(
    "--watch",
    is_flag=True,
    help="Generate and reload when a contract, a handler or gateway.toml changes.",
)
@click.option(
    "--processes",
    type=click.IntRange(min=1, max=64),
    default=1,
    show_default=True,
    help="Serve in several processes, to use several processors. Needs PostgreSQL.",
)
@settings_options(*FLAGS)
def command(*, watch: bool, processes: int, **flags: Any) -> int:
    """Serve the tools over MCP and REST until stopped.

    Prints only `ready URL` on standard output, when it can serve. Logs go to standard error; on a
    terminal, they begin with the addresses, the place of the administrator's key, and the upstreams
    that are mocks. On SIGHUP, or with `gateway reload`, it serves what contracts, policies and
    settings say then.
    """
    settings = settings_of(flags)
    watcher = Watcher(settings, _arguments(flags)) if watch else None
    if watch:
        require_libraries()
    reread = partial(settings_of, flags)
    if processes == 1:
        serve_until_stopped(settings, reread, watcher)
        return OK
    if watch:
        raise click.UsageError("--watch serves with one process; leave out --processes")
    part = supervise(settings, processes)
    if isinstance(part, int):
        return part
    # It may take the place of one that has reloaded.
    serve_until_stopped(reread(), reread, child=part)
    return OK


def serve_until_stopped(
    settings: Settings,
    reread: Callable[[], Settings] | None = None,
    watcher: Watcher | None = None,
    child: ChildProcess | None = None,
) -> None:
    """Serve over HTTP. Raises an `OperatorError` if the gateway cannot start.

    `reread` reads the settings again, on SIGHUP. None: SIGHUP ends the gateway.
    """
    exclude_imports()
    opened = [start_logs(settings)]
    keep_for_start(settings)
    start = start_of(settings, opened[0])
    options = ServeOptions(
        work=work_policy(),
        sources=None if reread is None else sources_of(reread, settings, opened[0]),
        catalogue=opened.pop,
        child=child,
        watch=None if watcher is None else watcher.run,
    )
    # Of several processes, the first one speaks for all.
    is_first = child is None or child.number == 0
    serve(settings, partial(_announce, settings, start if is_first else None, child), options)


def sources_of(
    reread: Callable[[], Settings], settings: Settings, catalogue: Catalogue
) -> ReloadSources:
    """What a reload reads: the settings, and the project that they name."""
    masked = secrets_of(settings, catalogue)

    def catalogue_of(changed: Settings) -> Catalogue:
        nonlocal masked
        opened = open_project(changed)
        before, masked = masked, secrets_of(changed, opened)
        # Calls under way still use the secrets from before.
        return start_logs(changed, catalogue=opened, more_secrets=before)

    return ReloadSources(reread, catalogue_of)


def _arguments(flags: dict[str, Any]) -> list[str]:
    """The options among `flags` that `gateway generate` needs too."""
    given = ["--config", str(flags["config"])] if flags["config"] else []
    for key in ("schemas", "package"):
        given += [f"--{key}", str(flags[key])] if flags[key] is not None else []
    for name in flags["handler_packages"]:
        given += ["--handler-packages", name]
    return given


def _announce(
    settings: Settings,
    start: Start | None,
    child: ChildProcess | None,
    url: str,
    new_key: NewKey | None,
) -> None:
    if start is not None:
        report_start(start, settings, url)
    if not is_on_screen(settings):
        report_new_key(new_key, settings)
    if child is None:
        announce(url)
