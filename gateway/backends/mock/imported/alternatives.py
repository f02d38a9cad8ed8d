"""Operations that share a method and a path, and differ in a header or a part of the query.

Documents have them where the path of OpenAPI has a fragment or a query.
"""

from collections.abc import Iterable, Sequence

from gateway.contract.imported import ImportedOperation


class PathAlternatives:
    """The operations of one document by method and path."""

    def __init__(self, operations: Iterable[ImportedOperation]) -> None:
        self._by_place: dict[tuple[str, str], list[ImportedOperation]] = {}
        for each in operations:
            self._by_place.setdefault((each.method, each.path), []).append(each)
        for same in self._by_place.values():
            # One that needs nothing would take the requests to all others.
            same.sort(key=_number_of_needs, reverse=True)

    def of(self, operation: ImportedOperation) -> Sequence[ImportedOperation]:
        """The operations with the method and the path of `operation`, which is one of them."""
        return self._by_place[operation.method, operation.path]


def _number_of_needs(operation: ImportedOperation) -> int:
    return sum(each.is_required for each in operation.parameters)
