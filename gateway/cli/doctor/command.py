"""`gateway doctor`."""

import os
from typing import Any, Final

import click

from gateway.cli.doctor.diagnosis import Diagnosis
from gateway.cli.doctor.examination import examine
from gateway.cli.exits import FINDINGS, OK
from gateway.cli.options import FLAGS, json_option, settings_options
from gateway.cli.output import print_json
from gateway.cli.plain import plain

_COLOURS: Final = {"ok": "green", "note": "yellow", "error": "red"}


@click.command(epilog="Example: gateway doctor --config /etc/gateway.toml")
@settings_options(*FLAGS)
@click.option(
    "--connect", is_flag=True, help="Call each live upstream once, with a read-only tool."
)
@json_option
def command(*, connect: bool, as_json: bool, **flags: Any) -> int:
    """Report what is misconfigured and how to fix it. Exit code 1 if there is an error.

    Checks everything that `gateway serve` needs, and starts nothing. Only --connect calls other
    systems.
    """
    diagnoses = list(examine(flags, os.environ, is_connecting=connect))
    if as_json:
        print_json(diagnoses)
    else:
        for diagnosis in diagnoses:
            _print(diagnosis)
    return FINDINGS if any(each.verdict == "error" for each in diagnoses) else OK


def _print(diagnosis: Diagnosis) -> None:
    verdict = click.style(f"{diagnosis.verdict:6}", fg=_COLOURS[diagnosis.verdict])
    click.echo(f"{verdict} {plain(f'{diagnosis.part}: {diagnosis.finding}')}")
    if diagnosis.fix:
        click.echo(plain(f"       fix: {diagnosis.fix}"))
