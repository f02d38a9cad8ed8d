"""The gateway's own tools: which of them a caller sees, and what they do."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping
from functools import partial
from typing import Any, Final, Protocol, TypeAlias

import msgspec
from msgspec import Raw, Struct

from gateway.calls.call import CallBounds, Result
from gateway.catalogue import Catalogue, Entry
from gateway.contract.agent_view import CALL_TOOLS, CONTINUE_RESULT, DESCRIBE_TOOLS, SEARCH_TOOLS
from gateway.contract.operation import Effect, ImportedBinding
from gateway.contract.values import jsontext
from gateway.errors import InvalidArguments, MalformedRequest, NotPermitted, UnknownOperation
from gateway.publication.continuation import continuing_tools
from gateway.publication.listed import published
from gateway.publication.own_tools import DEFAULT_FOUND, Listable, Offer, OwnTool, search_mode_tools
from gateway.publication.search import OfferIndex, found_tool
from gateway.publication.view import ToolView

Direct: TypeAlias = Callable[[str, bytes, Effect | None], Awaitable[Result]]
"""Calls a tool of a contract by its name with the JSON text of its arguments, as the caller would
directly. If an effect is given, calls with another effect are refused. Raises a `GatewayError`."""

Resume: TypeAlias = Callable[[str], Awaitable[Result]]
"""Returns the part of a result that a continuation names. Raises a `GatewayError`."""


class OwnJobs(Protocol):
    """The jobs of the caller, by their ids. Each method raises a `GatewayError`."""

    async def status(self, job_id: str) -> Result: ...
    async def result(self, job_id: str) -> Result: ...
    async def cancel(self, job_id: str) -> Result: ...


class OwnCall(Struct, frozen=True, kw_only=True):
    """One call of an own tool."""

    offer: Offer
    """What the caller may call."""
    values: Mapping[str, Any]
    """The arguments. They are valid against the tool's input schema."""
    text: bytes
    """The JSON text of the arguments."""
    bounds: CallBounds
    direct: Direct
    resume: Resume
    jobs: OwnJobs | None = None
    """The jobs of the caller. None: no call becomes a job."""


Run: TypeAlias = Callable[[OwnCall], Awaitable[Result]]
"""Runs an own tool. Raises a `GatewayError`."""


def result_of(values: dict[str, Any]) -> Result:
    """The result of an own tool."""
    return Result(values, jsontext.encode(values), "python")


def read_arguments(tool: OwnTool, text: bytes) -> dict[str, Any]:
    """The arguments of an own tool. Raises `MalformedRequest` or `InvalidArguments`."""
    try:
        values: dict[str, Any] = jsontext.decode(text, jsontext.MESSAGE)
    except jsontext.NotJson as error:
        raise MalformedRequest(f"The arguments are not valid JSON: {error}.") from error
    if not tool.input.admits(values):
        raise InvalidArguments(tool.input.violations(values))
    return values


OFFERS_KEPT: Final = 256
"""The most offers that are kept. There is one for each agent, endpoint, view and kind of client."""
OwnToolsOf: TypeAlias = Callable[[Offer], Iterable[OwnTool]]


class OwnKind(Struct, frozen=True):
    """Own tools that belong together."""

    offered: OwnToolsOf
    """The tools of this kind that an offer includes."""
    run: Mapping[str, Run]
    """By the tool's name. It has all names that `offered` returns."""
    hides_others: Callable[[Offer], bool] = lambda _: False
    """Whether the list leaves out the tools of contracts, because tools of this kind find them."""


class OpenOffer(Struct, frozen=True, eq=False):
    """An offer with its own tools and its list."""

    offer: Offer
    own: Mapping[str, OwnTool]
    """By name."""
    listed: tuple[Listable, ...]
    """What a list shows: the own tools, and the tools of contracts if they are not hidden."""


class OwnTools:
    """The own tools of all kinds."""

    def __init__(self, kinds: Iterable[OwnKind]) -> None:
        self._kinds = tuple(kinds)
        self._kept: dict[Hashable, OpenOffer] = {}
        self._run = {name: run for kind in self._kinds for name, run in kind.run.items()}

    def kept(self, key: Hashable, make: Callable[[], Offer]) -> OpenOffer:
        """The open offer for `key`, which names everything that it depends on."""
        found = self._kept.get(key)
        if found is None:
            found = self.open(make())
            if len(self._kept) >= OFFERS_KEPT:
                self._kept.clear()
            if found.offer.entries:  # a path of the caller's own may name any connector
                self._kept[key] = found
        return found

    def open(self, offer: Offer) -> OpenOffer:
        """The offer with its own tools."""
        own = tuple(tool for kind in self._kinds for tool in kind.offered(offer))
        is_hidden = any(kind.hides_others(offer) for kind in self._kinds)
        return OpenOffer(
            offer,
            {tool.tool.name: tool for tool in own},
            own if is_hidden else (*offer.entries, *own),
        )

    def run(self, name: str) -> Run:
        """What runs the own tool `name`."""
        return self._run[name]


async def _resume(call: OwnCall) -> Result:
    return await call.resume(call.values["continuation"])


CONTINUING_KIND: Final = OwnKind(continuing_tools, {CONTINUE_RESULT: _resume})


INDEXES_KEPT: Final = 8
"""The most indexes that are kept. One of 10,000 tools takes about 10 MB."""
_Key: TypeAlias = tuple[str | None, frozenset[Entry]]


class OfferIndexes:
    """Builds an index once for all callers with the same tools, in a thread."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._addresses: dict[str, dict[str, tuple[str, str]]] = {}
        self._kept: OrderedDict[_Key, asyncio.Task[OfferIndex]] = OrderedDict()

    async def of(self, offer: Offer) -> OfferIndex:
        """The index of `offer`."""
        key = offer.connector, offer.grants
        building = self._kept.get(key)
        if building is None or _has_failed(building):
            building = asyncio.create_task(asyncio.to_thread(OfferIndex, offer, self._address))
            building.add_done_callback(_has_failed)
            self._kept[key] = building
            if len(self._kept) > INDEXES_KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        # A cancelled search must not cancel the building, because other searches wait for it.
        return await asyncio.shield(building)

    def _address(self, entry: Entry) -> tuple[str, str]:
        """The method and the path of an imported operation. Names of the others say more."""
        binding = entry.operation.binding
        if not isinstance(binding, ImportedBinding):
            return "", ""
        name = binding.upstream
        if name not in self._addresses:
            upstream = self._catalogue.upstreams[name]
            self._addresses[name] = {
                each.id: (each.method, each.path) for each in upstream.operations
            }
        return self._addresses[name].get(entry.id, ("", ""))


def _has_failed(building: asyncio.Task[Any]) -> bool:
    """Reading the exception keeps asyncio from logging that it was never retrieved."""
    return building.done() and (building.cancelled() or building.exception() is not None)


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
