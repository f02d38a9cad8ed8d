"""Reads an OpenAPI document without a project, for its mock."""

from pathlib import Path
from typing import Final

import click

from gateway.cli.plain import plain_lines
from gateway.contract.imported import ImportedConnector
from gateway.errors import ConfigurationError, ContractError
from gateway.openapi.folder.given import GivenDocument, connector_name, given_document
from gateway.openapi.lowering.connector import lower_connector
from gateway.openapi.lowering.records import ImportReport
from gateway.openapi.lowering.selection import ImportFile
from gateway.openapi.reading.normalise import normalise
from gateway.openapi.reading.source import read_source

_UNNAMED: Final = "document"
_MAX_LISTED: Final = 20


def read_connector(path: Path) -> ImportedConnector:
    """The operations of the document at `path`. Those that cannot be read are listed on stderr.

    Raises `ConfigurationError` if there is no such document, and `DocumentRefused`.
    """
    if not path.exists():
        raise ConfigurationError(f"there is no file {path}; name an OpenAPI document or its folder")
    given = given_document(read_source(path), path.resolve().name)
    wishes = ImportFile(document=given.name, sha256=given.sha256, source=given.origin)
    outcome = lower_connector(normalise(given.source), _name(given), wishes)
    if not outcome.connector.operations:
        raise ConfigurationError(f"{path} has no operations that can be mocked")
    _warn(outcome.report)
    return outcome.connector


def _name(given: GivenDocument) -> str:
    try:
        return connector_name(given, None)
    except ContractError:
        return _UNNAMED


def _warn(report: ImportReport) -> None:
    for each in report.refused[:_MAX_LISTED]:
        text = f"not mocked: {each.operation}: {each.finding.message}"
        click.echo(plain_lines(text), err=True)
    more = len(report.refused) - _MAX_LISTED
    if more > 0:
        click.echo(f"not mocked: {more} more operations", err=True)
