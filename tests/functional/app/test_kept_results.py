"""Gateways on a database that several processes may use, without a Redis between them."""

from pathlib import Path

import pytest

from gateway.app import Gateway
from gateway.settings import read_settings


@pytest.mark.postgres
async def test_results_that_other_processes_may_change_are_not_kept(
    postgres_url: str, tmp_path: Path
) -> None:
    found = read_settings({}, None, {"data": tmp_path, "database_url": postgres_url})
    async with Gateway.open(found) as gateway:
        kept = gateway.parts.pipeline.cache.kept
        for _ in range(2):
            await gateway.call("weather.get_weather", {"location": "London"})
        assert kept.hits == 1
        for _ in range(2):
            # The connector has tools that write.
            await gateway.call("avinode.search_airports", {"query": "London"})
        assert kept.hits == 1
