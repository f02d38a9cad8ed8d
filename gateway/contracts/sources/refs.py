"""Resolves references between contract files. They cannot leave the schemas folder.

A reference is a relative path and a JSON Pointer (`../common/money.json#/$defs/Usd`). It is looked
up in the documents that were already read, so that no reference can open a file or a socket.
"""

import posixpath
import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from gateway.contract.values.pointers import NoSuchPlace, child, follow, steps
from gateway.contracts.finding import ContractRefused, Finding
from gateway.contracts.sources import keywords
from gateway.contracts.sources.document import Document
from gateway.contracts.sources.tree import SourceTree

MAX_DEPTH: Final = 32
"""The deepest nesting of objects in one dereferenced contract. Maps of names do not count."""
MAX_NODES: Final = 10_000
"""The most objects of one dereferenced contract. A few nested references can expand to millions."""
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_DROPPED: Final = frozenset({"$schema", "$id", "$defs", "$comment"})


class RefTarget(NamedTuple):
    """The target of a reference."""

    document: Document
    pointer: str
    value: Any


Keep = Callable[[RefTarget], str | None]
"""Returns the new text of a reference to this target. None: the target's content replaces it."""


def keep_none(_: RefTarget) -> None:
    """Replaces every reference with the content of its target."""


def resolve(tree: SourceTree, base_path: PurePosixPath, ref: Any, at: str = "") -> RefTarget:
    """The target of `ref`, which is written in the file `base_path` at the pointer `at`.

    Raises `ContractRefused` with a finding of `ref/remote`, `ref/absolute`, `ref/escapes`,
    `ref/dangling` or `ref/malformed`. It has no finding if the target's file could not be read,
    because the tree reports that.
    """
    if not isinstance(ref, str):
        raise _refused(tree, base_path, at, "ref/malformed", "a reference must be text")
    try:
        path, fragment = _parts(base_path, ref)
    except _Unusable as error:
        raise _refused(tree, base_path, at, error.rule, error.message) from None
    document = tree.documents.get(path)
    if document is None and tree.is_unread(path):
        raise ContractRefused([])
    if document is None:
        raise _refused(tree, base_path, at, "ref/dangling", f"there is no {path}")
    try:
        return RefTarget(document, fragment, follow(document.value, fragment))
    except NoSuchPlace:
        raise _refused(
            tree, base_path, at, "ref/dangling", f"{path} has nothing at {fragment}"
        ) from None


def _at_reference(document: Document, at: str) -> str:
    """The pointer to the `$ref` of the object at `at`, or `at` if that has no `$ref`."""
    pointer = child(at, "$ref")
    try:
        follow(document.value, pointer)
    except NoSuchPlace:
        return at
    return pointer


def dereference(
    tree: SourceTree, path: PurePosixPath, pointer: str = "", keep: Keep = keep_none
) -> Any:
    """The value at `pointer` of the file `path`, with references replaced by their targets.

    References for which `keep` returns a text get that text instead. Members beside a `$ref` (such
    as `description`) have precedence over those of the target. `$defs`, `$id`, `$schema` and
    `$comment` are left out, because nothing refers to them any more.

    Raises `ContractRefused` for a reference that cannot be resolved, for recursion, and for a value
    that exceeds `MAX_DEPTH` or `MAX_NODES`.
    """
    document = tree.documents[path]
    return _Expansion(tree, keep).value(document, pointer, follow(document.value, pointer))


def origin(tree: SourceTree, document: Document, pointer: str, inside: str) -> RefTarget:
    """The place where the part `inside` of the dereferenced value at `pointer` is written.

    Raises `NoSuchPlace` if there is no such part, and `ContractRefused` as `resolve` does.
    """
    found = RefTarget(document, pointer, follow(document.value, pointer))
    for step in steps(inside):
        while _is_reference_without(found.value, step):
            found = resolve(tree, found.document.path, found.value["$ref"], found.pointer)
        value = follow(found.value, child("", step))
        found = RefTarget(found.document, child(found.pointer, step), value)
    return found


def _is_reference_without(value: Any, step: str) -> bool:
    return isinstance(value, dict) and step not in value and isinstance(value.get("$ref"), str)


def closure(tree: SourceTree, path: PurePosixPath) -> tuple[PurePosixPath, ...]:
    """`path` and every file that it refers to, directly or indirectly, sorted.

    The upstream that an `x-binding` names is not a reference. Raises `ContractRefused`.
    """
    found: set[PurePosixPath] = set()
    waiting = [path]
    while waiting:
        current = waiting.pop()
        if current not in found:
            found.add(current)
            waiting.extend(_neighbours(tree, tree.documents[current]))
    return tuple(sorted(found))


def _neighbours(tree: SourceTree, document: Document) -> list[PurePosixPath]:
    return [
        resolve(tree, document.path, holder["$ref"], pointer).document.path
        for pointer, holder in tree.references(document.path)
    ]


class _Expansion:
    """One dereferencing, with its counters and the references that are being expanded."""

    def __init__(self, tree: SourceTree, keep: Keep) -> None:
        self._tree = tree
        self._keep = keep
        self._nodes = 0
        self._depth = 0
        self._inside: list[tuple[PurePosixPath, str]] = []

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
        key = (target.document.path, target.pointer)
        if key in self._inside or _contains(key, document.path, pointer):
            raise _refused(
                self._tree, document.path, pointer, "ref/recursive", "the reference contains itself"
            )
        self._inside.append(key)
        expanded = self.value(target.document, target.pointer, target.value)
        self._inside.pop()
        if not isinstance(expanded, dict):
            raise _refused(
                self._tree, document.path, pointer, "ref/dangling", "the target is not an object"
            )
        return {**expanded, **siblings}

    def _enter(self, document: Document, pointer: str) -> None:
        self._nodes += 1
        self._depth += 1
        if self._nodes > MAX_NODES:
            message = f"expands to more than {MAX_NODES} objects"
            raise _refused(self._tree, document.path, pointer, "schema/too-large", message)
        if self._depth > MAX_DEPTH:
            message = f"objects nest deeper than {MAX_DEPTH}"
            raise _refused(self._tree, document.path, pointer, "schema/too-deep", message)


def _contains(target: tuple[PurePosixPath, str], path: PurePosixPath, pointer: str) -> bool:
    """Whether `target`, a file and a pointer, contains or is the place `pointer` of `path`."""
    return target[0] == path and f"{pointer}/".startswith(f"{target[1]}/")


class _Unusable(ValueError):
    """A reference that violates `rule` in every file of its folder."""

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule
        self.message = message


@lru_cache(maxsize=100_000)
def _parts(base_path: PurePosixPath, ref: str) -> tuple[PurePosixPath, str]:
    """The file and the pointer of `ref` in the file `base_path`. Raises `_Unusable`."""
    file, _, fragment = ref.partition("#")
    fragment = unquote(fragment)
    if _SCHEME.match(ref):
        raise _Unusable("ref/remote", "the reference is a URL, and nothing is fetched")
    if file.startswith(("/", "~")):
        raise _Unusable("ref/absolute", "a reference must be a relative path")
    if any(mark in file for mark in "\\%?\0") or not (fragment + "/").startswith("/"):
        raise _Unusable("ref/malformed", "not a relative path with a JSON Pointer")
    joined = posixpath.normpath(str(base_path.parent / file)) if file else str(base_path)
    if joined.startswith("../") or joined == "..":
        raise _Unusable("ref/escapes", "leads out of the schemas folder")
    return PurePosixPath(joined), fragment


_FIXES: Final = {
    "ref/remote": "copy the schema to schemas/common and refer to that file",
    "ref/absolute": "write the path relative to this file",
    "ref/escapes": "move the target into the schemas folder",
    "ref/dangling": "correct the path or the pointer, or create the target",
    "ref/malformed": "write `file.json#/pointer`, with forward slashes",
    "ref/recursive": "write each level as a separate schema: recursive schemas cannot be published",
    "schema/too-large": "use fewer nested references, or split the contract",
    "schema/too-deep": "reduce the nesting",
}


def _refused(
    tree: SourceTree, path: PurePosixPath, at: str, rule: str, message: str
) -> ContractRefused:
    if rule.startswith("ref/"):
        at = _at_reference(tree.documents[path], at)
    path, at, line = tree.documents[path].place(at)
    return ContractRefused(
        [
            Finding(
                path=str(path),
                line=line,
                pointer=at,
                rule=rule,
                message=message,
                fix=_FIXES[rule],
            )
        ]
    )
