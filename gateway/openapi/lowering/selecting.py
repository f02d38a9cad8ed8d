"""Which operations of a document are served."""

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final, TypeVar

from gateway.contract.values.nearest import hint
from gateway.contract.values.pointers import child
from gateway.openapi.lowering.records import (
    OperationSource,
    RefusedOperation,
    WrongSelection,
)
from gateway.openapi.lowering.selection import OperationSelection

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
