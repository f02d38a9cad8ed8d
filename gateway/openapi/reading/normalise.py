"""Brings a document of any version into the normal form.

The normal form is OpenAPI 3.1 with the additions of 3.2 (`additionalOperations`, `querystring`,
`itemSchema`) and Schema Objects in JSON Schema 2020-12. Every `$ref` in it is
`#/components/<section>/<name>`, or `#/x-refused/<number>` for a part that cannot be served. Any
object may be a reference to a refused part, also where OpenAPI allows no reference, such as an
operation: `resolve` follows every kind.
"""

from collections.abc import Mapping
from typing import Any, Final, Protocol

from msgspec import Struct

from gateway.contract.values.pointers import parent
from gateway.contracts.finding import Finding, Severity
from gateway.openapi.reading.bundle import SECTIONS, Bundle, Spot
from gateway.openapi.reading.dialect.walk import SchemaWalk
from gateway.openapi.reading.objects import ObjectWalk
from gateway.openapi.reading.refusal import DocumentRefused
from gateway.openapi.reading.source import SourceDocument, SourceFile
from gateway.openapi.reading.swagger import SwaggerWalk

_MAX_LISTED: Final = 5


class Walk(Protocol):
    """Normalises the objects of one version of OpenAPI."""

    def reserve(self, document: dict[str, Any], spot: Spot) -> None:
        """Keep the names of the document's own components."""

    def value(self, kind: str, value: Any, spot: Spot) -> Any:
        """The normal form of `value`, an object of `kind` that is written at `spot`."""


class Place(Struct, frozen=True):
    """A place in a file of the vendor."""

    path: str
    pointer: str
    line: int


class NormalDocument(Struct, frozen=True, kw_only=True):
    """A document in the normal form. Its value must not be changed."""

    source: SourceDocument
    value: dict[str, Any]
    files: tuple[SourceFile, ...]
    """The files that were read: the first one, then those that references lead to."""
    notes: tuple[Finding, ...]
    """What was changed or left out although it is not served exactly as written."""
    refusals: tuple[Finding, ...]
    """The parts that cannot be served. `#/x-refused/<number>` is the index."""

    moved: Mapping[str, Spot]
    """Pointers of the normal form whose part was written elsewhere, with that place."""

    def place_of(self, pointer: str) -> Place:
        """Where the vendor wrote the part at `pointer` of the normal form."""
        spot = self._spot_of(pointer)
        return Place(spot.file.path, spot.pointer, spot.file.line_of(spot.pointer))

    def _spot_of(self, pointer: str) -> Spot:
        prefix = pointer
        while prefix and prefix not in self.moved:
            prefix = parent(prefix)
        if not prefix:
            return Spot(self.source.file, pointer)
        spot = self.moved[prefix]
        return Spot(spot.file, spot.pointer + pointer[len(prefix) :])

    def pointer_of(self, pointer: str) -> str:
        """The pointer in the vendor's file of the part at `pointer` of the normal form."""
        return self._spot_of(pointer).pointer

    def finding(
        self,
        pointer: str,
        rule: str,
        message: str,
        fix: str,
        severity: Severity = Severity.ERROR,
    ) -> Finding:
        """A finding about the part at `pointer` of the normal form."""
        place = self.place_of(pointer)
        return Finding(
            path=place.path,
            line=place.line,
            pointer=place.pointer,
            rule=rule,
            message=message,
            fix=fix,
            severity=severity,
        )


def normalise(source: SourceDocument) -> NormalDocument:
    """The normal form of `source`. Raises `DocumentRefused` if the document has no usable shape.

    The work counts against the budget that the source was read with.
    """
    _refuse_without_paths(source)
    bundle = Bundle(source)
    schemas = SchemaWalk(bundle)
    spot = Spot(source.file, "")
    walk: Walk
    if source.version == "2.0":
        walk = SwaggerWalk(bundle, schemas.value)
    else:
        walk = ObjectWalk(bundle, schemas.value)
    walk.reserve(source.value, spot)
    value = walk.value("Document", source.value, spot)
    _add_components(bundle, walk, value)
    _note_repeated(bundle)
    _note_hidden(bundle)
    return NormalDocument(
        source=source,
        value=value,
        files=bundle.folder.files,
        notes=tuple(bundle.notes),
        refusals=tuple(bundle.refusals),
        moved=bundle.moved,
    )


def _refuse_without_paths(source: SourceDocument) -> None:
    """`paths` is required before OpenAPI 3.1 (OpenAPI 3.0.3 §4.7.1)."""
    if source.version in {"2.0", "3.0"} and not isinstance(source.value.get("paths"), dict):
        message = f"a document of version {source.version} needs `paths`"
        fix = "add the paths, or give a document that has some"
        raise DocumentRefused([source.file.finding("", "document/no-paths", message, fix)])


def _add_components(bundle: Bundle, walk: Walk, value: dict[str, Any]) -> None:
    """Normalise the targets of references, and those of their references, until none is left."""
    while bundle.waiting:
        kind, name, target = bundle.waiting.pop()
        section = value.setdefault("components", {}).setdefault(SECTIONS[kind], {})
        section[name] = walk.value(kind, target.value, target.spot)


def _note_repeated(bundle: Bundle) -> None:
    for file in bundle.folder.files:
        if file.repeated:
            names = ", ".join(map(repr, file.repeated[:_MAX_LISTED]))
            message = f"names occur twice in one object, and the last one counts: {names}"
            spot = Spot(file, "")
            bundle.note(spot, "document/repeated-name", message, "keep one of each")


def _note_hidden(bundle: Bundle) -> None:
    for file in bundle.folder.files:
        if file.hidden:
            message = f"{file.hidden} invisible characters were removed from texts and examples"
            fix = "read the texts: a model would have read what you do not see"
            bundle.note(Spot(file, ""), "document/hidden-text", message, fix)
