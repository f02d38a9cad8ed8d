"""Tools that ask their client on the stream of the call, in the handshake revisions over HTTP."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.contract.context import CallContext
from gateway.contract.policies.questions import Elicitation, RootsQuestion, Sampling
from gateway.transports.mcp import asking
from gateway.transports.mcp import paths as stream
from tests.eventually import PATIENCE_SECONDS
from tests.interaction.asking_session import problem_of, result, session, structure
from tests.interaction.asking_site import ALICE, NAME, Handler, open_asking, outcomes
from tests.interaction.lifespan import on_a_socket
from tests.interaction.long_site import LongSite

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")


@pytest.fixture
def handler() -> Handler:
    return Handler()


@pytest.fixture
async def site(tmp_path: Path, handler: Handler) -> AsyncIterator[LongSite]:
    async with open_asking(tmp_path, handler) as opened:
        yield opened


@pytest.fixture
async def url(site: LongSite) -> AsyncIterator[str]:
    async with on_a_socket(site.app) as found:
        yield found


@pytest.mark.parametrize("version", VERSIONS[2:])
async def test_a_question_is_a_request_on_the_stream_of_the_call(
    site: LongSite, url: str, handler: Handler, version: str
) -> None:
    async with session(url, site.key, version) as client:
        answer = await client.call(result(ALICE))

    question, last = client.seen
    assert last is answer
    assert structure(answer) == {"greeting": "accept Alice"}
    form = {"message": "Your name?", "requestedSchema": NAME}
    mode = {"mode": "form"} if version == "2025-11-25" else {}
    assert question["params"] == {**mode, **form}
    assert question["method"] == "elicitation/create"
    assert len(question["id"]) == 32
    assert client.statuses == [202]
    assert (handler.runs, handler.effects) == (2, 1)
    assert await outcomes(site) == ["INPUT_REQUIRED", "ok"]


async def test_older_revisions_have_sampling_and_roots(
    site: LongSite, url: str, handler: Handler
) -> None:
    async def act(context: CallContext) -> str:
        assert not context.can_ask("elicitation")
        said = await context.sample("Say hello", max_tokens=5)
        return f"{said.text} {[each.uri for each in await context.roots()]}"

    handler.act = act  # type: ignore[method-assign]  # the test's own handler

    def answer(question: dict[str, Any]) -> dict[str, Any]:
        said = {"role": "assistant", "content": {"type": "text", "text": "Hello"}, "model": "m"}
        roots = {"roots": [{"uri": "file:///x"}]}
        return {"result": roots if question["method"] == "roots/list" else said}

    for version in VERSIONS[:2]:
        async with session(url, site.key, version) as client:
            found = await client.call(answer)
        assert structure(found) == {"greeting": "Hello ['file:///x']"}
        methods = [each.get("method") for each in client.seen]
        assert methods == ["sampling/createMessage", "roots/list", None]


async def test_several_questions_are_sent_at_once(
    site: LongSite, url: str, handler: Handler
) -> None:
    async def act(context: CallContext) -> str:
        said = {"role": "user", "content": {"type": "text", "text": "Hi"}}
        questions = {
            "a": Elicitation("Name?", NAME),
            "b": Sampling(messages=[said], max_tokens=5),
            "c": RootsQuestion(),
        }
        return repr([*await context.ask_all(questions)])

    handler.act = act  # type: ignore[method-assign]  # the test's own handler
    answers = {
        "elicitation/create": ALICE,
        "sampling/createMessage": {
            "role": "assistant",
            "content": {"type": "text", "text": "Hello"},
            "model": "m",
        },
        "roots/list": {"roots": []},
    }
    asked: list[dict[str, Any]] = []

    async with session(url, site.key) as client:

        def late(question: dict[str, Any]) -> dict[str, Any] | None:
            """Answers the first question last."""
            asked.append(question)
            if len(asked) == 3:
                for each in reversed(asked[:2]):
                    reply = {"id": each["id"], "result": answers[each["method"]]}
                    replies.append(asyncio.create_task(client.reply(reply)))
            return {"result": answers[question["method"]]} if len(asked) == 3 else None

        replies: list[asyncio.Task[httpx.Response]] = []
        found = await client.call(late)

    assert structure(found) == {"greeting": "['a', 'b', 'c']"}
    assert [(await each).status_code for each in replies] == [202, 202]
    assert handler.runs == 2


async def test_the_handler_sees_that_the_user_did_not_accept(site: LongSite, url: str) -> None:
    for action in ("decline", "cancel"):
        async with session(url, site.key) as client:
            answer = await client.call(result({"action": action}))

        assert structure(answer) == {"greeting": f"{action} None"}


NO_ANSWERS: list[tuple[dict[str, Any], str, str]] = [
    (
        {"error": {"code": -1, "message": "User rejected\u202e" + "x" * 300}},
        "NOT_ANSWERED",
        "The client did not answer user. It says: User rejected",
    ),
    ({"error": {"code": -32601, "message": "No"}}, "NOT_ANSWERED", "No (-32601)."),
    ({"result": ALICE | {"content": {}}}, "INVALID_ANSWER", "The answer to user is not valid"),
    ({"result": None}, "INVALID_ANSWER", "The answer to user is not valid"),
    ({"result": {"action": "maybe"}}, "INVALID_ANSWER", "is none of"),
    (
        {"result": ALICE | {"_meta": {"x": "y" * 300_000}}},
        "INVALID_ANSWER",
        "There are too many answers, or they are too large.",
    ),
]


async def test_an_answer_that_is_none_ends_the_call_and_changes_nothing(
    site: LongSite, url: str, handler: Handler
) -> None:
    async with session(url, site.key) as client:
        for given, code, detail in NO_ANSWERS:
            problem = problem_of(await client.call(lambda _, given=given: given))
            assert problem["code"] == code
            assert detail in problem["detail"]
            assert "\u202e" not in problem["detail"]
            assert len(problem["detail"]) < 400
            assert handler.effects == 0
        again = await client.call(result(ALICE))

    assert structure(again) == {"greeting": "accept Alice"}
    assert handler.effects == 1


async def test_an_answer_is_taken_once_and_only_from_the_session_that_was_asked(
    site: LongSite, url: str, handler: Handler
) -> None:
    other = await site.new_key()
    statuses: dict[str, int] = {}
    texts: list[str] = []
    async with (
        session(url, site.key) as client,
        session(url, site.key) as neighbour,
        session(url, other.key) as stranger,
    ):
        asked = asyncio.Queue[dict[str, Any]]()
        call = asyncio.create_task(client.call(asked.put_nowait))
        question = await asked.get()
        reply = {"id": question["id"], "result": ALICE}
        stranger.http.headers["mcp-session-id"] = client.http.headers["mcp-session-id"]
        tries = {
            "another session": (neighbour, reply),
            "another key": (stranger, reply),
            "a guess": (client, {**reply, "id": "0" * 32}),
            "a number": (client, {**reply, "id": 1}),
            "no answer": (client, {"id": question["id"]}),
            "both": (client, {**reply, "error": {"code": 1, "message": "x"}}),
            "a bad error": (client, {"id": question["id"], "error": {"code": "x"}}),
            "the answer": (client, reply),
            "the same again": (client, reply),
        }
        for name, (each, message) in tries.items():
            found = await each.reply(message)
            statuses[name] = found.status_code
            texts.append(found.text)
        answer = await call

    assert structure(answer) == {"greeting": "accept Alice"}
    assert statuses.pop("the answer") == 202
    assert set(statuses.values()) == {400}
    details = [json.loads(text)["error"]["data"]["detail"] for text in texts if text]
    assert details[0].startswith("No call of this key and session waits for this answer")
    assert {details[0]} == {*details[:4], details[-1]}
    assert handler.runs == 2


async def test_a_client_that_declares_nothing_is_asked_nothing(
    site: LongSite, url: str, handler: Handler
) -> None:
    async with session(url, site.key, can={}) as client:
        answer = await client.call(result(ALICE))

    assert problem_of(answer)["code"] == "CAPABILITY_MISSING"
    assert client.seen == [answer]
    assert handler.effects == 0


async def test_a_session_says_the_profile_and_what_the_client_can_be_asked(
    site: LongSite, url: str
) -> None:
    async with session(url, site.key, can={"elicitation": {}}, name="claude-ai") as client:
        named = client.http.headers["mcp-session-id"]
        answer = await client.call(result(ALICE))

    assert named.endswith("~e")
    assert "." in named
    assert structure(answer) == {"greeting": "accept Alice"}


async def test_a_client_that_does_not_answer_is_told_so_and_its_question_withdrawn(
    site: LongSite, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "ANSWER_SECONDS", 0.05)
    async with session(url, site.key) as client:
        answer = await client.call(lambda _: None)
        late = await client.reply({"id": client.seen[0]["id"], "result": ALICE})

    question, withdrawn, _ = client.seen
    assert withdrawn["method"] == "notifications/cancelled"
    assert withdrawn["params"] == {"requestId": question["id"]}
    assert problem_of(answer)["code"] == "NOT_ANSWERED"
    assert late.status_code == 400


async def test_open_questions_of_a_key_are_limited(
    site: LongSite, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "MAX_OF_ONE_KEY", 1)
    async with session(url, site.key) as client, session(url, site.key) as other:
        asked = asyncio.Queue[dict[str, Any]]()
        first = asyncio.create_task(client.call(asked.put_nowait))
        question = await asked.get()
        refused = await other.call(result(ALICE))
        await client.reply({"id": question["id"], "result": ALICE})
        answered = await first
        after = await other.call(result(ALICE))

    assert problem_of(refused)["code"] == "RATE_LIMIT_ERROR"
    assert structure(answered) == structure(after) == {"greeting": "accept Alice"}


@pytest.mark.parametrize("how", ["leaves", "cancels"])
async def test_a_call_whose_client_goes_while_it_is_asked_ends(
    site: LongSite, url: str, handler: Handler, how: str
) -> None:
    """Also of a tool that writes: a call that asks has changed nothing."""
    questions = site.gateway.parts.questions
    async with session(url, site.key) as client:
        asked = asyncio.Queue[dict[str, Any]]()
        call = asyncio.create_task(client.call(asked.put_nowait))
        question = await asked.get()
        assert questions.is_open(question["id"])
        if how == "leaves":
            call.cancel()
            await asyncio.wait([call])
        else:
            params = {"requestId": 7}
            await client.reply({"method": "notifications/cancelled", "params": params})
            answer = await call
            assert answer["error"]["message"] == "Request cancelled"
        async with asyncio.timeout(PATIENCE_SECONDS):
            while questions.is_open(question["id"]):  # noqa: ASYNC110 - it happens elsewhere
                await asyncio.sleep(0.02)
        late = await client.reply({"id": question["id"], "result": ALICE})

    assert late.status_code == 400
    assert (handler.runs, handler.effects) == (1, 0)
