"""Output of the command line: tables for people, JSON for programs, progress on a terminal."""

import json
import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

from gateway.cli.problems import plain_lines
from gateway.cli.streams import Unwritable, require_reader
from gateway.contract.values.hidden import HIDDEN
from gateway.errors import ConfigurationError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_log: Final = logging.getLogger(__name__)
_MANY_ROWS: Final = 1000
"""Longer tables are not folded to the width of the terminal."""
_GAP: Final = 2
"""The spaces between two columns."""
_WORDS: Final = 24
"""The width below which a column of words is hard to read."""
_PIPE_COLUMNS: Final = 2000
"""The width for files and pipes, which have none. rich would use 80."""


def console(*, stderr: bool = False) -> "Console":
    """A console on stdout or stderr, with colours only on a terminal."""
    from rich.console import Console  # noqa: PLC0415 - a server prints no table

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _PIPE_COLUMNS
    return Console(file=stream, width=width, highlight=False, markup=False, soft_wrap=False)


def print_json(value: Any) -> None:
    """Print `value` as indented JSON on stdout. msgspec encodes structs and times."""
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    click.echo(inert(text))


def json_line(value: Any) -> str:
    """`value` as JSON on one line, without control characters for the terminal."""
    return inert(msgspec.json.encode(value).decode())


def inert(json_text: str) -> str:
    """JSON with control characters and invisible characters in strings as escapes."""
    return HIDDEN.sub(lambda found: json.dumps(found[0])[1:-1], json_text)


def print_table(columns: Sequence[str], rows: "Iterable[Sequence[str | Text]]") -> None:
    """Print a table on stdout, without a frame; without rows, a note on stderr instead.

    Ids, times and names are never cut or folded, because other commands need them. Where they do
    not fit beside each other, each row is printed with a line for each column.
    """
    cells = [[plain_lines(each) if isinstance(each, str) else each for each in row] for row in rows]
    if not cells:
        click.echo("none", err=True)
        return
    if len(cells) > _MANY_ROWS:
        _print_lines(
            [[*columns], *([str(each).replace("\n", " ") for each in row] for row in cells)]
        )
        return
    out = console()
    widths = [_least_width(column) for column in zip(columns, *cells, strict=True)]
    is_wide = sum(widths) + _GAP * (len(widths) - 1) > out.width
    with out.capture() as captured:
        if is_wide:
            _put_records(out, columns, cells)
        else:
            _put_table(out, columns, cells, widths)
    click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


def _least_width(column: "Sequence[str | Text]") -> int:
    """How wide a column must be: as its longest cell, or less where it is words."""
    longest = max(len(line) for cell in column for line in str(cell).split("\n"))
    is_words = any(" " in str(cell) for cell in column)
    return min(longest, _WORDS) if is_words else longest


def _put_table(
    out: "Console",
    columns: Sequence[str],
    cells: "Sequence[Sequence[str | Text]]",
    widths: Sequence[int],
) -> None:
    from rich.table import Table  # noqa: PLC0415 - as in `console`

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column, width in zip(columns, widths, strict=True):
        table.add_column(column, min_width=width, overflow="fold")
    for row in cells:
        table.add_row(*row)
    out.print(table)


def _put_records(
    out: "Console", columns: Sequence[str], cells: "Sequence[Sequence[str | Text]]"
) -> None:
    """Each row as lines of a column's name and its value. The terminal breaks long lines."""
    width = max(map(len, columns)) + _GAP
    for index, row in enumerate(cells):
        if index:
            out.print()
        for name, cell in zip(columns, row, strict=True):
            value = cell.replace("\n", f"\n{'':{width}}") if isinstance(cell, str) else cell
            out.print(f"{name:{width}}", style="bold", end="")
            out.print(value, soft_wrap=True)


def _print_lines(rows: Sequence[Sequence[str]]) -> None:
    """Print `rows` in columns. rich needs seconds for ten thousand."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
    click.echo("\n".join(lines))


def announce(url: str) -> None:
    """Print `ready URL` for the program that started the server. Failures are only logged."""
    try:
        click.echo(f"ready {url}")
        require_reader()
    except Unwritable as error:
        _log.warning("ready at %s; standard output cannot be written (%s)", url, error.reason)


def print_next(line: str) -> None:
    """Print one of the lines that go on. Raises `Unwritable` also if nobody reads them any more."""
    click.echo(line)
    require_reader()


def _not_made() -> str:
    return "none is made"


@contextmanager
def seen(secret: str, undo: Callable[[], str] = _not_made) -> Iterator[None]:
    """Run a block that prints a secret, which is shown only once.

    `undo` makes it worthless, and says what it did. Raises `ConfigurationError` if nobody can have
    read the secret. An empty block is for the check before it is made.
    """
    try:
        yield
        require_reader()
    except Unwritable as error:
        raise ConfigurationError(
            f"the {secret} cannot be shown ({error.reason}), so {undo()}; "
            "run the command again with an output that is read"
        ) from None


@contextmanager
def progress(title: str) -> Iterator[Callable[[str], None]]:
    """A spinner on stderr while the block runs. The yielded function sets the current step.

    Nothing is shown if stderr is not a terminal.
    """
    from rich.progress import (  # noqa: PLC0415 - as in `console`
        BarColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    stderr_console = console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(
        *columns, console=stderr_console, transient=True, disable=not stderr_console.is_terminal
    ) as bar:
        task = bar.add_task(title, total=None)
        yield lambda step: bar.update(task, description=f"{title}: {step}")


@contextmanager
def counted(title: str, total: int) -> Iterator[Callable[[], None]]:
    """A progress bar on stderr. Each call of the yielded function adds one, up to `total`.

    Nothing is shown if stderr is not a terminal.
    """
    from rich.progress import (  # noqa: PLC0415 - as in `console`
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    stderr_console = console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(
        *columns, console=stderr_console, transient=True, disable=not stderr_console.is_terminal
    ) as bar:
        task = bar.add_task(title, total=total)
        yield lambda: bar.advance(task)
