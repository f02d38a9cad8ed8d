"""The gateway as an object."""

from pathlib import Path

import pytest

from gateway.app import Gateway, State
from gateway.errors import (
    ConfigurationError,
    InvalidArguments,
    NotRunning,
    ToolFailed,
    UnknownOperation,
)
from gateway.settings import Settings, read_settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return read_settings({}, None, {"data": tmp_path, "database_url": "memory:"})


async def test_a_tool_is_called_by_its_operation_id(settings: Settings) -> None:
    async with Gateway.open(settings) as gateway:
        result = await gateway.call("example.greet", {"name": "Ada"})

    assert result == {"greeting": "Hello, Ada!"}


async def test_it_knows_where_it_is_in_its_life(settings: Settings) -> None:
    gateway = Gateway.open(settings)
    assert gateway.state is State.IDLE

    async with gateway:
        assert gateway.state is State.RUNNING

    assert gateway.state is State.STOPPED


async def test_a_gateway_that_is_not_open_refuses_calls(settings: Settings) -> None:
    gateway = Gateway.open(settings)

    with pytest.raises(NotRunning, match="idle"):
        await gateway.call("example.greet", {"name": "Ada"})


async def test_a_start_that_fails_leaves_the_error_state(tmp_path: Path) -> None:
    half = {"GATEWAY_BACKEND_AVINODE": "live"}
    gateway = Gateway.open(read_settings(half, None, {"data": tmp_path}))

    with pytest.raises(ConfigurationError, match="avinode"):
        await gateway.__aenter__()

    assert gateway.state is State.ERROR


async def test_hooks_run_after_the_start_and_before_the_end(settings: Settings) -> None:
    seen: list[tuple[str, State]] = []

    async def started(gateway: Gateway) -> None:
        seen.append(("start", gateway.state))

    async def stopping(gateway: Gateway) -> None:
        seen.append(("stop", gateway.state))

    async with Gateway.open(settings, on_start=[started], on_stop=[stopping]):
        assert seen == [("start", State.RUNNING)]

    assert seen == [("start", State.RUNNING), ("stop", State.RUNNING)]


async def test_an_agent_sees_and_calls_exactly_what_its_policy_grants(settings: Settings) -> None:
    async with Gateway.open(settings) as gateway:
        seen = {entry.id for entry in gateway.tools("proposal_analysis")}
        with pytest.raises(UnknownOperation):
            await gateway.call("example.greet", {"name": "Ada"}, agent="proposal_analysis")
        everything = {entry.id for entry in gateway.tools()}

    assert seen == {"avinode.get_rfp_status"}
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

    assert [(r.operation, r.outcome, r.stage, r.status) for r in reversed(records)] == [
        ("example.greet", "ok", None, 200),
        ("example.greet", "VALIDATION_ERROR", "validate", 422),
        ("example.nothing", "TOOL_NOT_FOUND", "authorize", 404),
        ("example.calculate", "TOOL_EXECUTION_ERROR", "tool", 422),
    ]
