"""The document that is lowered, and what its operations have in common."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contracts.finding import Finding, Severity
from gateway.openapi.lowering.records import Unservable
from gateway.openapi.reading.dialect.directions import Direction
from gateway.openapi.reading.normalise import NormalDocument
from gateway.openapi.reading.refs import Part, resolve_part
from gateway.openapi.reading.schemas import Schema, SchemaLowering, is_binary

_NO_CHANGE: Final = "no change is needed"


class DocumentView:
    """One normal document. Collects the definitions and the notes of its operations."""

    def __init__(self, document: NormalDocument, *, checks_results: bool = True) -> None:
        """`checks_results`: formats of results refuse values. Otherwise they are annotations."""
        self.document = document
        self.value: Mapping[str, Any] = document.value
        self.schemas = SchemaLowering(document, checks_results=checks_results)
        self._notes: list[Finding] = []

    @property
    def notes(self) -> list[Finding]:
        """What is served differently from the document, or is left out."""
        return [*self.document.notes, *self.schemas.notes, *self._notes]

    def part(self, node: Any, pointer: str) -> Part:
        """`node` at `pointer`, or what its `$ref` refers to. Raises `PartRefused`, `Unservable`."""
        if not isinstance(node, dict):
            message = "an object is expected here"
            raise Unservable(pointer, "document/malformed", message, "correct it with an overlay")
        return resolve_part(self.document, node, pointer)

    def lower(self, schema: Any, direction: Direction, pointer: str) -> Schema:
        """`schema` in JSON Schema 2020-12. Raises `PartRefused`."""
        return self.schemas.lower(schema, direction, pointer)

    def is_binary(self, schema: Any) -> bool:
        """Whether `schema` describes bytes, which are base64 text in arguments and results."""
        return is_binary(self.document, schema)

    def note(self, pointer: str, rule: str, message: str, fix: str = _NO_CHANGE) -> None:
        """Report what is served differently from the document, or is left out."""
        self._notes.append(self.document.finding(pointer, rule, message, fix, Severity.NOTE))

    def refusal(self, problem: Unservable) -> Finding:
        """`problem` with its place in the vendor's document."""
        return self.document.finding(
            problem.pointer, problem.rule, problem.message, problem.fix, Severity.ERROR
        )
