"""Which thread works on large texts. The event loop's serves all callers, so it is another one."""

import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from gateway.calls import validation
from gateway.contract.selection import selected
from gateway.contract.values import hidden, jsontext
from gateway.publication import continuation
from gateway.testing.gateways import Site, open_site
from gateway.testing.transports import MODERN
from gateway.transports.mcp import delivery
from gateway.transports.mcp.results import ResultBytes

AGENT = "client_data"
LIMIT = 1000
LIST = "/v1/sheets/list_clients"


class Spy:
    """The names of the functions that ran, and whether in the thread of the event loop."""

    def __init__(self) -> None:
        self.loop = threading.get_ident()
        self.ran: list[tuple[str, bool]] = []

    def on(self, name: str, function: Callable[..., Any], size: Callable[..., int]) -> Any:
        def spied(*args: Any) -> Any:
            if size(*args) >= LIMIT:
                self.ran.append((name, threading.get_ident() == self.loop))
            return function(*args)

        return spied


@pytest.fixture
async def spy(monkeypatch: pytest.MonkeyPatch) -> Spy:
    spy = Spy()

    def text(first: bytes, *_: Any) -> int:
        return len(first)

    spied = spy.on("decode", jsontext.decode, text)
    monkeypatch.setattr(jsontext, "decode", spied)
    monkeypatch.setattr(hidden, "may_hide", spy.on("check", hidden.may_hide, text))
    cut = spy.on("cut", continuation.cuttable, lambda _values, size, _most: size)
    monkeypatch.setattr(delivery, "cuttable", cut)
    select = spy.on("select", selected, lambda *_: LIMIT)
    monkeypatch.setattr("gateway.calls.validation.selected", select)
    success = ResultBytes.success
    written = spy.on("write", success, lambda _self, result, _revision: len(result.text))
    monkeypatch.setattr(ResultBytes, "success", written)
    return spy


@pytest.fixture(params=[True, False], ids=["large", "small"])
def is_large(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(validation, "LARGE_BYTES", LIMIT if request.param else 2**30)
    return bool(request.param)


@pytest.fixture
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    grants = {AGENT: frozenset({"sheets.list_clients", "example.greet"})}
    folder = tmp_path_factory.mktemp("large")
    async with open_site(folder, grants, grants, GATEWAY_MAX_RESULT_TOKENS="1100") as opened:
        yield opened


async def test_a_large_reply_and_its_result(site: Site, spy: Spy, is_large: bool) -> None:
    assert (await site.post(AGENT, LIST, {})).status_code == 200
    assert dict(spy.ran) == {"decode": not is_large, "check": not is_large}


async def test_a_result_of_which_some_members_are_asked_for(
    site: Site, spy: Spy, is_large: bool
) -> None:
    assert (await site.post(AGENT, LIST, {"fields": ["total"]})).status_code == 200
    assert dict(spy.ran) == dict.fromkeys(["decode", "check", "select"], not is_large)


async def test_large_arguments(site: Site, spy: Spy, is_large: bool) -> None:
    answer = await site.post(AGENT, "/v1/example/greet", {"name": "x" * LIMIT})
    assert answer.status_code == 422
    assert dict(spy.ran) == {"decode": not is_large}


async def test_a_result_that_is_cut(site: Site, spy: Spy, is_large: bool) -> None:
    answer = await site.mcp(
        AGENT, MODERN, "tools/call", name="sheets_list_clients", arguments={"limit": 50}
    )
    assert "contract-gateway/part" in answer["result"]["_meta"]
    assert ("cut", not is_large) in spy.ran
    assert ("write", not is_large) in spy.ran


async def test_a_large_message_over_mcp(site: Site, spy: Spy, is_large: bool) -> None:
    arguments = {"name": "x" * LIMIT}
    await site.mcp(AGENT, MODERN, "tools/call", name="example_greet", arguments=arguments)
    assert {name: {on for each, on in spy.ran if each == name} for name, _ in spy.ran} == {
        "decode": {not is_large}
    }
