"""All workflows over all transports, each transport with a gateway and mocks of its own."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Final

import httpx
from msgspec import Struct

from gateway.app import Gateway
from gateway.auth.keys import ADMINISTRATOR
from gateway.authoring.workflows.reading import Workflow, read_workflows
from gateway.catalogue import Catalogue
from gateway.cli.reports.record import Check
from gateway.testing.asgi_server import serving
from gateway.testing.gateways import KEY, catalogue_under_test, mocked_settings, project_under_test
from gateway.testing.transports import HANDSHAKE, MODERN, REST, Ask, Mcp, Rest, client, over_http
from gateway.testing.workflows import WorkflowRun, check_of, differences, run_all

_QUICK: Final = "100000"
"""People of mocks answer at once: a workflow waits for them."""


async def _rest(http: httpx.AsyncClient) -> Ask:
    return Rest(http).call


async def _modern(http: httpx.AsyncClient) -> Ask:
    return Mcp(over_http(http), MODERN).call


async def _handshake(http: httpx.AsyncClient) -> Ask:
    spoken = Mcp(over_http(http), HANDSHAKE)
    await spoken.shake_hands()
    return spoken.call


PASSES: Final[Mapping[str, Callable[[httpx.AsyncClient], Awaitable[Ask]]]] = {
    REST: _rest,
    f"MCP {MODERN}": _modern,
    f"MCP {HANDSHAKE}": _handshake,
}


class WorkflowPasses(Struct, frozen=True):
    """What came of all workflows over each transport."""

    by_transport: Mapping[str, Mapping[str, WorkflowRun]]
    again: Mapping[str, WorkflowRun]
    """Of a second pass over REST."""

    def checks(self, workflow: str) -> list[Check]:
        """A record for each transport."""
        runs = {name: found[workflow] for name, found in self.by_transport.items()}
        failed = any(each.failure for each in (*runs.values(), self.again[workflow]))
        # Where one of them failed, the others have gone further.
        different = {} if failed else dict(differences(runs, self.again[workflow]))
        checks = [check_of(name, each, different.get(name)) for name, each in runs.items()]
        if all(each.outcome == "passed" for each in checks) and failed:
            checks.append(check_of(f"{REST}, a second time", self.again[workflow]))
        return checks


@cache
def workflows_under_test() -> tuple[Workflow, ...]:
    """The workflows of the project, each after those that it needs. Raises `ContractRefused`."""
    return read_workflows(project_under_test().schemas)


async def follow_workflows(workflows: Sequence[Workflow], folder: Path) -> WorkflowPasses:
    """Follow `workflows` over each transport. `folder` is empty, for the state of the gateways."""
    passes: list[dict[str, WorkflowRun]] = []
    for number, name in enumerate((*PASSES, REST)):
        async with _opened(folder / str(number)) as (catalogue, http):
            ask = await PASSES[name](http)
            passes.append(await run_all(workflows, catalogue, ask))
    return WorkflowPasses(dict(zip(PASSES, passes, strict=False)), passes[-1])


@asynccontextmanager
async def _opened(data: Path) -> AsyncIterator[tuple[Catalogue, httpx.AsyncClient]]:
    """A gateway on mocks, with all tools granted, at work: mocks send it their webhooks."""
    settings = mocked_settings(data, GATEWAY_BOOTSTRAP_KEY=KEY, GATEWAY_MOCK_SPEED=_QUICK)
    granted = frozenset(entry.id for entry in catalogue_under_test().entries)
    async with (
        Gateway.open(settings, grants={ADMINISTRATOR: granted}) as gateway,
        serving(gateway.http_app()) as url,
        gateway.at_work(url),
        client(url, KEY) as http,
    ):
        yield gateway.parts.catalogue, http
