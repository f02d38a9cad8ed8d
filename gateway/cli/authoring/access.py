"""`gateway access can` and `gateway access list`."""

from typing import Any

import click

from gateway.auth.authorize import Policy
from gateway.cli.exits import FINDINGS, OK
from gateway.cli.groups import WholeGroup
from gateway.cli.known import known_agent, known_tool
from gateway.cli.options import json_option, settings_of, settings_options
from gateway.cli.output import print_json, print_table
from gateway.cli.project import open_project


@click.group(cls=WholeGroup, name="access", epilog="Example: gateway access list flight_search")
def command() -> None:
    """Show which agent may call which tool."""


@command.command("can", epilog="Example: gateway access can flight_search avinode.create_rfp")
@click.argument("agent")
@click.argument("tool")
@settings_options("package")
@json_option
def can(*, agent: str, tool: str, as_json: bool, **flags: Any) -> int:
    """Check whether AGENT may call TOOL: exit code 0 for yes, 1 for no."""
    settings = settings_of(flags)
    catalogue = open_project(settings)
    entry = known_tool(catalogue, tool, settings.server_name)
    may = Policy(catalogue.grants).allows(known_agent(catalogue, agent), entry.id)
    if as_json:
        print_json({"agent": agent, "operation": entry.id, "allowed": may})
    else:
        click.echo(f"{agent} {'may' if may else 'may not'} call {entry.id}")
    return OK if may else FINDINGS


@command.command("list", epilog="Example: gateway access list flight_search")
@click.argument("agent", required=False)
@settings_options("package")
@json_option
def list_access(*, agent: str | None, as_json: bool, **flags: Any) -> None:
    """List what AGENT may call, or all agents with what each may call."""
    settings = settings_of(flags)
    catalogue = open_project(settings)
    agents = [known_agent(catalogue, agent)] if agent else sorted(catalogue.grants)
    grants = {name: sorted(catalogue.grants[name]) for name in agents}
    if as_json:
        print_json(grants)
    else:
        print_table(
            ("agent", "operation"), ((name, one) for name in agents for one in grants[name])
        )
