"""Compares what two sides offer: which changes are proved safe, and which break whom."""

from collections.abc import Callable, Container, Iterator, Mapping
from functools import partial
from typing import Any, Final

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from gateway.authoring.diff.changes import (
    ChangePlace,
    ChangeVerdict,
    ContractChange,
    Direction,
    Level,
)
from gateway.authoring.diff.descent import TwoDefinitions
from gateway.authoring.diff.messages import Messages, ShownMessage
from gateway.authoring.diff.proving import Gap, SchemaComparison
from gateway.authoring.diff.remarks import Remarks
from gateway.authoring.diff.rules import RULES, severity_at
from gateway.authoring.diff.surface import (
    ExchangedSchema,
    Fact,
    Subject,
    Subjects,
    Users,
    is_enough,
    lonely,
    paired,
    sent_instead,
)
from gateway.authoring.diff.texts import ANY_TEXT, ONE_VALUE, as_texts
from gateway.contract.values.pointers import child, steps
from gateway.contract.values.schema import PREFIX

_REQUIRED: Final = {True: "input-required-added", False: "output-required-lost"}
_MEMBER: Final = {True: "input-member-declared", False: "output-member-lost"}
_NARROWED: Final = {True: "input-narrowed", False: "output-widened"}
_SAFE: Final = {True: "input-widened", False: "output-narrowed"}
_DEFAULT: Final = {True: "input-default-changed", False: "output-default-changed"}
_DECLARED: Final = ", which refuses only who sent another value under its name before"
_LISTS: Final = frozenset({"enum", "oneOf", "anyOf"})
_SHOWN: Final = 60
"""Characters of a value in a text."""


class Comparer:
    """Compares two sides. TwoDefinitions that many contracts share are compared once."""

    def __init__(self, level: Level) -> None:
        self._level = level
        self._definitions: dict[tuple[int, int], TwoDefinitions] = {}
        self._known: dict[tuple[int, int, bool], dict[tuple[str, str], bool]] = {}
        self._remarks: dict[tuple[int, int], Remarks] = {}
        self._messages = Messages({}, {})
        self._users = (Users(()), Users(()))

    def changes(
        self, old: Subjects, new: Subjects, step: Callable[[str], None] = lambda _: None
    ) -> tuple[ContractChange, ...]:
        """All changes, in the order of their subjects, each once."""
        found: list[ContractChange] = []
        self._remarks = {}
        self._messages = Messages(old, new)
        self._users = (Users(old.values()), Users(new.values()))
        for name in sorted(old.keys() | new.keys()):
            step(name)
            if name not in new:
                found.append(self._gone(old[name]))
            elif name not in old:
                found.append(self._come(new[name]))
            else:
                found += self._subject(old[name], new[name])
        operations = {each.name for each in new.values() if each.kind == "operation"}
        return _unique(found, operations)

    def _gone(self, subject: Subject) -> ContractChange:
        text = f"the {subject.kind} is gone"
        change = self._structural(f"{subject.kind}-removed", subject.name, text, old=subject.place)
        return self._shown(change, lambda: self._messages.of_contract(subject))

    def _come(self, subject: Subject) -> ContractChange:
        text = f"the {subject.kind} is new"
        return self._structural(f"{subject.kind}-added", subject.name, text, new=subject.place)

    def _structural(
        self,
        rule: str,
        subject: str,
        text: str,
        old: ChangePlace | None = None,
        new: ChangePlace | None = None,
        direction: Direction | None = None,
    ) -> ContractChange:
        severity = severity_at(RULES[rule], self._level)
        is_break = RULES[rule].severity == "error"
        safe = ChangeVerdict.SAFE if RULES[rule].severity == "info" else ChangeVerdict.POLICY
        return ContractChange(
            rule=rule,
            subject=subject,
            direction=direction,
            verdict=ChangeVerdict.BREAKING if is_break else safe,
            severity=severity,
            text=text,
            old=old,
            new=new,
        )

    def _shown(
        self, change: ContractChange, show: Callable[[], ShownMessage | None]
    ) -> ContractChange:
        """`change` with a message that shows it. Without one, only its rule says that it breaks."""
        if change.verdict is not ChangeVerdict.BREAKING:
            return change
        if (found := show()) is None:
            unshown = self._messages.unmade
            return replace(change, verdict=ChangeVerdict.POLICY, unshown=unshown)
        return replace(
            change, witness=found.message, accepted_by=found.accepted_by, refusal=found.refusal
        )

    def _subject(self, old: Subject, new: Subject) -> Iterator[ContractChange]:
        yield from self._facts(old, new)
        yield from self._security(old, new)
        for part in lonely(old, new):
            if part.removed:
                text = f"{part.name} is gone"
                place = part.locate("")
                change = self._structural(
                    part.removed, old.name, text, old=place, direction=part.direction
                )
                yield self._shown(change, partial(self._messages.of_part, old, part))
        for part in lonely(new, old):
            if part.added:
                text = f"{part.name} is new"
                place = part.locate("")
                yield self._structural(
                    part.added, old.name, text, new=place, direction=part.direction
                )
        for one, other in paired(old, new):
            yield from self._part(old.name, one, other)

    def _facts(self, old: Subject, new: Subject) -> Iterator[ContractChange]:
        narrower = {name for each in new.facts.values() for name in sent_instead(each)}
        for name, one in old.facts.items():
            if name in new.facts:
                yield from self._fact(old, name, one, new.facts[name])
            elif one.removed and new.facts.keys().isdisjoint(one.fallback):
                is_part = name in narrower
                rule = "status-narrowed" if is_part else one.removed
                text = f"{name} is {'narrower now' if is_part else 'gone'}"
                change = self._structural(
                    rule, old.name, text, old=one.place, direction=one.direction
                )
                yield self._shown(change, partial(self._messages.of_fact, old, name))
        for name, other in new.facts.items():
            is_new = name not in old.facts and old.facts.keys().isdisjoint(other.fallback)
            if is_new and other.added:
                text = f"{name} is new"
                change = self._structural(
                    other.added, old.name, text, new=other.place, direction=other.direction
                )
                yield self._shown(change, partial(self._messages.of_fact, old, name))

    def _fact(self, subject: Subject, name: str, old: Fact, new: Fact) -> Iterator[ContractChange]:
        if old.value != new.value and old.changed:
            text = f"{name}: {old.value} → {new.value}"
            change = self._structural(
                old.changed, subject.name, text, old.place, new.place, old.direction
            )
            yield self._shown(change, partial(self._messages.of_fact, subject, name))

    def _security(self, old: Subject, new: Subject) -> Iterator[ContractChange]:
        before, after = old.security or (frozenset(),), new.security or (frozenset(),)
        refused = [each for each in before if not any(is_enough(each, one) for one in after)]
        if refused:
            text = "credentials that were enough are not any more"
            change = self._structural("security-narrowed", old.name, text, old.place, new.place)
            yield self._shown(change, partial(self._messages.of_security, old, refused[0]))
        elif any(all(not is_enough(each, one) for one in before) for each in after):
            text = "other credentials are enough too"
            yield self._structural("security-widened", old.name, text, old.place, new.place)

    def _part(
        self, subject: str, old: ExchangedSchema, new: ExchangedSchema
    ) -> Iterator[ContractChange]:
        """The changes of one schema: what breaks, else what is proved to be safe."""
        grows = old.direction.may_grow
        old, new = as_texts(old, new)
        outer, inner = (new, old) if grows else (old, new)
        broken: set[tuple[str, str]] = set()
        if (comparison := self._compared(outer, inner)) is not None:
            for gap in comparison.gaps():
                broken.add((gap.candidate.inner.at, gap.candidate.outer.at))
                places = (gap.candidate.outer.at, gap.candidate.inner.at)
                reached = self._reached((old, new), places[::-1] if grows else places, subject)
                change = replace(self._breaking(subject, outer, inner, gap), reached=reached)
                if gap.witness is not UNSET:
                    small, refusal = comparison.explained(gap.witness)
                    change = replace(change, witness=small, refusal=refusal)
                yield change
        other = self._compared(inner, outer)
        for gap in other.gaps() if other is not None else ():
            places = (gap.candidate.outer.at, gap.candidate.inner.at)
            if places not in broken:
                at = places if grows else places[::-1]
                reached = self._reached((old, new), at, subject)
                yield replace(self._safe(subject, outer, inner, gap), reached=reached)
        if old.written is not True:
            yield from self._said(subject, old, new)

    def _said(
        self, subject: str, old: ExchangedSchema, new: ExchangedSchema
    ) -> Iterator[ContractChange]:
        """What the two say otherwise of members, whatever they admit."""
        key = (id(old.components), id(new.components))
        if key not in self._remarks:
            differing = self._both(old.definitions, new.definitions).differing
            self._remarks[key] = Remarks(differing)
        default = _DEFAULT[old.direction.may_grow]
        for each in self._remarks[key].of((old, new)):
            where = f"{old.name}: {each.where.removeprefix('.') or 'the whole'}"
            if each.keyword == "default":
                rule, text = default, f"{where}: default {_text(each.before)} → {_text(each.after)}"
            else:
                rule = "deprecated" if each.after else "deprecation-withdrawn"
                text = f"{where} is {'deprecated now' if each.after else 'not deprecated any more'}"
            places = old.locate(each.at[0]), new.locate(each.at[1])
            change = self._structural(rule, subject, text, *places, old.direction)
            yield replace(change, reached=self._reached((old, new), each.at, subject))

    def _reached(
        self, parts: tuple[ExchangedSchema, ...], places: tuple[str, ...], subject: str
    ) -> tuple[str, ...]:
        """The other contracts that use the definitions at `places`, of the old and the new side."""
        found: frozenset[str] | None = None
        for users, part, at in zip(self._users, parts, places, strict=True):
            if at.startswith("#"):
                reached = users.of(steps(f"/{at[1:]}")[0], part)
                found = reached if found is None else found & reached
        return tuple(sorted((found or frozenset()) - {subject}))

    def _compared(self, outer: ExchangedSchema, inner: ExchangedSchema) -> SchemaComparison | None:
        """Whether `outer` admits all that `inner` does. None: they are written alike."""
        definitions = self._both(outer.definitions, inner.definitions)
        if definitions.are_same(outer.schema, inner.schema):
            return None
        key = (id(outer.definitions), id(inner.definitions), outer.direction.may_grow)
        known = self._known.setdefault(key, {})
        return SchemaComparison(definitions, known, outer.schema, inner.schema)

    def _both(self, outer: Mapping[str, Any], inner: Mapping[str, Any]) -> TwoDefinitions:
        key = (id(outer), id(inner))
        if key not in self._definitions:
            self._definitions[key] = TwoDefinitions(outer, inner)
        return self._definitions[key]

    def _breaking(
        self, subject: str, outer: ExchangedSchema, inner: ExchangedSchema, gap: Gap
    ) -> ContractChange:
        grows = inner.direction.may_grow
        wanted = {"required": _REQUIRED, "member": _MEMBER, "narrowed": _NARROWED}
        candidate = gap.candidate
        rule = RULES[wanted[candidate.want][grows]]
        if inner.member_removed and candidate.outer.schema is False and len(candidate.chain) == 1:
            rule = RULES[inner.member_removed]
        is_shown = gap.witness is not UNSET
        outer_place, inner_place = _places(outer, inner, gap)
        whom = _DECLARED if candidate.want == "member" and grows else ""
        unasked = f"; {candidate.unasked}" if candidate.unasked and not is_shown else ""
        return ContractChange(
            rule=rule.id if is_shown else "schema-rewritten",
            subject=subject,
            direction=inner.direction,
            verdict=ChangeVerdict.BREAKING if is_shown else ChangeVerdict.UNDECIDED,
            severity=severity_at(rule, self._level) if is_shown else "error",
            text=f"{inner.name}: {_what(gap, is_outer_new=grows)}{whom}{unasked}",
            old=inner_place if grows else outer_place,
            new=outer_place if grows else inner_place,
            accepted_by=("old" if grows else "new") if is_shown else None,
        )

    def _safe(
        self, subject: str, outer: ExchangedSchema, inner: ExchangedSchema, gap: Gap
    ) -> ContractChange:
        """A change that is proved to be safe. `gap` is of the other direction."""
        grows = inner.direction.may_grow
        inner_place, outer_place = _places(inner, outer, gap)
        rule = RULES[_SAFE[grows]]
        return ContractChange(
            rule=rule.id,
            subject=subject,
            direction=inner.direction,
            verdict=ChangeVerdict.SAFE,
            severity=rule.severity,
            text=f"{inner.name}: {_what(gap, is_outer_new=not grows)}",
            old=inner_place if grows else outer_place,
            new=outer_place if grows else inner_place,
        )


def _places(
    outer: ExchangedSchema, inner: ExchangedSchema, gap: Gap
) -> tuple[ChangePlace, ChangePlace]:
    """Where the keyword of the gap is written, or the schema around it."""
    keywords = gap.candidate.keywords
    below = child("", keywords[0]) if len(keywords) == 1 else ""
    candidate = gap.candidate
    return outer.locate(candidate.outer.at + below), inner.locate(candidate.inner.at + below)


def _what(gap: Gap, *, is_outer_new: bool) -> str:
    """What differs at the place of a gap, as `passengers: maximum 19 → 16`."""
    candidate = gap.candidate
    before, after = candidate.outer.schema, candidate.inner.schema
    if is_outer_new:
        before, after = after, before
    steps = [_step(*link.step) for link in candidate.chain]
    where = "".join(each for each in steps if each).removeprefix(".") or "the whole"
    if candidate.want == "required":
        name = f"{where}.{candidate.name}".removeprefix("the whole.")
        return f"{name} is {'required now' if is_outer_new else 'not required any more'}"
    if candidate.want == "member":
        return f"{where} {'is described now' if is_outer_new else 'is not described any more'}"
    if before is False or after is False:
        return f"{where} {'is not allowed any more' if after is False else 'is allowed now'}"
    words = [_keyword(each, before, after) for each in candidate.keywords]
    return f"{where}: {', '.join(words) if words else 'another schema'}"


def _step(kind: str, where: Any) -> str:
    match kind:
        case "member":
            return f".{where}"
        case "any member":
            return ".*"
        case "item":
            return f"[{where}]"
        case "any item":
            return "[]"
        case _:
            return ""


def _keyword(keyword: str, before: Any, after: Any) -> str:
    old, new = before.get(keyword, UNSET), after.get(keyword, UNSET)
    if keyword in _LISTS and isinstance(old, list) and isinstance(new, list):
        gone = [_listed(each) for each in old if each not in new]
        come = [_listed(each) for each in new if each not in old]
        words = [f"without {_text(gone)}"] if gone else []
        words += [f"with {_text(come)}"] if come else []
        return f"{keyword} {' and '.join(words) or 'of the same names, of which one differs'}"
    if old is UNSET:
        return keyword if new is UNSET else f"{keyword} {_text(new)} is new"
    if new is UNSET:
        return f"{keyword} {_text(old)} is gone"
    return f"{keyword} {_text(old)} → {_text(new)}"


def _listed(value: Any) -> Any:
    """A value of an enumeration, or the name of a branch."""
    is_named = isinstance(value, dict) and list(value) == ["$ref"]
    return value["$ref"].removeprefix(PREFIX) if is_named else value


def _text(value: Any) -> str:
    for kinds, name in ((ANY_TEXT, "any text"), (ONE_VALUE, "one value")):
        if value == kinds:
            return name
    text = "none" if value is UNSET else msgspec.json.encode(value).decode()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _unique(
    changes: list[ContractChange], operations: Container[str]
) -> tuple[ContractChange, ...]:
    """Each change once, and one of a shared part as that of the first operation that uses it."""
    known: dict[bytes, ContractChange] = {}
    for each in changes:
        own = replace(each, witness=UNSET, refusal="", unshown="", reached=())
        is_once = each.subject in operations and _is_shared(each)
        key = msgspec.json.encode(replace(own, subject="") if is_once else own)
        first = known.setdefault(key, each)
        others = {*first.reached, *each.reached, each.subject} - {first.subject}
        known[key] = replace(first, reached=tuple(sorted(others)))
    return tuple(known.values())


def _is_shared(change: ContractChange) -> bool:
    """Whether all places of it are in components, which many contracts may use."""
    places = [each for each in (change.old, change.new) if each is not None]
    return bool(places) and all(each.pointer.startswith("/components/") for each in places)
