"""Opens the operations of imported documents: the records of `generated/imported/`."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from gateway.catalogue.index import Entry, ToolListing
from gateway.catalogue.stored import StoredDocument, StoredOperation
from gateway.contract.imported import SecurityUse
from gateway.contract.operation import Attempts, Effect, ImportedBinding, Operation, Tool
from gateway.contract.refusals import UpstreamAnswer
from gateway.contract.selection import ResultMembers
from gateway.contract.upstream import (
    Reply,
    Upstream,
    UpstreamOperation,
    UpstreamRequest,
    credential_rules,
    token_settings,
)
from gateway.contract.values.files import FileContent
from gateway.contract.values.schema import DeferredValidator, Validator, with_definitions
from gateway.encoding.encoder import Encoder
from gateway.encoding.replies.decoder import EventCounter, ReplyDecoder
from gateway.errors import InvalidArguments

FOLDER: Final = "imported"
READ_ATTEMPTS: Final = Attempts(max=3, backoff_seconds=(1.0, 2.0))
"""Reads are safe to repeat. Writes of imported operations are attempted once."""
_ANY_OBJECT: Final[dict[str, Any]] = {"type": "object"}


class ImportedEntries(Struct, frozen=True):
    """What the catalogue gets of one imported document."""

    document: StoredDocument
    upstream: Upstream
    entries: tuple[Entry, ...]


def open_imported(folder: Path) -> Iterator[ImportedEntries]:
    """The imported documents of the generated package in `folder`. Raises `ContractError`."""
    for path in sorted((folder / FOLDER).glob("*.json")):
        yield entries_of(StoredDocument(path))


def entries_of(document: StoredDocument) -> ImportedEntries:
    """What the catalogue gets of `document`."""
    # A result is checked where the reply is read. Here only its form is certain.
    output = Validator(_ANY_OBJECT)
    entries = tuple(_entry(each, output) for each in document.operations)
    return ImportedEntries(document, _upstream(document), entries)


def _entry(stored: StoredOperation, output: Validator) -> Entry:
    tool = _tool(stored)
    return Entry(
        _operation(stored),
        tool,
        _Listing(stored, tool),
        DeferredValidator(stored.input_schema),
        output,
        ResultMembers(stored.result_schema) if stored.head.selects_fields else None,
    )


class _Listing:
    """The listing of an operation, made of its record each time."""

    __slots__ = ("_stored", "_tool")

    def __init__(self, stored: StoredOperation, tool: Tool) -> None:
        self._stored = stored
        self._tool = tool

    @property
    def longest_text(self) -> int:
        """See `Entry.longest_text`."""
        return self._stored.head.longest_text

    def results(self) -> dict[str, Any]:
        """See `StoredListing.results`."""
        return self._stored.published_results()

    def read(self) -> ToolListing:
        """See `StoredListing.read`."""
        tool, head = self._tool, self._stored.head
        return ToolListing(
            name=tool.name,
            title=head.title,
            description=head.description,
            input_schema=self._stored.input_schema(),
            output_schema=_ANY_OBJECT,
            annotations={
                "readOnlyHint": tool.read_only,
                "destructiveHint": tool.destructive,
                "idempotentHint": tool.idempotent,
                "openWorldHint": tool.open_world,
            },
        )


def _operation(stored: StoredOperation) -> Operation:
    head, connector = stored.head, stored.document.connector
    usual = READ_ATTEMPTS if head.effect is Effect.READ else Attempts()
    return Operation(
        id=head.id,
        connector=connector,
        title=head.title,
        description=head.description,
        effect=head.effect,
        timeout_seconds=head.policy.timeout_seconds,
        task=head.policy.task,
        errors=head.errors,
        binding=_binding(stored),
        sensitive=head.sensitive,
        limits=head.limits,
        selects_fields=head.selects_fields,
        file_types=head.file_types,
        attempts=head.policy.attempts or usual,
        route=f"/v1/{connector}/{head.tool}",
    )


def _tool(stored: StoredOperation) -> Tool:
    head = stored.head
    is_read = head.effect is Effect.READ
    return Tool(
        operation=head.id,
        name=f"{stored.document.connector}_{head.tool}",
        bare_name=head.tool,
        aliases=head.aliases,
        read_only=is_read,
        destructive=head.effect is Effect.DESTROY,
        idempotent=is_read or head.is_idempotent,
        open_world=True,
    )


def bound(binding: ImportedBinding, documents: Mapping[str, StoredDocument]) -> ImportedBinding:
    """`binding` of a tool with contract files, with the functions of its operation.

    Raises `LookupError` if there is no such document or operation.
    """
    document = documents.get(binding.upstream)
    stored = document.find(binding.operation or "") if document is not None else None
    if stored is None:
        raise LookupError(f"it has no operation {binding.operation}")
    exchange = _Exchange(stored, is_checked=True)
    return replace(
        binding,
        request=exchange.request,
        result=exchange.result,
        refusal=exchange.refusal,
        longest_text=stored.head.longest_text,
        watch=EventCounter if stored.head.collects_events else None,
    )


class _Prepared:
    """Makes the requests of an operation, and reads its replies."""

    def __init__(self, stored: StoredOperation, *, is_checked: bool) -> None:
        operation, document = stored.whole(), stored.document
        self._operation = operation
        self._validator: Validator | None = None
        if is_checked:
            schema = with_definitions(operation.input_schema, document.definitions)
            self._validator = Validator(schema)
        self._slots = _slots(operation.security)
        self._scopes = tuple(tuple(use.scopes for use in uses) for uses in operation.security)
        self._encoder = Encoder(operation, document.definitions)
        self._decoder = ReplyDecoder(operation, document.definitions)

    def request(self, arguments: Mapping[str, Any]) -> UpstreamRequest:
        """See `ImportedBinding.request`."""
        if self._validator is not None and not self._validator.admits(arguments):
            raise InvalidArguments(self._validator.violations(arguments))
        return UpstreamRequest(
            operation=self._operation.id,
            method=self._operation.method,
            path=(),
            encoded=self._encoder.encode(arguments),
            server=self._operation.server,
            slots=self._slots,
            scopes=self._scopes,
            admits_redirect=any(each.kind == "redirect" for each in self._operation.replies),
        )

    def result(self, reply: Reply) -> dict[str, Any] | FileContent | None:
        """See `ImportedBinding.result`."""
        return self._decoder.result(reply)

    def refusal(self, reply: Reply) -> UpstreamAnswer:
        """See `ImportedBinding.refusal`."""
        return self._decoder.refusal(reply)


class _Exchange:
    """The exchange with the upstream for an operation.

    Most operations of a large document are never called, so each is prepared by its first call.
    """

    __slots__ = ("_is_checked", "_prepared", "_stored")

    def __init__(self, stored: StoredOperation, *, is_checked: bool = False) -> None:
        """`is_checked`: the arguments are those of another schema, and this one checks them too."""
        self._stored = stored
        self._is_checked = is_checked
        self._prepared: _Prepared | None = None

    def request(self, arguments: Mapping[str, Any]) -> UpstreamRequest:
        """See `ImportedBinding.request`."""
        return self._ready().request(arguments)

    def result(self, reply: Reply) -> dict[str, Any] | FileContent | None:
        """See `ImportedBinding.result`."""
        return self._ready().result(reply)

    def refusal(self, reply: Reply) -> UpstreamAnswer:
        """See `ImportedBinding.refusal`."""
        return self._ready().refusal(reply)

    def _ready(self) -> _Prepared:
        if self._prepared is None:
            self._prepared = _Prepared(self._stored, is_checked=self._is_checked)
        return self._prepared


def _binding(stored: StoredOperation) -> ImportedBinding:
    exchange = _Exchange(stored)
    return ImportedBinding(
        upstream=stored.document.connector,
        request=exchange.request,
        result=exchange.result,
        refusal=exchange.refusal,
        errors={each.status: each.reason for each in stored.head.errors},
        watch=EventCounter if stored.head.collects_events else None,
    )


def _upstream(found: StoredDocument) -> Upstream:
    return Upstream(
        name=found.connector,
        title=found.title,
        base_url=found.base_url,
        credentials=tuple(credential_rules(found.slots)),
        settings=tuple(token_settings(found.slots)),
        slots=found.slots,
        operations=tuple(
            UpstreamOperation(id=each.id, method=each.method, path=each.path, slots=slots)
            for each, slots in (
                (each.head, _slots(each.head.security))
                for each in (*found.operations, *found.bound)
            )
        ),
    )


def _slots(security: Iterable[Iterable[SecurityUse]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(use.slot for use in uses) for uses in security)
