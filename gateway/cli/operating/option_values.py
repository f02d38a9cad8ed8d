"""Values of options: times and JSON objects."""

import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import click

from gateway.contract.fields.conversion import rfc3339
from gateway.contract.values import jsontext

_AGO: Final = re.compile(r"([0-9]{1,6})([smhd])")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


class _Moment(click.ParamType[str, str]):
    """A time, or a duration before now."""

    name = "moment"

    def convert(self, value: str, param: Any, ctx: Any) -> str:
        """The time in RFC 3339. Raises `click.BadParameter` for anything else."""
        try:
            return rfc3339(_moment(value))
        except (ValueError, OverflowError):
            # Also for a time outside the range of `datetime`.
            self.fail("write it as 15m, 2h, 7d or 2026-11-20T12:00:00Z", param, ctx)


def _moment(text: str) -> datetime:
    if ago := _AGO.fullmatch(text):
        return datetime.now(UTC) - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


class _JsonObject(click.ParamType[dict[str, Any], str]):
    """A JSON object, or - for one on standard input. With `is_file`, a file takes its place."""

    name = "json"

    def __init__(self, *, is_file: bool = False) -> None:
        self._is_file = is_file

    def convert(self, value: Any, param: Any, ctx: Any) -> dict[str, Any]:
        """The object. Raises `click.BadParameter` for anything else."""
        try:
            # The raw bytes: the strict decoder checks that they are UTF-8.
            raw = (
                sys.stdin.buffer.read()
                if value == "-"
                else Path(value).read_bytes()
                if self._is_file
                else value.encode(errors="surrogateescape")
            )
        except OSError as error:
            self.fail(f"{value} cannot be read: {error.strerror}", param, ctx)
        try:
            found = jsontext.decode(raw)
        except jsontext.NotJson as error:
            self.fail(str(error), param, ctx)
        if not isinstance(found, dict):
            self.fail("write a JSON object", param, ctx)
        return found


MOMENT: Final = _Moment()
JSON_OBJECT: Final = _JsonObject()
JSON_FILE: Final = _JsonObject(is_file=True)
