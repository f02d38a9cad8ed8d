"""Commands that change a project: one at a time, whole or undone."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import click

from gateway.authoring.project.placing import HeldProject, holding
from gateway.cli.problems import plain


@contextmanager
def changing(folder: Path, parts: Collection[PurePosixPath]) -> Iterator[HeldProject]:
    """`holding`, with a note if an interrupted command was undone. Raises `ConfigurationError`."""
    with holding(folder, parts) as project:
        if project.undone:
            files = ", ".join(project.undone)
            click.echo(plain(f"note: an interrupted command is undone in {files}"), err=True)
        yield project
