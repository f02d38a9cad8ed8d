"""Opens the operations of imported documents: the records of `generated/imported/`."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from gateway.catalogue.index import Entry, ToolListing
from gateway.catalogue.reading import reading
from gateway.contract.imported import ImportedConnector, ImportedOperation
from gateway.contract.operation import Attempts, Effect, ImportedBinding, Operation, Tool
from gateway.contract.slots import CredentialSlot
from gateway.contract.upstream import (
    CredentialRule,
    Reply,
    SettingRule,
    Upstream,
    UpstreamOperation,
    UpstreamRequest,
)
from gateway.contract.values.definitions import with_definitions
from gateway.contract.values.schema import DeferredValidator, Validator
from gateway.encoding.encoder import Encoder
from gateway.encoding.replies.decoder import ReplyDecoder

FOLDER: Final = "imported"
TIMEOUT_SECONDS: Final = 30.0
READ_ATTEMPTS: Final = Attempts(max=3, backoff_seconds=(1.0, 2.0))
"""Reads are safe to repeat. Writes of imported operations are attempted once."""
_ANY_OBJECT: Final[dict[str, Any]] = {"type": "object"}
_MEANINGS: Final = {
    "username": "User name of HTTP Basic.",
    "password": "Password of HTTP Basic.",
    "client_id": "Id of the client to which access tokens are issued.",
    "client_secret": "Secret of the client.",
    "refresh_token": "Refresh token, instead of the client's own grant.",
    "certificate": "Client certificate for TLS with its chain, PEM.",
    "key": "Private key of the client certificate, PEM, without a password.",
}
"""The credentials of a slot, by the end of their names."""


class ImportedEntries(Struct, frozen=True):
    """What the catalogue gets of one imported document."""

    connector: ImportedConnector
    upstream: Upstream
    entries: tuple[Entry, ...]


def open_imported(folder: Path) -> Iterator[ImportedEntries]:
    """The imported documents of the generated package in `folder`. Raises `ContractError`."""
    for path in sorted((folder / FOLDER).glob("*.json")):
        with reading(path):
            yield _opened(msgspec.json.decode(path.read_bytes(), type=ImportedConnector))


def _opened(found: ImportedConnector) -> ImportedEntries:
    # A result is checked where the reply is read. Here only its form is certain.
    output = Validator(_ANY_OBJECT)
    return ImportedEntries(
        found, _upstream(found), tuple(_entry(found, each, output) for each in found.operations)
    )


def _entry(found: ImportedConnector, operation: ImportedOperation, output: Validator) -> Entry:
    schema = with_definitions(operation.input_schema, found.definitions)
    tool = _tool(found, operation)
    return Entry(
        _operation(found, operation),
        tool,
        ToolListing(
            name=tool.name,
            title=operation.title,
            description=operation.description,
            input_schema=schema if isinstance(schema, dict) else _ANY_OBJECT,
            output_schema=_ANY_OBJECT,
            annotations={
                "readOnlyHint": tool.read_only,
                "destructiveHint": tool.destructive,
                "idempotentHint": tool.idempotent,
                "openWorldHint": tool.open_world,
            },
        ),
        DeferredValidator(schema),
        output,
    )


def _operation(found: ImportedConnector, operation: ImportedOperation) -> Operation:
    return Operation(
        id=operation.id,
        connector=found.connector,
        title=operation.title,
        description=operation.description,
        effect=operation.effect,
        timeout_seconds=TIMEOUT_SECONDS,
        errors=operation.errors,
        binding=_binding(found, operation),
        sensitive=operation.sensitive,
        attempts=READ_ATTEMPTS if operation.effect is Effect.READ else Attempts(),
        route=f"/v1/{found.connector}/{operation.tool}",
    )


def _tool(found: ImportedConnector, operation: ImportedOperation) -> Tool:
    is_read = operation.effect is Effect.READ
    return Tool(
        operation=operation.id,
        name=f"{found.connector}_{operation.tool}",
        bare_name=operation.tool,
        aliases=operation.aliases,
        read_only=is_read,
        destructive=operation.effect is Effect.DESTROY,
        idempotent=is_read or operation.is_idempotent,
        open_world=True,
    )


class _Exchange:
    """Makes the request of an operation, and reads its reply.

    Most operations of a large document are never called, so each is prepared by its first call.
    """

    def __init__(self, found: ImportedConnector, operation: ImportedOperation) -> None:
        self._found = found
        self._operation = operation
        self._slots = _slots(operation)
        self._scopes = tuple(tuple(use.scopes for use in uses) for uses in operation.security)

    @cached_property
    def _encoder(self) -> Encoder:
        return Encoder(self._operation, self._found.definitions)

    @cached_property
    def _decoder(self) -> ReplyDecoder:
        found = self._found
        return ReplyDecoder(self._operation, found.definitions, is_enforced=found.enforces_results)

    def request(self, arguments: Mapping[str, Any]) -> UpstreamRequest:
        """See `ImportedBinding.request`."""
        return UpstreamRequest(
            operation=self._operation.id,
            method=self._operation.method,
            path=(),
            encoded=self._encoder.encode(arguments),
            server=self._operation.server,
            slots=self._slots,
            scopes=self._scopes,
        )

    def result(self, reply: Reply) -> dict[str, Any] | None:
        """See `ImportedBinding.result`."""
        return self._decoder.result(reply)


def _binding(found: ImportedConnector, operation: ImportedOperation) -> ImportedBinding:
    exchange = _Exchange(found, operation)
    return ImportedBinding(
        upstream=found.connector,
        request=exchange.request,
        result=exchange.result,
        errors={each.status: each.reason for each in operation.errors},
    )


def _upstream(found: ImportedConnector) -> Upstream:
    return Upstream(
        name=found.connector,
        title=found.title,
        base_url=found.base_url,
        credentials=tuple(rule for slot in found.slots for rule in _credentials(slot)),
        settings=tuple(_token_settings(found.slots)),
        slots=found.slots,
        operations=tuple(
            UpstreamOperation(id=each.id, method=each.method, path=each.path, slots=_slots(each))
            for each in found.operations
        ),
    )


def _slots(operation: ImportedOperation) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(use.slot for use in uses) for uses in operation.security)


def _credentials(slot: CredentialSlot) -> Iterator[CredentialRule]:
    for name in slot.settings:
        meaning = _MEANINGS.get(name.removeprefix(f"{slot.name}_"))
        yield CredentialRule(
            name=name,
            description=_meaning(slot) if name == slot.name or meaning is None else meaning,
            is_required=False,
            kind="pem" if slot.kind == "mutual_tls" else "text",
        )


def _meaning(slot: CredentialSlot) -> str:
    if slot.kind != "api_key":
        return "Access token."
    place = {"query": "query parameter", "cookie": "cookie"}.get(slot.location or "", "header")
    return f"API key, sent in the {place} {slot.key_name}."


def _token_settings(slots: Iterable[CredentialSlot]) -> Iterator[SettingRule]:
    for slot in slots:
        if slot.kind == "oauth2":
            url, client_auth = slot.token_settings
            yield SettingRule(
                name=url,
                description="URL at which its access tokens are issued.",
                default=slot.token_url or "",
                mock="",
                pattern="https?://.+",
            )
            yield SettingRule(
                name=client_auth,
                description="Where the client authenticates: a header (HTTP Basic), or the body.",
                default="header",
                mock="header",
                pattern="header|body",
            )
