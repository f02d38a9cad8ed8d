"""The suite does not call tools that ask, because nobody answers, and waits for no job for ever."""

import json
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from gateway.catalogue import AgentPolicies, Catalogue, Entry, PublishedDocuments
from gateway.contract.operation import PythonBinding
from gateway.testing import transports
from gateway.testing.cases import upstream_of
from gateway.testing.gateways import Faces, catalogue_under_test
from gateway.testing.suite.secrets import calls
from gateway.testing.suite.verdicts import known_values
from gateway.testing.transports import MODERN, CallAnswer, TransportFailed

ASKED = "sheets.list_clients"


def asking(entry: Entry) -> Entry:
    async def run(arguments: Any, context: Any) -> dict[str, Any]:
        return {}

    binding = PythonBinding(run=run, upstreams=entry.operation.upstreams, asks=("elicitation",))
    return replace(entry, operation=replace(entry.operation, binding=binding))


def with_a_tool_that_asks() -> Catalogue:
    known = catalogue_under_test()
    return Catalogue(
        [asking(each) if each.id == ASKED else each for each in known.entries],
        upstreams=known.upstreams,
        agents=AgentPolicies(known.grants),
        published=PublishedDocuments(known.openapi),
    )


class Asked:
    """Answers no call, and keeps which tools were called."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self.called: set[str] = set()

    async def rest(self, entry: Entry, _: bytes) -> CallAnswer:
        self.called.add(entry.id)
        return CallAnswer(False, 400, None, frozenset(), {})


async def test_a_tool_that_asks_is_not_called_for_its_values_or_its_secrets() -> None:
    catalogue = with_a_tool_that_asks()
    asked: Any = Asked(catalogue)
    for entry in catalogue.entries:
        await known_values(asked, entry)
    entry = catalogue.find(ASKED)

    assert upstream_of(entry) == "sheets"
    assert asked.called
    assert ASKED not in asked.called
    assert ASKED not in {each.id for each, _ in calls(catalogue, None)}


@pytest.mark.parametrize("face", ["rest", "mcp"])
async def test_a_job_that_does_not_end_fails_the_test_that_waits_for_it(
    monkeypatch: pytest.MonkeyPatch, face: str
) -> None:
    problem = {"status": 409, "code": "JOB_UNDER_WAY"}

    def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            media = {"content-type": "application/problem+json"}
            return httpx.Response(409, json=problem, headers=media)
        if request.url.path != "/mcp":
            return httpx.Response(202, headers={"location": "/v1/jobs/7"}, json={})
        named = json.loads(request.content)["params"]["name"]
        made = {"content": [{"text": '{"job_id":"7"}'}], "structuredContent": {"job_id": "7"}}
        failed = {"isError": True, "content": [{"text": json.dumps(problem)}]}
        result = failed if named == "job_result" else made
        return httpx.Response(200, json={"jsonrpc": "2.0", "id": 1, "result": result})

    monkeypatch.setattr(transports, "SILENT_SECONDS", 0.05)
    entry = catalogue_under_test().find("example.greet")
    entry = replace(entry, operation=replace(entry.operation, task="required"))
    transport = httpx.MockTransport(answer)
    pipeline = SimpleNamespace(dispatcher=SimpleNamespace(dispatch=None))
    gateway: Any = SimpleNamespace(parts=SimpleNamespace(catalogue=None, pipeline=pipeline))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        seen = Faces(gateway, client, {})
        call = seen.rest(entry, b"{}") if face == "rest" else seen.mcp(entry, b"{}", MODERN)
        with pytest.raises(TransportFailed, match="has not ended in"):
            await call
