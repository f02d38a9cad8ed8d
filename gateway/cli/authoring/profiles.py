"""`gateway tools --profile`: what clients would refuse of the tools."""

from collections import Counter
from collections.abc import Iterator, Sequence

import click
from msgspec import Struct

from gateway.amounts import amount
from gateway.catalogue import Catalogue
from gateway.cli.exits import FINDINGS, OK
from gateway.cli.output import print_json, print_table
from gateway.cli.plain import plain
from gateway.contract.agent_view import SERVER
from gateway.profiles.clients import PROFILES, SOURCE, ClientProfile
from gateway.profiles.refusals import (
    ClientRefusal,
    ShownTool,
    published_input,
    published_output,
    refusals,
    short_names,
)
from gateway.publication.own_tools import Listable


class ProfileReport(Struct, frozen=True, kw_only=True):
    """What the clients of one profile refuse."""

    profile: str
    tools: int
    unchanged: tuple[ClientRefusal, ...]
    """Of the contracts' own schemas and names."""
    shown: tuple[ClientRefusal, ...]
    """Of what the gateway shows them instead."""


def print_refusals(catalogue: Catalogue, name: str, server: str, *, as_json: bool) -> int:
    """Print what the clients of the profile `name` refuse. The exit code is 1 if they do.

    `server` is what users name the gateway in these clients.
    """
    report = client_report(catalogue.entries, PROFILES[name], server)
    if as_json:
        print_json(report)
    else:
        _print(report, PROFILES[name])
    return FINDINGS if report.shown else OK


def client_report(
    tools: Sequence[Listable], profile: ClientProfile, server: str = SERVER
) -> ProfileReport:
    """What the clients of `profile` refuse of `tools`. `server`: as in `print_refusals`."""

    def refused(shown_to: ClientProfile) -> tuple[ClientRefusal, ...]:
        return tuple(refusals(_shown_tools(tools, shown_to, server), profile, server))

    return ProfileReport(
        profile=profile.name,
        tools=len(tools),
        unchanged=refused(PROFILES[SOURCE]),
        shown=refused(profile),
    )


def _shown_tools(
    tools: Sequence[Listable], profile: ClientProfile, server: str
) -> Iterator[ShownTool]:
    """The tools as `profile` is shown them."""
    room = profile.room(server)
    names = (name for each in tools for name in (each.tool.name, *each.tool.aliases))
    shorter = {} if room is None else short_names(names, room)
    for each in tools:
        yield ShownTool(
            name=shorter.get(each.tool.name, each.tool.name),
            input_schema=published_input(each.listing.input_schema, profile),
            output_schema=published_output(each.listing.output_schema, profile),
        )


def _print(report: ProfileReport, profile: ClientProfile) -> None:
    click.echo(f"{profile.title}: {amount(report.tools, 'tool')}")
    before = Counter(each.rule for each in report.unchanged)
    after = Counter(each.rule for each in report.shown)
    print_table(
        ("rule", "unchanged", "as shown", "first place"),
        (
            (rule, f"{before[rule]:,}", f"{after[rule]:,}", _first(report, rule))
            for rule in sorted(before | after)
        ),
    )
    if not report.shown:
        click.echo("Nothing is refused of what these clients are shown.")
    for each in report.shown:
        click.echo(plain(f"{each.tool or 'list'}: {each.rule} {each.pointer}: {each.message}"))


def _first(report: ProfileReport, rule: str) -> str:
    found = next(each for each in (*report.unchanged, *report.shown) if each.rule == rule)
    return f"{found.tool or 'the list'} {found.pointer}"
