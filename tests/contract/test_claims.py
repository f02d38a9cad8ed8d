"""What the documentation claims about the requirements, tried on a gateway.

Each claim is a sentence of a page. A sentence that is changed has to be tried again, and a gateway
that no longer keeps it fails here, so that no page says for long what is no longer so.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Final

import httpx
import pytest

from gateway.testing.fixtures import opened
from gateway.testing.gateways import Site, open_site

DOCS: Final = Path(__file__).parents[2] / "docs"
ADMIN: Final = "administrator"
A_SIX: Final = {
    "orchestrator": 3,
    "client_data": 7,
    "flight_search": 9,
    "proposal_analysis": 5,
    "communication": 5,
    "error_monitor": 4,
}


async def get(site: Site, path: str, agent: str | None = ADMIN) -> httpx.Response:
    headers = {} if agent is None else {"authorization": f"Bearer {site.keys[agent]}"}
    return await site.client.get(path, headers=headers)


async def metrics(site: Site) -> bool:
    return "gateway_" in (await get(site, "/metrics")).text


async def health(site: Site) -> bool:
    said = (await get(site, "/health", None)).text
    return "healthy" in said and (await get(site, "/healthz", None)).status_code == 200


async def alias(site: Site) -> bool:
    body = {"name": "example.greet", "arguments": {"name": "Ada"}}
    return (await site.post(ADMIN, "/tools/execute", body)).status_code == 200


async def info(site: Site) -> bool:
    refused = await get(site, "/mcp/info", None)
    return "version" in (await get(site, "/mcp/info")).text and refused.status_code == 401


async def jobs(site: Site) -> bool:
    operation = site.gateway.parts.catalogue.find("golf.book_tee_time").operation
    return operation.task == "auto" and (await get(site, "/v1/jobs")).status_code == 200


async def golf_limits(site: Site) -> bool:
    catalogue = site.gateway.parts.catalogue
    booking = catalogue.find("golf.book_tee_time").operation.limits
    agents = catalogue.limits["golf_concierge"]
    hours = [(each.max, each.seconds) for each in (*booking.calls, *agents.calls)]
    return sorted(hours) == [(10, 3600), (100, 3600)]


async def isolation(site: Site) -> bool:
    asked = {"table": "client_cache"}
    replies = {
        agent: (await site.post(agent, "/v1/supabase/query", asked)).status_code for agent in A_SIX
    }
    return replies.pop("client_data") == 200 and set(replies.values()) == {403}


async def deletion(site: Site) -> bool:
    policy = site.gateway.parts.policy
    return not any(policy.allows(agent, "supabase.delete") for agent in site.keys)


async def six_agents(site: Site) -> bool:
    policy, entries = site.gateway.parts.policy, site.gateway.parts.catalogue.entries
    sizes = {agent: sum(policy.allows(agent, each.id) for each in entries) for agent in A_SIX}
    return sizes == A_SIX


async def broker(site: Site) -> bool:
    allows = site.gateway.parts.policy.allows
    return allows("charter_broker", "entities.requests")


async def requests_of_clients(site: Site) -> bool:
    asked = {"table": "iso_requests"}
    replies = {
        agent: (await site.post(agent, "/v1/supabase/query", asked)).status_code for agent in A_SIX
    }
    return replies.pop("error_monitor") == 403 and set(replies.values()) == {200}


async def not_granted(site: Site) -> bool:
    mail = {"to": "a@example.com", "subject": "A", "body": "B"}
    refused = await site.post("orchestrator", "/v1/gmail/send_email", mail)
    unknown = await site.post("orchestrator", "/v1/gmail/send_fax", {})
    return (refused.status_code, refused.json()["code"]) == (404, unknown.json()["code"])


async def several_errors(site: Site) -> bool:
    body = {"name": "example.greet", "arguments": {"name": 1, "secret-of-a-caller": "abc"}}
    answer = await site.post(ADMIN, "/tools/execute", body)
    errors = answer.json()["error"]["data"]["errors"]
    members = {name for each in errors for name in each}
    is_silent = "stack" not in answer.text and '"abc"' not in answer.text
    return len(errors) == 2 and members == {"pointer", "keyword", "detail"} and is_silent


async def own_reservations(site: Site) -> bool:
    found = await site.post(ADMIN, "/v1/golf/get_reservations", {})
    return found.status_code == 200 and bool(found.json()["user_id"])


async def other_methods(site: Site) -> bool:
    headers = {"authorization": f"Bearer {site.keys[ADMIN]}"}
    replies = [
        await site.client.request(each, "/mcp", headers=headers) for each in ("DELETE", "PUT")
    ]
    return {each.status_code for each in replies} == {405}


Claim = tuple[str, str, Callable[[Site], Awaitable[bool]]]
CLAIMS: Final[tuple[Claim, ...]] = (
    ("contributing/conflicts.md", "metrics at `/metrics`", metrics),
    ("contributing/conflicts.md", "`/health` says `healthy`", health),
    ("contributing/conflicts.md", "the alias takes the same pipeline", alias),
    ("contributing/conflicts.md", "it answers name, version and revisions", info),
    ("contributing/conflicts.md", "becomes a job if that takes long", jobs),
    ("contributing/conflicts.md", "100 calls an hour in the policy of its agent", golf_limits),
    ("contributing/conflicts.md", "`client_cache` is granted to `client_data` alone", isolation),
    ("contributing/conflicts.md", "no agent is granted it, and `*` does not grant it", deletion),
    ("contributing/conflicts.md", "A's six agents stay as they are", six_agents),
    ("contributing/conflicts.md", "the reads of what webhooks report", broker),
    ("contributing/conflicts.md", "so all but `error_monitor` reach it", requests_of_clients),
    ("contributing/conflicts.md", "a tool that it is not granted does not exist", not_granted),
    ("contributing/conflicts.md", "one item of `errors` for each", several_errors),
    ("contributing/conflicts.md", "the default is the player for whom", own_reservations),
    ("reference/mcp.md", "`DELETE` and other methods answer 405", other_methods),
)


@pytest.fixture(scope="module")
def site(
    gateway_loop: asyncio.AbstractEventLoop, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    agents = (ADMIN, *A_SIX, "charter_broker")
    yield from opened(gateway_loop, open_site(tmp_path_factory.mktemp("claims"), agents))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim[1])
def test_what_a_page_claims_is_so(gateway_loop, site: Site, claim: Claim) -> None:
    page, sentence, holds = claim
    text = " ".join((DOCS / page).read_text("utf-8").split())
    assert sentence in text
    assert gateway_loop.run_until_complete(holds(site))
