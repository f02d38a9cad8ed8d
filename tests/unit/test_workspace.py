"""Where the rows of `supabase` are, by what the operator says."""

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from gateway.app import Gateway
from gateway.errors import UpstreamUnavailable
from gateway.settings import Settings, read_settings

NEW = {"table": "flight_options", "data": {"request_id": "req-1"}}
ALL = {"table": "flight_options"}
MEMORY = {"GATEWAY_BACKEND_SUPABASE": "mock"}


def settings(data: Path, **variables: str) -> Settings:
    return read_settings(variables, None, {"data": data, "database_url": "memory:"})


async def count(gateway: Gateway) -> Any:
    return (await gateway.call("supabase.query", ALL))["count"]


def backend_of(gateway: Gateway) -> str:
    entry = gateway.parts.catalogue.find("supabase.query")
    return gateway.parts.pipeline.dispatcher.backend_of(entry.operation)


async def test_without_credentials_the_rows_are_in_the_data_folder(tmp_path) -> None:
    async with Gateway.open(settings(tmp_path)) as gateway:
        await gateway.call("supabase.insert", NEW)
        assert backend_of(gateway) == "workspace"
    assert (tmp_path / "workspace.db").is_file()

    async with Gateway.open(settings(tmp_path)) as again:
        assert await count(again) == 1


async def test_the_rows_of_a_mock_end_with_the_process(tmp_path) -> None:
    async with Gateway.open(settings(tmp_path, **MEMORY)) as gateway:
        await gateway.call("supabase.insert", NEW)
        assert await count(gateway) == 1
        assert backend_of(gateway) == "mock"
    assert not (tmp_path / "workspace.db").exists()

    async with Gateway.open(settings(tmp_path, **MEMORY)) as again:
        assert await count(again) == 0


async def test_the_same_seed_gives_a_mock_the_same_keys_and_times(tmp_path) -> None:
    frozen = {"GATEWAY_MOCK_TIME": "2026-11-20T12:00:00Z", "GATEWAY_MOCK_SPEED": "0"}
    answers = []
    for seed in ("1", "1", "2"):
        chosen = settings(tmp_path, **MEMORY, **frozen, GATEWAY_SEED=seed)
        async with Gateway.open(chosen) as gateway:
            answers.append([await gateway.call("supabase.insert", NEW) for _ in range(2)])

    first, again, other = ([each["rows"][0] for each in answer] for answer in answers)
    assert first == again
    assert first[0]["created_at"] == "2026-11-20T12:00:00Z"
    assert len({row["id"] for row in (*first, *other)}) == 4


async def test_the_workspace_lies_where_its_url_says(tmp_path) -> None:
    url = f"sqlite:///{tmp_path}/elsewhere/rows.db"
    async with Gateway.open(settings(tmp_path / "data", GATEWAY_WORKSPACE_URL=url)) as gateway:
        await gateway.call("supabase.insert", NEW)

    assert (tmp_path / "elsewhere" / "rows.db").is_file()
    assert not (tmp_path / "data" / "workspace.db").exists()


async def test_a_start_opens_no_workspace(tmp_path) -> None:
    """A server that is down keeps nothing else from starting."""
    nowhere = "postgresql://gateway:canary-pw@127.0.0.1:1/rows"
    async with Gateway.open(settings(tmp_path, GATEWAY_WORKSPACE_URL=nowhere)) as gateway:
        assert (await gateway.call("example.greet", {"name": "Ada"}))["greeting"]


async def test_a_workspace_that_fails_is_reported_to_operators_and_callers(
    tmp_path, caplog
) -> None:
    nowhere = "postgresql://gateway:canary-pw@127.0.0.1:1/rows"
    with caplog.at_level(logging.ERROR):
        async with Gateway.open(settings(tmp_path, GATEWAY_WORKSPACE_URL=nowhere)) as gateway:
            readiness = await gateway.readiness()
            with pytest.raises(UpstreamUnavailable) as failed:
                await gateway.call("supabase.insert", NEW)

    assert readiness.status == "degraded"
    assert readiness.upstreams["supabase"].backend == "workspace"
    assert readiness.problems == ()
    assert readiness.upstream_problems == ("supabase: The workspace database cannot be used.",)
    assert failed.value.is_retryable
    assert failed.value.detail == "The workspace database failed."
    assert "cannot be reached" in caplog.text
    assert "canary-pw" not in caplog.text + str(readiness) + str(failed.value)


async def test_a_workspace_that_opens_makes_ready(tmp_path) -> None:
    async with Gateway.open(settings(tmp_path)) as gateway:
        readiness = await gateway.readiness()

    assert readiness.status == "ready"


async def test_a_caller_who_gives_up_is_recorded_and_the_gateway_goes_on(tmp_path) -> None:
    async with Gateway.open(settings(tmp_path, **MEMORY)) as gateway:
        for _ in range(5):
            call = asyncio.create_task(gateway.call("supabase.insert", NEW))
            await asyncio.sleep(0)
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)

        assert 0 <= await count(gateway) <= 5
        assert (await gateway.call("supabase.insert", NEW))["count"] == 1
