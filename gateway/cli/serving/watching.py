"""Watches the files of a project, so that its author need not generate and reload by hand."""

import asyncio
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import click

from gateway.cli.exits import OK
from gateway.cli.options import project_folder
from gateway.cli.plain import plain_lines
from gateway.cli.project import package_folder
from gateway.settings import Settings

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
