"""Checks of grants: they name tools that exist, and their conditions mean what they seem to mean.

The lint knows the tools with contract files. `gateway generate` makes the same checks with the
tools of imported documents.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from pathlib import PurePosixPath
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from gateway.authoring.contracts.expanding import dereference
from gateway.authoring.contracts.finding import ContractRefused, Finding
from gateway.authoring.contracts.patterns import shared_form
from gateway.authoring.contracts.policies import (
    EVERY_TOOL,
    GrantableTool,
    WrittenGrant,
    connector_of,
    grantable,
    is_pattern,
    written_grants,
)
from gateway.authoring.contracts.refs import INPUT
from gateway.authoring.contracts.tree import POLICIES, TOOLS, needs_grant
from gateway.authoring.lint.draft import Draft
from gateway.authoring.lint.schemas import AMBER, GREEN, compiles, unportable
from gateway.contract.credentials import SCOPES
from gateway.contract.schemas.algebra import covers, is_empty
from gateway.contract.schemas.keywords import subschemas
from gateway.contract.values.nearest import did_you_mean
from gateway.contract.values.pointers import child
from gateway.contract.values.schema import Validator

_REFERENCES: Final = frozenset({"$ref", "$defs", "$schema"})
_WHOLE: Final = frozenset(
    {
        *("additionalProperties", "maxProperties", "minProperties", "patternProperties"),
        *("propertyNames", "unevaluatedProperties"),
    }
)
"""Keywords about all members at once: the gateway adds arguments, such as `fields`."""
_PORTABLE: Final = "Write a pattern of linear time that means the same in every engine."

Schema = Mapping[str, Any]


class GrantProblem(Struct, frozen=True, kw_only=True):
    """What is wrong with a grant."""

    rule: str
    place: str
    """The JSON Pointer in the policies."""
    line: int = 1
    """That of the grant."""
    message: str
    fix: str | None = None  # None: the fix of the rule


class KnownTools(Struct, frozen=True, kw_only=True):
    """What grants may name."""

    tools: Mapping[str, GrantableTool]
    """By id."""
    others: Collection[str]
    """The scopes, and the resources and prompts that need a grant."""
    input_of: Callable[[str], Schema | None]
    """The input schema of a tool, without references to files. None: it is not known."""

    @property
    def names(self) -> set[str]:
        return {*self.tools, *self.others}


def check_grants(draft: Draft) -> Iterator[Finding]:
    """policy/unknown-tool, policy/redundant, policy/grant, policy/optional-argument"""
    document = draft.tree.policies
    if document is None or POLICIES in draft.misshapen:
        return
    offered = (*draft.resources, *draft.prompts)
    known = KnownTools(
        tools={tool.id: grantable(tool) for tool in draft.tools},
        others={*SCOPES, *(each.grant for each in offered if needs_grant(each))},
        input_of=partial(_input_of, draft),
    )
    for agent, facts in document.value["agents"].items():
        every = written_grants(agent, facts)
        grants = [each for each in every if not _is_for_later(draft, each)]
        for each in grant_problems(grants, every, known):
            yield draft.finding(each.rule, document, each.place, each.message, each.fix)


def grant_problems(
    grants: Iterable[WrittenGrant], every: Collection[WrittenGrant], known: KnownTools
) -> Iterator[GrantProblem]:
    """What is wrong with `grants`, which are among `every` grant of one agent."""
    names = known.names
    for grant in grants:
        for each in _of_grant(grant, every, known, names):
            yield replace(each, line=grant.line)


def _of_grant(
    grant: WrittenGrant, every: Collection[WrittenGrant], known: KnownTools, names: Collection[str]
) -> Iterator[GrantProblem]:
    unknown = [*_unknown(grant, known, names)]
    yield from unknown
    matched = [tool for tool in known.tools.values() if grant.has(tool)]
    if not unknown and not matched and not grant.is_for_all and not _is_of_names(grant):
        yield _matches_nothing(grant, known)
    if grant.arguments is not None:
        yield from _of_arguments(grant, matched, known)
    yield from _repeated(grant, every, matched)


def _is_of_names(grant: WrittenGrant) -> bool:
    return not grant.patterns and not grant.is_conditional


def _is_for_later(draft: Draft, grant: WrittenGrant) -> bool:
    """Whether the grant is about tools that the lint does not know."""
    imports = draft.tree.imports
    if EVERY_TOOL in grant.tools and grant.is_conditional and imports:
        return True
    named = [each for each in grant.tools if each != EVERY_TOOL]
    return any(connector_of(each) in imports or _is_unread(draft, each) for each in named)


def _is_unread(draft: Draft, grant: str) -> bool:
    """Whether a file that could not be read, or is misshapen, may be what is granted."""
    kind, _, name = grant.rpartition("/")
    connector, _, member = name.partition(".")
    folder = PurePosixPath(kind or TOOLS, connector)
    if is_pattern(grant):
        return draft.tree.has_unread(folder) or any(folder in p.parents for p in draft.misshapen)
    path = folder / f"{member}.yaml"
    return draft.tree.is_unread(path) or path in draft.misshapen


def _unknown(
    grant: WrittenGrant, known: KnownTools, names: Collection[str]
) -> Iterator[GrantProblem]:
    for each in grant.tools:
        if is_pattern(each):
            connector = connector_of(each)
            connectors = {connector_of(tool) or "" for tool in known.tools}
            if connector is not None and connector not in connectors:
                fix = did_you_mean(connector, connectors)
                yield _problem("unknown-tool", grant.place, f"there is no tool of {connector}", fix)
        elif each not in names or (grant.is_conditional and each not in known.tools):
            yield _problem("unknown-tool", grant.place, _unknown_text(each), _nearest(each, names))


def _unknown_text(grant: str) -> str:
    kind, _, name = grant.rpartition("/")
    if kind:
        return f"there is no {kind.removesuffix('s')} {name} that needs a grant of its own"
    if grant in SCOPES:
        return f"{grant} has no arguments and no effects: grant it by its name alone"
    return f"there is no tool {grant}"


def _nearest(grant: str, names: Collection[str]) -> str:
    found = did_you_mean(grant, names)
    forms = 'Write an id such as store.get_order, store.* for every tool of store, or "*".'
    return f"{found} {forms}" if found else forms


def _matches_nothing(grant: WrittenGrant, known: KnownTools) -> GrantProblem:
    tags = sorted({tag for tool in known.tools.values() for tag in tool.tags})
    missing = [tag for tag in grant.tags if tag not in tags]
    if missing:
        fix = did_you_mean(missing[0], tags) or "Write a tag that a tool has."
        return _problem("unknown-tool", grant.place, f"no tool has the tag {missing[0]}", fix)
    of = ", ".join(grant.tools)
    if grant.effects is None:
        text, fix = f"every tool of {of} destroys", "Grant it by its id, or with `effects`."
    else:
        text = f"no tool of {of} has an effect of {', '.join(grant.effects)}"
        fix = "`gateway tools list` shows the effects."
    return _problem("unknown-tool", grant.place, text, fix)


def _of_arguments(
    grant: WrittenGrant, matched: Iterable[GrantableTool], known: KnownTools
) -> Iterator[GrantProblem]:
    place, condition = child(grant.place, "arguments"), grant.arguments or {}
    refused = next(_refused(condition, place), None)
    if refused is not None:
        yield refused
        return
    for tool in matched:
        schema = known.input_of(tool.id)
        if schema is not None:
            yield from _of_tool(place, condition, tool.id, schema)


def _refused(condition: Schema, place: str) -> Iterator[GrantProblem]:
    """Why the condition cannot be used at all."""
    for name in sorted(_WHOLE & condition.keys()):
        fix = "Name each argument under `properties`, with `false` for one that no call may have."
        yield _problem("grant", child(place, name), f"{name} is about every argument", fix)
    for pointer, schema in subschemas(condition, place):
        for name in schema:
            if name not in (GREEN | AMBER) - _REFERENCES:
                text = f"a condition has no {name}"
                yield _problem("grant", child(pointer, name), text, "Write what it means in place.")
        pattern = schema.get("pattern")
        if isinstance(pattern, str) and not _is_usable(pattern):
            text = "clients and the gateway may read this pattern differently"
            yield _problem("grant", child(pointer, "pattern"), text, _PORTABLE)
    try:
        Validator({**condition})
    except ValueError as error:
        why = str(error).partition("\n")[0]
        yield _problem("grant", place, f"this is no JSON Schema: {why}", "Correct it.")


def _is_usable(pattern: str) -> bool:
    return not unportable(pattern) and compiles(pattern) and shared_form(pattern) == pattern


def _of_tool(place: str, condition: Schema, tool: str, schema: Schema) -> Iterator[GrantProblem]:
    members = schema.get("properties", {})
    is_closed = schema.get("additionalProperties") is False
    for name in condition.get("properties", {}):
        if name not in members and is_closed:
            where, text = child(child(place, "properties"), name), f"{tool} has no argument {name}"
            yield _problem("grant", where, text, did_you_mean(name, members))
            return
    both = {**schema, "allOf": [*schema.get("allOf", ()), {**condition}]}
    if is_empty(both):
        yield _problem("grant", place, f"no call of {tool} can have such arguments")
    elif covers({**condition}, {**schema}):
        text = f"every call of {tool} has such arguments, so this restricts nothing"
        yield _problem("grant", place, text, "Correct it, or grant the tool without it.")
    else:
        yield from _optional(place, condition, tool, schema)


def _optional(place: str, condition: Schema, tool: str, schema: Schema) -> Iterator[GrantProblem]:
    """Arguments with a condition that calls may leave out, though their default breaks it."""
    required = {*schema.get("required", ()), *condition.get("required", ())}
    for name, wanted in condition.get("properties", {}).items():
        member = schema.get("properties", {}).get(name)
        if name in required or not isinstance(member, dict) or not isinstance(wanted, dict):
            continue
        where = child(child(place, "properties"), name)
        fix = f"Add `required: [{name}]` to the condition, if every call must have it."
        if "default" not in member:
            text = f"a call of {tool} may leave {name} out"
            yield _problem("optional-argument", where, text, fix)
        elif not Validator(wanted).admits(member["default"]):
            text = f"a call of {tool} without {name} gets the default, which the grant refuses"
            yield _problem("grant", where, text, fix)


def _repeated(
    grant: WrittenGrant, grants: Iterable[WrittenGrant], matched: Collection[GrantableTool]
) -> Iterator[GrantProblem]:
    """What other grants of the agent grant with any arguments already."""
    is_narrower = grant.arguments is not None or grant.effects is not None
    for other in grants:
        if other is grant or other.is_conditional or not _includes(other, grant, matched):
            continue
        first = other.tools[0]
        if is_narrower:
            text = f"`{first}` already grants this, with all arguments and effects"
            yield _problem("grant", grant.place, text, f"Remove {first}, or this grant.")
        elif is_pattern(first):
            text = f"`{first}` already grants {', '.join(grant.tools)}"
            yield _problem("redundant", grant.place, text)


def _includes(other: WrittenGrant, grant: WrittenGrant, matched: Collection[GrantableTool]) -> bool:
    """Whether `other` grants everything that `grant` does, and more."""
    if grant.is_for_all:
        return False
    if matched:
        return all(other.has(tool) for tool in matched)
    return other.is_for_all and any("/" in each for each in grant.tools)


def _input_of(draft: Draft, tool_id: str) -> Schema | None:
    tool = next(each for each in draft.tools if each.id == tool_id)
    try:
        schema = dereference(draft.tree, tool.path, INPUT)
    except ContractRefused:
        return None
    return schema if isinstance(schema, dict) else None


def _problem(rule: str, place: str, message: str, fix: str | None = None) -> GrantProblem:
    return GrantProblem(rule=f"policy/{rule}", place=place, message=message, fix=fix)
