"""The documents of upstreams, imported or written here: operations, and what they declare.

Pointers are those of the normal form. Neither the encoder nor the validator shares code with it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from gateway.authoring.contracts.finding import Finding, Severity
from gateway.authoring.contracts.tree import UPSTREAMS
from gateway.authoring.openapi.folder import IMPORT_FILE, ImportFolder, served_document
from gateway.authoring.openapi.reading.normalise import METHODS, NormalDocument, normalise
from gateway.authoring.openapi.reading.schemas import Part, resolve_part
from gateway.authoring.openapi.reading.source import PartRefused, read_source
from gateway.contract.values.pointers import NoSuchPlace, child, follow


class DeclaredOperation(Struct, frozen=True):
    """A method of a path."""

    method: str
    path: str
    item: str
    """The pointer to the Path Item."""
    pointer: str


class ContractDocument:
    """The document of one upstream, with the overlay of its import."""

    def __init__(self, schemas: Path, upstream: str) -> None:
        """Raises `ContractError` if the document cannot be read."""
        self.name = upstream
        folder = ImportFolder(schemas=schemas, connector=upstream)
        self.is_imported = (folder.files / IMPORT_FILE).is_file()
        self.overlay: Mapping[str, Any] = {}
        """The overlay that the import has already."""
        self._place = PurePosixPath()
        if self.is_imported:
            wishes, _ = folder.wishes()
            self._place = folder.path / wishes.document if wishes.entry else folder.path
            if overlay := folder.overlay():
                self.overlay = overlay.value
            self.normal: NormalDocument = served_document(folder)
        else:
            file = schemas / UPSTREAMS / upstream / "openapi.yaml"
            self.normal = normalise(read_source(file, root=schemas))

    def finding(
        self, pointers: Sequence[str], rule: str, texts: tuple[str, str], severity: Severity
    ) -> Finding:
        """A finding at the first of `pointers`. `texts` are the message and the fix.

        Its path begins in the folder of schemas, and its pointer is that of the written file.
        """
        found = self.normal.finding(pointers[0] if pointers else "", rule, *texts, severity)
        return replace(found, path=str(self._place / found.path))

    def part(self, pointer: str) -> Part:
        """The object at `pointer`, or where its reference leads. Raises `NoSuchPlace`."""
        try:
            return resolve_part(self.normal, follow(self.normal.value, pointer), pointer)
        except PartRefused as refused:
            raise NoSuchPlace(str(refused)) from None

    def operations(self) -> Iterator[DeclaredOperation]:
        """All operations, without those whose Path Item cannot be read."""
        for path in self.normal.value.get("paths", {}):
            with suppress(NoSuchPlace):
                item, at = self.part(child("/paths", path))
                others = child(at, "additionalOperations")
                found = {each: child(at, each) for each in METHODS if each in item}
                found |= {e: child(others, e) for e in item.get("additionalOperations", ())}
                for method, pointer in found.items():
                    yield DeclaredOperation(method, path, at, pointer)

    def response(self, operation: str, names: Iterable[str]) -> Part | None:
        """What the operation at a pointer declares for the first of `names` that it has, such as
        `404`, `4XX` and `default`. Raises `NoSuchPlace`."""
        value, at = self.part(operation)
        known = {name.upper(): name for name in value.get("responses", {})}
        found = next((known[n.upper()] for n in names if n.upper() in known), None)
        return None if found is None else self.part(child(child(at, "responses"), found))

    def media_type(self, part: Part, named: str) -> Part | None:
        """The most specific Media Type Object for `named` in a response or a request body."""
        essence = essence_of_name(named)
        ranges = {essence_of_name(each): each for each in part.value.get("content", {})}
        for wanted in (essence, f"{essence.partition('/')[0]}/*", "*/*"):
            if wanted in ranges:
                return self.part(child(child(part.pointer, "content"), ranges[wanted]))
        return None


def essence_of_name(media_type: str) -> str:
    """A media type without parameters, in lower case."""
    return media_type.partition(";")[0].strip().lower()


def is_json(media_type: str) -> bool:
    """Whether a media type is JSON (RFC 6839 §3.1)."""
    essence = essence_of_name(media_type)
    return essence == "application/json" or essence.endswith("+json")
