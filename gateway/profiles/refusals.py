"""What a client would refuse of a list of tools."""

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from gateway.amounts import amount
from gateway.contract.agent_view import SERVER
from gateway.contract.schemas.keywords import subschemas
from gateway.contract.values.pointers import child
from gateway.profiles.clients import ClientProfile
from gateway.profiles.limits import size_of
from gateway.profiles.rules import SchemaRule

Schema = dict[str, Any]


class ShownTool(Struct, frozen=True, kw_only=True):
    """A tool as a client is shown it."""

    name: str
    input_schema: Schema
    output_schema: Schema | None = None


class ClientRefusal(Struct, frozen=True, kw_only=True):
    """One reason for which a client drops a tool, or the whole list."""

    client: str
    """The name of its profile."""
    rule: str
    tool: str | None
    """None: the whole list."""
    pointer: str
    """JSON Pointer into the tool as `tools/list` shows it."""
    message: str


def refusals(
    tools: Iterable[ShownTool], profile: ClientProfile, server: str = SERVER
) -> Iterator[ClientRefusal]:
    """What the clients of `profile` refuse of a list of `tools`.

    `server` is the user's name for the gateway, which some clients put before names of tools.
    """
    count = 0
    for tool in tools:
        count += 1
        yield from _of_tool(tool, profile, server)
    if profile.max_tools is not None and count > profile.max_tools:
        yield ClientRefusal(
            client=profile.name,
            rule="list/tools",
            tool=None,
            pointer="",
            message=f"{count:,} tools, at most {profile.max_tools}",
        )


def _of_tool(tool: ShownTool, profile: ClientProfile, server: str) -> Iterator[ClientRefusal]:
    def refused(rule: str, pointer: str, message: str) -> ClientRefusal:
        return ClientRefusal(
            client=profile.name, rule=rule, tool=tool.name, pointer=pointer, message=message
        )

    room = profile.room(server)
    if room is not None and len(tool.name) > room:
        shown = f"{profile.prefix.format(server=server)}{tool.name}"
        message = f"{shown} has {amount(len(shown), 'character')}, at most {profile.max_name}"
        yield refused("tool/name", "/name", message)
    for rule, pointer in _broken(tool.input_schema, profile.rules):
        yield refused(rule.id, f"/inputSchema{pointer}", rule.meaning)
    if profile.limits is not None:
        for message in size_of(tool.input_schema).exceeds(profile.limits):
            yield refused("schema/size", "/inputSchema", message)
    if tool.output_schema is not None:
        for rule, pointer in _broken(tool.output_schema, profile.output_rules):
            yield refused(rule.id, f"/outputSchema{pointer}", rule.meaning)


def _broken(schema: Schema, rules: tuple[SchemaRule, ...]) -> Iterator[tuple[SchemaRule, str]]:
    """The rules that `schema` breaks, each with the pointer to the place."""
    everywhere = [rule for rule in rules if not rule.is_root]
    for pointer, node in subschemas(schema) if everywhere else (("", schema),):
        for rule in rules if pointer == "" else everywhere:
            for keyword in rule.found(node):
                yield rule, child(pointer, keyword) if keyword else pointer
