"""What a handler may ask, and what ends its run."""

from collections.abc import Mapping
from typing import Any

import pytest

from gateway.calls.asking import (
    MAX_QUESTIONS,
    Asking,
    CallQuestions,
    CapabilityMissing,
    Given,
    InputRequired,
    InvalidAnswer,
)
from gateway.calls.changes import CallChanges
from gateway.contract.policies.questions import (
    ASK_KINDS,
    Elicitation,
    Question,
    RootsQuestion,
    Sampling,
)
from gateway.errors import InternalError

FORM = {"type": "object", "properties": {"ok": {"type": "boolean"}}}
NESTED = {"type": "object", "properties": {"a": {"type": "object"}}}
NO_FORM = {"type": "string"}
NO_SCHEMA = {"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}}
SURE = Elicitation("Sure?", FORM)


def questions(given: Mapping[str, Given] = {}, *, has_changed: bool = False) -> CallQuestions:
    asking = Asking(kinds=ASK_KINDS, given=given)
    return CallQuestions(
        "shop.buy", tuple(ASK_KINDS), asking, CallChanges(are_possible=has_changed)
    )


async def run(of: CallQuestions, asked: Mapping[str, Question]) -> Any:
    with of:
        return await of.ask_all(asked)


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"a b": SURE}, "key"),
        ({"a": Elicitation("?", NESTED)}, "no form"),
        ({"a": Elicitation("?", NO_FORM)}, "no form"),
        ({"a": Elicitation("?", NO_SCHEMA)}, "not valid"),
        ({"a": Elicitation("?" * 70_000, FORM)}, "bytes"),
        ({f"q{number}": SURE for number in range(MAX_QUESTIONS + 1)}, "more than"),
    ],
)
async def test_a_question_that_may_not_be_asked_is_a_defect(
    asked: Mapping[str, Question], reason: str
) -> None:
    with pytest.raises(InternalError, match=reason):
        await run(questions(), asked)


async def test_a_key_is_used_once() -> None:
    given = {"a": Given({"action": "decline"})}
    of = questions(given)
    await run(of, {"a": SURE})

    with pytest.raises(InternalError, match="twice"):
        await run(of, {"a": SURE})


async def test_a_question_after_a_change_is_a_defect() -> None:
    with pytest.raises(InternalError, match="may have changed"):
        await run(questions(has_changed=True), {"a": SURE})


@pytest.mark.parametrize("action", ["decline", "invalid"])
async def test_a_question_after_a_change_is_a_defect_with_its_answer_at_hand_too(
    action: str,
) -> None:
    given = {"a": Given({"action": action})}

    with pytest.raises(InternalError, match="may have changed"):
        await run(questions(given, has_changed=True), {"a": SURE})


@pytest.mark.parametrize("acts_meanwhile", [False, True])
async def test_an_invalid_answer_frees_the_key_unless_the_run_has_acted(
    acts_meanwhile: bool,
) -> None:
    changes = CallChanges()
    asking = Asking(kinds=ASK_KINDS, given={"a": Given({"action": "invalid"})})
    of = CallQuestions("shop.buy", tuple(ASK_KINDS), asking, changes)

    async def step() -> None:
        with of:
            try:
                await of.ask_all({"a": SURE})
            finally:
                changes.are_possible = acts_meanwhile

    with pytest.raises(InvalidAnswer) as ended:
        await step()
    assert ended.value.frees_key is not acts_meanwhile


@pytest.mark.parametrize(
    "answer",
    [
        {"role": "assistant", "content": {"type": "text"}, "model": "m"},
        {"role": "assistant", "content": {"type": "text", "text": 7}, "model": "m"},
        {"role": "assistant", "content": [{"text": "Hi"}], "model": "m"},
        {"role": "system", "content": {"type": "text", "text": "Hi"}, "model": "m"},
    ],
)
async def test_what_a_model_said_has_a_role_and_its_texts(answer: Any) -> None:
    said = Sampling(messages=[], max_tokens=5)

    with pytest.raises(InvalidAnswer, match="answer to a "):
        await run(questions({"a": Given(answer)}), {"a": said})


async def test_the_questions_of_all_runs_are_counted() -> None:
    given: dict[str, Given] = {}
    for number in range(MAX_QUESTIONS):
        with pytest.raises(InputRequired) as ended:
            await run(questions(given), {"a": Elicitation(f"{number}?", FORM)})
        new = {
            key: Given({"action": "decline"}, each.digest)
            for key, each in ended.value.asked.items()
        }
        given = {**ended.value.given, **new}

    with pytest.raises(InternalError, match="more than"):
        await run(questions(given), {"a": Elicitation("One more?", FORM)})


async def test_what_nobody_can_answer_is_refused() -> None:
    of = CallQuestions("shop.buy", tuple(ASK_KINDS), Asking(), CallChanges())

    with pytest.raises(CapabilityMissing) as refused:
        await run(of, {"a": SURE, "b": RootsQuestion()})
    assert refused.value.required == ("elicitation", "roots")


async def test_answers_are_limited() -> None:
    given = {"a": Given({"action": "accept", "content": {"x": "y" * 300_000}})}

    with pytest.raises(InvalidAnswer, match="bytes"):
        await run(questions(given), {"a": SURE})


async def test_only_the_answers_that_were_used_go_on() -> None:
    given = {"a": Given({"action": "decline"}), "unknown": Given({"action": "decline"})}

    with pytest.raises(InputRequired) as ended:
        await run(questions(given), {"a": SURE, "b": SURE})
    assert ([*ended.value.asked], [*ended.value.given]) == (["b"], ["a"])
