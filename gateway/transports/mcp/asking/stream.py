"""Asks the client of a request on the event stream of its answer, in the handshake revisions.

The client posts its answers in requests of their own: see `open_questions`.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, Struct

from gateway.calls.asking.errors import NotAnswered
from gateway.calls.asking.wire import OpenQuestion
from gateway.contract.values import jsontext
from gateway.transports.http.asgi import ClientGone, Message, Receive, Scope, Send
from gateway.transports.http.connected import while_connected
from gateway.transports.mcp.asking.answering import ANSWER_SECONDS, late, refused
from gateway.transports.mcp.asking.open_questions import Asker, OpenQuestions, SentQuestions
from gateway.transports.mcp.outgoing.media_types import EVENT
from gateway.transports.mcp.revisions import ProtocolRevision, asked_by


class PostedCall(Struct, frozen=True):
    """One HTTP request, and the `send` for its answer."""

    scope: Scope
    receive: Receive
    send: Send


class QuestionStream:
    """The answer to one request, which is an event stream that questions can be sent on."""

    def __init__(
        self,
        posted: PostedCall,
        questions: OpenQuestions,
        asker: Asker,
        revision: ProtocolRevision,
    ) -> None:
        self._posted = posted
        self._questions = questions
        self._asker = asker
        self._revision = revision
        self._one_at_a_time = asyncio.Lock()
        self._has_begun = asyncio.Event()

    async def send(self, message: Message) -> None:
        """Send a part of the answer."""
        async with self._one_at_a_time:
            await self._posted.send(message)
        self._has_begun.set()

    async def ask(self, asked: Mapping[str, OpenQuestion]) -> Mapping[str, Any]:
        """See `AskClient`. A client that closes the connection does not answer."""
        work = self._answers(asked)
        try:
            return await while_connected(work, self._posted.receive, self._posted.scope)
        except ClientGone:
            detail = "The client closed the connection of the call before it answered."
            raise NotAnswered(detail) from None

    async def _answers(self, asked: Mapping[str, OpenQuestion]) -> dict[str, Any]:
        with self._questions.opened(self._asker, asked) as sent:
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    for question, key in sent.keys.items():
                        await self._write(self._request(question, asked[key]))
                    return await _read(sent)
            except (TimeoutError, NotAnswered) as error:
                await self._withdraw(sent)
                raise error if isinstance(error, NotAnswered) else late() from None

    def _request(self, question: str, asked: OpenQuestion) -> dict[str, Any]:
        params = asked_by(self._revision, asked.params)
        return {"id": question, "method": asked.method, "params": params}

    async def _withdraw(self, sent: SentQuestions) -> None:
        """Notify the client that open questions need no answer any more."""
        for question in filter(self._questions.is_open, sent.keys):
            method = "notifications/cancelled"
            await self._write({"method": method, "params": {"requestId": question}})

    async def _write(self, message: dict[str, Any]) -> None:
        await self._has_begun.wait()
        event = EVENT % jsontext.encode({"jsonrpc": "2.0", **message})
        await self.send({"type": "http.response.body", "body": event, "more_body": True})


async def _read(sent: SentQuestions) -> dict[str, Any]:
    """The answers by key. Raises `NotAnswered` at the first error."""
    answers: dict[str, Any] = {}
    while len(answers) < len(sent.keys):
        reply = await sent.replies.get()
        key = sent.keys[str(reply.id)]
        if reply.error is not UNSET:
            raise refused(key, reply.error.code, reply.error.message)
        answers[key] = reply.result
    return answers
