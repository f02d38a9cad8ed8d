"""`gateway test --replay`: one call over every transport, and what must come of it.

`python -m gateway.testing.replaying TEXT`, in a process of its own as the suite.
"""

import asyncio
import json
import sys
import tempfile
from pathlib import Path

import click

from gateway.catalogue import Entry
from gateway.cli.output import json_line, print_table
from gateway.cli.problems import CANNOT_RUN, FINDINGS, OK, plain
from gateway.errors import OperatorError, UnknownOperation
from gateway.testing.authority import authority_on
from gateway.testing.cases import Case
from gateway.testing.gateways import CaseAnswers, catalogue_under_test, open_faces
from gateway.testing.generation import expected
from gateway.testing.judging import failures
from gateway.testing.replays import parted_replay, replay_of


def main(text: str) -> int:
    """Print the answers and the verdict. Returns the exit code."""
    try:
        contract, arguments = parted_replay(text)
        catalogue = catalogue_under_test()
        entry = catalogue.find(contract)
    except ValueError as error:
        return _unusable(str(error), "see `gateway test --help`")
    except UnknownOperation:
        return _unusable(f"no tool {plain(text.split(maxsplit=1)[0])}", "see `gateway tools list`")
    except OperatorError as error:
        return _unusable(error.detail, "see `gateway doctor`")
    try:
        expectation = expected(entry, arguments)
    except ValueError:
        expectation = "no JSON"
    found = asyncio.run(_asked(entry, arguments))
    print_table(
        ("transport", "status", "code", "sent", "answer"),
        (
            (name, str(each.status), each.code or "", str(sent), json_line(each.body))
            for (name, each), sent in zip(found.answers.items(), found.sent, strict=True)
        ),
    )
    replay = replay_of(entry, arguments)
    for line in (replay.curl, replay.rpc):
        click.echo(line)
    if expectation in {None, "no JSON"}:
        click.echo("the authority cannot say what must come of this")
        return FINDINGS
    case = Case(contract, arguments, "replay", expectation)
    wrong = failures(found.verdicts(case, catalogue))
    click.echo(f"expected: {expectation} {_place(entry, arguments)}".rstrip())
    for line in wrong:
        click.echo(plain(f"error: {line}"))
    return FINDINGS if wrong else OK


def _place(entry: Entry, arguments: bytes) -> str:
    place = authority_on(entry).place(json.loads(arguments))
    return f"by {place}" if place else ""


async def _asked(entry: Entry, arguments: bytes) -> CaseAnswers:
    with tempfile.TemporaryDirectory(prefix="gateway-replay-") as folder:
        async with open_faces(Path(folder)) as faces:
            return await faces.ask_all(entry, arguments)


def _unusable(what: str, fix: str) -> int:
    click.echo(f"error: {what}\nfix: {fix}", err=True)
    return CANNOT_RUN


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
