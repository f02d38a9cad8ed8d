"""Each form of a report by its name, and by the suffix of the file that it is written to."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from gateway.cli.reports.junit import junit
from gateway.cli.reports.markdown import markdown
from gateway.cli.reports.page import page
from gateway.cli.reports.record import Report
from gateway.cli.reports.sarif import sarif
from gateway.cli.reports.texts import json_inert
from gateway.errors import ConfigurationError


def _json(report: Report) -> str:
    """The whole record. Every text is complete; characters that control a terminal are escapes."""
    encoded = msgspec.json.encode(_encodable(msgspec.to_builtins(report)))
    return json_inert(msgspec.json.format(encoded, indent=2).decode()) + "\n"


def _encodable(value: Any) -> Any:
    """`value` with lone surrogates, which no UTF-8 has, written as escapes."""
    match value:
        case str():
            return value if value.isascii() else value.encode(errors="backslashreplace").decode()
        case list() | tuple():
            return [_encodable(each) for each in value]
        case dict():
            return {name: _encodable(each) for name, each in value.items()}
        case _:
            return value


FORMS: Final[Mapping[str, Callable[[Report], str]]] = {
    "html": page,
    "json": _json,
    "junit": junit,
    "md": markdown,
    "sarif": sarif,
}
"""What `--format` may be, beside the text that a command prints for people."""

_SUFFIXES: Final = {
    ".html": "html",
    ".json": "json",
    ".md": "md",
    ".sarif": "sarif",
    ".xml": "junit",
}


def text_of(report: Report, form: str) -> str:
    """The report in one of the `FORMS`. Equal reports give equal texts."""
    return FORMS[form](report)


def form_of(path: Path) -> str:
    """The form that the suffix of `path` says.

    Raises `ConfigurationError` for another suffix, so call it before the work starts.
    """
    try:
        return _SUFFIXES[path.suffix.lower()]
    except KeyError:
        known = ", ".join(sorted(_SUFFIXES))
        raise ConfigurationError(
            f"{path}: no report has the suffix {path.suffix or '(none)'}; use one of {known}"
        ) from None


def write(report: Report, path: Path) -> None:
    """Write the report in the form that the suffix says; missing folders are made.

    Raises `ConfigurationError` for another suffix or for a place that cannot be written.
    """
    text = text_of(report, form_of(path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise ConfigurationError(
            f"{path}: the report cannot be written ({error.strerror}); name a file in a folder "
            "that you may write to"
        ) from None
