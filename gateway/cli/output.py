"""How the command line prints: tables for people, JSON for programs, progress on a terminal."""

import json
import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import click
import msgspec
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

from gateway.cli.plain import plain_lines
from gateway.cli.streams import Unwritable
from gateway.contract.values.hidden import HIDDEN

_log: Final = logging.getLogger(__name__)
_PIPE_COLUMNS: Final = 2000
"""A file or a pipe has no width; rich would cut at 80."""


def console(*, stderr: bool = False) -> Console:
    """A console on stdout or stderr that colours on terminals alone."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _PIPE_COLUMNS
    return Console(file=stream, width=width, highlight=False, markup=False, soft_wrap=False)


def print_json(value: Any) -> None:
    """`value` as indented JSON on stdout; structs and times are written as msgspec writes them."""
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    click.echo(inert(text))


def json_line(value: Any) -> str:
    """`value` as JSON on one line, without what a terminal acts upon."""
    return inert(msgspec.json.encode(value).decode())


def inert(json_text: str) -> str:
    """JSON whose strings hold what a terminal obeys, or does not show, as escapes."""
    return HIDDEN.sub(lambda found: json.dumps(found[0])[1:-1], json_text)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str | Text]]) -> None:
    """A table on stdout, without a frame; where there are no rows, a word on stderr instead.

    Ids stay whole, however narrow the terminal: another command takes them.
    """
    shown = [[plain_lines(each) if isinstance(each, str) else each for each in row] for row in rows]
    if not shown:
        click.echo("none", err=True)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for index, column in enumerate(columns):
        is_id = column == "id"
        width = max(len(row[index]) for row in shown) if is_id else None
        table.add_column(column, no_wrap=is_id, min_width=width, overflow="fold")
    for row in shown:
        table.add_row(*row)
    out = console()
    with out.capture() as captured:
        out.print(table)
    click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


def announce(url: str) -> None:
    """Print `ready URL` for the program that started a server; when that fails, the server goes
    on."""
    try:
        click.echo(f"ready {url}")
    except Unwritable as error:
        _log.warning("ready at %s; standard output cannot be written (%s)", url, error.reason)


@contextmanager
def progress(title: str) -> Iterator[Callable[[str], None]]:
    """A moving line on stderr while the block runs; what it is called with goes beside the title.

    Nothing is shown when stderr is no terminal.
    """
    shown = console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=shown, transient=True, disable=not shown.is_terminal) as bar:
        task = bar.add_task(title, total=None)
        yield lambda step: bar.update(task, description=f"{title}: {step}")


@contextmanager
def counted(title: str, total: int) -> Iterator[Callable[[], None]]:
    """A bar on stderr that each call of what it yields moves on by one of `total`.

    Nothing is shown when stderr is no terminal.
    """
    shown = console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=shown, transient=True, disable=not shown.is_terminal) as bar:
        task = bar.add_task(title, total=total)
        yield lambda: bar.advance(task)
