"""The backends of the connector `supabase`, opened as a call would find them."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from gateway.backends.http.live import LiveBackend
from gateway.backends.mock.application import MockApplication
from gateway.backends.mock.backend import asgi_app
from gateway.calls.replies import ReplyReader
from gateway.calls.sending import Sending, UpstreamConnection
from gateway.calls.upstreams import CallUpstreams, SharedState
from gateway.catalogue import Catalogue, open_catalogue
from gateway.connectors.supabase.tools import PostgrestTables
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.contract.context import CallFacts
from gateway.contract.operation import Effect
from gateway.contract.rows.entity import EntityPages, shapes_of
from gateway.contract.rows.rows import Shape, shape_of
from gateway.contract.rows.tables import Selection, Tables
from gateway.contract.upstream import Upstream
from gateway.testing.asgi_server import serving
from gateway.workspace import Workspace
from tests.entity_rows import NoEntities
from tests.postgrest.emulator import SECRET_KEY, Emulator

SCRIPTS = ("tables.sql", "functions.sql")
SAMPLE = Path(__file__).with_name("quotes")


class StepClock:
    """The day passes by a second whenever it is asked for; deadlines never come."""

    def __init__(self) -> None:
        self.moment = datetime(2025, 11, 1, 9, 30, tzinfo=UTC)

    def now(self) -> datetime:
        self.moment += timedelta(seconds=1)
        return self.moment

    def monotonic(self) -> float:
        return 1000.0


@cache
def catalogue() -> Catalogue:
    return open_catalogue("generated", HANDLER_PACKAGES)


def upstream() -> Upstream:
    return catalogue().upstreams["supabase"]


@cache
def declared() -> dict[str, Shape]:
    """The tables as the tools know them."""
    return shapes_of(upstream().tables, catalogue().entities)


@cache
def shapes() -> dict[str, Shape]:
    """The tables that lie in the upstream, and one with columns of every kind for tests."""
    own = {name: shape for name, shape in declared().items() if shape.entity is None}
    sample = json.loads(SAMPLE.with_suffix(".json").read_text("utf-8"))
    return {**own, "quotes": shape_of("quotes", sample)}


def scripts() -> str:
    """What an operator runs in a project before the gateway uses it, and the tests' own table."""
    folder = files("gateway.connectors.supabase")
    own = [folder.joinpath(name).read_text("utf-8") for name in SCRIPTS]
    return "\n".join([*own, SAMPLE.with_suffix(".sql").read_text("utf-8")])


@asynccontextmanager
async def workspace(url: str) -> AsyncIterator[CallUpstreams]:
    """A call's context where the workspace database stands in."""
    clock = StepClock()
    opened = Workspace(url, shapes().values(), clock)
    try:
        yield context(clock, Unused(), opened, lying=shapes())
    finally:
        await opened.close()


async def make_workspace(url: str) -> None:
    """Make the tables of the workspace database, as its first use does."""
    async with workspace(url) as context:
        await tables_of(context).select(everything("quotes"))


@asynccontextmanager
async def postgrest(
    url: str, *, key: str = SECRET_KEY, credential: str = "secret_key", tool: str = "supabase.query"
) -> AsyncIterator[CallUpstreams]:
    """A call's context where Supabase is live: PostgREST in front of the database at `url`."""
    clock = StepClock()
    async with serving(Emulator(url).application) as address:
        backend = LiveBackend(
            upstream(), clock, base_url=f"{address}/rest/v1", credentials={credential: key}
        )
        try:
            yield context(clock, backend, None, tool, lying=shapes())
        finally:
            await backend.close()


@asynccontextmanager
async def mocked(_url: str) -> AsyncIterator[CallUpstreams]:
    """A call's context where Supabase is live, and `gateway mock supabase` is served at its URL."""
    clock = StepClock()
    tables = {name: dict(shape.schema) for name, shape in shapes().items()}
    application = MockApplication(_with_tables(upstream(), tables), clock)
    async with serving(asgi_app(application)) as address:
        credentials = {"secret_key": SECRET_KEY}
        url = f"{address}/rest/v1"
        backend = LiveBackend(upstream(), clock, base_url=url, credentials=credentials)
        try:
            yield context(clock, backend, None, lying=shapes())
        finally:
            await backend.close()


def _with_tables(known: Upstream, tables: Mapping[str, dict[str, Any]]) -> Upstream:
    """`known` with other tables, also in the paths of its operations."""
    operations = tuple(
        replace(
            each,
            parameters=tuple(
                {**one, "schema": {"enum": [*tables]}} if one["name"] == "table" else one
                for one in each.parameters
            ),
        )
        for each in known.operations
    )
    return replace(known, tables=tables, operations=operations)


def context(
    clock: StepClock,
    backend,
    tables: Tables | None,
    tool: str = "supabase.insert",
    lying: Mapping[str, Shape] | None = None,
    entities: EntityPages | None = None,
) -> CallUpstreams:
    """`lying`: the tables in the upstream, where they are not those that the tools know."""
    known = declared() if lying is None else lying
    line = UpstreamConnection(
        upstream(), backend, ReplyReader(upstream()), shapes=known, tables=tables
    )
    operation = catalogue().find(tool).operation
    effect = Effect.READ if tool == "supabase.query" else operation.effect
    sending = Sending(clock, operation, effect)
    facts = CallFacts(id="call", now="2025-11-01T09:30:00.000Z")
    return CallUpstreams(
        facts, {"supabase": line}, sending, SharedState(clock), entities or NoEntities()
    )


def tables_of(found: CallUpstreams) -> Tables:
    """The tables as the tools take them."""
    return found.workspace("supabase") or PostgrestTables(found)


class Unused:
    """The workspace stands before the backend, so that nothing may be sent."""

    name = "mock"

    async def send(self, request, *, timeout_seconds, is_cut_short=False):
        raise AssertionError("nothing is to be sent")

    async def close(self) -> None:
        """Nothing is held."""


def everything(table: str) -> Selection:
    return Selection(table=table)
