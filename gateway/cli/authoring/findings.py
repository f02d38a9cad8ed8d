"""Prints findings as text, JSON or SARIF, and lets one command at a time change a project."""

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import Any, Final, Literal
from urllib.parse import quote

import click
import msgspec

from gateway.amounts import amount
from gateway.authoring.codegen.render.artifact import pretty
from gateway.authoring.contracts.finding import Finding, Severity, errors
from gateway.authoring.lint.behaviour_rules import Rule
from gateway.authoring.lint.rules import BY_ID
from gateway.authoring.project.changes import HeldProject, holding
from gateway.cli.output import inert
from gateway.cli.problems import plain

# Commands that change a project: one at a time, whole or undone.


@contextmanager
def changing(folder: Path, parts: Collection[PurePosixPath]) -> Iterator[HeldProject]:
    """`holding`, with a note if an interrupted command was undone. Raises `ConfigurationError`."""
    with holding(folder, parts) as project:
        if project.undone:
            files = ", ".join(project.undone)
            click.echo(plain(f"note: an interrupted command is undone in {files}"), err=True)
        yield project


# Formats findings as text, as JSON, and as SARIF 2.1.0 for code hosts.

_SARIF_SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


def as_lines(findings: Sequence[Finding], folder: str = "schemas") -> list[str]:
    """`file:line: severity rule pointer message`, the fix below it, and a count at the end.

    A line may contain line feeds from a contract.
    """
    return [*(line for finding in findings for line in _lines(finding, folder)), summary(findings)]


def _lines(finding: Finding, folder: str) -> Iterable[str]:
    pointer = f" {finding.pointer}" if finding.pointer else ""
    location = f"{_file(finding, folder)}:{finding.line}"
    yield f"{location}: {finding.severity.value} {finding.rule}{pointer}: {finding.message}"
    yield f"  fix: {finding.fix}"


def summary(findings: Sequence[Finding]) -> str:
    """The number of findings of each severity, as text."""
    number = len(errors(findings))
    return f"{amount(number, 'error')}, {amount(len(findings) - number, 'note')}"


def as_json(findings: Sequence[Finding], folder: str = "schemas") -> str:
    """`{"errors": n, "notes": n, "findings": [{path, line, pointer, rule, …}]}`."""
    number = len(errors(findings))
    document = {
        "errors": number,
        "notes": len(findings) - number,
        "findings": [
            msgspec.structs.replace(finding, path=_file(finding, folder)) for finding in findings
        ],
    }
    return pretty(document)


def as_sarif(findings: Sequence[Finding], version: str, folder: str = "schemas") -> str:
    """One SARIF run of the tool `gateway lint` with its `version` and all rules."""
    ids = sorted(BY_ID.keys() | {finding.rule for finding in findings})
    driver = {
        "name": "gateway lint",
        "semanticVersion": version,
        "rules": [_sarif_rule(rule_id, BY_ID.get(rule_id)) for rule_id in ids],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [
            _sarif_result(finding, folder, ids.index(finding.rule)) for finding in findings
        ],
    }
    return pretty({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]})


def _sarif_rule(rule_id: str, rule: Rule | None) -> dict[str, Any]:
    if rule is None:
        return {"id": rule_id, "shortDescription": {"text": rule_id}}
    return {
        "id": rule_id,
        "shortDescription": {"text": rule.meaning},
        "help": {"text": rule.fix},
        "defaultConfiguration": {"level": rule.severity.value},
    }


def _sarif_result(finding: Finding, folder: str, index: int) -> dict[str, Any]:
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(_file(finding, folder))},
            "region": {"startLine": finding.line},
        }
    }
    if finding.pointer:
        location["logicalLocations"] = [{"fullyQualifiedName": finding.pointer, "kind": "member"}]
    return {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": "error" if finding.severity is Severity.ERROR else "note",
        "message": {"text": f"{finding.message}. {finding.fix}"},
        "locations": [location],
        "partialFingerprints": {"place/v1": f"{finding.rule}:{finding.path}:{finding.pointer}"},
    }


def _file(finding: Finding, folder: str) -> str:
    # A finding may be about a file beside the folder.
    return posixpath.normpath(f"{folder}/{finding.path}") if folder else finding.path


# Prints findings in the contracts in the requested format.

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
