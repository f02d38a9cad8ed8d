"""The part of a `CallContext` that asks the client of the call."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from gateway.calls.asking.questions import NOBODY, CallQuestions
from gateway.calls.changes import CallChanges
from gateway.contract.policies.asking import (
    Answer,
    AskKind,
    Elicitation,
    Elicited,
    Question,
    Root,
    RootsQuestion,
    Sampled,
    Sampling,
)

_Answer = TypeVar("_Answer", bound=Answer)


class AsksClient:
    """See the same methods of `CallContext`."""

    def __init__(self) -> None:
        self.questions = CallQuestions("the call", (), NOBODY, CallChanges())
        """What is asked. The dispatcher sets it for handlers that may ask."""

    def can_ask(self, kind: AskKind) -> bool:
        """See `CallContext.can_ask`."""
        return self.questions.can_ask(kind)

    async def ask(
        self, message: str, schema: Mapping[str, Any], *, key: str | None = None
    ) -> Elicited:
        """See `CallContext.ask`."""
        return await self._one(key, Elicitation(message, schema), Elicited)

    async def sample(
        self,
        messages: str | Sequence[Mapping[str, Any]],
        *,
        max_tokens: int,
        system_prompt: str | None = None,
        key: str | None = None,
    ) -> Sampled:
        """See `CallContext.sample`."""
        if isinstance(messages, str):
            messages = [{"role": "user", "content": {"type": "text", "text": messages}}]
        question = Sampling(messages=messages, max_tokens=max_tokens, system_prompt=system_prompt)
        return await self._one(key, question, Sampled)

    async def roots(self, *, key: str | None = None) -> tuple[Root, ...]:
        """See `CallContext.roots`."""
        return await self._one(key, RootsQuestion(), tuple)

    async def ask_all(self, questions: Mapping[str, Question]) -> dict[str, Answer]:
        """See `CallContext.ask_all`."""
        return await self.questions.ask_all(questions)

    async def _one(self, key: str | None, question: Question, form: type[_Answer]) -> _Answer:
        named = key or self.questions.next_key(question)
        answer = (await self.questions.ask_all({named: question}))[named]
        if not isinstance(answer, form):
            raise TypeError("an answer of another kind")
        return answer
