"""Finds the smallest places at which one schema may refuse what another admits.

Where both schemas are built alike, members are compared with members: if each is contained, so is
the whole. What it finds are candidates, because other parts of the schemas may make up for one:
`gateway.authoring.diff.proving` proves them or finds a witness.
"""

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any, Final, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from gateway.authoring.diff.prepared import UNREAD, WrittenDefinitions, encoded
from gateway.contract.schemas.containment import Contained, Witness, containment
from gateway.contract.schemas.dialects import NAMED
from gateway.contract.schemas.flattening import NoSample
from gateway.contract.schemas.samples import Schemas
from gateway.contract.schemas.tags import Tags, may_be, tags
from gateway.contract.values.pointers import child
from gateway.contract.values.schema import PREFIX, Validator, names_in

Schema = dict[str, Any]
Step = tuple[Literal["member", "any member", "item", "any item", "same"], Any]
"""How a value is reached from the value around it."""

_JOINED: Final = ("allOf", "anyOf")
_OBJECT: Final = ("properties", "patternProperties", "additionalProperties")
_ARRAY: Final = ("items", "prefixItems")
_WHOLE: Final = frozenset({"unevaluatedProperties", "unevaluatedItems"})
"""Keywords that depend on all others beside them, so that these cannot be taken apart."""
_MAX_DEPTH: Final = 60
"""Steps of a chain. What is deeper is compared as a whole."""
_MOST_BYTES: Final = 400_000
"""Of two schemas that are asked about as wholes."""
_MOST_PAIRS: Final = 600
"""Of branches of one `oneOf` that are asked about. A larger one is UNDECIDED."""
_KINDS: Final = ("null", "boolean", "number", "string", "array", "object")
_MOST_SAMPLED: Final = 100_000
"""Bytes of a schema of which a sample is made."""
_LEAST_DEPTH: Final = 12
_BY_TYPE: Final[Mapping[str, Any]] = {"null": None, "boolean": True, "array": [], "object": {}}


class Node(Struct, frozen=True):
    """A schema and its position: a pointer inside its part, or `#name` and one inside of that."""

    schema: Any
    at: str


class Link(Struct, frozen=True):
    """One step of a candidate from the whole schema: where it left, and how."""

    outer: Node
    inner: Node
    step: Step


Want = Literal["narrowed", "required", "member"]


class Candidate(Struct, frozen=True, kw_only=True):
    """A place where `inner` may admit what `outer` refuses."""

    chain: tuple[Link, ...]
    outer: Node
    inner: Node
    want: Want
    """`required`: a member is. `member`: only `outer` names it, where `inner` admits any."""
    name: str = ""
    """That of the member."""
    keywords: tuple[str, ...] = ()
    """Those that differ."""
    seed: Any | UnsetType = UNSET
    """A value at this place that this part of `inner` admits, and that of `outer` refuses."""
    unasked: str = ""
    """Why not all was asked that could have shown a difference here. Empty: all was."""


class SideDefinitions:
    """The definitions of one side, with what is made of them once and needed many times."""

    def __init__(self, schemas: Mapping[str, Any]) -> None:
        self.schemas = schemas
        self.values = SmallValues(self)
        self._used: dict[str, tuple[str, ...]] = {}
        self._texts: dict[str, msgspec.Raw] = {}

    def whole(self, schema: Any) -> Schema:
        """`schema` as an object with the definitions that it needs."""
        return self._with(schema, self.schemas)

    def text(self, schema: Any) -> bytes:
        """`whole` as text."""
        return encoded(self._with(schema, self._texts))

    def _with(self, schema: Any, definitions: Mapping[str, Any]) -> Schema:
        if isinstance(schema, bool):
            return {} if schema else {"not": {}}
        names = self._needed(schema)
        return {**schema, "$defs": {name: definitions[name] for name in names}} if names else schema

    def _needed(self, schema: Schema) -> list[str]:
        found: set[str] = set()
        waiting = [*names_in(schema)]
        while waiting:
            name = waiting.pop()
            if name in found:
                continue
            found.add(name)
            if name not in self._used:
                self._used[name] = tuple(names_in(self.schemas[name]))
                self._texts[name] = msgspec.Raw(encoded(self.schemas[name]))
            waiting += self._used[name]
        return sorted(found)


class SmallValues:
    """Small values of the schemas of one side, around which a witness is put. They may be wrong."""

    def __init__(self, side: SideDefinitions) -> None:
        self._side = side
        self._made: dict[str, Any] = {}
        self._scalars: dict[bytes, Any] = {}
        self._known: dict[tuple[int, bool], tuple[Any, Any]] = {}
        """By the identity of a schema, which is kept beside its value so that it stays one."""
        self._samples = Schemas(side.schemas)

    def quick(self, schema: Any) -> Any:
        """A value with what `schema` requires."""
        return self._kept(schema, is_sample=False)

    def sample(self, schema: Any) -> Any:
        """A valid value. None: there is none. As `quick` for a schema too large to be sampled."""
        return self._kept(schema, is_sample=True)

    def _kept(self, schema: Any, *, is_sample: bool) -> Any:
        key = (id(schema), is_sample)
        if key not in self._known:
            found = self._sampled(schema) if is_sample else self._least(schema, 0)
            self._known[key] = (schema, found)
        return self._known[key][1]

    def _sampled(self, schema: Any) -> Any:
        if len(self._side.text(schema)) > _MOST_SAMPLED:
            return self.quick(schema)
        with suppress(NoSample, LookupError):
            return self._samples.samples(schema).sample("diff", "1", is_short=True)
        return None

    def _least(self, schema: Any, depth: int) -> Any:
        if not isinstance(schema, dict) or depth > _LEAST_DEPTH:
            return {}
        if "$ref" in schema:
            return self._defined(schema["$ref"].removeprefix(PREFIX), depth)
        if "const" in schema or "enum" in schema:
            return schema["const"] if "const" in schema else schema["enum"][0]
        if "allOf" in schema:
            return self._joined(schema, depth)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                return self._merged(self._plain(schema, depth), schema[keyword][0], depth)
        return self._plain(schema, depth)

    def _defined(self, name: str, depth: int) -> Any:
        if name not in self._made:
            self._made[name] = {}
            self._made[name] = self._least(self._side.schemas[name], depth + 1)
        return self._made[name]

    def _joined(self, schema: Mapping[str, Any], depth: int) -> Any:
        found = self._least(
            {key: each for key, each in schema.items() if key != "allOf"}, depth + 1
        )
        for part in schema["allOf"]:
            found = self._merged(found, part, depth)
        return found

    def _merged(self, found: Any, part: Any, depth: int) -> Any:
        other = self._least(part, depth + 1)
        if isinstance(found, dict) and isinstance(other, dict):
            return {**found, **other}
        return other

    def _plain(self, schema: Mapping[str, Any], depth: int) -> Any:
        kind = schema.get("type", "object" if "properties" in schema else None)
        if isinstance(kind, list):
            kind = next((each for each in kind if each != "null"), "null")
        if kind == "object":
            members = schema.get("properties", {})
            names = schema.get("required", ())
            return {name: self._least(members.get(name, {}), depth + 1) for name in names}
        if kind == "array":
            items = [self._least(each, depth + 1) for each in schema.get("prefixItems", ())]
            missing = schema.get("minItems", 0) - len(items)
            return [*items, *[self._least(schema.get("items"), depth + 1)] * min(missing, 20)]
        return _BY_TYPE[kind] if kind in _BY_TYPE else self._scalar(schema)

    def _scalar(self, schema: Mapping[str, Any]) -> Any:
        text = encoded(schema)
        if text not in self._scalars:
            self._scalars[text] = "x"
            with suppress(NoSample, LookupError):
                samples = Schemas({}).samples(dict(schema))
                self._scalars[text] = samples.sample("least", is_short=True)
        return self._scalars[text]


class TwoDefinitions:
    """The definitions of the two sides of one comparison, and which of them differ."""

    def __init__(self, outer: Mapping[str, Any], inner: Mapping[str, Any]) -> None:
        self.outer = SideDefinitions(outer)
        self.inner = SideDefinitions(inner)
        self._differing: frozenset[str] | None = None

    @property
    def differing(self) -> frozenset[str]:
        """The names whose definitions differ, or that refer to such a definition."""
        if self._differing is None:
            self._differing = frozenset(self._found())
        return self._differing

    def are_same(self, outer: Any, inner: Any) -> bool:
        """Whether the two schemas are written alike, also behind their references."""
        text = encoded(outer)
        if text != encoded(inner):
            return False
        return b'"$ref"' not in text or self.differing.isdisjoint(names_in(outer))

    def _found(self) -> Iterator[str]:
        users: dict[str, list[str]] = {}
        waiting: list[str] = []
        both = self.outer.schemas, self.inner.schemas
        outer, inner = map(WrittenDefinitions.of, both)
        for name in {**dict.fromkeys(both[0]), **dict.fromkeys(both[1])}:
            text = outer.text(name)
            if text is None or text != inner.text(name):
                waiting.append(name)
            elif b'"$ref"' in text:
                for used in outer.uses(name):
                    users.setdefault(used, []).append(name)
        known: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name not in known:
                known.add(name)
                waiting += users.get(name, ())
        yield from known


class Descent:
    """Compares the schemas of one part in one direction."""

    def __init__(self, definitions: TwoDefinitions, known: dict[tuple[str, str], bool]) -> None:
        """`known` are the pairs of definitions that need no look again, and which differ."""
        self._definitions = definitions
        self._known = known
        self._met = 0
        """How often a pair that differs was met again."""
        self.skipped: list[tuple[Link, Sequence[Node | None], tuple[Link, ...]]] = []
        """The arguments of `overlap` for schemas with a branch that has a candidate."""
        self.passed: dict[tuple[str, str], bool] = {}
        """The pairs of definitions that were looked at, and whether there is a candidate."""

    def candidates(
        self, outer: Node, inner: Node, chain: tuple[Link, ...] = ()
    ) -> Iterator[Candidate]:
        """The candidates of two schemas."""
        if self._definitions.are_same(outer.schema, inner.schema):
            return
        outer = _target(outer, self._definitions.outer.schemas)
        inner = _target(inner, self._definitions.inner.schemas)
        pair = (outer.at, inner.at)
        if not all(at.startswith("#") for at in pair):
            yield from self._compared(outer, inner, chain)
        elif pair in self._known or pair in self.passed:
            self._met += self._known.get(pair, False) or self.passed.get(pair, False)
        else:
            self.passed[pair] = False
            met = self._met
            found = list(self._compared(outer, inner, chain))
            self.passed[pair] = bool(found) or self._met > met
            yield from found

    def _compared(self, outer: Node, inner: Node, chain: tuple[Link, ...]) -> Iterator[Candidate]:
        is_deep = len(chain) > _MAX_DEPTH
        is_leaf = _is_leaf(outer.schema) or _is_leaf(inner.schema)
        if not is_leaf and self._are_respelled(outer, inner):
            if "oneOf" in outer.schema:
                partners = self._partners(_parts("oneOf", outer), _parts("anyOf", inner))
                yield from self.overlap(Link(outer, inner, ("same", None)), partners, chain)
            return
        if is_deep or is_leaf or _are_unlike(outer, inner):
            yield from self._leaf(outer, inner, chain)
            return
        yield from self._required(outer, inner, chain)
        yield from self._own(outer, inner, chain)
        yield from self._one_of(outer, inner, chain)
        if _may_be("object", inner.schema):
            yield from self._members(outer, inner, chain)
        if _may_be("array", inner.schema):
            yield from self._items(outer, inner, chain)
        for keyword in _JOINED:
            yield from self._joined(keyword, outer, inner, chain)

    def _are_respelled(self, outer: Node, inner: Node) -> bool:
        """Whether one has as `oneOf` what the other has as `anyOf`, and all else is the same."""
        combined = ("oneOf", "anyOf")
        left, right = ([key for key in combined if key in each.schema] for each in (outer, inner))
        if len(left) != 1 or len(right) != 1 or left == right:
            return False
        rest = [_rest(each.schema, combined) for each in (outer, inner)]
        branches = [_parts(left[0], outer), _parts(right[0], inner)]
        is_paired = all(any(self._same(one, other) for one in branches[0]) for other in branches[1])
        return self._definitions.are_same(*rest) and is_paired

    def _one_of(self, outer: Node, inner: Node, chain: tuple[Link, ...]) -> Iterator[Candidate]:
        """Branches that exclude each other: one that is narrower, or gone, may let through what
        two admitted. That is not asked where a branch breaks by itself."""
        left, right = _parts("oneOf", outer), _parts("oneOf", inner)
        partners = self._partners(left, right)
        met = self._met
        link = Link(outer, inner, ("same", None))
        pairs = [(one, other) for one, other in zip(left, partners, strict=True) if other]
        found = [each for pair in pairs for each in self.candidates(*pair, (*chain, link))]
        yield from found
        if len(pairs) < len(right):
            yield _of_branches(link, chain, UNSET)
        elif not found and self._met == met:
            yield from self.overlap(link, partners, chain)
        else:
            self.skipped.append((link, partners, chain))

    def _partners(self, left: list[Node], right: list[Node]) -> list[Node | None]:
        """For each outer branch the inner one that is compared with it."""
        found: list[Node | None] = [None] * len(left)
        rest = list(right)
        texts = {id(each): encoded(each.schema) for each in (*left, *right)}

        def pair(are_alike: Callable[[Node, Node], bool]) -> None:
            for at, one in enumerate(left):
                if found[at] is None:
                    found[at] = next((other for other in rest if are_alike(one, other)), None)
                    rest[:] = [each for each in rest if each is not found[at]]

        pair(lambda one, other: texts[id(one)] == texts[id(other)] and self._same(one, other))
        pair(lambda one, other: texts[id(one)] == texts[id(other)])
        if len(rest) == found.count(None):
            pair(lambda _one, _other: True)
        return found

    def overlap(
        self, pair: Link, partners: Sequence[Node | None], chain: tuple[Link, ...]
    ) -> Iterator[Candidate]:
        """A candidate where a value of one inner branch is one of two outer branches of `oneOf`.

        Each inner branch is contained in its outer one, so no value is of none.
        """
        keyword = "oneOf" if "oneOf" in pair.inner.schema else "anyOf"
        left, right = _parts("oneOf", pair.outer), _parts(keyword, pair.inner)
        is_open = keyword == "anyOf"
        wanted = [
            (one, None if is_open else partner, other)
            for one, partner in zip(left, partners, strict=True)
            if is_open or partner is None or not self._same(one, partner)
            for other in right
            if partner is None or other.at != partner.at
        ]
        wanted = self._told_apart_by_none(wanted)
        seed: Any | UnsetType = UNSET
        is_proved = len(wanted) <= _MOST_PAIRS
        for one, partner, other in wanted[:_MOST_PAIRS]:
            without = [] if partner is None else [{"not": partner.schema}]
            inside = {"allOf": [other.schema, *without]} if without else other.schema
            answer = self._asked({"not": one.schema}, inside)
            is_proved &= isinstance(answer, Contained)
            if isinstance(answer, Witness) and self._admits(keyword, right, answer.value):
                seed = answer.value
                break
        if not is_proved:
            unasked = ""
            if len(wanted) > _MOST_PAIRS:
                unasked = (
                    f"{len(wanted)} pairs of branches may overlap, of which {_MOST_PAIRS} were "
                    "compared; give each branch a required member with a value of its own"
                )
            found = _of_branches(pair, chain, seed)
            yield msgspec.structs.replace(found, unasked=unasked)

    def _told_apart_by_none(
        self, wanted: list[tuple[Node, Node | None, Node]]
    ) -> list[tuple[Node, Node | None, Node]]:
        """The pairs of outer and inner branches that a look does not tell apart."""
        outer, inner = (
            partial(_referred, side.schemas)
            for side in (self._definitions.outer, self._definitions.inner)
        )
        left = {one.at: _Look.of(one.schema, outer) for one, _, _ in wanted}
        right = {other.at: _Look.of(other.schema, inner) for _, _, other in wanted}
        return [each for each in wanted if left[each[0].at].may_meet(right[each[2].at])]

    def _admits(self, keyword: str, branches: list[Node], value: Any) -> bool:
        schema = {keyword: [each.schema for each in branches]}
        return Validator(self._definitions.inner.whole(schema)).admits(value)

    def _asked(self, outer: Any, inner: Any) -> Any:
        """What `ask` says of two schemas with their definitions. None: they are too large."""
        left = self._definitions.outer.text(outer)
        right = self._definitions.inner.text(inner)
        return ask(left, right) if len(left) + len(right) <= _MOST_BYTES else None

    def _leaf(
        self, outer: Node, inner: Node, chain: tuple[Link, ...], keywords: Sequence[str] = ()
    ) -> Iterator[Candidate]:
        """A candidate of two schemas that are compared as wholes."""
        answer = self._asked(outer.schema, inner.schema)
        if isinstance(answer, Contained):
            return
        yield Candidate(
            chain=chain,
            outer=outer,
            inner=inner,
            want="narrowed",
            keywords=tuple(keywords),
            seed=answer.value if isinstance(answer, Witness) else UNSET,
        )

    def _required(self, outer: Node, inner: Node, chain: tuple[Link, ...]) -> Iterator[Candidate]:
        known = inner.schema.get("required", ())
        for name in outer.schema.get("required", ()):
            if name not in known:
                yield Candidate(
                    chain=chain,
                    outer=outer,
                    inner=inner,
                    want="required",
                    name=name,
                    keywords=("required",),
                )

    def _own(self, outer: Node, inner: Node, chain: tuple[Link, ...]) -> Iterator[Candidate]:
        """The keywords that are no schemas of members, items or parts."""
        left, right = _own(outer.schema), _own(inner.schema)
        if self._definitions.are_same(left, right):
            return
        names = sorted(left.keys() | right.keys())
        keywords = [each for each in names if left.get(each, UNSET) != right.get(each, UNSET)]
        yield from self._leaf(Node(left, outer.at), Node(right, inner.at), chain, keywords)

    def _members(self, outer: Node, inner: Node, chain: tuple[Link, ...]) -> Iterator[Candidate]:
        left, right = outer.schema, inner.schema
        yield from self._patterns(outer, inner, chain)
        # A member that is not named is one of the others. Whether a pattern names it is asked when
        # the candidate is proved.
        others = right.get("additionalProperties", True)
        names = {**left.get("properties", {}), **right.get("properties", {})}
        for name in names:
            one, other = _member(outer, name), _member(inner, name)
            if other.schema is False:
                continue
            link = (*chain, Link(outer, inner, ("member", name)))
            is_named = name in right.get("properties", {})
            if not is_named and others is not False and not _is_any(one.schema):
                yield from self._declared(one, other, link, name)
            else:
                yield from self.candidates(one, other, link)
        if others is not False:
            link = (*chain, Link(outer, inner, ("any member", tuple(names))))
            one, other = _others(outer), _others(inner)
            yield from self.candidates(one, other, link)

    def _declared(
        self, outer: Node, inner: Node, chain: tuple[Link, ...], name: str
    ) -> Iterator[Candidate]:
        for found in self._leaf(outer, inner, chain):
            yield msgspec.structs.replace(found, want="member", name=name)

    def _patterns(self, outer: Node, inner: Node, chain: tuple[Link, ...]) -> Iterator[Candidate]:
        left = outer.schema.get("patternProperties", {})
        right = inner.schema.get("patternProperties", {})
        if self._definitions.are_same(left, right):
            return
        keywords = [name for name in _OBJECT if name != "properties"]
        yield from self._leaf(
            Node(_only(outer.schema, _OBJECT), outer.at),
            Node(_only(inner.schema, _OBJECT), inner.at),
            chain,
            keywords,
        )

    def _items(self, outer: Node, inner: Node, chain: tuple[Link, ...]) -> Iterator[Candidate]:
        left, right = outer.schema.get("prefixItems", []), inner.schema.get("prefixItems", [])
        for index in range(max(len(left), len(right))):
            link = (*chain, Link(outer, inner, ("item", index)))
            yield from self.candidates(_item(outer, index), _item(inner, index), link)
        first = max(len(left), len(right))
        link = (*chain, Link(outer, inner, ("any item", first)))
        yield from self.candidates(_item(outer, first), _item(inner, first), link)

    def _joined(
        self, keyword: str, outer: Node, inner: Node, chain: tuple[Link, ...]
    ) -> Iterator[Candidate]:
        left, right = _parts(keyword, outer), _parts(keyword, inner)
        rest, others = self._unlike(left, right), self._unlike(right, left)
        if not rest and (keyword == "allOf" or not others):
            return
        if len(rest) == len(others):
            link = (*chain, Link(outer, inner, ("same", None)))
            for one, other in zip(rest, others, strict=True):
                yield from self.candidates(one, other, link)
            return
        one = Node(_only(outer.schema, (keyword,)), outer.at)
        other = Node(_only(inner.schema, (keyword,)), inner.at)
        yield from self._leaf(one, other, chain, (keyword,))

    def _unlike(self, nodes: list[Node], others: list[Node]) -> list[Node]:
        """Those of the nodes that are written otherwise than all the others."""
        texts = {encoded(each.schema) for each in others}
        return [
            each
            for each in nodes
            if encoded(each.schema) not in texts or not self._same(each, each)
        ]

    def _same(self, outer: Node, inner: Node) -> bool:
        return self._definitions.are_same(outer.schema, inner.schema)


class _Look(Struct, frozen=True):
    """What is seen of a branch without asking: its kinds of values, and the tags of its objects."""

    kinds: frozenset[str]
    tags: Tags

    @staticmethod
    def of(schema: Any, follow: Callable[[Any], Any]) -> "_Look":
        """The look at a branch. In an older dialect a keyword may mean nothing: nothing is seen."""
        if NAMED.encode() in encoded(schema):
            return _Look(frozenset(_KINDS), {})
        kinds = frozenset(each for each in _KINDS if may_be(each, schema, follow))
        return _Look(kinds, tags(schema, follow))

    def may_meet(self, other: "_Look") -> bool:
        """Whether one value may be of both branches."""
        both = self.kinds & other.kinds
        if both != {"object"}:
            return bool(both)
        names = self.tags.keys() & other.tags.keys()
        return not any(self.tags[each].isdisjoint(other.tags[each]) for each in names)


def _referred(definitions: Mapping[str, Any], schema: Any) -> Any:
    found = definitions[schema["$ref"].removeprefix(PREFIX)]
    return True if NAMED.encode() in encoded(found) else found


def _of_branches(pair: Link, chain: tuple[Link, ...], seed: Any) -> Candidate:
    """The branches of a schema as a whole."""
    combined = ("oneOf", "anyOf")
    keywords = [each for each in combined if each in {**pair.outer.schema, **pair.inner.schema}]
    return Candidate(
        chain=chain,
        outer=Node(_only(pair.outer.schema, keywords), pair.outer.at),
        inner=Node(_only(pair.inner.schema, keywords), pair.inner.at),
        want="narrowed",
        keywords=tuple(keywords),
        seed=seed,
    )


_DIALECTS: Final = re.compile(rb'"%b":"[^"]*"' % NAMED.encode())


@lru_cache(maxsize=20_000)
def ask(outer: bytes, inner: bytes) -> Any:
    """`containment` of two schemas as JSON, remembered.

    None: not known, or they are of different dialects, which is no proof.
    """
    left, right = msgspec.json.decode(outer), msgspec.json.decode(inner)
    is_read = UNREAD.encode() not in outer + inner
    found = containment(left, right) if is_read else _asked_around(left, right, outer + inner)
    are_alike = set(_DIALECTS.findall(outer)) == set(_DIALECTS.findall(inner))
    return found if are_alike or isinstance(found, Witness) else None


def _asked_around(outer: Any, inner: Any, text: bytes) -> Any:
    """The answer that holds whatever is UNREAD admits, from nothing to all."""
    if any(each in text for each in _NOT_LESS):
        return None
    answer = containment(_least(outer), _most(inner))
    if isinstance(answer, Contained):
        return answer
    answer = containment(_most(outer), _least(inner))
    return answer if isinstance(answer, Witness) else None


_NOT_LESS: Final = [
    f'"{keyword}":'.encode() for keyword in ("not", "oneOf", "if", "maxContains", *sorted(_WHOLE))
]
"""Keywords that may admit more where a part admits less."""


def _most(schema: Any) -> Any:
    """`schema` without what is UNREAD."""
    if isinstance(schema, dict):
        return {name: _most(value) for name, value in schema.items() if name != UNREAD}
    return [_most(each) for each in schema] if isinstance(schema, list) else schema


def _least(schema: Any) -> Any:
    """`schema` with nothing for what is UNREAD."""
    if isinstance(schema, dict):
        nothing: Schema = {"not": {}}
        if UNREAD in schema:
            return nothing | {name: schema[name] for name in ("$defs",) if name in schema}
        return {name: _least(value) for name, value in schema.items()}
    return [_least(each) for each in schema] if isinstance(schema, list) else schema


_ONE_PART: Final = re.compile(r"allOf|anyOf|oneOf")


def _target(node: Node, definitions: Mapping[str, Any]) -> Node:
    """What a schema is that only refers to another one, or only wraps it."""
    passed: set[str] = set()
    while isinstance(node.schema, dict) and len(node.schema) == 1 and node.at not in passed:
        passed.add(node.at)
        ((keyword, value),) = node.schema.items()
        if keyword == "$ref":
            name = value.removeprefix(PREFIX)
            node = Node(definitions[name], f"#{name.replace('~', '~0').replace('/', '~1')}")
        elif _ONE_PART.fullmatch(keyword) and len(value) == 1:
            node = Node(value[0], child(child(node.at, keyword), 0))
    return node


def _is_any(schema: Any) -> bool:
    return schema is True or schema == {}


def _is_leaf(schema: Any) -> bool:
    return not isinstance(schema, dict) or not schema or not _WHOLE.isdisjoint(schema)


def _are_unlike(outer: Node, inner: Node) -> bool:
    """Whether the two are built of other parts, so that no part has its partner."""
    return _shape(outer.schema) != _shape(inner.schema)


def _shape(schema: Schema) -> list[bool]:
    """Which keywords that combine schemas it has."""
    return [keyword in schema for keyword in (*_JOINED, "oneOf", "if", "not")]


def _may_be(kind: str, schema: Schema) -> bool:
    types = schema.get("type", kind)
    return kind in (types if isinstance(types, list) else [types])


def _own(schema: Schema) -> Schema:
    return _rest(schema, {*_JOINED, *_OBJECT, *_ARRAY, "required", "oneOf"})


def _rest(schema: Schema, taken: Container[str]) -> Schema:
    return {keyword: value for keyword, value in schema.items() if keyword not in taken}


def _only(schema: Schema, keywords: Sequence[str]) -> Schema:
    kept = {keyword: schema[keyword] for keyword in keywords if keyword in schema}
    return kept if "type" not in schema else {"type": schema["type"], **kept}


def _member(node: Node, name: str) -> Node:
    members = node.schema.get("properties", {})
    if name in members:
        return Node(members[name], child(child(node.at, "properties"), name))
    return _others(node)


def _others(node: Node) -> Node:
    schema = node.schema.get("additionalProperties", True)
    return Node(schema, child(node.at, "additionalProperties"))


def _item(node: Node, index: int) -> Node:
    first = node.schema.get("prefixItems", [])
    if index < len(first):
        return Node(first[index], child(child(node.at, "prefixItems"), index))
    return Node(node.schema.get("items", True), child(node.at, "items"))


def _parts(keyword: str, node: Node) -> list[Node]:
    below = child(node.at, keyword)
    return [Node(each, child(below, at)) for at, each in enumerate(node.schema.get(keyword, ()))]
