"""The gateway as an object."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gateway.app import Gateway, Lifecycle, readiness
from gateway.app.grace import grace_seconds
from gateway.app.readiness import ReadinessProbe
from gateway.errors import (
    ConfigurationError,
    InvalidArguments,
    MalformedRequest,
    NotRunning,
    StoreError,
    ToolFailed,
    UnknownOperation,
    UpstreamUnavailable,
)
from gateway.settings import Settings, read_settings
from gateway.store.sql.sqlite import sqlite3
from gateway.transports.health import Readiness
from tests.clocks import ManualClock

ROOT = Path(__file__).parents[2]


@asynccontextmanager
async def answering_nothing() -> AsyncIterator[str]:
    """The URL of an upstream that reads requests and hangs up."""

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    yield f"http://{host}:{port}"
    server.close()
    await server.wait_closed()


def example(operation_id: str) -> dict[str, Any]:
    """The first example of arguments in the contract."""
    document = json.loads((ROOT / "generated" / "openapi.json").read_bytes())
    path = f"/v1/{operation_id.replace('.', '/')}"
    body = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]
    arguments: dict[str, Any] = next(iter(body["examples"].values()))["value"]
    return arguments


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return read_settings({}, None, {"data": tmp_path, "database_url": "memory:"})


async def test_a_tool_is_called_by_its_operation_id(settings: Settings) -> None:
    async with Gateway.open(settings) as gateway:
        result = await gateway.call("example.greet", {"name": "Ada"})

    assert result == {"greeting": "Hello, Ada!"}


async def test_it_knows_where_it_is_in_its_life(settings: Settings) -> None:
    gateway = Gateway.open(settings)
    assert gateway.state is Lifecycle.IDLE

    async with gateway:
        assert gateway.state is Lifecycle.RUNNING

    assert gateway.state is Lifecycle.STOPPED


async def test_a_gateway_that_is_not_open_refuses_calls(settings: Settings) -> None:
    gateway = Gateway.open(settings)

    with pytest.raises(NotRunning, match="idle"):
        await gateway.call("example.greet", {"name": "Ada"})


async def test_a_start_that_fails_leaves_the_error_state(tmp_path: Path) -> None:
    half = {"GATEWAY_BACKEND_AVINODE": "live"}
    gateway = Gateway.open(read_settings(half, None, {"data": tmp_path}))

    with pytest.raises(ConfigurationError, match="avinode"):
        await gateway.__aenter__()

    assert gateway.state is Lifecycle.ERROR


@pytest.mark.parametrize(
    "environment",
    [
        {"GATEWAY_BACKEND_FRANKFURTER": "live"},
        {"GATEWAY_AMADEUS_CLIENT_ID": "id", "GATEWAY_AMADEUS_CLIENT_SECRET": "secret"},
    ],
    ids=" ".join,
)
async def test_one_upstream_may_be_live_beside_the_mock_of_another(
    environment: dict[str, str], tmp_path: Path
) -> None:
    async with Gateway.open(read_settings(environment, None, {"data": tmp_path})) as gateway:
        assert gateway.parts.policy.allows("administrator", "amadeus.search_flights")


async def test_hooks_run_after_the_start_and_before_the_end(settings: Settings) -> None:
    seen: list[tuple[str, Lifecycle]] = []

    async def started(gateway: Gateway) -> None:
        seen.append(("start", gateway.state))

    async def stopping(gateway: Gateway) -> None:
        seen.append(("stop", gateway.state))

    async with Gateway.open(settings, on_start=[started], on_stop=[stopping]):
        assert seen == [("start", Lifecycle.RUNNING)]

    assert seen == [("start", Lifecycle.RUNNING), ("stop", Lifecycle.RUNNING)]


async def test_tool_hooks_see_each_call_and_change_nothing(settings: Settings) -> None:
    """Over every transport, with their own arguments, and whatever they raise."""
    seen: list[Any] = []

    async def execution(operation: str, arguments: dict[str, Any]) -> None:
        seen.append((operation, dict(arguments)))
        arguments.clear()
        raise RuntimeError("the hook's own defect")

    async def failed(operation: str, error: Exception) -> None:
        seen.append((operation, type(error).__name__))

    gateway = Gateway.open(settings)
    gateway.on_tool_execution(execution)
    gateway.on_tool_error(failed)
    async with gateway:
        greeting = await gateway.call("example.greet", {"name": "Ada"})
        divide = {"operation": "divide", "a": 1, "b": 0}
        with pytest.raises(ToolFailed):
            await gateway.call("example.calculate", divide)
        with pytest.raises(InvalidArguments):
            await gateway.call("example.greet", {"name": 7})
        with pytest.raises(UnknownOperation):
            await gateway.call("example.nothing", {})
        with pytest.raises(NotRunning, match="before"):
            gateway.on_tool_error(failed)

    assert greeting == {"greeting": "Hello, Ada!"}
    assert seen == [
        ("example.greet", {"name": "Ada"}),
        ("example.calculate", divide),
        ("example.calculate", "ToolFailed"),
    ]


@pytest.mark.parametrize(
    "bounds",
    [{"timeout_seconds": 0}, {"timeout_seconds": -1}, {"max_attempts": 0}, {"max_attempts": 1.5}],
)
async def test_bounds_of_a_call_that_mean_nothing_are_refused(
    settings: Settings, bounds: dict[str, Any]
) -> None:
    async with Gateway.open(settings) as gateway:
        with pytest.raises(MalformedRequest):
            await gateway.call("example.greet", {"name": "Ada"}, **bounds)


async def test_an_agent_sees_and_calls_exactly_what_its_policy_grants(settings: Settings) -> None:
    async with Gateway.open(settings) as gateway:
        seen = {entry.id for entry in gateway.tools("proposal_analysis")}
        with pytest.raises(UnknownOperation):
            await gateway.call("example.greet", {"name": "Ada"}, agent="proposal_analysis")
        everything = {entry.id for entry in gateway.tools()}

    tables = {f"supabase.{tool}" for tool in ("query", "insert", "update", "rpc")}
    assert seen == tables | {"avinode.get_rfp_status"}
    assert len(everything) > len(seen)


async def test_every_call_leaves_exactly_one_audit_record(settings: Settings) -> None:
    """Whatever became of it: answered, invalid, unknown, or failed as declared."""
    async with Gateway.open(settings) as gateway:
        await gateway.call("example.greet", {"name": "Ada"})
        with pytest.raises(InvalidArguments):
            await gateway.call("example.greet", {"nam": "Ada"})
        with pytest.raises(UnknownOperation):
            await gateway.call("example.nothing", {})
        with pytest.raises(ToolFailed):
            await gateway.call("example.calculate", {"operation": "divide", "a": 1, "b": 0})
        await gateway.parts.audit.flush()
        records = await gateway.parts.store.audit.latest(10)

    calls = [record for record in reversed(records) if record.transport == "local"]
    seen = [(r.operation, r.outcome, r.stage, r.status, r.backend) for r in calls]
    assert seen == [
        ("example.greet", "ok", None, 200, "python"),
        ("example.greet", "VALIDATION_ERROR", "validate", 422, None),
        ("example.nothing", "TOOL_NOT_FOUND", "authorize", 404, None),
        ("example.calculate", "TOOL_EXECUTION_ERROR", "tool", 422, "python"),
    ]


async def test_a_write_that_fails_at_a_live_upstream_is_accounted_for(tmp_path: Path) -> None:
    """The connection breaks after the request: the audit has the backend, the caller a warning."""
    async with answering_nothing() as url:
        environ = {
            "GATEWAY_AVINODE_BASE_URL": url,
            "GATEWAY_AVINODE_API_TOKEN": "token",
            "GATEWAY_AVINODE_ACCESS_TOKEN": "token",
        }
        flags = {"data": tmp_path, "database_url": "memory:"}
        async with Gateway.open(read_settings(environ, None, flags)) as gateway:
            with pytest.raises(UpstreamUnavailable, match="may have happened") as failed:
                await gateway.call("avinode.create_rfp", example("avinode.create_rfp"))
            records = await gateway.parts.store.audit.latest(10)
            (record,) = (each for each in records if each.transport == "local")

    assert failed.value.is_retryable is False
    assert (record.operation, record.outcome, record.status, record.backend) == (
        "avinode.create_rfp",
        "TRANSPORT_ERROR",
        503,
        "live",
    )


async def fail(gateway: Gateway) -> None:
    raise RuntimeError("hook")


async def test_a_failing_start_hook_leaves_nothing_open(settings: Settings) -> None:
    gateway = Gateway.open(settings, on_start=[fail])

    with pytest.raises(RuntimeError, match="hook"):
        await gateway.__aenter__()

    assert gateway.state is Lifecycle.ERROR
    with pytest.raises(NotRunning):
        await gateway.call("example.greet", {"name": "Ada"})


async def test_a_failing_stop_hook_does_not_keep_the_others_or_the_end(settings: Settings) -> None:
    seen: list[Lifecycle] = []

    async def note(gateway: Gateway) -> None:
        seen.append(gateway.state)

    gateway = Gateway.open(settings, on_stop=[fail, note])

    with pytest.raises(RuntimeError, match="hook"):
        async with gateway:
            pass

    assert seen == [Lifecycle.RUNNING]
    assert gateway.state is Lifecycle.STOPPED


@pytest.mark.parametrize("value", [object(), "\ud800"])
async def test_what_is_no_json_is_refused_as_malformed(settings: Settings, value: object) -> None:
    async with Gateway.open(settings) as gateway:
        with pytest.raises(MalformedRequest):
            await gateway.call("example.greet", {"name": value})


async def test_readiness_is_looked_up_once_a_second_and_turns_red_before_the_end(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    async def look(parts: Any) -> Readiness:
        asked.append(parts)
        return Readiness(store="ok", upstreams={})

    monkeypatch.setattr(readiness, "readiness_of", look)
    clock = ManualClock()
    async with Gateway.open(settings) as gateway:
        probe = ReadinessProbe(gateway.parts, clock)
        assert probe.announce_stop() is False, "nobody has asked"
        probe = ReadinessProbe(gateway.parts, clock)
        found = await asyncio.gather(*(probe() for _ in range(100)))
        assert {each.status for each in found} == {"ready"}
        assert len(asked) == 1
        clock.advance(1)
        await probe()
        assert len(asked) == 2
        assert probe.announce_stop() is True
        assert (await probe()).status == "not ready"


async def test_a_gateway_whose_database_became_corrupt_is_not_ready(tmp_path: Path) -> None:
    database = tmp_path / "gateway.db"
    given = {"data": tmp_path, "database_url": f"sqlite:///{database}"}
    async with Gateway.open(read_settings({}, None, given)) as gateway:
        assert (await readiness.readiness_of(gateway.parts)).store == "ok"
        with closing(sqlite3.connect(database)) as other:
            other.execute("pragma wal_checkpoint(truncate)")
        content = database.read_bytes()
        database.write_bytes(content[:4096] + bytes(byte ^ 0x5A for byte in content[4096:]))
        with pytest.raises(StoreError, match="is corrupt"):
            await gateway.parts.keys.create("flight_search", "while it is corrupt")
        database.write_bytes(content)  # what was read wrong may be right the next time

        found = await readiness.readiness_of(gateway.parts)

    assert (found.store, found.status) == ("failed", "not ready")
    assert "The database is corrupt: restore it from a backup." in found.problems


async def test_the_grace_at_the_end_is_no_shorter_than_a_tool_may_take(settings: Settings) -> None:
    async with Gateway.open(settings) as gateway:
        catalogue = gateway.parts.catalogue
        # Jobs have the same.
        assert gateway.parts.work.worker.grace_seconds == grace_seconds(settings, catalogue)
    longest = max(each.operation.timeout_seconds for each in catalogue.entries)
    assert grace_seconds(settings, catalogue) == longest + 5
    short = replace(settings, stop_grace_seconds=longest - 1)
    with pytest.raises(ConfigurationError, match=f"stop_grace_seconds: .* at least {longest:g}"):
        grace_seconds(short, catalogue)
    assert grace_seconds(replace(settings, stop_grace_seconds=longest), catalogue) == longest
