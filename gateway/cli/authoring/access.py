"""`gateway access can` and `gateway access list`."""

import sys
from collections.abc import Iterator
from typing import Any

import click
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from gateway.auth.authorize import Policy, policy_of
from gateway.auth.principal import LOCAL_SUBJECT, Principal
from gateway.calls.validation import decode_arguments
from gateway.catalogue import Catalogue, Entry
from gateway.cli.options import WholeGroup, json_option, settings_of, settings_options
from gateway.cli.output import json_line, print_json, print_table
from gateway.cli.problems import FINDINGS, OK, plain
from gateway.cli.project import known_agent, known_tool, open_project
from gateway.contract.policies.grants import Schema, alternatives_of
from gateway.contract.values.violation import Violation
from gateway.errors import InvalidArguments, MalformedRequest, NotPermitted


class Access(Struct, frozen=True, kw_only=True):
    """Whether an agent may call a tool, and with which arguments."""

    agent: str
    operation: str
    allowed: bool
    """With the arguments that were given. If none were given: with some."""
    arguments: tuple[Schema, ...] | UnsetType = UNSET
    """What its grants and escalations require of the arguments, beside the contract."""
    grants: tuple[str, ...] | UnsetType = UNSET
    """The places of these grants in the policies."""
    detail: str | UnsetType = UNSET
    """Why these arguments are refused."""
    errors: tuple[Violation, ...] | UnsetType = UNSET
    """The places in the arguments that are refused."""


@click.group(cls=WholeGroup, name="access", epilog="Example: gateway access list flight_search")
def command() -> None:
    """Show which agent may call which tool."""


@command.command(
    "can",
    epilog="""Example: gateway access can communication supabase.query
--arguments '{"table": "client_cache"}'""",
)
@click.argument("agent")
@click.argument("tool")
@click.option(
    "--arguments",
    metavar="OBJECT",
    help="Check a call with these arguments, a JSON object; `-` reads it from standard input.",
)
@settings_options("package")
@json_option
def can(*, agent: str, tool: str, arguments: str | None, as_json: bool, **flags: Any) -> int:
    """Check whether AGENT may call TOOL: exit code 0 for yes, 1 for no.

    Says which arguments the grants of AGENT allow, if not all. With --arguments, checks one call as
    the gateway would, without making it.
    """
    settings = settings_of(flags)
    catalogue = open_project(settings)
    entry = known_tool(catalogue, tool, settings.server_name)
    text = None if arguments is None else _bytes_of(arguments)
    found = _access(catalogue, known_agent(catalogue, agent), entry, text)
    if as_json:
        print_json(found)
    else:
        click.echo("\n".join(_lines(found, has_arguments=text is not None)))
    return OK if found.allowed else FINDINGS


@command.command("list", epilog="Example: gateway access list flight_search")
@click.argument("agent", required=False)
@settings_options("package")
@json_option
def list_access(*, agent: str | None, as_json: bool, **flags: Any) -> None:
    """List what AGENT may call, or all agents with what each may call.

    `some` marks what it may call with some arguments only: `gateway access can` says which.
    """
    settings = settings_of(flags)
    catalogue = open_project(settings)
    agents = [known_agent(catalogue, agent)] if agent else sorted(catalogue.grants)
    if as_json:
        print_json({name: sorted(catalogue.grants[name]) for name in agents})
        return
    policy = policy_of(catalogue)
    narrowed = {
        (name, entry.id)
        for name in agents
        for entry in catalogue.entries
        if policy.allows(name, entry.id) and policy.narrowing(name, entry) is not None
    }
    rows = ((name, one) for name in agents for one in sorted(catalogue.grants[name]))
    print_table(
        ("agent", "operation", "arguments"),
        ((*row, "some" if row in narrowed else "all") for row in rows),
    )


def _bytes_of(arguments: str) -> bytes:
    # The raw bytes: the strict decoder checks that they are UTF-8.
    if arguments == "-":
        return sys.stdin.buffer.read()
    return arguments.encode(errors="surrogateescape")


def _access(catalogue: Catalogue, agent: str, entry: Entry, arguments: bytes | None) -> Access:
    policy = policy_of(catalogue)
    known = Access(agent=agent, operation=entry.id, allowed=False)
    if not policy.allows(agent, entry.id):
        return known
    narrowing = policy.narrowing(agent, entry)
    places = [g.place for g in catalogue.conditions.get(agent, ()) if entry.id in g.tools]
    schemas = UNSET if narrowing is None else narrowing.schemas
    known = replace(known, allowed=True, arguments=schemas, grants=tuple(places) or UNSET)
    return known if arguments is None else _checked(policy, known, entry, arguments)


def _checked(policy: Policy, known: Access, entry: Entry, text: bytes) -> Access:
    """`known`, for one call with the arguments `text`. The pipeline does the same."""
    grant = policy.authorize(Principal(subject=LOCAL_SUBJECT, agent=known.agent), entry)
    try:
        arguments = decode_arguments(entry, text)
        policy.authorize_arguments(grant, arguments.values, arguments.effect)
    except (InvalidArguments, NotPermitted) as error:
        return _refused(known, error.detail, error.violations)
    except MalformedRequest as error:
        return _refused(known, error.detail)
    return known


def _refused(known: Access, detail: str, errors: tuple[Violation, ...] = ()) -> Access:
    return replace(known, allowed=False, detail=detail, errors=errors or UNSET)


def _lines(found: Access, *, has_arguments: bool) -> Iterator[str]:
    with_these = " with these arguments" if has_arguments else ""
    verb = "may" if found.allowed else "may not"
    yield f"{found.agent} {verb} call {found.operation}{with_these}"
    if found.detail is not UNSET:
        yield f"  {plain(found.detail)}"
    for each in () if found.errors is UNSET else found.errors:
        yield f"  {plain(each.pointer or '/')}: {plain(each.detail)}"
    if found.arguments is not UNSET:
        yield "The arguments must be valid under"
        for schema in found.arguments:
            yield "\n  or ".join(("  " + json_line(e)) for e in alternatives_of(schema))
    if found.grants is not UNSET:
        yield f"as policies/agents.yaml says at {', '.join(map(plain, found.grants))}"
