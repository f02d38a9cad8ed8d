"""Sends the same request for several resources, and reports the outcome of each."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from gateway.cli.exits import FINDINGS, OK
from gateway.cli.operating.operator import OperatorClient
from gateway.cli.output import print_json
from gateway.cli.plain import plain
from gateway.cli.refused import Refused


async def tried(
    operator: OperatorClient,
    path: str,
    body: Mapping[str, Any],
    name: str,
    step: Callable[[], None],
) -> dict[str, Any]:
    """The response or, if it was refused, the problem. A refusal does not stop the others."""
    try:
        return {"id": name, **await operator.ask("POST", path, body=body)}
    except Refused as refused:
        return {"id": name, "problem": refused.problem}
    finally:
        step()


def report_each(found: Sequence[dict[str, Any]], *, as_json: bool, done: str) -> int:
    """Print the outcome of each. Returns the exit code, 1 if one was refused."""
    if as_json:
        print_json(found)
    else:
        for each in found:
            click.echo(plain(f"{each['id']} {_why(each) or done}"))
        if not found:
            click.echo("there is nothing to do")
    return FINDINGS if any(map(_why, found)) else OK


def _why(each: Mapping[str, Any]) -> str:
    """Why it was refused, or the violations that remain; empty if neither."""
    if "problem" in each:
        return str(each["problem"].get("detail", "was refused"))
    places = (place_of(one) for one in each.get("refusals", ()))
    listed = "; ".join(places)
    return f"still breaks its contract: {listed}" if listed else ""


def place_of(refusal: Mapping[str, Any]) -> str:
    """One violation, in one line."""
    return f"{refusal['pointer'] or '(the whole)'}: {refusal['detail']}"
