"""Options that `gateway test` and `gateway verify` share."""

import re
from pathlib import Path
from typing import Any, Final

import click

_UNITS: Final = {"s": 1.0, "m": 60.0, "h": 3600.0}
_TIME: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)([smh]?)")


class Seconds(click.ParamType[float]):
    """A time such as `60s`, `5m` or `90`, in seconds."""

    name = "time"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """See `click.ParamType`."""
        if isinstance(value, float):
            return value
        found = _TIME.fullmatch(str(value))
        if found is None or not float(found[1]):
            self.fail("expected a time above zero, such as 60s or 5m", param, ctx)
        return float(found[1]) * _UNITS[found[2] or "s"]


budget_option = click.option(
    "--budget",
    type=Seconds(),
    metavar="TIME",
    help="Stop after this time, such as 60s. What finds most for its time is first.",
)
report_option = click.option(
    "--report",
    "reports",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also write a report: .xml (JUnit), .json, .sarif or .html. Repeatable.",
)
