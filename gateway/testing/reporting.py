"""Writes a report in the form that the suffix of its file says."""

from pathlib import Path

import msgspec

from gateway.cli.output import inert
from gateway.cli.reports.record import Report
from gateway.errors import ConfigurationError


def write_report(report: Report, path: Path) -> None:
    """Write `report`. Raises `ConfigurationError` for a form or a place that is not possible."""
    check_form(path)
    text = msgspec.json.format(msgspec.json.encode(report), indent=2).decode()
    try:
        path.write_text(inert(text) + "\n", "utf-8")
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error.strerror}") from None


def check_form(path: Path) -> None:
    """Raise `ConfigurationError` if no form of a report has this suffix."""
    if path.suffix != ".json":
        raise ConfigurationError(f"{path} has no form of a report; name it .json")
