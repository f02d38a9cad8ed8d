"""The questions that clients of the handshake revisions have been sent and not answered yet."""

import asyncio
import secrets
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Final, TypeAlias

from msgspec import Struct

from gateway.errors import LimitExceeded
from gateway.transports.json_rpc import ClientReply

MAX_OPEN: Final = 4096
"""The most open questions of the process. Calls above this are refused when they ask."""
MAX_OF_ONE_KEY: Final = 64


class Asker(Struct, frozen=True):
    """Who may answer a question: the caller of the call that asks it, in the same session."""

    subject: str
    """The key that made the call."""
    session: str | None


PassOn: TypeAlias = Callable[[Asker, ClientReply], bool]
"""Passes an answer on to the process that has asked. False: there is none."""


class SentQuestions(Struct, frozen=True):
    """Questions that are sent to a client together."""

    keys: dict[str, str]
    """Their keys, by the ids of their requests."""
    replies: "asyncio.Queue[ClientReply]"
    """At most one for each of them."""


class OpenQuestions:
    """The open questions of this process, by the ids of their requests."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[Asker, SentQuestions]] = {}
        self._counts: Counter[str] = Counter()
        self._end = ""
        self._pass_on: PassOn | None = None

    def share(self, end: str, pass_on: PassOn) -> None:
        """Let other processes hand over answers. `end`: that of ids, by which they know this one.
        `pass_on` gets the answers to questions that are not of this process."""
        self._end, self._pass_on = end, pass_on

    @contextmanager
    def opened(self, asker: Asker, keys: Collection[str]) -> Iterator[SentQuestions]:
        """Questions with these keys, which are open until they are answered or the block ends.

        Raises `LimitExceeded`.
        """
        is_full = len(self._open) + len(keys) > MAX_OPEN
        if is_full or self._counts[asker.subject] + len(keys) > MAX_OF_ONE_KEY:
            raise LimitExceeded("Too many questions of tools are open: answer them, or try later.")
        # The id is what allows to answer: 128 bits from a secure random source.
        ids = {f"{secrets.token_hex(16)}{self._end}": key for key in keys}
        sent = SentQuestions(ids, asyncio.Queue())
        self._open |= dict.fromkeys(sent.keys, (asker, sent))
        self._counts[asker.subject] += len(keys)
        try:
            yield sent
        finally:
            for question in sent.keys:
                self._close(question)

    def is_open(self, question: str) -> bool:
        """Whether the question with this id waits for its answer."""
        return question in self._open

    def answer(self, asker: Asker, reply: ClientReply) -> bool:
        """Hand `reply` to the call that waits for it.

        False: `asker` has no such question. It may have been answered before.
        """
        if self.answer_here(asker, reply):
            return True
        return self._pass_on is not None and self._pass_on(asker, reply)

    def answer_here(self, asker: Asker, reply: ClientReply) -> bool:
        """The same, for the questions of this process only."""
        found = self._open.get(reply.id) if isinstance(reply.id, str) else None
        if found is None or found[0] != asker:
            return False
        self._close(reply.id)
        found[1].replies.put_nowait(reply)
        return True

    def _close(self, question: int | str) -> None:
        found = self._open.pop(question, None) if isinstance(question, str) else None
        if found is None:
            return
        subject = found[0].subject
        self._counts[subject] -= 1
        if not self._counts[subject]:
            del self._counts[subject]
