"""Questions and answers as JSON text, as the store keeps them with a job."""

from collections.abc import Mapping
from typing import Any

import msgspec

from gateway.calls.asking.asked import require_answer, size_of
from gateway.calls.asking.errors import InputRequired, InvalidAnswer
from gateway.calls.asking.questions import MAX_GIVEN_BYTES, Asking
from gateway.calls.asking.wire import Given, OpenQuestion
from gateway.contract.policies.questions import ASK_KINDS
from gateway.store.protocols import AnswerTask
from gateway.store.records import StoredTask, TaskAnswers

_asked = msgspec.json.Decoder(dict[str, OpenQuestion]).decode
_given = msgspec.json.Decoder(dict[str, Given]).decode


def asks_text(asking: Asking) -> str:
    """See `NewTask.asks`."""
    return " ".join(sorted(asking.job_kinds))


def given_text(given: Mapping[str, Given]) -> bytes | None:
    """See `NewTask.answers`."""
    return msgspec.json.encode(given) if given else None


def asking_of_task(task: StoredTask) -> Asking:
    """What the client of the job can be asked, and what it has answered."""
    named = (task.asks or "").split()
    kinds = frozenset(each for each in ASK_KINDS if each in named)
    return Asking(kinds=kinds, given=_given(task.answers or b"{}"))


def open_questions(text: bytes) -> dict[str, Any]:
    """The questions as the client gets them, by key."""
    return {
        key: {"method": each.method, "params": each.params} for key, each in _asked(text).items()
    }


def texts_of(error: InputRequired) -> tuple[bytes, bytes]:
    """The questions and the answers so far."""
    return msgspec.json.encode(error.asked), msgspec.json.encode(error.given)


def answering(answers: Mapping[str, Any]) -> AnswerTask:
    """Adds `answers` to those of a job. It ignores keys that are not open.

    What it returns raises `InvalidAnswer`.
    """

    def add(questions: bytes, answered: bytes) -> TaskAnswers:
        asked, given = _asked(questions), _given(answered)
        for key, answer in answers.items():
            question = asked.pop(key, None)
            if question is not None:
                require_answer(key, question, answer)
                given[key] = Given(answer, question.digest)
        if size_of(given) > MAX_GIVEN_BYTES:
            raise InvalidAnswer(f"The answers have more than {MAX_GIVEN_BYTES:,} bytes.")
        texts = msgspec.json.encode(asked), msgspec.json.encode(given)
        return TaskAnswers(*texts, is_complete=not asked)

    return add
