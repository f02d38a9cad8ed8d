"""`gateway serve`, `gateway demo` and `gateway worker`."""

import asyncio
import gc
import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import click
from msgspec import Struct
from msgspec.structs import replace

from gateway.app import VERSION, Gateway, ReloadSources, ServeOptions, serve
from gateway.app.memory import exclude_imports
from gateway.app.processes.child import ChildProcess
from gateway.app.processes.record import recorded
from gateway.app.processes.supervisor import Callbacks, Supervisor
from gateway.auth.keys import BOOTSTRAP_FILE, NewKey
from gateway.bounds.rates import Rate
from gateway.catalogue import Catalogue
from gateway.cli.local import report_new_key, secrets_of, start_logs
from gateway.cli.options import (
    FLAGS,
    demo_settings,
    project_folder,
    settings_of,
    settings_options,
    work_policy,
)
from gateway.cli.output import announce
from gateway.cli.problems import OK, plain, plain_lines
from gateway.cli.project import check_project, open_project, package_folder
from gateway.cli.signals import until_stopped
from gateway.errors import ConfigurationError
from gateway.installed import require_libraries
from gateway.job_policy import WorkPolicy
from gateway.observability.logs import configure_logs
from gateway.observability.slow_callbacks import loop_factory
from gateway.settings import Settings
from gateway.store.sql.engines import POSTGRES_PREFIXES
from gateway.transports.connections.listen import bind, url_of

# `gateway serve`.

POLL_SECONDS: Final = 0.3
_KEPT: Final = "note: the gateway continues with what it served before"
_IGNORED: Final = (".pyc", "~")
"""The endings of files that Python writes, and of copies that editors make."""

State = Mapping[Path, tuple[int, int]]
"""The time of change and the size of each file."""


class Watcher:
    """Generates the package when a contract or a handler has changed, and asks for a reload."""

    def __init__(self, settings: Settings, arguments: list[str]) -> None:
        """`arguments`: the options of the command line that `gateway generate` has too."""
        self._settings = settings
        self._arguments = arguments

    async def run(self, reload: Callable[[], None]) -> None:
        """Watch until cancelled. `reload` asks the gateway for a reload."""
        served = await asyncio.to_thread(self._state)
        is_fresh = await self._is_fresh(served)
        while True:
            await asyncio.sleep(POLL_SECONDS)
            found = await self._settled(served)
            if found == served and is_fresh:
                continue
            click.echo(f"note: {_change(served, found)}", err=True)
            served, is_fresh = found, True
            if self._show(*await self._generate()):
                reload()
            else:
                click.echo(_KEPT, err=True)

    async def _is_fresh(self, found: State) -> bool:
        """Whether the generated package is of this state.

        A copy of a project has files of any age, so a newer contract only gives reason to look.
        """
        package = await asyncio.to_thread(_state_of, [package_folder(self._settings)])
        newest = max((time for time, _ in package.values()), default=0)
        schemas = self._settings.schemas.absolute()
        contracts = (time for path, (time, _) in found.items() if path.is_relative_to(schemas))
        if max(contracts, default=0) <= newest:
            return True
        code, _ = await self._generate("--check")
        return code == OK

    async def _settled(self, before: State) -> State:
        """The state, when no file has changed for a moment: editors write several times."""
        found = await asyncio.to_thread(self._state)
        while found != before:
            await asyncio.sleep(POLL_SECONDS)
            before, found = found, await asyncio.to_thread(self._state)
        return found

    def _state(self) -> State:
        settings = self._settings
        folder = project_folder(settings).absolute()
        handlers = [folder.joinpath(*name.split(".")) for name in settings.handler_packages]
        toml = settings.sources.toml_path
        files = [] if toml is None else [toml.absolute()]
        return _state_of([settings.schemas.absolute(), *handlers, *files])

    async def _generate(self, *more: str) -> tuple[int | None, str]:
        """Run `gateway generate`. Returns its exit code and what it printed."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "gateway", "generate", *self._arguments, *more),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            output, _ = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
        return process.returncode, output.decode(errors="replace")

    def _show(self, code: int | None, output: str) -> bool:
        """Show what `gateway generate` printed. Returns whether the package is up to date."""
        # Standard output is for `ready URL`.
        click.echo(plain_lines(output), nl=False, err=True)
        return code == OK


def _state_of(paths: list[Path]) -> State:
    return dict(sorted(found for path in paths for found in _files(path)))


def _files(path: Path) -> Iterator[tuple[Path, tuple[int, int]]]:
    """The files under `path`, or `path` itself."""
    for file in [path] if path.is_file() else path.rglob("*"):
        try:
            if file.is_file() and not _is_ignored(file.name):
                status = file.stat()
                yield file, (status.st_mtime_ns, status.st_size)
        except OSError:
            continue  # it was removed meanwhile


def _is_ignored(name: str) -> bool:
    """Whether a file is no part of a project. Hidden files are those of editors."""
    return name.startswith(".") or name.endswith(_IGNORED)


def _change(before: State, after: State) -> str:
    """The changed files, for a person."""
    paths = before.keys() | after.keys()
    names = sorted(path.name for path in paths if before.get(path) != after.get(path))
    if not names:
        return "the generated package is of other contracts"
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"changed: {', '.join(names[:3])}{more}"


_log: Final = logging.getLogger(__name__)
_MOST_NAMED: Final = 8


class Start(Struct, frozen=True, kw_only=True):
    """What is served, without the catalogue itself: that ends with the first reload."""

    tools: int
    connectors: int
    mocks: tuple[str, ...]
    """The upstreams for which a mock answers."""


def start_of(settings: Settings, catalogue: Catalogue) -> Start:
    """What a gateway of these settings serves."""
    backends = {name: settings.for_upstream(each) for name, each in catalogue.upstreams.items()}
    return Start(
        tools=len(catalogue.entries),
        connectors=len({each.operation.connector for each in catalogue.entries}),
        mocks=tuple(sorted(n for n, found in backends.items() if found.backend == "mock")),
    )


def is_on_screen(settings: Settings) -> bool:
    """Whether a person reads standard error, and asked for no log records there."""
    return sys.stderr.isatty() and settings.log_format != "json"


def keep_for_start(settings: Settings) -> None:
    """On a screen, show nothing but warnings before the start, unless a level is set."""
    if is_on_screen(settings) and "log_level" not in settings.origins:
        logging.getLogger().setLevel(logging.WARNING)


def report_start(start: Start, settings: Settings, url: str) -> None:
    """Say what is served at `url`, and which upstreams are mocks."""
    if not is_on_screen(settings):
        _log.info(
            "serving %s",
            url,
            extra={"fields": {"tools": start.tools, "mocks": list(start.mocks)}},
        )
        return
    for line in _screen(start, settings, url):
        click.echo(plain(line), err=True)
    logging.getLogger().setLevel(settings.log_level.upper())


def _screen(start: Start, settings: Settings, url: str) -> list[str]:
    tools = "1 tool" if start.tools == 1 else f"{start.tools} tools"
    connectors = "1 connector" if start.connectors == 1 else f"{start.connectors} connectors"
    return [
        f"contract-gateway {VERSION} serves {tools} of {connectors}",
        f"  MCP    {url}/mcp",
        f"  REST   {url}/v1, described at {url}/docs",
        f"  key    {_key(settings)}",
        f"  mocks  {_mocks(start.mocks)}",
        "  stop   Ctrl-C",
    ]


def _key(settings: Settings) -> str:
    place = settings.data / BOOTSTRAP_FILE
    if settings.bootstrap_key is not None:
        return f"the administrator's is set by {settings.origins.get('bootstrap_key', 'a setting')}"
    if place.is_file():
        return f"the administrator's is in {place}"
    return "`gateway keys create AGENT` makes one"


def _mocks(names: tuple[str, ...]) -> str:
    if not names:
        return "none: every upstream is called"
    shown = ", ".join(names[:_MOST_NAMED])
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{shown}{more}; `gateway doctor` says why"


def supervise(settings: Settings, number: int) -> ChildProcess | int:
    """Serve in `number` processes until stopped. Returns the exit code.

    In each process that it starts, it returns the part of that process. Raises an `OperatorError`
    if they cannot serve together.
    """
    if not settings.database.startswith(POSTGRES_PREFIXES):
        raise ConfigurationError(
            "several processes need PostgreSQL, because only one process can use a SQLite file or"
            " a database in memory; set GATEWAY_DATABASE_URL=postgresql://…, or serve with"
            " --processes 1"
        )
    check_project(settings)
    lines = settings.log_lines_per_second
    configure_logs(
        level=settings.log_level,
        form=settings.log_format,
        repeats=Rate(lines, 10 * lines),
        secrets=settings.secrets(),
    )
    # The processes share what is imported, as long as nobody writes to it.
    gc.freeze()
    listener = bind(settings.host, settings.port)
    url = url_of(listener)
    with recorded(settings.data, url) as record:
        callbacks = Callbacks(partial(announce, url), record.write)
        found = Supervisor(listener, number, callbacks).run()
    if isinstance(found, int):
        listener.close()
    return found


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


# `gateway demo`.

_OF_THE_PROJECT: Final = frozenset({"schemas", "package", "handler_packages"})
"""The settings that choose what is served. Here, that is the library."""


@click.command(epilog="Example: gateway demo --port 8700")
@settings_options(*(key for key in FLAGS if key not in _OF_THE_PROJECT))
def demo_command(**flags: Any) -> None:
    """Serve the ready connectors of this installation until stopped, to try them.

    Needs no project, and reads none: no `gateway.toml` of this folder, and no variable that names a
    database or a Redis. Upstreams without credentials are mocked. The data is in `.gateway-demo`,
    unless --data names another folder. `gateway keys create AGENT --data .gateway-demo` makes a key
    for one of its agents. Otherwise like `gateway serve`.
    """
    settings = demo_settings(flags)
    note = f"note: serving the ready connectors, with the data in {settings.data}"
    click.echo(plain(note), err=True)
    serve_until_stopped(settings)


# `gateway worker`.

_KEYS: Final = tuple(key for key in FLAGS if key not in {"host", "port"})


@click.command(
    epilog="Example: GATEWAY_DATABASE_URL=postgresql://gateway@db/gateway gateway worker "
    "--workers 8"
)
@settings_options(*_KEYS)
def worker_command(**flags: Any) -> None:
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
