"""Resolves references between contract files. They cannot leave the schemas folder.

A reference is a relative path and a JSON Pointer (`../common/money.json#/$defs/Usd`). It is looked
up in the documents that were already read, so that no reference can open a file or a socket.
"""

import posixpath
import re
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from gateway.authoring.contracts.document import Document
from gateway.authoring.contracts.finding import ContractRefused, Finding
from gateway.authoring.contracts.tree import COMMON, TOOLS, SourceTree
from gateway.contract.values.pointers import NoSuchPlace, child, follow, steps

_UNNAMED: Final = frozenset({COMMON, TOOLS})
"""Folders that are no part of published names."""
_UNUSUAL: Final = re.compile(r"[^A-Za-z0-9._-]")
"""What the name of a component of OpenAPI 3.1 must not have (4.8.7)."""
INPUT: Final = "/post/requestBody/content/application~1json/schema"
"""Where the contract of a tool has the schema of its arguments."""
OUTPUT: Final = "/post/responses/200/content/application~1json/schema"
SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


class RefTarget(NamedTuple):
    """The target of a reference."""

    document: Document
    pointer: str
    value: Any


def resolve(tree: SourceTree, base_path: PurePosixPath, ref: Any, at: str = "") -> RefTarget:
    """The target of `ref`, which is written in the file `base_path` at the pointer `at`.

    Raises `ContractRefused` with a finding of `ref/remote`, `ref/absolute`, `ref/escapes`,
    `ref/dangling` or `ref/malformed`. It has no finding if the target's file could not be read,
    because the tree reports that.
    """
    if not isinstance(ref, str):
        raise refusal(tree, base_path, at, "ref/malformed", "a reference must be text")
    try:
        path, fragment = _parts(base_path, ref)
    except _Unusable as error:
        raise refusal(tree, base_path, at, error.rule, error.message) from None
    document = tree.documents.get(path)
    if document is None and tree.is_unread(path):
        raise ContractRefused([])
    if document is None:
        raise refusal(tree, base_path, at, "ref/dangling", f"there is no {path}")
    try:
        return RefTarget(document, fragment, follow(document.value, fragment))
    except NoSuchPlace:
        raise refusal(
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


def schema_name(target: RefTarget) -> str:
    """The published name of a schema."""
    return published_name(target.document.path, target.pointer)


def published_name(path: PurePosixPath, pointer: str) -> str:
    """The published name of a schema: `avinode.search_flights.input` for that file of `tools/`.

    The name of a definition is added at the end.
    """
    folder, *rest = path.with_suffix("").parts
    parents = rest if folder in _UNNAMED else [folder, *rest]
    return _UNUSUAL.sub("_", ".".join([*parents, *steps(pointer)[-1:]]))


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
    if SCHEME.match(ref):
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
    "ref/recursive": "let one of the references lead to a property or to items",
    "ref/same-name": "rename one of the definitions, or its file",
    "schema/too-large": "use fewer nested references, or split the contract",
    "schema/too-deep": "reduce the nesting",
}


def refusal(
    tree: SourceTree, path: PurePosixPath, at: str, rule: str, message: str
) -> ContractRefused:
    """The error about the value at the pointer `at` of the file `path`, with the fix of `rule`."""
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
