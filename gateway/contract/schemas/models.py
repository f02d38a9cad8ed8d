"""Finds a value of which all of some claims are true, or shows that there is none.

The claims are taken apart (`claims`) until conditions on one number, text, list or object are left,
and a value is made for these from its smallest parts on. If every alternative ends in a
contradiction, no value exists: that is a proof. Schemas that contain themselves need no special
case: a value is finite, so a smallest one never needs itself as its own part.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import product
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Struct

from gateway.contract.schemas.claims import (
    KINDS,
    Alternative,
    Assertion,
    Choice,
    Condition,
    Counted,
    MemberRules,
    Roots,
    Some,
    Unsupported,
    choices,
)
from gateway.contract.schemas.flattening import Steps
from gateway.contract.schemas.scalars import (
    EMPTY,
    UNKNOWN,
    Found,
    Solution,
    Words,
    boolean,
    is_listed,
    kind_of,
    null,
    number,
    some_text,
)
from gateway.contract.values.schema import Validator, matcher, with_definitions

_MAX_DEPTH: Final = 40
_MAX_ITEMS: Final = 24
_MAX_PLAIN: Final = 10_000
"""The most items of which none depends on others, but that they differ."""
_MAX_PATTERNS: Final = 40
_MAX_COUNTED: Final = 4
_CASE_STEPS: Final = 20


_Claims: TypeAlias = tuple[Assertion, ...]
_Key: TypeAlias = frozenset[tuple[bool, int, bytes]]


class Models:
    """Models of claims about the schemas of some documents. It stops after the steps of `work`."""

    def __init__(self, roots: tuple[Any, ...], work: Steps) -> None:
        self.work = work
        self._roots = roots
        self._documents = Roots(*roots)
        self._known: dict[_Key, Found] = {}
        self._under_way: dict[_Key, int] = {}
        self._lowest = _MAX_DEPTH
        self._validators: dict[tuple[int, bytes], Callable[[Any], bool]] = {}

    def of(self, *claims: Assertion) -> Found:
        """A value of which all claims are true.

        Raises `NoSample` when the steps are spent, `Unsupported`, and `ValueError` for schemas that
        the validator refuses.
        """
        key = frozenset(claim.key for claim in claims)
        if key in self._known:
            return self._known[key]
        if key in self._under_way:
            # The smallest value of these claims has no part of which the same claims are true.
            self._lowest = min(self._lowest, self._under_way[key])
            return EMPTY
        depth = len(self._under_way)
        if depth >= _MAX_DEPTH:
            return UNKNOWN
        self._under_way[key] = depth
        around, self._lowest = self._lowest, _MAX_DEPTH
        try:
            found = self._of_any_kind(claims)
        finally:
            del self._under_way[key]
        # What was assumed of claims that are still under way does not hold elsewhere.
        if self._lowest >= depth or isinstance(found, Solution):
            self._known[key] = found
        self._lowest = min(around, self._lowest if self._lowest < depth else _MAX_DEPTH)
        return found

    def _of_any_kind(self, claims: _Claims) -> Found:
        return first(partial(self.of_kind, kind, claims) for kind in KINDS)

    def of_kind(self, kind: str, claims: _Claims) -> Found:
        """A value of the kind."""
        return first(partial(self._made, kind, case) for case in self._cases(kind, claims))

    def _made(self, kind: str, case: "Words | Solution") -> Found:
        if isinstance(case, Solution):
            return case
        if kind in _SCALARS:
            return _SCALARS[kind](self.work, case)
        return _object(self, case) if kind == "object" else _array(self, case)

    def admits(self, claim: Assertion, value: Any) -> bool:
        """Whether the claim is true of the value, by the validator."""
        key = claim.key[1:]
        if key not in self._validators:
            root, schema = self._roots[claim.root], claim.schema
            if isinstance(schema, dict) and isinstance(root, dict):
                schema = with_definitions(schema, root.get("$defs", {}))
            self._validators[key] = Validator(schema).admits
        return self._validators[key](value) == claim.holds

    def _cases(self, kind: str, claims: _Claims) -> Iterator["Words | Solution"]:
        """The cases that together are the claims. A model, if it is found among listed values."""
        stack: list[_Case] = [_Case(list(claims), [], [], set())]
        while stack:
            case = stack.pop()
            self.work.spend(_CASE_STEPS)
            if not self._settle(kind, case):
                continue
            words = Words(case.conditions)
            if words.is_contradiction():
                continue
            if listed := words.all("values"):
                yield from self._listed(kind, claims, listed)
            elif not case.choices:
                yield words
            else:
                choice = case.next_choice()
                stack += [case.with_(each) for each in reversed(choice)]

    def _settle(self, kind: str, case: "_Case") -> bool:
        """Apply all that has no alternative. Returns whether it may hold."""
        while case.claims:
            claim = case.next_claim()
            key = claim.key
            if key in case.seen:
                continue
            if (not key[0], *key[1:]) in case.seen:
                return False
            self.work.spend(1)
            if kind == "object" and not claim.holds and self._is_told(case, claim):
                continue
            case.seen.add(key)
            if kind == "object" and claim.holds and not self._names(case, claim):
                return False
            if not case.add(choices(kind, claim, self._documents)):
                return False
        return True

    def _names(self, case: "_Case", claim: Assertion) -> bool:
        """Note the members that name the case. False: none of their texts is left."""
        for name, listed in self._documents.literals(claim).items():
            case.literals[name] = case.literals.get(name, listed) & listed
        if isinstance(claim.schema, dict):
            case.required.update(claim.schema.get("required", ()))
        named = (name for name, listed in case.literals.items() if not listed)
        return case.required.isdisjoint(named)

    def _is_told(self, case: "_Case", claim: Assertion) -> bool:
        """Whether the members that name the case refuse the schema of the claim, or may do so when
        a branch is chosen."""
        found = self._documents.literals(claim)
        if any(
            listed.isdisjoint(case.literals.get(name, listed)) for name, listed in found.items()
        ):
            return True
        is_waiting = bool(found.keys() - case.literals.keys()) and case.is_open
        case.waiting += [claim] if is_waiting else []
        return is_waiting

    def _listed(self, kind: str, claims: _Claims, listed: list[Any]) -> Iterator[Solution]:
        """The listed values of which the claims are true."""
        for value in min(listed, key=len):
            self.work.spend(1)
            if kind_of(value) == kind and all(self.admits(each, value) for each in claims):
                yield Solution(value)


class _Case(Struct):
    """Claims that are still to be taken apart, and what they came to so far."""

    claims: list[Assertion]
    conditions: list[Condition]
    choices: list[Choice]
    seen: set[tuple[bool, int, bytes]]
    literals: dict[str, frozenset[str]] = {}
    """The texts that members may be, if they are there."""
    required: set[str] = set()
    """Members that are there."""
    waiting: list[Assertion] = []
    """Claims that are looked at when a branch is chosen."""

    @property
    def is_open(self) -> bool:
        """Whether a branch of a union that holds is to be chosen."""
        return any(map(_is_union, self.choices))

    def add(self, found: list[Choice]) -> bool:
        """Add choices of which each has to be made. False: one has no alternative."""
        for choice in found:
            if len(choice) == 1:
                self.claims += choice[0].claims
                self.conditions += choice[0].conditions
            else:
                self.choices.append(choice)
        return all(found)

    def next_choice(self) -> Choice:
        """Take the choice with the fewest alternatives: a union's first, if claims wait for it."""
        self.choices.sort(key=len, reverse=True)
        if self.waiting:
            self.choices.sort(key=_is_union)
        return self.choices.pop()

    def next_claim(self) -> Assertion:
        """Take one of the claims: one that holds, if there is one, since it may settle others."""
        at = next((at for at, each in enumerate(self.claims) if each.holds), -1)
        return self.claims.pop(at)

    def with_(self, alternative: Alternative) -> "_Case":
        """This case, with one alternative of a choice."""
        return _Case(
            [*alternative.claims, *self.waiting],
            [*self.conditions, *alternative.conditions],
            list(self.choices),
            set(self.seen),
            dict(self.literals),
            set(self.required),
        )


def _is_union(choice: Choice) -> bool:
    return any(claim.holds for claim in choice[0].claims)


def first(attempts: Iterable[Callable[[], Found]]) -> Found:
    """The first model. Else whether each attempt has shown that there is none."""
    result: Found = EMPTY
    for attempt in attempts:
        found = attempt()
        if isinstance(found, Solution):
            return found
        if found is UNKNOWN:
            result = UNKNOWN
    return result


# Lists.


class _List(Struct):
    """What a list of some length has to be."""

    length: int
    items: list[_Claims]
    """What each item has to fulfil."""
    counted: list[Counted]
    is_unique: bool
    pair: tuple[int, int] | None
    """Two items that are equal."""


def _array(models: Models, words: Words) -> Found:
    counted = [each for each in words.all("counted") if each.least or each.most is not None]
    if any(each.most is not None and each.least > each.most for each in counted):
        return EMPTY
    if len(counted) > _MAX_COUNTED:
        return UNKNOWN
    unique = set(words.all("unique"))
    if len(unique) > 1:
        return EMPTY
    least, most = words.least(), words.most()
    starts = [at + 1 for at, _ in words.all("item")] + [at for at, _ in words.all("items")]
    first_rest = max([0, *starts, *(each.start for each in counted)])
    needed = sum(each.least for each in counted) + (2 if unique == {False} else 0)
    # Beyond these, an item that nothing needs may be left out.
    longest = max(least, first_rest + needed) + len(words.excluded())
    longest = longest if most is None else min(longest, most)
    if longest > (_MAX_ITEMS if counted or unique == {False} else _MAX_PLAIN):
        return UNKNOWN
    attempts = (
        partial(_list_of, models, words, length, counted, unique)
        for length in range(least, longest + 1)
    )
    return first(attempts)


def _list_of(
    models: Models, words: Words, length: int, counted: list[Counted], unique: set[bool]
) -> Found:
    models.work.spend(1 + length)
    items = [
        tuple(
            claim
            for word, is_there in (("item", at.__eq__), ("items", at.__ge__))
            for start, claim in words.all(word)
            if is_there(start)
        )
        for at in range(length)
    ]
    if not counted and unique != {False}:
        return _plain(models, items, words, is_unique=unique == {True})
    pairs: list[tuple[int, int] | None] = [None]
    if unique == {False}:
        pairs = [(one, other) for other in range(length) for one in range(other)]
    result: Found = EMPTY
    # A list that does not exist where items may be equal does not exist where they must differ.
    for is_unique in sorted({False, unique == {True}}):
        lists = (_List(length, items, counted, is_unique, pair) for pair in pairs)
        result = first(partial(_filled, models, each, [], words) for each in lists)
        if result is EMPTY:
            return EMPTY
    return result


def _plain(models: Models, items: list[_Claims], words: Words, *, is_unique: bool) -> Found:
    """The list of items that are found one after the other."""
    made: list[Any] = []
    found: Found = EMPTY
    last: _Claims | None = None
    is_alike = all(each == items[0] for each in items)
    for claims in items:
        if is_unique and made:
            found = models.of(*claims, Assertion(False, 0, {"enum": list(made)}))
        elif claims != last:
            found = models.of(*claims)
        if not isinstance(found, Solution):
            if is_unique and models.of(*claims) is EMPTY:
                return EMPTY
            # Another choice of the items before it might have left one for this.
            return found if not made or not is_unique or is_alike else UNKNOWN
        made.append(found.value)
        last = claims
    return UNKNOWN if is_listed(made, words.excluded()) else Solution(made)


def _filled(models: Models, wanted: _List, made: list[Any], words: Words) -> Found:
    """The list with the items `made` first."""
    at = len(made)
    if at == wanted.length:
        if any(each.least > 0 for each in wanted.counted):
            return EMPTY
        return UNKNOWN if is_listed(made, words.excluded()) else Solution(made)
    result: Found = EMPTY
    for signs in product(*(_signs(each, at, wanted.length) for each in wanted.counted)):
        models.work.spend(1)
        item = _item(models, wanted, made, signs)
        if isinstance(item, Solution):
            left = [_counted_down(*each) for each in zip(wanted.counted, signs, strict=True)]
            rest = msgspec.structs.replace(wanted, counted=left)
            item = _filled(models, rest, [*made, item.value], words)
            # Another item might have left more room for the ones after it.
            item = UNKNOWN if item is EMPTY and wanted.is_unique else item
        if isinstance(item, Solution):
            return item
        result = UNKNOWN if item is UNKNOWN else result
    return result


def _signs(counted: Counted, at: int, length: int) -> tuple[bool | None, ...]:
    """Whether the item at an index may, must or must not be one that counts. None: either."""
    if at < counted.start:
        return (None,)
    if counted.least > length - at:
        return ()
    if counted.most is None:
        if not counted.least:
            return (None,)
        return (True,) if counted.least == length - at else (True, None)
    if counted.most == 0:
        return (False,)
    return (True, False) if counted.least else (False, True)


def _counted_down(counted: Counted, sign: bool | None) -> Counted:
    if not sign:
        return counted
    most = None if counted.most is None else counted.most - 1
    return msgspec.structs.replace(counted, least=max(0, counted.least - 1), most=most)


def _item(models: Models, wanted: _List, made: list[Any], signs: tuple[bool | None, ...]) -> Found:
    at = len(made)
    claims = wanted.items[at]
    if wanted.pair is not None and wanted.pair[1] == at:
        same = made[wanted.pair[0]]
        claims = (*claims, *_signed(wanted.counted, signs))
        return Solution(same) if all(models.admits(each, same) for each in claims) else EMPTY
    if wanted.pair is not None and wanted.pair[0] == at:
        claims = (*claims, *wanted.items[wanted.pair[1]])
    claims = (*claims, *_signed(wanted.counted, signs))
    found = models.of(*claims)
    if not (wanted.is_unique and made) or not isinstance(found, Solution):
        return found
    if not is_listed(found.value, made):
        return found
    other = models.of(*claims, Assertion(False, 0, {"enum": made}))
    return UNKNOWN if other is EMPTY and len(made) > 1 else other


def _signed(counted: list[Counted], signs: tuple[bool | None, ...]) -> Iterator[Assertion]:
    for each, sign in zip(counted, signs, strict=True):
        if sign is not None:
            holds = each.claim.holds == sign
            yield msgspec.structs.replace(each.claim, holds=holds)


# Objects.


class _Object(Struct):
    """What an object has to be, and what its members have to fulfil."""

    shapes: list[MemberRules]
    naming: list[Assertion]
    members: Mapping[str, list[Assertion]]
    """What single members have to fulfil besides."""
    absent: frozenset[str]
    known: tuple[str, ...]
    patterns: tuple[str, ...]
    least: int
    most: int | None
    is_naming: bool
    """Whether a member is wanted whose name is bound by a schema."""


def _object(models: Models, words: Words) -> Found:
    shapes: list[MemberRules] = words.all("shape")
    somes: list[Some] = words.all("some")
    members: dict[str, list[Assertion]] = {}
    for name, claim in words.all("member"):
        members.setdefault(name, []).append(claim)
    patterns = {each for shape in shapes for each in shape.patterns}
    patterns |= {each for some in somes for each in some.wanted | some.unwanted}
    if len(patterns) > _MAX_PATTERNS:
        return UNKNOWN
    known = [*words.all("present"), *(name for shape in shapes for name in shape.names)]
    known += [name for some in somes for name in sorted(some.not_named)]
    wanted = _Object(
        shapes,
        words.all("naming"),
        members,
        frozenset(words.all("absent")),
        tuple(dict.fromkeys(known)),
        tuple(sorted(patterns)),
        words.least(),
        words.most(),
        any(each.naming for each in somes),
    )
    present = dict.fromkeys(words.all("present"))
    if wanted.most is not None and len(present) > wanted.most:
        return EMPTY
    found = _with_required(models, wanted, list(present), somes)
    if isinstance(found, Solution) and is_listed(found.value, words.excluded()):
        wanted.least = len(found.value) + 1
        found = _with_required(models, wanted, list(present), somes)
        is_usable = isinstance(found, Solution) and not is_listed(found.value, words.excluded())
        return found if is_usable else UNKNOWN
    return found


_Made: TypeAlias = dict[str, tuple[_Claims, Any]]
"""The members so far: what they have to fulfil, and a value."""


def _with_required(models: Models, wanted: _Object, present: list[str], somes: list[Some]) -> Found:
    made: _Made = {}
    for name in present:
        if not _may_be_named(models, wanted, name):
            return EMPTY
        found = _member(models, wanted, made, name, ())
        if not isinstance(found, Solution):
            return found
    return _with_some(models, wanted, made, somes)


def _member(models: Models, wanted: _Object, made: _Made, name: str, claims: _Claims) -> Found:
    """Put the member `name` into `made`, with more claims."""
    models.work.spend(1 + len(wanted.shapes))
    before = made[name][0] if name in made else tuple(_claims_of(wanted, name))
    found = models.of(*before, *claims)
    if isinstance(found, Solution):
        made[name] = (*before, *claims), found.value
    return found


def _claims_of(wanted: _Object, name: str) -> Iterator[Assertion]:
    """What the member `name` has to fulfil."""
    yield from wanted.members.get(name, ())
    for shape in wanted.shapes:
        found = [shape.names[name]] if name in shape.names else []
        found += [each for pattern, each in shape.patterns.items() if _matches(pattern, name)]
        for schema in found or [shape.others]:
            if schema is not True:
                yield Assertion(True, shape.root, schema)


def _matches(pattern: str, name: str) -> bool:
    matches = matcher(pattern)
    if matches is None:
        raise Unsupported("a pattern cannot be compiled")
    return matches(name)


def _may_be_named(models: Models, wanted: _Object, name: str) -> bool:
    return name not in wanted.absent and all(models.admits(each, name) for each in wanted.naming)


def _with_some(models: Models, wanted: _Object, made: _Made, somes: list[Some]) -> Found:
    """With a member for each of `somes`, which may be the same."""
    if not somes:
        return _with_enough(models, wanted, made)
    some, *rest = somes

    def attempt(name: str) -> Found:
        more = dict(made)
        found = _member(models, wanted, more, name, some.claims)
        if not isinstance(found, Solution):
            return found
        if wanted.most is not None and len(more) > wanted.most:
            # Another new name might have been one for two members.
            return UNKNOWN if wanted.is_naming else EMPTY
        return _with_some(models, wanted, more, rest)

    names = [*made, *(each for each in wanted.known if each not in made)]
    fitting = [each for each in names if _fits(models, wanted, some, each)]
    found = first(partial(attempt, name) for name in fitting)
    if isinstance(found, Solution):
        return found
    fresh = first(
        partial(_with_fresh, models, wanted, made, some, attempt, chosen)
        for chosen in _combinations(models, wanted, some)
    )
    return fresh if isinstance(fresh, Solution) or found is EMPTY else UNKNOWN


def _fits(models: Models, wanted: _Object, some: Some, name: str) -> bool:
    return (
        name not in some.not_named
        and _may_be_named(models, wanted, name)
        and all(_matches(each, name) for each in some.wanted)
        and not any(_matches(each, name) for each in some.unwanted)
        and all(models.admits(each, name) for each in some.naming)
    )


def _combinations(models: Models, wanted: _Object, some: Some) -> Iterator[frozenset[str]]:
    """Which of the patterns a new name may match, and it matches no other one."""
    free = tuple(each for each in wanted.patterns if each not in some.wanted | some.unwanted)
    waiting = [(some.wanted, some.unwanted, free)]
    while waiting:
        chosen, others, left = waiting.pop()
        claims = [Assertion(each in chosen, 0, {"pattern": each}) for each in chosen | others]
        if models.of_kind("string", tuple(claims)) is EMPTY:
            continue
        if left:
            first, *rest = left
            waiting.append((chosen | {first}, others, tuple(rest)))
            waiting.append((chosen, others | {first}, tuple(rest)))
        else:
            yield chosen


def _with_fresh(
    models: Models,
    wanted: _Object,
    made: _Made,
    some: Some,
    attempt: Callable[[str], Found],
    chosen: frozenset[str],
) -> Found:
    found = _fresh_name(models, wanted, made, some, chosen)
    return attempt(found.value) if isinstance(found, Solution) else found


def _fresh_name(
    models: Models, wanted: _Object, made: _Made, some: Some, chosen: frozenset[str]
) -> Found:
    """A name that nothing mentions, and that matches only the `chosen` ones of the patterns."""
    patterns = [Assertion(each in chosen, 0, {"pattern": each}) for each in wanted.patterns]
    taken = sorted({*wanted.known, *wanted.absent, *made, *some.not_named})
    other = [Assertion(False, 0, {"enum": taken})] if taken else []
    return models.of_kind("string", (*patterns, *other, *wanted.naming, *some.naming))


def _with_enough(models: Models, wanted: _Object, made: _Made) -> Found:
    """With as many members as there have to be."""
    results: list[Found] = []
    for name in wanted.known:
        if len(made) >= wanted.least:
            break
        if name not in made and _may_be_named(models, wanted, name):
            results.append(_member(models, wanted, made, name, ()))
    for chosen in _combinations(models, wanted, Some()):
        results += _with_new(models, wanted, made, chosen)
    if len(made) < wanted.least:
        return UNKNOWN if UNKNOWN in results else EMPTY
    if wanted.most is not None and len(made) > wanted.most:
        return EMPTY
    return Solution({name: value for name, (_, value) in made.items()})


def _with_new(
    models: Models, wanted: _Object, made: _Made, chosen: frozenset[str]
) -> Iterator[Found]:
    """Add members of new names that match the `chosen` patterns, as many as there have to be."""
    while len(made) < wanted.least:
        name = _fresh_name(models, wanted, made, Some(), chosen)
        yield name
        if not isinstance(name, Solution):
            return
        found = _member(models, wanted, made, name.value, ())
        yield found
        if not isinstance(found, Solution):
            return


_SCALARS: Final[Mapping[str, Callable[[Steps, Words], Found]]] = {
    "string": some_text,
    "number": number,
    "boolean": boolean,
    "null": null,
}
