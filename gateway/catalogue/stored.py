"""Imported documents as the bytes of their records, of which a start decodes only the heads."""

import importlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from traceback import walk_tb
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from gateway.contract.imported import (
    ImportedConnector,
    ImportedOperation,
    ResultCheck,
    SecurityUse,
)
from gateway.contract.operation import CallPolicy, DeclaredError, Effect
from gateway.contract.policies.limits import ToolLimits
from gateway.contract.selection import with_fields
from gateway.contract.slots import CredentialSlot
from gateway.contract.values.schema import with_definitions
from gateway.encoding.replies.results import published_results, result_schema
from gateway.errors import ContractError

# Reads parts of the generated package. Errors name the damaged file.

_T = TypeVar("_T")


@contextmanager
def reading(part: str | Path, folder: Path | None = None) -> Iterator[None]:
    """Turn every error of the block into a `ContractError` that names `part`.

    If code of a file in `folder` was running when the error occurred, the error names that file.
    """
    try:
        yield
    except Exception as error:  # a damaged module may raise any error when it is imported
        ran = [frame.f_code.co_filename for frame, _ in walk_tb(error.__traceback__)]
        inside = [file for file in ran if folder and Path(file).is_relative_to(folder)]
        why = str(error).partition("\n")[0] or type(error).__name__
        raise ContractError(
            f"{inside[-1] if inside else part} cannot be used ({why}); run `gateway generate`"
        ) from error


def folder_of(package: str) -> Path:
    """The folder of the package. Raises `ContractError`."""
    with reading(f"the generated package {package!r}"):
        return Path(str(importlib.import_module(package).__file__)).parent


def table(package: str, module: str, name: str, kind: type[_T]) -> tuple[_T, ...]:
    """The tuple `name` of a module of the package. Raises `ContractError`."""
    folder = folder_of(package)
    with reading(folder / module, folder):
        found = getattr(importlib.import_module(f"{package}.{module}"), name)
        if not isinstance(found, tuple) or not all(isinstance(each, kind) for each in found):
            raise TypeError(f"{name} is not a tuple of {kind.__name__}s")
        return found


# Imported documents as the bytes of their records, of which a start decodes only the heads.
#
# A document of a thousand operations has megabytes of schemas, and most of them are not used before
# the next restart. So a schema is decoded by the first call, or by the list, that needs it.

_DEFINITIONS_KEPT: Final = 256
"""The decoded definitions that one document keeps, so that they take little memory."""


class OperationHead(Struct, frozen=True, kw_only=True):
    """What a start needs of an `ImportedOperation`. The members have the same meaning."""

    id: str
    tool: str
    title: str
    description: str
    effect: Effect
    is_idempotent: bool
    method: str
    path: str
    security: tuple[tuple[SecurityUse, ...], ...] = ()
    errors: tuple[DeclaredError, ...] = ()
    sensitive: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    selects_fields: bool = False
    longest_text: int = 0
    file_types: tuple[str, ...] = ()
    collects_events: bool = False
    limits: ToolLimits | None = None
    policy: CallPolicy = CallPolicy()
    results: ResultCheck = "enforce"


class _Record(Struct, frozen=True, kw_only=True):
    """An `ImportedConnector` whose operations and definitions are not decoded."""

    connector: str
    title: str
    base_url: str | None
    operations: tuple[Raw, ...]
    bound: tuple[Raw, ...] = ()
    slots: tuple[CredentialSlot, ...] = ()
    definitions: Mapping[str, Raw] = {}
    enforces_results: bool = True
    """Of earlier generators, whose operations do not say it. False: they say `report`."""


_Recorded = TypeVar("_Recorded", OperationHead, ImportedOperation)


class StoredDocument:
    """One imported document, opened."""

    def __init__(self, path: Path, text: bytes | None = None) -> None:
        """Raises `ContractError` if the file at `path` is no record of an imported document.

        `text` is its content, if it is not written.
        """
        self._path = path
        with reading(path):
            self._text = path.read_bytes() if text is None else text
            record = msgspec.json.decode(self._text, type=_Record)
            self._results: dict[str, Any] = {} if record.enforces_results else {"results": "report"}
            self.operations = self._opened(record.operations)
            self.bound = self._opened(record.bound)
            """Those that only tools with contract files call."""
        self.connector = record.connector
        self.title = record.title
        self.base_url = record.base_url
        self.slots = record.slots
        self.definitions = StoredDefinitions(path, record.definitions)

    def _opened(self, raws: Iterable[Raw]) -> "tuple[StoredOperation, ...]":
        decode = msgspec.json.Decoder(OperationHead).decode
        return tuple(StoredOperation(self, self._with_results(decode(each)), each) for each in raws)

    def _with_results(self, found: _Recorded) -> _Recorded:
        return replace(found, **self._results) if self._results else found

    def find(self, tool: str) -> "StoredOperation | None":
        """The operation with this name. None if there is none."""
        every = (*self.operations, *self.bound)
        return next((each for each in every if each.head.tool == tool), None)

    def whole(self) -> ImportedConnector:
        """All of the document, decoded each time. Raises `ContractError`."""
        with reading(self._path):
            return msgspec.json.decode(self._text, type=ImportedConnector)

    def operation(self, raw: Raw) -> ImportedOperation:
        """The operation with the record `raw`, decoded each time. Raises `ContractError`."""
        with reading(self._path):
            return self._with_results(msgspec.json.decode(raw, type=ImportedOperation))


class StoredOperation:
    """One operation of a stored document."""

    __slots__ = ("_raw", "document", "head")

    def __init__(self, document: StoredDocument, head: OperationHead, raw: Raw) -> None:
        self.document = document
        self.head = head
        self._raw = raw

    def whole(self) -> ImportedOperation:
        """All of the operation, decoded each time. Raises `ContractError`."""
        return self.document.operation(self._raw)

    def input_schema(self) -> dict[str, Any]:
        """The schema of its arguments with the definitions that it needs. Raises `ContractError`.

        The definitions are shared with other operations. Nobody may change them.
        """
        schema = with_definitions(self.whole().input_schema, self.document.definitions)
        found = schema if isinstance(schema, dict) else {"type": "object"}
        return with_fields(found) if self.head.selects_fields else found

    def result_schema(self) -> Any:
        """The schema of its results, which the argument `fields` selects from."""
        return result_schema(self.whole(), self.document.definitions)

    def published_results(self) -> dict[str, Any]:
        """The schema of its results that is published. Raises `ContractError`."""
        document = self.document
        # A reply to HEAD has no body, whatever the document declares.
        is_enforced = self.head.results != "report" and self.head.method != "HEAD"
        return published_results(
            self.whole().replies, document.definitions, is_enforced=is_enforced
        )


class StoredDefinitions(Mapping[str, Any]):
    """The definitions of a document. Each is decoded when it is looked up."""

    def __init__(self, path: Path, definitions: Mapping[str, Raw]) -> None:
        self._path = path
        self._definitions = definitions
        self._decoded = lru_cache(maxsize=_DEFINITIONS_KEPT)(self._decode)

    def __getitem__(self, name: str) -> Any:
        return self._decoded(name)

    def __contains__(self, name: object) -> bool:
        return name in self._definitions

    def __iter__(self) -> Iterator[str]:
        return iter(self._definitions)

    def __len__(self) -> int:
        return len(self._definitions)

    def _decode(self, name: str) -> Any:
        raw = self._definitions[name]
        with reading(self._path):
            return msgspec.json.decode(raw)
