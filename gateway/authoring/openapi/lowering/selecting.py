"""Finds the operations of a document, names them, and selects those that are served."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import product
from typing import Any, Final, TypeVar

from gateway.authoring.contracts.finding import Finding
from gateway.authoring.openapi.lowering.records import (
    DocumentView,
    NameCuts,
    OperationSelection,
    OperationSource,
    RefusedOperation,
    Unservable,
    WrongSelection,
)
from gateway.authoring.openapi.reading.normalise import METHODS
from gateway.authoring.openapi.reading.source import PartRefused
from gateway.contract.agent_view import OWN_TOOLS
from gateway.contract.values.nearest import hint
from gateway.contract.values.pointers import child

# Names of tools: from the operationId, else from the method and the path.
#
# A name depends on its own operation, and on other operations only if their names are equal. So a
# new operation does not rename the others, unless its name is equal to theirs. The names of the
# gateway's own tools are taken.

MAX_NAME: Final = 60
"""The longest `<connector>_<tool>`, so that a client can add its own prefix within 64."""
_DIGEST: Final = 6
_BEGINNING: Final = 0.0
_MIDDLE: Final = 0.5
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD: Final = re.compile(r"[a-z0-9]+")

_Way = Callable[[OperationSource], str]


def snake_case(text: str) -> str:
    """The ASCII letters and digits of `text` as lower-case words, joined with `_`."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return "_".join(_WORD.findall(_HUMP.sub("_", plain).lower()))


def own_name(operation: OperationSource) -> str:
    """The name from the operationId alone. Empty if it has no letters or digits."""
    name = snake_case(operation.operation_id or "")
    return f"{operation.method.lower()}_{name}" if name[:1].isdigit() else name


def path_name(operation: OperationSource) -> str:
    """The name from the method and the path."""
    return f"{operation.method.lower()}_{snake_case(operation.path) or 'root'}"


def tool_names(
    operations: Sequence[OperationSource], names_of: "Naming", given: Mapping[str, str]
) -> dict[str, str]:
    """The name of each tool by operation key. `given` names have precedence.

    Names that are equal because they are cut are cut in another place. Operations with equal names
    are named by their paths instead, and with a digest of the path if these are equal too.
    """
    names = dict(given)
    waiting = [each for each in operations if each.key not in given]
    ways: tuple[_Way, ...] = (lambda each: own_name(each) or path_name(each), path_name)
    for way, first in product(ways, (_MIDDLE, _BEGINNING)):
        found = {each.key: names_of.fitted(way(each), each.key, first) for each in waiting}
        counts = Counter([*names.values(), *found.values(), *reserved(names_of.connector)])
        names |= {key: name for key, name in found.items() if counts[name] == 1}
        waiting = [each for each in waiting if each.key not in names]
    return names | {each.key: names_of.with_digest(path_name(each), each.key) for each in waiting}


def reserved(connector: str) -> frozenset[str]:
    """The names that no tool of `connector` may have: each would be that of an own tool."""
    return OWN_TOOLS | {name.removeprefix(f"{connector}_") for name in OWN_TOOLS}


class Naming:
    """Makes the names of the tools of one connector fit."""

    def __init__(self, connector: str, cuts: NameCuts) -> None:
        self.connector = connector
        self._room = MAX_NAME - len(connector) - 1
        self._cuts = cuts

    def fitted(self, name: str, key: str, first: float = _MIDDLE) -> str:
        """`name`. If `<connector>_<name>` is too long, a part of it.

        `first`: where words are left out, from 0, its beginning, to 1.
        """
        if len(name) <= self._room:
            return name
        shorter = _with_fewer_words(name, self._room, first) if self._cuts == "words" else name
        return shorter if len(shorter) <= self._room else self.with_digest(name, key)

    def with_digest(self, name: str, key: str) -> str:
        """The beginning of `name`, and a digest of the operation `key`."""
        digest = hashlib.sha256(key.encode()).hexdigest()[:_DIGEST]
        room = self._room - _DIGEST - 1
        if self._cuts == "words":
            name = _with_fewer_words(name, room, _MIDDLE)
        return f"{name[:room].rstrip('_')}_{digest}"


def _with_fewer_words(name: str, room: int, first: float) -> str:
    """`name` with fewer words: without those that it repeats, then without those after `first`.

    What it is about is at its beginning, and what makes it differ from others is at its end. Both
    stay.
    """
    words = name.split("_")
    at = 1
    while len("_".join(words)) > room and at < len(words) - 1:
        if words[at] in words[:at]:
            del words[at]
        else:
            at += 1
    while len("_".join(words)) > room and len(words) > 2:
        del words[max(1, int((len(words) - 1) * first))]
    return "_".join(words)


# Finds the operations of a document (OpenAPI 3.2 §4.9 Path Item Object).

_TOKEN: Final = re.compile(r"[A-Z][A-Z-]{0,30}")


class FoundOperations:
    """The operations of one document in document order, and what cannot be read."""

    def __init__(self, view: DocumentView) -> None:
        self.refused: list[RefusedOperation] = []
        """Paths and operations that cannot be read."""
        self._view = view
        paths = view.value.get("paths")
        items = paths.items() if isinstance(paths, dict) else ()
        self.operations = tuple(each for path, item in items for each in self._of_path(path, item))

    def _of_path(self, path: str, item: Any) -> Iterator[OperationSource]:
        if path.startswith("x-"):
            return
        try:
            found = self._view.part(item, child("/paths", path))
        except (PartRefused, Unservable) as problem:
            self._refuse(path, problem)
            return
        for method, pointer, node in _operations(found.value, found.pointer):
            try:
                _refuse_odd_method(method, pointer)
                value = self._view.part(node, pointer)
            except (PartRefused, Unservable) as problem:
                self._refuse(f"{method} {path}", problem)
                continue
            yield OperationSource(
                method=method,
                path=path,
                pointer=value.pointer,
                item_pointer=found.pointer,
                item=found.value,
                value=value.value,
            )

    def _refuse(self, operation: str, problem: PartRefused | Unservable) -> None:
        finding = finding_of(self._view, problem)
        self.refused.append(RefusedOperation(operation=operation, finding=finding))


def finding_of(view: DocumentView, problem: PartRefused | Unservable) -> Finding:
    """The finding for a part that cannot be served."""
    return problem.finding if isinstance(problem, PartRefused) else view.refusal(problem)


def _operations(item: Mapping[str, Any], pointer: str) -> Iterator[tuple[str, str, Any]]:
    """Method, pointer and Operation Object of each operation of a Path Item."""
    for name in METHODS:
        if name in item:
            yield name.upper(), child(pointer, name), item[name]
    more = item.get("additionalOperations")
    for name, node in (more if isinstance(more, dict) else {}).items():
        if not name.startswith("x-"):
            yield name, child(child(pointer, "additionalOperations"), name), node


def _refuse_odd_method(method: str, pointer: str) -> None:
    """Raise `Unservable` for a method of `additionalOperations` that cannot be one."""
    is_additional = pointer.rpartition("/")[0].endswith("/additionalOperations")
    if not is_additional:
        return
    if method.lower() in METHODS:
        message = f"{method} does not belong into additionalOperations (OpenAPI 3.2 §4.9.1)"
        fix = f"write it as the member {method.lower()} with an overlay, or exclude it"
        raise Unservable(pointer, "operation/method", message, fix)
    if not _TOKEN.fullmatch(method):
        message = f"{method!r} is not a method: upper-case letters, and -"
        raise Unservable(pointer, "operation/method", message, "correct it with an overlay")


# Which operations of a document are served.

MAX_SERVED: Final = 10_000
_MAX_COMPARED: Final = 5000
_MOST_LISTED: Final = 12
_T = TypeVar("_T")


def selected(
    operations: Sequence[OperationSource],
    refused: Sequence[RefusedOperation],
    selection: OperationSelection,
    *,
    may_be_empty: bool = False,
) -> tuple[OperationSource, ...]:
    """The operations that `selection` names, without those that cannot be read.

    Raises `WrongSelection` if a part of the selection matches nothing, or if all parts together do
    and that is not expected (`may_be_empty`).
    """
    _refuse_unmatched(operations, refused, selection)
    found = tuple(each for each in operations if _is_selected(each, selection))
    if not found and not may_be_empty and not refused_in(refused, selection):
        pointer, message = "/select", "no operation matches all parts of the selection"
        raise WrongSelection(pointer, message, "widen select in import.yaml")
    if len(found) > MAX_SERVED:
        message = f"{len(found)} operations are selected, more than {MAX_SERVED}"
        raise WrongSelection("/select", message, "select fewer, such as by tags or paths")
    return found


def by_key(
    operations: Sequence[OperationSource], given: Mapping[str, _T], member: str
) -> dict[str, _T]:
    """`given`, by operationId or `GET /path`, with the keys of operations.

    Raises `WrongSelection` for a name that is unknown, or that two operations have. `member` is the
    member of `import.yaml` that holds `given`.
    """
    found: dict[str, _T] = {}
    for name, value in given.items():
        keys = [each.key for each in operations if name in _names(each)]
        pointer = child(f"/{member}", name)
        if not keys:
            known = [known for each in operations for known in _names(each)]
            fix = _hint(name, known, "write an operationId, or a method and a path: GET /pets")
            raise WrongSelection(pointer, f"there is no operation {name!r}", fix)
        if len(keys) > 1:
            message = f"{len(keys)} operations have the operationId {name!r}"
            raise WrongSelection(pointer, message, f"write one of {', '.join(keys[:5])}")
        found[keys[0]] = value
    return found


def by_pattern(
    operations: Sequence[OperationSource], given: Mapping[str, _T], member: str
) -> dict[str, _T]:
    """As `by_key`. A name with `*`, `?` or `[…]` gives its value to all that it matches.

    The name of one operation goes before patterns. Raises `WrongSelection` also for a pattern that
    matches nothing, and for two that say different things of one operation.
    """
    names = known_names(operations)
    globs = {name: value for name, value in given.items() if name not in names and _is_glob(name)}
    exact = {name: value for name, value in given.items() if name not in globs}
    found: dict[str, _T] = {}
    for glob, value in globs.items():
        matched = [each.key for each in operations if _is_one_of(_names(each), [glob])]
        pointer = child(f"/{member}", glob)
        if not matched:
            message, fix = f"{glob!r} matches nothing in the document", _known(member, ())
            raise WrongSelection(pointer, message, fix)
        if any(found.get(key, value) != value for key in matched):
            message = f"{glob!r} and another pattern say different things of one operation"
            raise WrongSelection(pointer, message, "name the operation itself, or narrow one")
        found.update(dict.fromkeys(matched, value))
    return found | by_key(operations, exact, member)


def _is_glob(name: str) -> bool:
    return any(each in name for each in "*?[")


def known_names(operations: Sequence[OperationSource]) -> frozenset[str]:
    """The names by which `import.yaml` may name these operations."""
    return frozenset(name for each in operations for name in _names(each))


def refused_in(
    refused: Sequence[RefusedOperation], selection: OperationSelection
) -> list[RefusedOperation]:
    """The operations that cannot be read and may be selected. Their tags are not known."""
    found: list[RefusedOperation] = []
    for each in refused:
        method, path = _parts(each.operation)
        if (
            _is_one_of([path], selection.paths)
            and (not method or _is_one_of([method], [name.upper() for name in selection.methods]))
            and (not method or _is_one_of([each.operation], selection.operations))
            and not (selection.exclude and _is_one_of([each.operation], selection.exclude))
        ):
            found.append(each)
    return found


def _parts(operation: str) -> tuple[str, str]:
    """The method and the path. The method is empty if the whole path cannot be read."""
    if operation.startswith("/") or " " not in operation:
        return "", operation
    method, _, path = operation.partition(" ")
    return method, path


def _hint(name: str, known: Sequence[str], otherwise: str) -> str:
    """A similar name as a question. Among very many names, the search would take too long."""
    return hint(name, set(known) if len(known) <= _MAX_COMPARED else (), otherwise)


def _is_selected(operation: OperationSource, selection: OperationSelection) -> bool:
    return (
        _is_one_of(operation.tags, selection.tags)
        and _is_one_of([operation.path], selection.paths)
        and _is_one_of([operation.method], [each.upper() for each in selection.methods])
        and _is_one_of(_names(operation), selection.operations)
        and not (selection.exclude and _is_one_of(_names(operation), selection.exclude))
    )


def _is_one_of(names: Iterable[str], globs: Sequence[str]) -> bool:
    """Whether one of `names` matches one of `globs`. Without globs, everything matches."""
    return not globs or any(fnmatchcase(name, glob) for name in names for glob in globs)


def _names(operation: OperationSource) -> list[str]:
    """The names by which `import.yaml` may name the operation."""
    own = operation.operation_id
    return [operation.key] if own is None else [own, operation.key]


def _known(member: str, listed: Sequence[str]) -> str:
    """What there is instead, as the end of a message."""
    known = sorted(set(listed))
    if member == "tags" and not known:
        return "no operation has a tag; select by paths or operations"
    if member in {"tags", "methods"}:
        more = f" and {len(known) - _MOST_LISTED} more" if known[_MOST_LISTED:] else ""
        return f"the {member} are {', '.join(known[:_MOST_LISTED])}{more}"
    return "`gateway import --dry-run --json` lists the operations"


def _refuse_unmatched(
    operations: Sequence[OperationSource],
    refused: Sequence[RefusedOperation],
    selection: OperationSelection,
) -> None:
    """Raise `WrongSelection` for a glob that matches nothing, which is a mistake in writing."""
    unread = [each.operation for each in refused]
    names = [*(name for each in operations for name in _names(each)), *unread]
    known = {
        "tags": [tag for each in operations for tag in each.tags],
        "paths": [*(each.path for each in operations), *(_parts(name)[1] for name in unread)],
        "methods": [each.method for each in operations],
        "operations": names,
        "exclude": names,
    }
    for member, listed in known.items():
        for position, glob in enumerate(getattr(selection, member)):
            wanted = glob.upper() if member == "methods" else glob
            if not any(fnmatchcase(name, wanted) for name in set(listed)):
                fix = _hint(glob, listed, _known(member, listed))
                message = f"{glob!r} matches nothing in the document"
                raise WrongSelection(f"/select/{member}/{position}", message, fix)
