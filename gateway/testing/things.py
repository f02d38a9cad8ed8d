"""The things that the operations of an imported document are about, and how they are named."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gateway.backends.mock.things import Role, roles_of
from gateway.catalogue.stored import StoredDocument
from gateway.contract.imported import HEADERS, ImportedOperation
from gateway.contract.schemas.flattening import Place
from gateway.contract.schemas.samples import Schemas
from gateway.contract.values.pointers import NoSuchPlace, follow, pointer_of
from gateway.encoding.replies.content import RESULT

_SHOWING: Final = ("create", "list")
"""What shows a thing that exists, in the order in which it is tried."""
_ON_ITEM: Final = frozenset({"read", "replace", "update", "delete"})


class DocumentThings:
    """The collections of one document, and the operations on them."""

    def __init__(self, document: StoredDocument) -> None:
        connector = document.whole()
        self.operations: Mapping[str, ImportedOperation] = {
            each.id: each for each in connector.operations
        }
        self._roles = roles_of(connector.operations, Schemas(connector.definitions))

    def showing(self, operation_id: str) -> Iterator[str]:
        """The operations whose results show what `operation_id` needs: a thing that exists."""
        role = self._roles.get(operation_id)
        if role is not None and role.kind in _ON_ITEM:
            for kind in _SHOWING:
                for other, its in self._roles.items():
                    if its.kind == kind and its.collection.template == role.collection.template:
                        yield other

    def named(
        self, operation_id: str, shown_by: str, arguments: Mapping[str, Any], result: Any
    ) -> dict[str, Any]:
        """Arguments of `operation_id` that name the thing in a result of `shown_by`.

        `arguments` are those of that result: the paths around the thing are the same.
        """
        here, there = self.operations[operation_id], self.operations[shown_by]
        sent = {e.name: e.member for e in there.parameters if e.location == "path"}
        given = {name: arguments[each] for name, each in sent.items() if each in arguments}
        identity = self.identity(shown_by, result)
        if identity is not None:
            given[self._roles[operation_id].collection.parameter] = identity
        path = [each for each in here.parameters if each.location == "path"]
        return {each.member: given[each.name] for each in path if each.name in given}

    def identity(self, operation_id: str, result: Any) -> Any:
        """The identity of the thing in a result, of a list that of the first one. None: no thing
        is seen in it."""
        thing = self.thing(operation_id, result)
        role = self._roles.get(operation_id)
        return thing.get(role.collection.identity) if role is not None and thing else None

    def thing(self, operation_id: str, result: Any) -> Mapping[str, Any] | None:
        """The thing in a result, of a list the first one. None: no thing is seen in it."""
        role = self._roles.get(operation_id)
        if role is None or role.place is None:
            return None
        found = _at(result, role.place)
        if role.kind == "list":
            found = found[0] if isinstance(found, list) and found else None
        if not isinstance(found, dict):
            return None
        return {name: each for name, each in found.items() if name != HEADERS}

    def is_about(self, operation_id: str, arguments: Mapping[str, Any], other: str) -> Any:
        """The identity in the arguments of an operation on a thing of the same kind as those of
        `other`. None if it is about something else."""
        role, its = self._roles.get(operation_id), self._roles.get(other)
        if role is None or its is None or role.kind not in _ON_ITEM:
            return None
        if role.collection.template != its.collection.template:
            return None
        return arguments.get(_member(self.operations[operation_id], role))

    def are_alike(self, operation_id: str, other: str) -> bool:
        """Whether both show a thing, the first without a change, by the same schema."""
        roles = self._roles.get(operation_id), self._roles.get(other)
        if roles[0] is None or roles[1] is None or roles[0].kind != "read":
            return False
        one, two = (_schemas(self.operations[each]) for each in (operation_id, other))
        return roles[1].kind != "list" and any(each in two for each in one)


def _schemas(operation: ImportedOperation) -> list[Any]:
    return [e.schema for e in operation.replies if e.kind == "json" and e.status.startswith("2")]


def _member(operation: ImportedOperation, role: Role) -> str:
    names = (e.member for e in operation.parameters if e.name == role.collection.parameter)
    return next(names, "")


def _at(result: Any, place: Place) -> Any:
    """The value at `place` of a reply. Replies that are no object are a member of the result."""
    if isinstance(result, dict) and not place and isinstance(result.get(RESULT), list):
        return result[RESULT]
    try:
        return follow(result, pointer_of(place))
    except NoSuchPlace:
        return None
