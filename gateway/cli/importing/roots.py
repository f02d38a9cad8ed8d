"""The folder for `--root` that the references of a document need."""

import os
import posixpath
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import click

from gateway.cli.plain import plain
from gateway.contracts.finding import Finding
from gateway.openapi.folder.given import GivenDocument
from gateway.openapi.reading.normalise import normalise
from gateway.openapi.reading.source import SourceFile

_RULES: Final = frozenset({"ref/escapes", "ref/other-file"})
_UP: Final = "../"


def hint_root(flags: Mapping[str, Any], given: GivenDocument, findings: Iterable[Finding]) -> None:
    """Name the command that opens all files of the document, if `findings` say that some are not.

    No other file than those of `given` is opened for it.
    """
    if _RULES.isdisjoint(each.rule for each in findings) or given.source.path == "stdin":
        return
    path, root = Path(flags["document"]).resolve(), flags["root"]
    base = Path(root).resolve() if root else path if path.is_dir() else path.parent
    levels = _levels_above(normalise(given.source).files)
    holds_all = [base, *base.parents][: levels + 1]
    if len(holds_all) <= levels or holds_all[-1] == Path(base.anchor):
        return
    file = path / given.source.path if path.is_dir() else path
    words = [os.path.relpath(file), "--root", os.path.relpath(holds_all[-1])]
    text = f"next: with all of its files: gateway import {shlex.join(words)}"
    click.echo(plain(text), err=True)


def _levels_above(files: Iterable[SourceFile]) -> int:
    """How many folders above that of `files` the references of these files lead at most."""
    return max((_levels(each.path, ref) for each in files for ref in _refs(each.value)), default=0)


def _levels(path: str, ref: str) -> int:
    try:
        parts = urlsplit(ref)
    except ValueError:
        return 0
    if parts.scheme or parts.netloc or not parts.path or parts.path.startswith("/"):
        return 0
    folder = posixpath.dirname(path)
    return f"{posixpath.normpath(posixpath.join(folder, unquote(parts.path)))}/".count(_UP)


def _refs(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if isinstance(ref := node.get("$ref"), str):
                yield ref
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)
