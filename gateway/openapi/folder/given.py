"""The document that a user gives to `gateway import`, and the name of its connector."""

from pathlib import Path
from typing import Final

from msgspec import Struct

from gateway.contract.operation import JOBS
from gateway.errors import ContractError
from gateway.openapi.folder.importfile import file_name
from gateway.openapi.folder.reading import (
    CONNECTOR_FIX,
    MAX_CONNECTOR,
    digest_of_files,
    is_connector,
)
from gateway.openapi.lowering.naming import snake_case
from gateway.openapi.reading.normalise import normalise
from gateway.openapi.reading.source import SourceDocument, is_document

RESERVED: Final = frozenset({"gateway", JOBS})
"""Names that no connector may have: the gateway's own grants or paths begin with them."""
_GENERIC: Final = frozenset({"api", "document", "index", "openapi", "spec", "swagger", "stdin"})
"""File names that say nothing about the vendor."""
_FOLDER: Final = "document"


class GivenDocument(Struct, frozen=True, kw_only=True):
    """The document that the user gave."""

    source: SourceDocument
    files: dict[str, bytes]
    """The vendor's bytes by relative path."""
    origin: str
    """Where it came from."""

    @property
    def is_folder(self) -> bool:
        return len(self.files) > 1

    @property
    def name(self) -> str:
        """The name in the folder of the import: of the file, or of a folder with the files."""
        if self.is_folder:
            return _FOLDER
        return file_name(next(iter(self.files)), ".json" if self.source.file.is_json else ".yaml")

    @property
    def entry(self) -> str | None:
        """Of a folder, the path of the document in it, if it is not the only one at the top."""
        others = {path for path in self.files if is_document(self.files[path])}
        is_plain = "/" not in self.source.path and others <= {self.source.path}
        return None if is_plain or not self.is_folder else self.source.path

    @property
    def sha256(self) -> str:
        digest = digest_of_files(self.files) if self.is_folder else None
        return digest or self.source.sha256


def given_document(source: SourceDocument, origin: str) -> GivenDocument:
    """The document `source` with all files that it refers to. Raises `DocumentRefused`."""
    files = {each.path: each.raw for each in normalise(source).files}
    return GivenDocument(source=source, files=files, origin=origin)


def connector_name(given: GivenDocument, wish: str | None) -> str:
    """The name of the connector: `wish`, else of the file, else of the title.

    Raises `ContractError` if it is not a name for a connector.
    """
    name = _connector_name(given, wish)
    if name in RESERVED:
        raise ContractError(f"a connector cannot be named {name!r}; choose another with --as")
    return name


def _connector_name(given: GivenDocument, wish: str | None) -> str:
    if wish is not None:
        if not is_connector(wish):
            raise ContractError(f"{wish!r} cannot be the name of a connector; {CONNECTOR_FIX}")
        return wish
    stem = snake_case(Path(given.origin).name.partition(".")[0])
    facts = given.source.value.get("info")
    title = snake_case(str(facts.get("title", ""))) if isinstance(facts, dict) else ""
    name = title if stem in _GENERIC or not stem else stem
    short = name[:MAX_CONNECTOR].rstrip("_")
    if not is_connector(short):
        raise ContractError(
            "neither the file nor the title gives a name for the connector; choose one with --as"
        )
    return short
