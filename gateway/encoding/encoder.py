"""The HTTP request of a call, from its arguments."""

from collections.abc import Mapping
from typing import Any

from gateway.contract.imported import ImportedOperation
from gateway.contract.upstream import EncodedRequest
from gateway.contract.values.pointers import child
from gateway.encoding.bodies import Body
from gateway.encoding.fields import HeaderFields
from gateway.encoding.paths import PathTemplate
from gateway.encoding.queries import Query
from gateway.encoding.replies.accepting import accept_of
from gateway.encoding.shapes import Shapes
from gateway.errors import InvalidArguments


class Encoder:
    """Encodes the calls of one imported operation (OpenAPI 3.1 and 3.2, Parameter Object).

    Raises `ContractError` if the path template and the parameters of the operation do not match.
    """

    def __init__(
        self, operation: ImportedOperation, definitions: Mapping[str, Any] | None = None
    ) -> None:
        """`definitions` are those of the connector, to which the input schema refers."""
        shapes = Shapes(definitions or {})
        schemas = shapes.properties(operation.input_schema)
        own = operation.parameters
        self._required = [each.member for each in own if each.is_required]
        self._path = PathTemplate(operation.path, own)
        self._query = Query(own, schemas, shapes, operation.fixed_query)
        self._fields = HeaderFields(own, schemas, shapes)
        accept = accept_of(operation.replies)
        self._accept = (("Accept", accept),) if accept else ()
        self._body = Body(operation.body, schemas, shapes) if operation.body is not None else None

    def encode(self, arguments: Mapping[str, Any]) -> EncodedRequest:
        """The request for `arguments`, which match the operation's input schema.

        A server that decodes it by the document gets the same arguments. Whatever the declared
        serialization cannot express is refused: `InvalidArguments` names the argument by its
        pointer. Raises `MalformedRequest` for text that may not be sent in any encoding: empty and
        dot segments and control characters in the path, and headers that are not printable ASCII.
        """
        for member in self._required:
            if member not in arguments:
                raise InvalidArguments.at(child("", member), "required", "is required")
        content = self._body.encode(arguments) if self._body is not None else None
        media_type, body = content if content is not None else (None, b"")
        return EncodedRequest(
            target=self._path.text(arguments) + self._query.text(arguments),
            headers=(*self._accept, *self._fields.fields(arguments)),
            media_type=media_type,
            body=body,
        )
