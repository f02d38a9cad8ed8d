"""What policies and tools declare of calls: grants, limits, attempts and tasks."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

from msgspec import Struct

from gateway.amounts import amount
from gateway.authoring.contracts import meta
from gateway.authoring.contracts.tree import ToolSource
from gateway.contract.operation import JOB_AFTER_SECONDS, Effect
from gateway.contract.policies.grants import ArgumentGrant, Schema, without
from gateway.contract.values.nearest import hint
from gateway.contract.values.pointers import child, steps

# The form of the members of `x-policy` that `import.yaml` may have too.

MEMBERS: Final = ("timeoutSeconds", "task", "attempts")
_FIX_POLICY: Final = "write it like {timeoutSeconds: 120, task: auto, attempts: {max: 2}}"


def policy_problems(policy: Any) -> Iterator[tuple[str, str, str]]:
    """What is wrong with the policy of a tool: the JSON Pointer in it, a message and a fix."""
    for name, value in policy.items():
        place = child("", name)
        if name not in MEMBERS:
            yield place, f"a policy has no member {name!r}", hint(name, MEMBERS, _FIX_POLICY)
            continue
        for each in meta.validator(f"x-policy.schema.json#/properties/{name}").violations(value):
            yield f"{place}{each.pointer}", each.detail, _FIX_POLICY


def is_auto_in_vain(task: str, timeout_seconds: float) -> bool:
    """Whether no call becomes a job, though the policy lets long ones become jobs."""
    return task == "auto" and timeout_seconds <= JOB_AFTER_SECONDS


# The form of a tool's limits, and limits that are never reached.
#
# Contracts of tools (`x-policy.limits`), policies and `import.yaml` have them.

_FORM: Final = "x-policy.schema.json#/properties/limits"
_MEMBERS: Final = ("calls", "concurrent", "cost", "max", "seconds")
_FIX_LIMITS: Final = "write them like {calls: [{max: 100, seconds: 3600}], concurrent: 5, cost: 2}"
_REACHED: Final = "correct the numbers, or remove the limit that is never reached"


def limit_problems(limits: Any) -> Iterator[tuple[str, str, str]]:
    """What is wrong with the limits of a tool: the JSON Pointer in them, a message and a fix."""
    violations = meta.validator(_FORM).violations(limits)
    for each in violations:
        fix = _FIX_LIMITS
        if each.keyword == "additionalProperties":
            fix = hint(steps(each.pointer)[-1], _MEMBERS, _FIX_LIMITS)
        yield each.pointer, each.detail, fix
    if not violations:
        for pointer, message in unreached_limits(limits):
            yield pointer, message, _REACHED


def unreached_limits(limits: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Limits that others always reach first: the JSON Pointer in `limits`, and a message."""
    windows = limits.get("calls", ())
    for (_, first), (index, second) in combinations(enumerate(windows), 2):
        where = f"/calls/{index}"
        if first["seconds"] == second["seconds"]:
            yield (
                f"{where}/seconds",
                f"there are two windows of {amount(first['seconds'], 'second')}",
            )
            continue
        shorter, longer = sorted((first, second), key=lambda each: each["seconds"])
        if longer["max"] <= shorter["max"]:
            message = (
                f"{amount(shorter['max'], 'call')} in {amount(shorter['seconds'], 'second')} are"
                f" never reached, because only {longer['max']} may be made in"
                f" {amount(longer['seconds'], 'second')}"
            )
            yield f"{where}/max", message
    concurrent = limits.get("concurrent")
    fewest = min((each["max"] for each in windows), default=None)
    if concurrent is not None and fewest is not None and concurrent > fewest:
        message = (
            f"{amount(concurrent, 'call')} at the same time are never reached, because a window"
            f" allows only {fewest}"
        )
        yield "/concurrent", message


# What policies grant: grants as they are written, and what they are for the tools there are.
#
# The lint and the generator share it. Each knows other tools: the lint those with contract files,
# the generator those of imported documents too.

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
