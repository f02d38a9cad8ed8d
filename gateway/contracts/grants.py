"""What policies grant: grants as they are written, and what they are for the tools there are.

The lint and the generator share it. Each knows other tools: the lint those with contract files, the
generator those of imported documents too.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from gateway.contract.operation import Effect
from gateway.contract.policies.grants import ArgumentGrant, Schema, without
from gateway.contract.values.pointers import child
from gateway.contracts.sources.tree import ToolSource

EVERY_TOOL: Final = "*"
_EVERY_OF: Final = ".*"


class WrittenGrant(Struct, frozen=True, kw_only=True):
    """One item of `grants` in the policies."""

    place: str
    """Its JSON Pointer in the file."""
    line: int = 1
    tools: tuple[str, ...]
    """Ids, `<connector>.*` and `*`. Of `*` and ids also those of resources, prompts and scopes."""
    tags: tuple[str, ...] = ()
    """Only tools with one of these tags. Empty: with any or none."""
    effects: tuple[Effect, ...] | None = None
    """Only calls with one of these effects. None: what destroys must be granted by its id."""
    arguments: dict[str, Any] | None = None
    """Only calls whose arguments are valid under this schema."""

    @property
    def is_for_all(self) -> bool:
        """Whether it grants every tool that destroys nothing, every resource and every prompt."""
        return EVERY_TOOL in self.tools and not self.is_conditional

    @property
    def is_conditional(self) -> bool:
        """Whether it says more than which tools."""
        return bool(self.tags) or self.effects is not None or self.arguments is not None

    @property
    def names(self) -> tuple[str, ...]:
        """The ids among `tools`."""
        return tuple(each for each in self.tools if not is_pattern(each))

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns among `tools`."""
        return tuple(each for each in self.tools if is_pattern(each))

    def has(self, tool: "GrantableTool") -> bool:
        """Whether it grants `tool`, for some arguments at least."""
        is_named = tool.id in self.tools
        if not (is_named or any(_matches(each, tool.id) for each in self.patterns)):
            return False
        if self.tags and not {*self.tags} & {*tool.tags}:
            return False
        if self.effects is not None:
            return tool.effect in self.effects
        return is_named or tool.effect is not Effect.DESTROY

    def condition(self, tool: "GrantableTool") -> Schema | None:
        """The schema for the arguments with which it grants `tool`. None: it grants it with all."""
        turns = tool.writes_if is not None and self.effects is not None
        reads = without(tool.writes_if or "") if turns and not self._writes else None
        if reads is None or self.arguments is None:
            return reads if self.arguments is None else self.arguments
        return {"allOf": [self.arguments, reads]}

    @property
    def _writes(self) -> bool:
        return self.effects is None or Effect.WRITE in self.effects


class GrantableTool(Struct, frozen=True, kw_only=True):
    """What grants need to know of a tool."""

    id: str
    effect: Effect
    tags: tuple[str, ...] = ()
    writes_if: str | None = None
    """The argument that makes a read write."""


class Granted(Struct, frozen=True, kw_only=True):
    """What the grants of one agent are for the tools there are."""

    ids: tuple[str, ...]
    """Ids of operations, scopes, resources and prompts, sorted."""
    conditions: tuple[ArgumentGrant, ...] = ()
    """Those of `ids` that are granted with some arguments only."""

    @property
    def conditional(self) -> frozenset[str]:
        """The ids that are granted with some arguments only."""
        return frozenset(tool for each in self.conditions for tool in each.tools)


def grantable(tool: ToolSource) -> GrantableTool:
    """What grants need to know of a tool whose file is valid by its meta-schema."""
    policy = tool.operation["x-policy"]
    return GrantableTool(
        id=tool.id,
        effect=Effect(policy["effect"]),
        tags=tuple(tool.operation["tags"]),
        writes_if=policy.get("escalation", {}).get("when"),
    )


def is_pattern(grant: str) -> bool:
    """Whether it stands for several tools."""
    return grant == EVERY_TOOL or grant.endswith(_EVERY_OF)


def connector_of(pattern: str) -> str | None:
    """The connector whose tools a pattern or an id stands for. None: the tools of all."""
    return None if pattern == EVERY_TOOL else pattern.rpartition("/")[2].partition(".")[0]


def written_grants(
    agent: str, facts: Mapping[str, Any], line_of: Callable[[str], int] = lambda _: 1
) -> tuple[WrittenGrant, ...]:
    """The grants of `agent` by its `facts` in the policies, which are valid by their schema.

    `line_of` gives the line of a JSON Pointer.
    """
    pointer = child(child("/agents", agent), "grants")
    places = (child(pointer, index) for index in range(len(facts["grants"])))
    return tuple(
        _written(place, line_of(place), each)
        for place, each in zip(places, facts["grants"], strict=True)
    )


def granted(
    grants: Iterable[WrittenGrant], tools: Sequence[GrantableTool], others: Iterable[str]
) -> Granted:
    """What `grants` are for `tools`. `others` are the resources and prompts that need a grant."""
    ids: set[str] = set()
    free: set[str] = set()
    found: list[ArgumentGrant] = []
    for grant in grants:
        ids |= {
            *(() if grant.is_conditional else grant.names),
            *(others if grant.is_for_all else ()),
        }
        for condition, names in _conditions(grant, tools):
            ids |= names
            if condition is None:
                free |= names
            else:
                found.append(ArgumentGrant(place=grant.place, tools=names, arguments=condition))
    left = (
        ArgumentGrant(place=each.place, tools=each.tools - free, arguments=each.arguments)
        for each in found
    )
    return Granted(ids=tuple(sorted(ids)), conditions=tuple(each for each in left if each.tools))


def _conditions(
    grant: WrittenGrant, tools: Iterable[GrantableTool]
) -> Iterator[tuple[Schema | None, frozenset[str]]]:
    """The tools that `grant` grants, by the argument that would make them write."""
    groups: dict[str | None, list[GrantableTool]] = defaultdict(list)
    for tool in tools:
        if grant.has(tool):
            groups[tool.writes_if].append(tool)
    for each in groups.values():
        yield grant.condition(each[0]), frozenset(tool.id for tool in each)


def _written(place: str, line: int, grant: Any) -> WrittenGrant:
    if isinstance(grant, str):
        return WrittenGrant(place=place, line=line, tools=(grant,))
    tools, effects = grant["tools"], grant.get("effects")
    return WrittenGrant(
        place=place,
        line=line,
        tools=(tools,) if isinstance(tools, str) else tuple(tools),
        tags=tuple(grant.get("tags", ())),
        effects=None if effects is None else tuple(map(Effect, effects)),
        arguments=grant.get("arguments"),
    )


def _matches(pattern: str, tool: str) -> bool:
    return pattern == EVERY_TOOL or tool.startswith(pattern.removesuffix("*"))
