"""Tools that ask their client by rounds, in revision 2026-07-28 (SEP-2322)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from gateway.contract.context import CallContext, UpstreamCall
from gateway.contract.operation import Effect
from gateway.contract.policies.questions import Elicitation, Elicited, RootsQuestion, Sampling
from gateway.errors import UpstreamError
from gateway.transports.http.call_headers import KEY_META
from gateway.transports.mcp import asking
from tests.interaction.asking_site import (
    ALICE,
    NAME,
    Handler,
    greet,
    open_asking,
    outcomes,
    post,
)
from tests.interaction.long_site import ADA, LongSite
from tests.interaction.test_tasks import LOG

KEY = {KEY_META: "one-call"}


@pytest.fixture
def handler() -> Handler:
    return Handler()


@pytest.fixture
async def site(tmp_path: Path, handler: Handler) -> AsyncIterator[LongSite]:
    async with open_asking(tmp_path, handler) as opened:
        yield opened


@pytest.mark.parametrize("meta", [{}, LOG], ids=["fast", "sdk"])
async def test_a_round_asks_and_the_next_one_has_the_effect(
    site: LongSite, handler: Handler, meta: dict[str, Any]
) -> None:
    first = await greet(site, **meta)
    assert handler.effects == 0
    second = await greet(site, first, {"user": ALICE}, **meta)

    asked = first["result"]
    assert asked["resultType"] == "input_required"
    assert asked["inputRequests"] == {
        "user": {
            "method": "elicitation/create",
            "params": {"mode": "form", "message": "Your name?", "requestedSchema": NAME},
        }
    }
    assert "io.modelcontextprotocol/serverInfo" in asked["_meta"]
    assert second["result"]["resultType"] == "complete"
    assert second["result"]["structuredContent"] == {"greeting": "accept Alice"}
    assert (handler.runs, handler.effects) == (2, 1)
    assert await outcomes(site) == ["INPUT_REQUIRED", "ok"]


async def test_the_handler_sees_that_the_user_did_not_accept(site: LongSite) -> None:
    for action in ("decline", "cancel"):
        answer = await greet(site, await greet(site), {"user": {"action": action}})

        assert answer["result"]["structuredContent"] == {"greeting": f"{action} None"}


async def test_later_rounds_keep_the_answers_of_earlier_ones(
    site: LongSite, handler: Handler
) -> None:
    async def act(context: CallContext) -> str:
        first = await context.ask("First?", NAME)
        second = await context.ask("Second?", NAME)
        return f"{first.content['name']} {second.content['name']}"

    handler.act = act  # type: ignore[method-assign]  # the test's own handler
    one = await greet(site)
    two = await greet(site, one, {"elicitation-1": ALICE})
    bob = {"action": "accept", "content": {"name": "Bob"}}
    three = await greet(site, two, {"elicitation-2": bob, "elicitation-1": bob})

    assert [*one["result"]["inputRequests"]] == ["elicitation-1"]
    assert [*two["result"]["inputRequests"]] == ["elicitation-2"]
    assert three["result"]["structuredContent"] == {"greeting": "Alice Bob"}


async def test_several_questions_are_asked_at_once(site: LongSite, handler: Handler) -> None:
    async def act(context: CallContext) -> str:
        said = {"role": "user", "content": {"type": "text", "text": "Hi"}}
        answers = await context.ask_all(
            {
                "a": Elicitation("Name?", NAME),
                "b": Sampling(messages=[said], max_tokens=5),
                "c": RootsQuestion(),
            }
        )
        assert isinstance(answers["a"], Elicited)
        return repr([*answers])

    handler.act = act  # type: ignore[method-assign]  # the test's own handler
    first = await greet(site)
    some = await greet(site, first, {"a": ALICE})
    said = {"role": "assistant", "content": {"type": "text", "text": "Hello"}, "model": "m"}
    rest = {"b": said, "c": {"roots": [{"uri": "file:///x"}]}}
    last = await greet(site, some, rest)

    assert [*first["result"]["inputRequests"]] == ["a", "b", "c"]
    assert [*some["result"]["inputRequests"]] == ["b", "c"]
    assert last["result"]["structuredContent"] == {"greeting": "['a', 'b', 'c']"}


async def test_questions_of_gathered_steps_are_asked_together(
    site: LongSite, handler: Handler
) -> None:
    async def act(context: CallContext) -> str:
        asked = (context.ask("Name?", NAME, key=key) for key in ("x", "y"))
        return repr(await asyncio.gather(*asked))

    handler.act = act  # type: ignore[method-assign]  # the test's own handler

    assert [*(await greet(site))["result"]["inputRequests"]] == ["x", "y"]


async def test_a_question_that_has_changed_is_asked_again(site: LongSite, handler: Handler) -> None:
    async def act(context: CallContext) -> str:
        answer = await context.ask(f"Pay {handler.runs} EUR?", NAME, key="pay")
        return str(answer.content["name"])

    handler.act = act  # type: ignore[method-assign]  # the test's own handler
    first = await greet(site)
    second = await greet(site, first, {"pay": ALICE})

    (asked,) = second["result"]["inputRequests"].items()
    assert asked[0].startswith("pay.")
    assert asked[1]["params"]["message"] == "Pay 2 EUR?"


async def test_an_answer_that_does_not_fit_is_refused(site: LongSite, handler: Handler) -> None:
    wrong: list[Any] = [
        {"action": "accept", "content": {"name": 7}},
        {"action": "accept"},
        {"roots": []},
    ]
    for answer in wrong:
        refused = await greet(site, await greet(site), {"user": answer})

        assert refused["error"]["code"] == -32602, answer
        assert "user" in refused["error"]["message"]
    assert handler.effects == 0
    assert await outcomes(site) == ["INPUT_REQUIRED", "INVALID_ANSWER"] * len(wrong)


async def test_a_state_is_only_for_the_call_and_the_caller_it_was_given_to(
    site: LongSite, handler: Handler, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await greet(site)
    state = first["result"]["requestState"]
    changed = {"result": {"requestState": f"{state}-x"}}
    answers = {"user": ALICE}
    other = await site.new_key()
    params = {"name": "example_calculate", "arguments": {"operation": "add", "a": 1, "b": 2}}
    params |= {"requestState": state, "inputResponses": answers}
    path = "/mcp/example"
    refused = [
        await greet(site, changed, answers),
        await greet(site, first, answers, {"name": "Eve"}),
        await greet(site, first, answers, key=other.key),
        await post(site, "tools/call", params),
        await post(
            site,
            "tools/call",
            {"name": "greet", "arguments": ADA, "requestState": state},
            path=path,
        ),
    ]
    passed = asking.time.time() + asking.TTL_SECONDS + 1
    monkeypatch.setattr(asking.time, "time", lambda: passed)
    refused.append(await greet(site, first, answers))

    assert [each["error"]["code"] for each in refused] == [-32602] * 6
    assert {each["error"]["message"].partition(":")[0] for each in refused} == {
        "Invalid or expired requestState"
    }
    assert (handler.runs, handler.effects) == (1, 0)
    assert "STATE_REFUSED" in await outcomes(site, "mcp:example_greet")


async def test_a_client_that_cannot_be_asked_is_refused(site: LongSite, handler: Handler) -> None:
    refused = await greet(site, can={"sampling": {}})
    url_only = await greet(site, can={"elicitation": {"url": {}}})
    over_rest = await site.post("/v1/example/greet", ADA)
    over_execute = await site.post("/tools/execute", {"tool": "example_greet", "parameters": ADA})
    async with site.mcp("legacy") as client:
        in_handshake = await client.call_tool("example_greet", ADA)

    for each in (refused, url_only):
        assert each["error"]["code"] == -32021
        assert each["error"]["data"]["requiredCapabilities"] == {"elicitation": {}}
    assert (over_rest.status_code, over_rest.json()["code"]) == (400, "CAPABILITY_MISSING")
    assert over_execute.status_code == 400
    assert in_handshake.is_error
    assert handler.effects == 0


async def test_a_tool_that_requires_answers_is_listed_where_it_can_be_called(
    tmp_path: Path, handler: Handler
) -> None:
    async with open_asking(tmp_path, handler, requires=("elicitation",)) as site:

        async def names(**can: Any) -> set[str]:
            answer = await post(site, "tools/list", {}, can=can)
            return {tool["name"] for tool in answer["result"]["tools"]}

        assert "example_greet" in await names(elicitation={"form": {}})
        assert "example_greet" not in await names(sampling={})
        assert (await site.post("/v1/example/greet", ADA)).json()["requires"] == ["elicitation"]
        assert handler.runs == 0


async def test_a_question_the_contract_does_not_name_is_a_defect(
    tmp_path: Path, handler: Handler
) -> None:
    async with open_asking(tmp_path, handler, asks=("roots",)) as site:
        answer = await greet(site)

    assert answer["result"]["isError"]
    assert answer["result"]["_meta"]["contract-gateway/problem"]["code"] == "INTERNAL_ERROR"


async def test_a_handler_cannot_swallow_the_question(site: LongSite, handler: Handler) -> None:
    async def act(context: CallContext) -> str:
        with suppress(BaseException):
            await context.ask("Name?", NAME)
        handler.effects += 1
        try:
            await context.send(UpstreamCall("shop", "buy"))
        except UpstreamError:
            handler.effects += 1
        return "done"

    handler.act = act  # type: ignore[method-assign]  # the test's own handler

    assert (await greet(site))["result"]["resultType"] == "input_required"
    assert handler.effects == 1


async def test_an_idempotency_key_is_free_for_the_next_round(
    site: LongSite, handler: Handler
) -> None:
    first = await greet(site, **KEY)
    second = await greet(site, first, {"user": ALICE}, **KEY)
    again = await greet(site, first, {"user": ALICE}, **KEY)

    assert first["result"]["resultType"] == "input_required"
    assert second["result"]["structuredContent"] == again["result"]["structuredContent"]
    assert (handler.runs, handler.effects) == (2, 1)


async def test_answers_without_a_state_are_taken_for_the_questions_they_name(
    site: LongSite,
) -> None:
    answer = await greet(site, None, {"user": ALICE, "other": ALICE})

    assert answer["result"]["structuredContent"] == {"greeting": "accept Alice"}


async def test_reads_ask_too(tmp_path: Path, handler: Handler) -> None:
    async with open_asking(tmp_path, handler, effect=Effect.READ) as site:
        answer = await greet(site, await greet(site), {"user": ALICE})

    assert answer["result"]["structuredContent"] == {"greeting": "accept Alice"}
