"""Runs the tools of the list mode `search`."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from gateway.calls.call import Result
from gateway.catalogue import Catalogue, Entry
from gateway.contract.agent_view import CALL_TOOLS, DESCRIBE_TOOLS, SEARCH_TOOLS
from gateway.contract.operation import Effect
from gateway.contract.values import jsontext
from gateway.errors import InvalidArguments, NotPermitted, UnknownOperation
from gateway.publication.listed import published
from gateway.publication.own_tools import Offer
from gateway.publication.search.index import found_tool
from gateway.publication.search.tools import DEFAULT_FOUND, search_mode_tools
from gateway.publication.view import ToolView
from gateway.transports.mcp.own.calls import OwnCall, Run, result_of
from gateway.transports.mcp.own.indexes import OfferIndexes
from gateway.transports.mcp.own.offers import OwnKind

MAX_BYTES: Final = 80_000
"""The most bytes of several descriptions, about 20,000 tokens. A larger one comes alone."""
_MANY: Final = 2_000
"""A search of more tools takes milliseconds, so it runs beside the event loop."""
_PLACE: Final = "/arguments"
"""Where the arguments of the called tool are in the arguments of the tool that calls it."""


def search_kind(catalogue: Catalogue) -> OwnKind:
    """The tools that search, describe and call the tools of contracts."""
    finding = _Finding(OfferIndexes(catalogue))
    run: Mapping[str, Run] = {
        SEARCH_TOOLS: finding.search,
        DESCRIBE_TOOLS: finding.describe,
        **{name: partial(finding.call, effect) for effect, name in CALL_TOOLS.items()},
    }
    return OwnKind(search_mode_tools, run, lambda offer: offer.view.mode == "search")


class _Wanted(Struct):
    """The arguments of a tool that calls another."""

    tool: str
    arguments: Raw = Raw(b"{}")


class _Finding:
    """Runs the tools on the indexes of the callers' offers."""

    def __init__(self, indexes: OfferIndexes) -> None:
        self._indexes = indexes

    async def search(self, call: OwnCall) -> Result:
        """The tools that fit the query best."""
        index = await self._indexes.of(call.offer)
        query, limit = call.values["query"], call.values.get("limit", DEFAULT_FOUND)
        if len(call.offer.entries) > _MANY:
            found = await asyncio.to_thread(index.find, query, limit)
        else:
            found = index.find(query, limit)
        return result_of({"tools": msgspec.to_builtins(found)})

    async def describe(self, call: OwnCall) -> Result:
        """The descriptions and input schemas of the named tools, as many as the size allows."""
        named = [
            await self._named(call.offer, name, f"/tools/{position}")
            for position, name in enumerate(call.values["tools"])
        ]
        entries = list(dict.fromkeys(named))
        described: list[dict[str, Any]] = []
        size = 0
        for entry in entries:
            tool = _described(call.offer, entry)
            size += len(jsontext.encode(tool))
            if described and size > MAX_BYTES:
                break
            described.append(tool)
        left_out = [call.offer.name_of(entry) for entry in entries[len(described) :]]
        return result_of({"tools": described, **({"left_out": left_out} if left_out else {})})

    async def call(self, effect: Effect, call: OwnCall) -> Result:
        """The result of the named tool, as if the caller had called it directly."""
        wanted = msgspec.json.decode(call.text, type=_Wanted)
        try:
            return await call.direct(wanted.tool, bytes(wanted.arguments), effect)
        except UnknownOperation:
            raise await self._unknown(call.offer, wanted.tool, "/tool") from None
        except InvalidArguments as error:
            violations = [each.under(_PLACE) for each in error.violations]
            raise InvalidArguments(violations, error.detail) from None
        except NotPermitted as error:
            violations = [each.under(_PLACE) for each in error.violations]
            raise NotPermitted(error.detail, violations) from None

    async def _named(self, offer: Offer, name: str, pointer: str) -> Entry:
        """The tool with this name. Raises `InvalidArguments`."""
        entry = _entry_of(offer, name)
        if entry is None:
            raise await self._unknown(offer, name, pointer)
        return entry

    async def _unknown(self, offer: Offer, name: str, pointer: str) -> InvalidArguments:
        """The error for a name that is not a tool of the offer."""
        index = await self._indexes.of(offer)
        similar = index.find(name, 1)
        hint = f"did you mean {similar[0].name}?" if similar else f"use {SEARCH_TOOLS}"
        detail = f"is not a tool that this key may call here; {hint}"
        return InvalidArguments.at(pointer, "tool", detail)


def _entry_of(offer: Offer, name: str) -> Entry | None:
    return next((entry for entry in offer.entries if offer.name_of(entry) == name), None)


def _described(offer: Offer, entry: Entry) -> dict[str, Any]:
    listing = entry.listing
    # This is data for a model. Clients check only the schemas of tools that are listed.
    shown = published(listing, ToolView("slim"))
    brief = msgspec.to_builtins(found_tool(offer, entry, listing))
    del brief["required"]
    return {
        **brief,
        "description": listing.description,
        "inputSchema": shown.input_schema,
    }
