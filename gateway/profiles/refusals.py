"""What a client is shown of a list of tools, and what it would refuse: schemas and names."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from gateway.amounts import amount
from gateway.contract.agent_view import SERVER
from gateway.contract.schemas.keywords import subschemas
from gateway.contract.values.pointers import child
from gateway.profiles.clients import ClientProfile
from gateway.profiles.inlining import inlined
from gateway.profiles.limits import mapped, size_of, within
from gateway.profiles.rules import SchemaRule

# Compiles the schemas that a client is shown. They admit every object that the source admits.

Schema = dict[str, Any]


def published_input(schema: Schema, profile: ClientProfile) -> Schema:
    """The input schema that `profile` is shown in the place of `schema`.

    It is widened where the client cannot say it, never narrowed. Calls are validated with `schema`.
    """
    return schema if profile.is_source else widened_input(inlined(schema), profile)


def widened_input(whole: Schema, profile: ClientProfile) -> Schema:
    """As `published_input`, of a schema without references."""
    found = _widened(whole, profile.rules, is_root=True)
    return found if profile.limits is None else within(found, profile.limits)


def published_output(schema: Schema, profile: ClientProfile) -> Schema:
    """The output schema that `profile` is shown in the place of `schema`. See `published_input`."""
    if profile.is_source or not profile.output_rules:
        return schema
    return _widened(inlined(schema), profile.output_rules, is_root=True)


def _widened(schema: Schema, rules: tuple[SchemaRule, ...], *, is_root: bool) -> Schema:
    for rule in rules:
        if rule.widened is None or (rule.is_root and not is_root):
            continue
        if next(rule.found(schema), None) is not None:
            schema = rule.widened(schema)
    return mapped(schema, lambda _, part: _widened(part, rules, is_root=False))


# What a client would refuse of a list of tools.


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


# Short names for tools whose names are too long for a client.
#
# A short name is another name of the same tool. It depends on the tool's own name, and on the
# others only if two short names are equal, so it stays the same when tools are added.

_DIGEST: Final = 6
_LONGEST_DIGEST: Final = 40


def short_names(names: Iterable[str], room: int) -> Mapping[str, str]:
    """The short name of each of `names` that has more than `room` characters.

    All are different, and different from all `names`.
    """
    every = set(names)
    found: dict[str, str] = {}
    taken = set(every)
    for name in sorted(each for each in every if len(each) > room):
        short = _free(name, room, taken)
        taken.add(short)
        found[name] = short
    return found


def _free(name: str, room: int, taken: set[str]) -> str:
    for length in range(_DIGEST, _LONGEST_DIGEST):
        short = _shortened(name, room, length)
        if short not in taken:
            return short
    return _shortened(name, room, _LONGEST_DIGEST)


def _shortened(name: str, room: int, length: int) -> str:
    """The beginning of `name`, whole words if that leaves enough, and a digest of the rest."""
    digest = hashlib.sha256(name.encode()).hexdigest()[:length]
    space = max(room - length - 1, 0)
    head = name[:space]
    words = head.rpartition("_")[0] if name[space : space + 1] != "_" else head
    kept = words if len(words) * 2 > space else head
    return f"{kept.rstrip('_')}_{digest}"[-room:] if room > 0 else digest
