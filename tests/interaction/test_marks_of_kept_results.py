"""Results that are kept, of jobs and under idempotency keys, say what direct answers say: which
upstream is a mock, and what they lack."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from gateway.app.gateway import Gateway
from gateway.catalogue import AgentPolicies, Catalogue, Entry, PublishedDocuments, open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.contract.operation import Effect
from gateway.job_policy import WORK_POLICY
from gateway.settings import read_settings
from gateway.testing.asgi_server import serving
from gateway.testing.live import FaultyUpstreams, answering
from tests.interaction.lifespan import Lifespan
from tests.interaction.long_site import KEY, Acts, LongSite
from tests.interaction.test_left_out_rows import BROKEN, GOOD, QUERY, SAID
from tests.interaction.test_mocked_beside_live import FLIGHTS
from tests.interaction.test_tasks import call, ended

AIRPORTS: Final = "/v1/avinode/search_airports"
OFFERS: Final = "/v1/amadeus/search_flights"
SERVED: Final = {"avinode.search_airports": "required", "amadeus.search_flights": "required"}
MOCKS: Final = ["amadeus", "frankfurter"]
MADE_UP: Final = (
    "Made up: a mock answered for amadeus, frankfurter. Other data of this gateway is real."
)
KEYED: Final = "a-key-of-these-marks"


@pytest.fixture
def tasks() -> dict[str, Any]:
    """Whether the two tools become jobs."""
    return dict(SERVED)


@pytest.fixture
async def site(tmp_path: Path, tasks: dict[str, Any]) -> AsyncIterator[LongSite]:
    """A live Avinode, one of whose airports is broken, beside a mocked Amadeus."""
    known = open_catalogue("generated", HANDLER_PACKAGES)
    vendor = FaultyUpstreams({"avinode": known.upstreams["avinode"]})
    rows = [GOOD, BROKEN, *[GOOD] * 48]
    vendor.fault = answering(200, json.dumps({"data": rows}).encode())
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(serving(vendor))
        settings = {
            "GATEWAY_BOOTSTRAP_KEY": KEY,
            "GATEWAY_DATABASE_URL": "memory:",
            "GATEWAY_DATA": str(tmp_path),
            "GATEWAY_MAX_RESULT_TOKENS": "1000",
            "GATEWAY_AVINODE_BASE_URL": f"{url}/avinode",
            "GATEWAY_AVINODE_API_TOKEN": "token-of-the-tests",
            "GATEWAY_AVINODE_ACCESS_TOKEN": "access-of-the-tests",
        }
        gateway = Gateway.open(read_settings(settings, None, {"allowed_hosts": ("gateway.test",)}))
        gateway.set_catalogue(_catalogue(known, tasks))
        gateway.set_work_policy(replace(WORK_POLICY, poll_seconds=0.02, sweep_seconds=0.05))
        await stack.enter_async_context(gateway)
        opened = LongSite(gateway, gateway.http_app(), Acts())
        lifespan = Lifespan(opened.app)
        await lifespan.start()
        stack.push_async_callback(lifespan.stop)
        await stack.enter_async_context(gateway.at_work())
        yield opened


def _catalogue(known: Catalogue, tasks: dict[str, Any]) -> Catalogue:
    def changed(entry: Entry) -> Entry:
        task, effect = tasks[entry.id], tasks.get("effect", Effect.READ)
        return replace(entry, operation=replace(entry.operation, task=task, effect=effect))

    return Catalogue(
        [changed(each) for each in known.entries if each.id in tasks],
        upstreams={name: known.upstreams[name] for name in ("avinode", "amadeus", "frankfurter")},
        agents=AgentPolicies(known.grants, known.views),
        published=PublishedDocuments(known.openapi),
    )


async def job_of(site: LongSite, path: str, arguments: Any) -> str:
    """The path of the job, once it has succeeded."""
    accepted = await site.post(path, arguments)
    assert accepted.status_code == 202, accepted.text
    location: str = accepted.headers["location"]
    assert (await site.ended(location))["status"] == "succeeded"
    return location


async def test_the_result_of_a_job_names_what_it_lacks(site: LongSite) -> None:
    location = await job_of(site, AIRPORTS, QUERY)
    result = await site.get(f"{location}/result")

    assert result.headers["gateway-left-out"] == "1"
    assert "gateway-mocked" not in result.headers
    job = (await site.get(location)).json()
    assert (job["left_out"], job["result"]) == (1, result.json())
    assert "mocked" not in job


async def test_the_result_of_a_job_names_its_mocks(site: LongSite) -> None:
    location = await job_of(site, OFFERS, FLIGHTS)
    result = await site.get(f"{location}/result")

    assert result.headers["gateway-mocked"] == "amadeus, frankfurter"
    assert "gateway-left-out" not in result.headers
    job = (await site.get(location)).json()
    assert (job["mocked"], job["result"]) == (MOCKS, result.json())
    assert "left_out" not in job


async def test_models_and_programs_are_told_by_tasks(site: LongSite) -> None:
    lacking = await call(site, "avinode_search_airports", QUERY)
    mocked = await call(site, "amadeus_search_flights", FLIGHTS)
    lacking, mocked = [(await ended(site, each["taskId"]))["result"] for each in (lacking, mocked)]

    assert lacking["_meta"]["contract-gateway/leftOut"] == [SAID]
    assert lacking["content"][-1]["text"].endswith(SAID)
    assert mocked["_meta"]["contract-gateway/mocked"] == MOCKS
    assert mocked["content"][-1]["text"] == MADE_UP


async def test_models_and_programs_are_told_by_the_tool_for_results(site: LongSite) -> None:
    location = await job_of(site, OFFERS, FLIGHTS)
    arguments = {"job_id": location.rpartition("/")[2]}
    async with site.mcp("legacy") as client:
        found = await client.call_tool("job_result", arguments)

    assert (found.meta or {})["contract-gateway/mocked"] == MOCKS
    assert found.content[-1].text == MADE_UP  # type: ignore[union-attr]  # a text block


@pytest.mark.parametrize("tasks", [{**dict.fromkeys(SERVED, "never"), "effect": Effect.WRITE}])
async def test_the_answer_to_a_repeated_key_says_the_same(site: LongSite) -> None:
    for path, arguments in ((AIRPORTS, QUERY), (OFFERS, FLIGHTS)):
        keyed = {"idempotency-key": KEYED + path.replace("/", "-")}
        first, second = [await site.post(path, arguments, **keyed) for _ in range(2)]

        assert second.headers["idempotency-replayed"] == "true"
        for name in ("gateway-mocked", "gateway-left-out"):
            assert first.headers.get(name) == second.headers.get(name)


@pytest.mark.parametrize("tasks", [dict.fromkeys(SERVED, "auto")])
async def test_a_part_of_a_result_says_the_same(site: LongSite) -> None:
    found = await call(site, "avinode_search_airports", {**QUERY, "limit": 50})

    assert "contract-gateway/part" in found["_meta"]
    assert found["_meta"]["contract-gateway/leftOut"] == [SAID]
    assert found["content"][-1]["text"].endswith(SAID)
