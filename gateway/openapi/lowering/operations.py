"""Finds the operations of a document (OpenAPI 3.2 §4.9 Path Item Object)."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gateway.contract.values.pointers import child
from gateway.contracts.finding import Finding
from gateway.openapi.lowering.records import OperationSource, RefusedOperation, Unservable
from gateway.openapi.lowering.view import DocumentView
from gateway.openapi.reading.refusal import PartRefused

METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
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
