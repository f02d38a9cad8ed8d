"""The contracts and the reference pages of tools, as resources for callers who may call them."""

import asyncio
from typing import Final

from msgspec import Struct

from gateway.catalogue import Entry
from gateway.catalogue.visible import narrowed_contract
from gateway.contract.offered.template import UriTemplate
from gateway.errors import UnknownOperation
from gateway.transports.mcp.caller import Caller
from gateway.transports.mcp.offered_access import OfferedAccess

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
