"""Questions of `gateway import` at a terminal: which tags and webhooks, and whether to import."""

import glob
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from gateway.amounts import amount
from gateway.cli.output import print_table
from gateway.cli.plain import plain
from gateway.contract.values.nearest import hint
from gateway.contracts.sources.tree import INDEX
from gateway.errors import ContractError
from gateway.openapi.folder.comparing import ImportChanges
from gateway.openapi.folder.importing import ImportRun
from gateway.openapi.lowering.selection import OperationSelection

_SILENCING: Final = ("yes", "as_json", "update", "check", "tags", "operations")
"""Options that answer the questions, or that leave nothing to ask."""
_MOST_LISTED: Final = 40
_WEBHOOKS: Final = (
    "Webhooks to draft contracts for: names, separated by commas, * for all; Enter for none"
)
_QUESTION: Final = "Tags to serve: numbers or names, separated by commas; Enter for all"


def asks_questions(flags: Mapping[str, Any]) -> bool:
    """Whether a person is asked what to import."""
    return _can_answer() and not any(flags[each] for each in _SILENCING)


def _can_answer() -> bool:
    """Whether a person can answer: stdin and stdout are a terminal, and CI is not set."""
    return sys.stdin.isatty() and sys.stdout.isatty() and not os.environ.get("CI")


def confirm_addresses(flags: Mapping[str, Any], changes: ImportChanges | None) -> None:
    """Ask whether credentials may be sent to other addresses. Raises `ContractError` if not.

    Where nobody can answer, only --yes says so.
    """
    if flags["yes"] or changes is None or not changes.addresses:
        return
    listed = plain("; ".join(map(str, changes.addresses)))
    text = f"the new version sends credentials to other addresses: {listed}"
    if flags["as_json"] or not _can_answer():
        raise ContractError(f"{text}; if they are right, run the command again with --yes")
    click.echo(text, err=True)
    if not click.confirm("Send credentials there?", default=False):
        raise ContractError("nothing is written: the addresses are not confirmed")


def ask_tags(counts: Mapping[str, int], untagged: int) -> OperationSelection:
    """The selection of the tags that the person chooses. `counts` are operations by tag."""
    if len(counts) < 2:
        return OperationSelection()
    tags = sorted(counts)
    rows = [(str(n), tag, str(counts[tag])) for n, tag in enumerate(tags, 1)]
    if untagged:
        rows.append(("", "(without a tag: only with all)", str(untagged)))
    print_table(("", "tag", "operations"), rows)
    chosen: tuple[str, ...] = click.prompt(
        _QUESTION, default="", show_default=False, value_proc=lambda text: read_tags(text, tags)
    )
    return OperationSelection(tags=tuple(glob.escape(each) for each in chosen))


def read_tags(text: str, tags: Sequence[str]) -> tuple[str, ...]:
    """The tags that `text` names. Raises `click.UsageError` for one that does not exist.

    A tag that contains a comma is named by its number.
    """
    found: dict[str, None] = {}
    for word in filter(None, (each.strip() for each in text.split(","))):
        if word in tags:
            found[word] = None
        elif re.fullmatch(r"[0-9]{1,6}", word) and 1 <= int(word) <= len(tags):
            found[tags[int(word) - 1]] = None
        else:
            fix = hint(word, tags, f"write 1 to {len(tags)}, or a name from the list")
            raise click.UsageError(plain(f"there is no tag {word!r}; {fix}"))
    return tuple(found)


def confirm_import(run: ImportRun) -> bool:
    """Show the operations of `run`, and ask whether they are imported."""
    served = run.outcome.connector.operations
    rows = [(f"{e.method} {e.path}", e.id, e.effect.value) for e in served[:_MOST_LISTED]]
    click.echo()
    print_table(("operation", "tool", "effect"), rows)
    if len(served) > _MOST_LISTED:
        click.echo(f"and {len(served) - _MOST_LISTED} more: --dry-run --json lists all")
    return click.confirm(f"Import {amount(len(served), 'operation')}?", default=True)


def ask_webhooks(labels: Sequence[str], schemas: Path) -> tuple[str, ...]:
    """The names of the webhooks that the person wants contracts for.

    Nothing is asked without webhooks, or without a project that could have contracts.
    """
    if not labels or not (schemas / INDEX).is_file():
        return ()
    click.echo(
        plain(
            f"The document has {amount(len(labels), 'webhook')}: {', '.join(labels[:_MOST_LISTED])}"
        )
    )
    text: str = click.prompt(_WEBHOOKS, default="", show_default=False)
    return tuple(filter(None, (each.strip() for each in text.split(","))))
