"""Answers of MCP clients that reach another process: here, two tables of questions in one loop."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from gateway.app.processes.child import Mailboxes
from gateway.calls.asking import MAX_GIVEN_BYTES
from gateway.transports.json_rpc import ClientReply, ReplyError
from gateway.transports.mcp.asking import Asker, OpenQuestions
from tests.eventually import PATIENCE_SECONDS

ADA = Asker("key-of-ada", "session")


@pytest.fixture
def boxes() -> Iterator[Mailboxes]:
    with closing(Mailboxes(2)) as made:
        yield made


def reply(question: str, result: Any = None) -> ClientReply:
    return ClientReply("2.0", question, result)


async def test_an_answer_reaches_the_process_that_has_asked(boxes: Mailboxes):
    one, two = OpenQuestions(), OpenQuestions()
    with boxes.of(0).delivering(one), boxes.of(1).delivering(two), one.opened(ADA, ["a"]) as sent:
        (question,) = sent.keys
        assert two.answer(ADA, reply(question, {"x": 1}))
        found = await asyncio.wait_for(sent.replies.get(), PATIENCE_SECONDS)
        assert not one.is_open(question)
        assert not one.answer(ADA, reply(question, {"x": 2}))

    assert found == reply(question, {"x": 1})


async def test_an_error_is_passed_on_too(boxes: Mailboxes):
    one, two = OpenQuestions(), OpenQuestions()
    with boxes.of(0).delivering(one), boxes.of(1).delivering(two), two.opened(ADA, ["a"]) as sent:
        (question,) = sent.keys
        refused = ClientReply("2.0", question, error=ReplyError(-1, "no"))
        assert one.answer(ADA, refused)
        assert await asyncio.wait_for(sent.replies.get(), PATIENCE_SECONDS) == refused


async def test_the_process_that_has_asked_checks_who_answers(boxes: Mailboxes):
    one, two = OpenQuestions(), OpenQuestions()
    with boxes.of(0).delivering(one), boxes.of(1).delivering(two), one.opened(ADA, ["a"]) as sent:
        (question,) = sent.keys
        for other in (Asker("key-of-bob", "session"), Asker("key-of-ada", "another")):
            assert two.answer(other, reply(question, "wrong"))
        assert two.answer(ADA, reply(question, "right"))
        found = await asyncio.wait_for(sent.replies.get(), PATIENCE_SECONDS)

    assert found.result == "right"
    assert sent.replies.empty()


async def test_the_largest_answer_fits(boxes: Mailboxes):
    one, two = OpenQuestions(), OpenQuestions()
    with boxes.of(0).delivering(one), boxes.of(1).delivering(two), one.opened(ADA, ["a"]) as sent:
        (question,) = sent.keys
        large = reply(question, "x" * MAX_GIVEN_BYTES)
        assert two.answer(ADA, large)
        assert await asyncio.wait_for(sent.replies.get(), PATIENCE_SECONDS) == large


@pytest.mark.parametrize("fault", ["another gateway", "no such process", "no end", "a number"])
async def test_an_answer_that_no_process_can_wait_for_is_refused(boxes: Mailboxes, fault: str):
    one = OpenQuestions()
    with closing(Mailboxes(2)) as others, boxes.of(0).delivering(one):
        end = others.of(1).end if fault == "another gateway" else boxes.of(1).end
        ids: dict[str, Any] = {
            "another gateway": f"{'0' * 32}{end}",
            "no such process": f"{'0' * 32}{end[:-1]}7",
            "no end": "0" * 32,
            "a number": 1,
        }
        assert not one.answer(ADA, reply(ids[fault]))


async def test_a_full_mailbox_refuses(boxes: Mailboxes, caplog: pytest.LogCaptureFixture):
    """That of a process that does not read any more."""
    one = OpenQuestions()
    with boxes.of(0).delivering(one):
        letter = reply(f"{'0' * 32}{boxes.of(1).end}", "x" * 100_000)
        passed = [one.answer(ADA, letter) for _ in range(100)]

    assert passed[0] is True
    assert passed[-1] is False
    assert "not passed on" in caplog.text
