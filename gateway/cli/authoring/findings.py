"""Findings in the contracts, printed in the form that was asked for."""

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
_ASKS_FOR_NOTHING: Final = "schema/amber-keyword"
_COLOURS: Final = {"error": "red", "note": "yellow"}


def print_findings(
    findings: Sequence[Finding], schemas: Path, form: Form, *, everything: bool = True
) -> None:
    """Print to standard output; colours and links are for terminals, and click drops them else.

    People are spared the notes that ask for no change, unless they want `everything`.
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
    shown = [f for f in findings if everything or f.rule != _ASKS_FOR_NOTHING]
    # A message may repeat a name of the contract: a separate line could be a command to a CI.
    for line in as_lines(shown, folder):
        click.echo(_coloured(plain(line)))
    if spared := len(findings) - len(shown):
        click.echo(f"{spared} more ask for no change: gateway lint --notes prints them")


def _coloured(line: str) -> str:
    parts = _PLACE.match(line)
    if parts is None:
        return line
    place, severity, rule, rest = parts.groups()
    colour = _COLOURS[severity]
    return (
        f"{place}{click.style(severity, fg=colour, bold=True)}{click.style(rule, bold=True)}{rest}"
    )
