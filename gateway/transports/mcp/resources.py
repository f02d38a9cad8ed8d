"""Resources for MCP callers: their lists, and their contents."""

import asyncio
import base64
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from itertools import chain
from typing import Any, Final

from mcp_types import (
    Annotations,
    BlobResourceContents,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)
from msgspec import Struct

from gateway.calls.call import CallBounds, Result
from gateway.catalogue import Entry
from gateway.catalogue.index import OpenResource
from gateway.catalogue.visible import narrowed_contract
from gateway.contract.offered import (
    LARGEST,
    DeclaredResource,
    FileContents,
    HandlerContents,
    Supplied,
    ToolContents,
    UriTemplate,
)
from gateway.contract.values import jsontext
from gateway.contract.values.files import is_text
from gateway.contract.values.hidden import visible_text
from gateway.errors import InternalError, MalformedRequest, UnknownOperation
from gateway.transports.http.content import as_json
from gateway.transports.mcp.caller import Caller, OfferedAccess
from gateway.transports.mcp.delivery import shown_text
from gateway.transports.mcp.errors import resource
from gateway.transports.mcp.events import EVENTS_URI, EventResource
from gateway.transports.mcp.protocol import ProtocolRevision
from gateway.transports.mcp.requests import answering
from gateway.transports.mcp.results import LIST_CACHE
from gateway.transports.mcp.tools import Tools
from gateway.transports.results import AGE_META, age_facts

OPERATION: Final = "operation"
"""The variable of both templates."""


class DocumentKind(Struct, frozen=True):
    """One kind of document about tools."""

    name: str
    title: str
    description: str
    mime_type: str
    template: UriTemplate


CONTRACT: Final = DocumentKind(
    "contract",
    "Contract of a tool",
    "The published contract of one tool, an OpenAPI 3.1 document with all its schemas. `operation`"
    " is the id of the tool's operation, such as `example.greet`.",
    "application/json",
    UriTemplate("gateway://contracts/{operation}"),
)
PAGE: Final = DocumentKind(
    "page",
    "Reference page of a tool",
    "What one tool does, with its arguments, its results, examples and errors. `operation` is the"
    " id of the tool's operation, such as `example.greet`.",
    "text/markdown",
    UriTemplate("gateway://pages/{operation}"),
)
KINDS: Final = (CONTRACT, PAGE)


class ToolDocuments:
    """The documents about the tools of callers."""

    def __init__(self, access: OfferedAccess) -> None:
        self._access = access
        self._one_at_a_time = asyncio.Lock()

    def operations(self, caller: Caller, kind: DocumentKind) -> list[str]:
        """The operations about which `caller` may read a document of `kind`."""
        found = [entry.id for entry in self._access.tools(caller)]
        if kind is CONTRACT:
            return found
        pages = self._access.catalogue.documented
        return [each for each in found if each in pages]

    async def read(self, caller: Caller, kind: DocumentKind, operation_id: str) -> str:
        """The document about the operation. Raises `UnknownOperation` as for an unknown tool."""
        catalogue = self._access.catalogue
        async with self._access.recorded(caller, f"gateway.{kind.name}s"):
            entry = self._access.tool(caller, operation_id)
            if entry is None:
                raise UnknownOperation
            if kind is PAGE:
                return catalogue.page(entry.id)
            return (await self._contract_for(caller, entry)).decode()

    async def _contract_for(self, caller: Caller, entry: Entry) -> bytes:
        route = entry.operation.route
        text = await self._contract(route)
        narrowing = self._access.policy.narrowing(caller.principal.agent, entry)
        if narrowing is None:
            return text
        return await asyncio.to_thread(narrowed_contract, text, route, narrowing)

    async def _contract(self, route: str) -> bytes:
        contracts = self._access.catalogue.contracts
        found = contracts.kept(route)
        if found is not None:
            return found
        # Those who wait for one another hold no thread, of which there are few.
        async with self._one_at_a_time:
            return await asyncio.to_thread(contracts.of, route)


HANDLER_SECONDS: Final = 30.0
"""How long a Python function may take for a resource."""


class MadeContents(Struct, frozen=True, kw_only=True):
    """Exactly one of `text` and `blob` is set."""

    text: str | None = None
    blob: str | None = None
    """In base64 (RFC 4648 section 4)."""
    hidden_characters: int = 0
    """How many invisible characters were removed from the text."""
    job_id: None = None
    fallbacks: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


async def made_by(opened: OpenResource, values: Mapping[str, str]) -> MadeContents:
    """What the function of the resource makes of the variables.

    Raises `UnknownOperation` if it makes nothing of them, and `InternalError` if it makes something
    else than the media type says, or more than `LARGEST` bytes.
    """
    if opened.run is None:
        raise InternalError("The function of a resource was not opened.")
    async with asyncio.timeout(HANDLER_SECONDS):
        found: Any = await opened.run(values)
    if found is None:
        raise UnknownOperation
    mime_type = opened.declared.mime_type
    may_be_text = is_text(mime_type)
    content = found.encode() if may_be_text and isinstance(found, str) else found
    if not isinstance(content, bytes) or len(content) > LARGEST:
        kind = "text" if may_be_text else "bytes"
        raise InternalError(f"The function returned no {kind} up to {LARGEST} bytes.")
    if not may_be_text:
        return MadeContents(blob=base64.b64encode(content).decode("ascii"))
    try:
        text, hidden = visible_text(content.decode())
    except UnicodeDecodeError as error:
        raise InternalError(f"The function returned no UTF-8 as {mime_type}.") from error
    return MadeContents(text=text, hidden_characters=hidden)


_UNKNOWN: Final = "mcp:resources/read"
"""What the audit record of a resource that does not exist names. No operation id has a colon."""

_UNNOTICED: Final = (
    "Each reading makes this resource again, and the gateway does not notice when it changes."
    " Read it again."
)


class OfferedResources:
    """Lists and reads the resources of MCP callers. What is listed can be read."""

    def __init__(self, tools: Tools, access: OfferedAccess, events: EventResource | None) -> None:
        self._tools = tools
        self._access = access
        self._events = events
        self.documents = ToolDocuments(access)

    def resources(self, caller: Caller, revision: ProtocolRevision) -> list[Resource]:
        """The resources that `caller` may read, without those of templates."""
        found = [] if self._events is None else self._events.resources(caller, revision)
        return [*found, *(_resource(each, caller, revision) for each in self._seen(caller, False))]

    def templates(self, caller: Caller, revision: ProtocolRevision) -> list[ResourceTemplate]:
        """The templates of the resources that `caller` may read."""
        kinds = (kind for kind in KINDS if self.documents.operations(caller, kind))
        return [
            *(_document_template(kind, revision) for kind in kinds),
            *(_template(each, caller, revision) for each in self._seen(caller, True)),
        ]

    def values(self, caller: Caller, template: str, variable: str) -> list[str] | None:
        """The known values of a template's variable. None if `caller` sees no such variable."""
        for kind in KINDS:
            if (kind.template.text, OPERATION) == (template, variable):
                return self.documents.operations(caller, kind) or None
        for each in self._seen(caller, True):
            if each.uri == template:
                found = (one for one in each.variables if one.name == variable)
                return next(([*one.values] for one in found), None)
        return None

    async def read(self, caller: Caller, uri: str, bounds: CallBounds) -> ReadResourceResult:
        """The contents of the resource `uri`. Leaves one audit record. Raises `MCPError`."""
        if self._events is not None and _are_events(caller, uri):
            return await self._events.read(caller)
        async with answering(caller, resource(uri)):
            for kind in KINDS:
                named = kind.template.match(uri)
                if named is not None:
                    text = await self.documents.read(caller, kind, named[OPERATION])
                    return _fresh(uri, kind.mime_type, text)
            for opened, values in self._matching(caller, uri):
                return await self._read(caller, uri, opened, values, bounds)
            async with self._access.recorded(caller, _UNKNOWN):
                raise UnknownOperation

    def announces(self, caller: Caller, uri: str) -> bool:
        """Whether `caller` may read the resource `uri`, and the gateway notices its changes.

        Those of files and documents change by a reload. What a tool or a function makes at each
        reading may change at any time.
        """
        if self._events is not None and _are_events(caller, uri):
            return self._events.exists_for(caller)
        for kind in KINDS:
            named = kind.template.match(uri)
            if named is not None:
                return named[OPERATION] in self.documents.operations(caller, kind)
        found = [each.declared.contents for each, _ in self._matching(caller, uri)]
        return any(isinstance(each, FileContents) for each in found)

    @asynccontextmanager
    async def subscribing(self, caller: Caller, uri: str) -> AsyncIterator[None]:
        """Subscribe to the resource `uri` in the block. Leaves one audit record.

        Raises `MCPError`: as for a reading, or because nobody notices the resource's changes.
        """
        async with answering(caller, resource(uri)):
            if self._events is not None and _are_events(caller, uri):
                async with self._events.recorded(caller):
                    yield
                return
            async with self._access.recorded(caller, self._record_name(caller, uri)):
                if not self.announces(caller, uri):
                    is_known = any(self._matching(caller, uri))
                    raise MalformedRequest(_UNNOTICED) if is_known else UnknownOperation
                yield

    def _record_name(self, caller: Caller, uri: str) -> str:
        """What the audit record of a resource names, as for a reading."""
        documents = (f"gateway.{kind.name}s" for kind in KINDS if kind.template.match(uri))
        declared = (each.declared.grant for each, _ in self._matching(caller, uri))
        return next(chain(documents, declared), _UNKNOWN)

    def _seen(self, caller: Caller, is_template: bool) -> Iterator[DeclaredResource]:
        for each in self._access.catalogue.offered.resources:
            known = each.declared
            is_asked = known.is_template is is_template
            if is_asked and self._access.sees(caller, known.grant, known.connector):
                yield known

    def _matching(
        self, caller: Caller, uri: str
    ) -> Iterator[tuple[OpenResource, Mapping[str, str]]]:
        """The resources with this URI. The lint refuses contracts in which there may be two."""
        for each in self._access.catalogue.offered.resources:
            values = each.match(uri)
            known = each.declared
            if values is not None and self._access.sees(caller, known.grant, known.connector):
                yield each, values

    async def _read(
        self,
        caller: Caller,
        uri: str,
        opened: OpenResource,
        values: Mapping[str, str],
        bounds: CallBounds,
    ) -> ReadResourceResult:
        declared = opened.declared
        match declared.contents:
            case ToolContents(operation=operation, arguments=supplied):
                arguments = _arguments(supplied, values)
                result = await self._tools.read(caller, operation, arguments, bounds)
                return _of_tool(uri, declared.mime_type, result)
            case FileContents(text=text, blob=blob):
                async with self._access.recorded(caller, declared.grant):
                    return _fresh(uri, declared.mime_type, text, blob)
            case HandlerContents():
                async with self._access.recorded(caller, declared.grant) as record:
                    record.result = found = await made_by(opened, values)
                return _contents(uri, declared.mime_type, found.text, found.blob)


def _are_events(caller: Caller, uri: str) -> bool:
    """Whether this is the resource of the events. No endpoint of a connector has it."""
    return uri == EVENTS_URI and caller.connector is None


def _arguments(supplied: Mapping[str, Supplied], values: Mapping[str, str]) -> bytes:
    """The JSON text of the arguments of the tool."""
    members = (
        jsontext.encode(name)
        + b":"
        + (
            jsontext.encode(each.constant)
            if each.variable is None
            else as_json(values[each.variable], each.kind or "string")
        )
        for name, each in supplied.items()
    )
    return b"{%b}" % b",".join(members)


def _fresh(
    uri: str, mime_type: str, text: str | None, blob: str | None = None
) -> ReadResourceResult:
    """What changes only when the gateway is deployed again."""
    found = _contents(uri, mime_type, text, blob)
    found.ttl_ms = LIST_CACHE.ttl_ms
    return found


def _contents(
    uri: str, mime_type: str, text: str | None, blob: str | None = None
) -> ReadResourceResult:
    contents: TextResourceContents | BlobResourceContents
    if blob is not None:
        contents = BlobResourceContents(uri=uri, mime_type=mime_type, blob=blob)
    else:
        contents = TextResourceContents(uri=uri, mime_type=mime_type, text=text or "")
    return ReadResourceResult(contents=[contents])


def _of_tool(uri: str, mime_type: str, result: Result) -> ReadResourceResult:
    found = _contents(uri, mime_type, shown_text(result))
    if result.age is not None:
        found.ttl_ms = int(result.age.left_seconds * 1000)
        found.meta = {AGE_META: age_facts(result.age)}
    return found


def shown_name(connector: str, name: str, caller: Caller) -> str:
    """The name of something of `connector` at the caller's endpoint, formed like a tool's."""
    return name if caller.connector == connector else f"{connector}_{name}"


def _resource(declared: DeclaredResource, caller: Caller, revision: ProtocolRevision) -> Resource:
    contents = declared.contents
    return Resource(
        uri=declared.uri,
        name=shown_name(declared.connector, declared.name, caller),
        title=declared.title if revision.has_titles else None,
        description=declared.description,
        mime_type=declared.mime_type,
        size=contents.size if isinstance(contents, FileContents) else None,
        annotations=_annotations(declared),
    )


def _template(
    declared: DeclaredResource, caller: Caller, revision: ProtocolRevision
) -> ResourceTemplate:
    return ResourceTemplate(
        uri_template=declared.uri,
        name=shown_name(declared.connector, declared.name, caller),
        title=declared.title if revision.has_titles else None,
        description=declared.description,
        mime_type=declared.mime_type,
        annotations=_annotations(declared),
    )


def _document_template(kind: DocumentKind, revision: ProtocolRevision) -> ResourceTemplate:
    return ResourceTemplate(
        uri_template=kind.template.text,
        name=kind.name,
        title=kind.title if revision.has_titles else None,
        description=kind.description,
        mime_type=kind.mime_type,
    )


def _annotations(declared: DeclaredResource) -> Annotations | None:
    if not declared.audience and declared.priority is None:
        return None
    return Annotations(audience=[*declared.audience] or None, priority=declared.priority)
