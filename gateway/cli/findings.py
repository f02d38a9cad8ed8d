"""Findings in the contracts, printed in the form that was asked for."""

import re
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final, Literal

import click

from gateway.codegen.finding import Finding
from gateway.codegen.report import as_json, as_sarif, as_text

Form = Literal["text", "json", "sarif"]

_PLACE: Final = re.compile(r"^(\S+:\d+: )(error|note)( \S+)(.*)$")
_COLOURS: Final = {"error": "red", "note": "yellow"}


def print_findings(findings: Sequence[Finding], schemas: Path, form: Form) -> None:
    """Print to standard output; colours and links are for terminals, and click drops them else."""
    folder = schemas.as_posix()
    match form:
        case "json":
            click.echo(as_json(findings, folder))
        case "sarif":
            click.echo(as_sarif(findings, version("contract-gateway"), folder))
        case "text":
            for line in as_text(findings, folder).splitlines():
                click.echo(_coloured(line))


def _coloured(line: str) -> str:
    parts = _PLACE.match(line)
    if parts is None:
        return line
    place, severity, rule, rest = parts.groups()
    colour = _COLOURS[severity]
    return (
        f"{place}{click.style(severity, fg=colour, bold=True)}{click.style(rule, bold=True)}{rest}"
    )
