"""What one side says of its contracts, in a form in which two sides can be compared."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

from msgspec import Struct

from gateway.authoring.diff.changes import ChangePlace, Direction
from gateway.authoring.diff.prepared import WrittenDefinitions
from gateway.contract.values.schema import names_in

Kind = Literal["tool", "operation", "server", "webhook", "event", "callback"]
Locate = Callable[[str], ChangePlace]
"""Where the part of a schema at a position is written. See `descent.Node`."""


class ExchangedSchema(Struct, frozen=True, kw_only=True):
    """One schema of a contract, in one direction."""

    name: str
    """Equal on both sides, such as `arguments` or `200 application/json`."""
    direction: Direction
    schema: Any
    """References lead to `definitions`, as `#/$defs/<name>`."""
    definitions: Mapping[str, Any] = {}
    written: Any = True
    """The schema of a document with all that it says. References lead to `components`."""
    components: Mapping[str, Any] = {}
    locate: Locate
    added: str = ""
    """The rule if only the new side has it. Empty: another part of the subject says so."""
    removed: str = ""
    member_removed: str = ""
    """The rule if a member of its own is not allowed any more. Empty: as inside of any schema."""
    fallback: tuple[str, ...] = ()
    """The names under which the other side may have what this part is for: `4XX`, `default`."""
    texts: frozenset[str] | None = frozenset()
    """Its members that are written as texts, as in a URL. None: all of them. See `texts.WHOLE`."""
    repeated: frozenset[str] | None = frozenset()
    """Those of which each item of a list is written as one text of that name. None: all."""


class Fact(Struct, frozen=True, kw_only=True):
    """Something that is there or not, and that is one text. Nothing is to be proved."""

    value: str = ""
    place: ChangePlace
    added: str = ""
    removed: str = ""
    changed: str = ""
    """The rule if the two sides differ. Empty: nobody minds."""
    direction: Direction | None = None
    fallback: tuple[str, ...] = ()
    """The names under which the other side may have it."""


Alternative = frozenset[tuple[str, frozenset[str]]]
"""Credentials that are enough together: each scheme with its scopes."""


class Subject(Struct, frozen=True, kw_only=True):
    """One contract: a tool, a webhook, an event, or an operation or address of a document."""

    name: str
    kind: Kind
    place: ChangePlace
    parts: Mapping[str, ExchangedSchema]
    facts: Mapping[str, Fact] = {}
    """By a name that says what it is, such as `status 404`."""
    security: tuple[Alternative, ...] = ()
    """Empty: no credentials are needed."""
    method: str = ""
    """Of an operation, a webhook or a callback of a document."""
    path: str = ""
    """The path as it is written, of an operation. Empty: no request can be written for it."""


Subjects = Mapping[str, Subject]
"""Those of one side, by name."""
Pair = tuple[ExchangedSchema, ExchangedSchema]


def is_enough(credentials: Alternative, alternative: Alternative) -> bool:
    """Whether who has `credentials` has all that `alternative` asks for."""
    known = dict(credentials)
    return all(scheme in known and scopes <= known[scheme] for scheme, scopes in alternative)


def paired(old: Subject, new: Subject) -> Iterator[Pair]:
    """The parts that both sides have, also where one has it for more than the other."""
    for name, part in old.parts.items():
        if name in new.parts:
            yield part, new.parts[name]
    yield from ((_wider(part, old), part) for part in _missing(new, old) if _has(part, old))
    yield from ((part, _wider(part, new)) for part in _missing(old, new) if _has(part, new))


def lonely(one: Subject, other: Subject) -> Iterator[ExchangedSchema]:
    """The parts of `one` that have no partner in `other`."""
    narrower = {name for part in other.parts.values() for name in sent_instead(part)}
    return (
        part for part in _missing(one, other) if not _has(part, other) and part.name not in narrower
    )


def sent_instead(one: ExchangedSchema | Fact) -> tuple[str, ...]:
    """The names for which `one` may stand: who sends `200` sends what was under `default`."""
    is_sent = one.direction is not None and not one.direction.may_grow
    return one.fallback if is_sent else ()


def _missing(one: Subject, other: Subject) -> Iterator[ExchangedSchema]:
    return (part for name, part in one.parts.items() if name not in other.parts)


def _has(part: ExchangedSchema, other: Subject) -> bool:
    return any(name in other.parts for name in part.fallback)


def _wider(part: ExchangedSchema, other: Subject) -> ExchangedSchema:
    return next(other.parts[name] for name in part.fallback if name in other.parts)


class Users:
    """Which contracts of one side use its definitions, directly or through others."""

    def __init__(self, subjects: Iterable[Subject]) -> None:
        self._subjects = tuple(subjects)
        self._direct: dict[tuple[int, bool], dict[str, set[str]]] = {}
        self._users: dict[int, dict[str, set[str]]] = {}

    def of(self, name: str, part: ExchangedSchema) -> frozenset[str]:
        """The names of the contracts that reach a definition of `part` in its direction."""
        direct, users = self._of_contracts(part), self._of_definitions(part.definitions)
        known: set[str] = set()
        waiting = [name]
        while waiting:
            each = waiting.pop()
            if each not in known:
                known.add(each)
                waiting += users.get(each, ())
        return frozenset(one for each in known for one in direct.get(each, ()))

    def _of_contracts(self, wanted: ExchangedSchema) -> dict[str, set[str]]:
        key = (id(wanted.definitions), wanted.direction.may_grow)
        if key not in self._direct:
            found = self._direct.setdefault(key, {})
            for subject in self._subjects:
                for part in subject.parts.values():
                    if (id(part.definitions), part.direction.may_grow) == key:
                        for name in names_in(part.schema):
                            found.setdefault(name, set()).add(subject.name)
        return self._direct[key]

    def _of_definitions(self, definitions: Mapping[str, Any]) -> dict[str, set[str]]:
        if id(definitions) not in self._users:
            found = self._users.setdefault(id(definitions), {})
            written = WrittenDefinitions.of(definitions)
            for name in definitions:
                for used in written.uses(name):
                    found.setdefault(used, set()).add(name)
        return self._users[id(definitions)]
