"""Four processes of one gateway admit what the limits of tools and agents allow, and no more."""

import asyncio
import json
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from re import findall
from typing import Any

import httpx
import pytest
from mcp import Client, StdioServerParameters
from msgspec import Struct

from gateway.store.usage import SHARE
from tests.eventually import PATIENCE_SECONDS
from tests.functional.test_processes import children_of
from tests.gateway_process import (
    GATEWAY,
    RunningGateway,
    clean_environment,
    running_gateway,
    until,
)
from tests.limited_project import (
    FIND,
    HERE,
    LOOK,
    LOST,
    Clients,
    Vendor,
    make_keys,
    running_vendor,
    write_project,
)
from tests.postgres import PreparedDatabases
from tests.redis_server import own_redis

pytestmark = pytest.mark.postgres
ON_POSTGRES = pytest.mark.parametrize("site", ["postgres"], indirect=True)
"""What does not depend on where the counters are. `test_limit_processes.py` has both."""
OF_TOOL, EXACT, LARGE, SPENT, PLACES = 30, 40, 320, 3, 3
AGENTS = {
    "exact": f"{{calls: [{{max: {EXACT}, seconds: 3600}}]}}",
    "large": f"{{calls: [{{max: {LARGE}, seconds: 3600}}]}}",
    "killed": f"{{calls: [{{max: {LARGE}, seconds: 3600}}]}}",
    "free": "{concurrent: 50}",
    "spent": f"{{calls: [{{max: {SPENT}, seconds: 3600}}]}}",
    "narrow": f"{{concurrent: {PLACES}}}",
}
CONNECTIONS = 12
IN_A_ROW = 50


class Site(Struct):
    """A gateway of four processes."""

    gateway: RunningGateway
    vendor: Vendor
    environment: dict[str, str]

    keys: list[str]
    """Two of each agent."""

    def clients(self, agent: str, path: str = FIND) -> Clients:
        """With both keys of the agent."""
        return Clients(self.gateway, self.keys_of(agent), path, agent)

    def keys_of(self, agent: str) -> list[str]:
        return self.keys[2 * [*AGENTS].index(agent) :][:2]

    def answered(self) -> Counter[str]:
        """How many calls each process has answered or refused."""
        text = httpx.get(
            f"{self.gateway.url}/metrics",
            headers=self.gateway.authorization,
            timeout=PATIENCE_SECONDS,
        ).text
        found: Counter[str] = Counter()
        for process, calls in findall(r'gateway_calls_total\{process="(\d)",[^}]*\} (\d+)', text):
            found[process] += int(calls)
        return found

    def used(self, agent: str) -> list[int]:
        """What is used of the limits of an agent."""
        asked = httpx.get(f"{self.gateway.url}/operator/limits", headers=self.gateway.authorization)
        return [each["used"] for each in asked.json()["items"] if each["agent"] == agent]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, new_initial: Callable[[Path], Path]) -> Path:
    folder = new_initial(tmp_path_factory.mktemp("limited"))
    write_project(folder, AGENTS, f"{{calls: [{{max: {OF_TOOL}, seconds: 3600}}]}}")
    return folder


@pytest.fixture(scope="module", params=["postgres", pytest.param("redis", marks=pytest.mark.redis)])
def site(
    request: pytest.FixtureRequest, project: Path, databases: PreparedDatabases
) -> Iterator[Site]:
    url = databases.url("limits")
    shared = {**HERE, "GATEWAY_DATABASE_URL": url, "GATEWAY_WORKSPACE_URL": url}
    with ExitStack() as stack:
        vendor = stack.enter_context(running_vendor())
        live = shared | {"GATEWAY_STORE_BASE_URL": vendor.url, "GATEWAY_STORE_API_KEY": "key"}
        if request.param == "redis":
            live["GATEWAY_REDIS_URL"] = stack.enter_context(own_redis()).url
        serving = running_gateway(project, "--processes", "4", environment=live)
        gateway = stack.enter_context(serving)
        keys = asyncio.run(make_keys(url, [each for each in AGENTS for _ in range(2)]))
        yield Site(gateway, vendor, live, keys)


def called_again(clients: Clients) -> bool:
    """Call on another connection. One process may have taken all that there were."""
    clients.call(1, lambda: True, more=1)
    return False


@pytest.mark.parametrize(
    ("agent", "path", "allowed"),
    [
        pytest.param("exact", FIND, EXACT, id="a small window of an agent"),
        pytest.param("large", FIND, LARGE, id="a large window of an agent"),
        pytest.param("free", LOOK, 2 * OF_TOOL, id="a small window of each key"),
    ],
)
def test_exactly_as_many_calls_as_allowed(site: Site, agent: str, path: str, allowed: int) -> None:
    clients, before = site.clients(agent, path), site.answered()
    clients.call(CONNECTIONS, lambda: clients.statuses[200] >= allowed, more=10)
    assert clients.statuses[200] == site.vendor.asked[clients.words] == allowed
    assert clients.statuses[429] == clients.codes["RATE_LIMIT_ERROR"] >= CONNECTIONS * 9
    assert sum(clients.statuses.values()) == clients.statuses[200] + clients.statuses[429]
    until(lambda: len(site.answered() - before) > 1 or called_again(clients))
    assert clients.statuses[200] == site.vendor.asked[clients.words] == allowed


@ON_POSTGRES
def test_never_more_calls_at_once_than_places(site: Site) -> None:
    clients = site.clients("narrow")
    site.vendor.pause = 0.3
    clients.call(CONNECTIONS, lambda: site.vendor.at_once["narrow"] >= PLACES, more=3)
    site.vendor.pause = 0.0
    assert site.vendor.at_once["narrow"] == PLACES
    assert {*clients.codes} == {"RATE_LIMIT_ERROR"}


def test_a_process_that_is_killed_makes_a_limit_stricter_and_never_looser(site: Site) -> None:
    """What it had taken ahead stays counted: at most one part in 16."""
    clients = site.clients("killed")
    clients.call(CONNECTIONS, lambda: clients.statuses[200] >= LARGE // 4)
    before = children_of(site.gateway.pid)
    with ThreadPoolExecutor(1) as pool:
        calling = pool.submit(clients.call, CONNECTIONS, Quiet(clients))
        until(lambda: clients.statuses[200] >= LARGE // 2)
        os.kill(before[-1], signal.SIGKILL)
        calling.result()

    asked = site.vendor.asked["killed"]
    assert LARGE - LARGE // SHARE - CONNECTIONS <= asked <= LARGE
    assert clients.statuses[200] <= asked <= clients.statuses[200] + clients.statuses[LOST]
    assert site.used("killed") == [LARGE]
    until(lambda: len({*children_of(site.gateway.pid)} - {before[-1]}) == 4)


@ON_POSTGRES
async def test_models_get_the_same_facts_over_stdio_and_over_the_bridge(site: Site) -> None:
    key, _ = site.keys_of("spent")
    clients = site.clients("spent")
    clients.call(1, lambda: clients.statuses[200] >= SPENT)
    async with httpx.AsyncClient(headers={"authorization": f"Bearer {key}"}) as http:
        answer = await http.post(f"{site.gateway.url}{FIND}", json={"query": "spent"})
    over_http = facts(answer.json())
    url = f"{site.gateway.url}/mcp"

    in_process = await refused(site, "mcp", "--agent", "spent", "--data", ".")
    over_bridge = await refused(site, "mcp", "--url", url, GATEWAY_KEY=key)

    assert answer.status_code == 429
    assert over_http["limit"]["used"] == over_http["limit"]["max"] == SPENT
    assert over_http["code"] == "RATE_LIMIT_ERROR"
    assert in_process == over_bridge == over_http
    assert site.vendor.asked["spent"] == SPENT


async def refused(site: Site, *arguments: str, **settings: str) -> dict[str, Any]:
    """What a model is shown by a program on standard streams."""
    program = StdioServerParameters(
        command=str(GATEWAY),
        args=[*arguments],
        env=clean_environment(site.environment | settings),
        cwd=site.gateway.data,
    )
    async with Client(program) as client:
        result = await client.call_tool("store_find_products", {"query": "spent"})
    assert result.is_error
    return facts(json.loads(result.content[0].text))


def facts(problem: dict[str, Any]) -> dict[str, Any]:
    """What does not change from one second to the next. The rest must be there."""
    said, _, later = problem["detail"].partition(" Try again in ")
    assert problem["retry_after"] == pytest.approx(int(later.partition(" ")[0]), abs=1)
    named = ("code", "status", "limit", "violated-policies")
    return {"said": said, **{each: problem[each] for each in named}}


class Quiet:
    """True when so many calls in a row were refused that units were given back meanwhile.

    A client waits before each of them, for longer in all than a process keeps units.
    """

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._admitted = 0
        self._refused = 0

    def __call__(self) -> bool:
        admitted, refused = self._clients.statuses[200], self._clients.statuses[429]
        if admitted != self._admitted:
            self._admitted, self._refused = admitted, refused
        return refused - self._refused > CONNECTIONS * IN_A_ROW
