"""Prints findings in the contracts in the requested format."""

import re
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final, Literal

import click

from gateway.cli.output import inert
from gateway.cli.plain import plain
from gateway.codegen.report import as_json, as_lines, as_sarif
from gateway.contracts.finding import Finding

Form = Literal["text", "json", "sarif"]

_PLACE: Final = re.compile(r"^(\S+:\d+: )(error|note)( \S+)(.*)$")
_NO_CHANGE_NEEDED: Final = "schema/amber-keyword"
_COLOURS: Final = {"error": "red", "note": "yellow"}


def print_findings(
    findings: Sequence[Finding], schemas: Path, form: Form, *, everything: bool = True
) -> None:
    """Print to standard output. click removes colours and links if it is not a terminal.

    The text format omits notes that need no change, unless `everything` is true.
    """
    folder = schemas.as_posix()
    match form:
        case "json":
            click.echo(inert(as_json(findings, folder)))
        case "sarif":
            click.echo(inert(as_sarif(findings, version("contract-gateway"), folder)))
        case "text":
            _print_text(findings, folder, everything=everything)


def _print_text(findings: Sequence[Finding], folder: str, *, everything: bool) -> None:
    printed = [f for f in findings if everything or f.rule != _NO_CHANGE_NEEDED]
    # A message may contain a name from the contract. On its own line, it could be a CI command.
    for line in as_lines(printed, folder):
        click.echo(_coloured(plain(line)))
    if omitted := len(findings) - len(printed):
        click.echo(f"{omitted} more need no change: gateway lint --notes prints them")


def _coloured(line: str) -> str:
    parts = _PLACE.match(line)
    if parts is None:
        return line
    location, severity, rule, rest = parts.groups()
    colour = _COLOURS[severity]
    severity = click.style(severity, fg=colour, bold=True)
    return f"{location}{severity}{click.style(rule, bold=True)}{rest}"
