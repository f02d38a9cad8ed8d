"""Replaces references by what they refer to, so that a part of a contract stands for itself.

A schema that contains itself cannot be written out. Each schema that it refers to becomes a
definition instead: the value has them under `$defs`, and refers to them as `#/$defs/<name>`.
"""

from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Any, Final

from gateway.authoring.contracts.document import Document
from gateway.authoring.contracts.refs import RefTarget, refusal, resolve, schema_name
from gateway.authoring.contracts.tree import SourceTree
from gateway.contract.schemas import keywords
from gateway.contract.values.pointers import child, follow
from gateway.contract.values.schema import PREFIX

MAX_DEPTH: Final = 32
"""The deepest nesting of objects in one dereferenced contract. Maps of names do not count."""
MAX_NODES: Final = 10_000
"""The most objects of one dereferenced contract, or of one of its definitions. A few nested
references can expand to millions."""
MAX_DEFINITIONS: Final = 1_000
_SCHEMA: Final = "schema"
"""The member of OpenAPI objects that is a schema."""
_DROPPED: Final = frozenset({"$schema", "$id", "$anchor", "$defs", "$comment"})
_SKIPPED: Final = keywords.DATA | {"$defs"}
_SCHEMAS: Final = keywords.SCHEMA_MAPS | keywords.SCHEMA_LISTS | keywords.SCHEMA_VALUES
_INSIDE: Final = _SCHEMAS - keywords.SAME_VALUE | _SKIPPED
"""Keywords whose subschemas do not validate the value itself."""

Keep = Callable[[RefTarget], str | None]
"""Returns the new text of a reference to this target. None: the target's content replaces it."""
Place = tuple[PurePosixPath, str]
"""A file and a pointer in it."""


def keep_none(_: RefTarget) -> None:
    """Replaces every reference with the content of its target."""


def dereference(
    tree: SourceTree, path: PurePosixPath, pointer: str = "", keep: Keep = keep_none
) -> Any:
    """The value at `pointer` of the file `path`, with references replaced by their targets.

    References for which `keep` returns a text get that text instead. Members beside a `$ref` (such
    as `description`) have precedence over those of the target. `$defs`, `$id`, `$anchor`,
    `$schema` and `$comment` are left out, because nothing refers to them any more.

    Where a reference leads back to itself, each outermost schema keeps its references, has their
    targets under `$defs`, and is itself no reference.

    Raises `ContractRefused` for a reference that cannot be resolved, for one that leads back to
    itself for the same value, and for a value that exceeds `MAX_DEPTH`, `MAX_NODES` or
    `MAX_DEFINITIONS`.
    """
    document = tree.documents[path]
    value = follow(document.value, pointer)
    if _is_recursive(_References(tree, keep), RefTarget(document, pointer, value)):
        return _Sharing(tree, keep).whole(document, pointer, value)
    return _Expansion(tree, keep).value(document, pointer, value)


class _References:
    """The references of places, without those that are kept."""

    def __init__(self, tree: SourceTree, keep: Keep) -> None:
        self._tree = tree
        self._keep = keep

    def of(self, place: RefTarget, skipped: frozenset[str] = _SKIPPED) -> Iterator[RefTarget]:
        """The targets of the references inside `place`, outside the keywords `skipped`."""
        document, start, value = place
        for pointer, holder in keywords.references(value, start, skipped):
            target = resolve(self._tree, document.path, holder["$ref"], pointer)
            if self._keep(target) is None:
                yield target


def _is_recursive(references: _References, start: RefTarget) -> bool:
    """Whether a reference that is reached from `start` leads back to itself."""
    return next(_cycles(start, references.of), None) is not None


def _cycles(
    start: RefTarget, neighbours: Callable[[RefTarget], Iterator[RefTarget]]
) -> Iterator[RefTarget]:
    """The targets in which a way from `start` ends where it was before."""
    done: set[Place] = set()
    # A loop, because a chain of references may be longer than Python's stack.
    way: dict[Place, Iterator[RefTarget]] = {_place(start): neighbours(start)}
    while way:
        place, waiting = next(reversed(way.items()))
        target = next(waiting, None)
        if target is None:
            done.add(place)
            del way[place]
        elif _place(target) in way:
            yield target
        elif _place(target) not in done:
            way[_place(target)] = neighbours(target)


def _is_leaf(schema: dict[str, Any]) -> bool:
    """Whether `schema` has no other schemas inside."""
    return "$ref" not in schema and _SCHEMAS.isdisjoint(schema)


def _place(target: RefTarget) -> Place:
    return target.document.path, target.pointer


class _Expansion:
    """One dereferencing, with its counters."""

    def __init__(self, tree: SourceTree, keep: Keep) -> None:
        self._tree = tree
        self._keep = keep
        self._nodes = 0
        self._depth = 0

    def value(self, document: Document, pointer: str, value: Any) -> Any:
        """The expansion of `value`, which is not plain data and not a map of names."""
        if isinstance(value, list):
            return [
                self.value(document, child(pointer, index), item)
                for index, item in enumerate(value)
            ]
        if not isinstance(value, dict):
            return value
        self._enter(document, pointer)
        expanded = self._members(document, pointer, value)
        self._depth -= 1
        if "$ref" in value:
            return self._merged(document, pointer, value["$ref"], expanded)
        return expanded

    def _members(self, document: Document, pointer: str, value: dict[str, Any]) -> dict[str, Any]:
        return {
            name: self._member(document, child(pointer, name), name, member)
            for name, member in value.items()
            if name not in _DROPPED and name != "$ref"
        }

    def _member(self, document: Document, pointer: str, name: str, member: Any) -> Any:
        if name in keywords.DATA:
            return member
        if name in keywords.NAME_MAPS and isinstance(member, dict):
            return {
                key: self.value(document, child(pointer, key), value)
                for key, value in member.items()
            }
        return self.value(document, pointer, member)

    def _merged(
        self, document: Document, pointer: str, ref: Any, siblings: dict[str, Any]
    ) -> dict[str, Any]:
        target = resolve(self._tree, document.path, ref, pointer)
        kept = self._keep(target)
        if kept is not None:
            return {"$ref": kept, **siblings}
        expanded = self.value(target.document, target.pointer, target.value)
        if not isinstance(expanded, dict):
            raise refusal(
                self._tree, document.path, pointer, "ref/dangling", "the target is not an object"
            )
        return {**expanded, **siblings}

    def _enter(self, document: Document, pointer: str) -> None:
        self._nodes += 1
        self._depth += 1
        if self._nodes > MAX_NODES:
            message = f"expands to more than {MAX_NODES} objects"
            raise refusal(self._tree, document.path, pointer, "schema/too-large", message)
        if self._depth > MAX_DEPTH:
            message = f"objects nest deeper than {MAX_DEPTH}"
            raise refusal(self._tree, document.path, pointer, "schema/too-deep", message)


class _Sharing(_Expansion):
    """A dereferencing that makes definitions of the targets of references."""

    def __init__(self, tree: SourceTree, keep: Keep) -> None:
        super().__init__(tree, keep)
        self._used: dict[str, RefTarget] = {}

    def whole(self, document: Document, pointer: str, value: Any) -> Any:
        """The expansion of `value` with its definitions. It is itself no reference."""
        self._refuse_endless(RefTarget(document, pointer, value))
        around, self._used = self._used, {}
        beside: dict[str, Any] = {}
        while isinstance(value, dict) and "$ref" in value:
            beside = {**self._members(document, pointer, value), **beside}
            target = resolve(self._tree, document.path, value["$ref"], pointer)
            if kept := self._keep(target):
                return {"$ref": kept, **beside}
            document, pointer, value = target
        found = self.value(document, pointer, value)
        used, self._used = self._used, around
        return {**found, **beside, "$defs": self._definitions(used)} if used else found

    def _member(self, document: Document, pointer: str, name: str, member: Any) -> Any:
        if name == _SCHEMA:
            return self.whole(document, pointer, member)
        return super()._member(document, pointer, name, member)

    def _merged(
        self, document: Document, pointer: str, ref: Any, siblings: dict[str, Any]
    ) -> dict[str, Any]:
        target = resolve(self._tree, document.path, ref, pointer)
        kept = self._keep(target)
        if kept is None and not isinstance(target.value, dict):
            raise refusal(
                self._tree, document.path, pointer, "ref/dangling", "the target is not an object"
            )
        if kept is None and _is_leaf(target.value):
            return {**self.value(*target), **siblings}
        if kept is None:
            name = schema_name(target)
            self._use(self._used, name, target)
            kept = f"{PREFIX}{name}"
        return {"$ref": kept, **siblings}

    def _use(self, used: dict[str, RefTarget], name: str, target: RefTarget) -> None:
        known = used.setdefault(name, target)
        if _place(known) != _place(target):
            message = f"{known.document.path}#{known.pointer} is also published as {name}"
            raise refusal(
                self._tree, target.document.path, target.pointer, "ref/same-name", message
            )

    def _definitions(self, used: dict[str, RefTarget]) -> dict[str, Any]:
        """The definitions of the targets `used`, and those that they need, by name."""
        known = dict(used)
        found: dict[str, Any] = {}
        waiting = [*used]
        while waiting:
            name = waiting.pop()
            target = known[name]
            if len(known) > MAX_DEFINITIONS:
                message = f"needs more than {MAX_DEFINITIONS} definitions"
                raise refusal(
                    self._tree, target.document.path, target.pointer, "schema/too-large", message
                )
            found[name], needed = self._definition(target)
            for other, each in needed.items():
                if other not in known:
                    waiting.append(other)
                self._use(known, other, each)
        return {name: found[name] for name in sorted(found)}

    def _definition(self, target: RefTarget) -> tuple[dict[str, Any], dict[str, RefTarget]]:
        """The definition of `target`, and the targets of its references by name."""
        if self._keep is not keep_none:
            return _Sharing(self._tree, self._keep).alone(target)
        # Schemas that refer to each other share hundreds of definitions.
        known = self._tree.definitions
        if (place := _place(target)) not in known:
            known[place] = _Sharing(self._tree, self._keep).alone(target)
        found: tuple[dict[str, Any], dict[str, RefTarget]] = known[place]
        return found

    def alone(self, target: RefTarget) -> tuple[dict[str, Any], dict[str, RefTarget]]:
        """The expansion of `target` without definitions, and what it refers to by name."""
        self._refuse_endless(target)
        return self.value(*target), self._used

    def _refuse_endless(self, start: RefTarget) -> None:
        """Refuse a schema that a validator would apply to the same value again and again."""
        references = _References(self._tree, self._keep)
        for target in _cycles(start, lambda place: references.of(place, _INSIDE)):
            message = "the reference leads back to itself for the same value"
            raise refusal(
                self._tree, target.document.path, target.pointer, "ref/recursive", message
            )
