"""The requests of a host that are being passed on, and how long each may take."""

import asyncio
from typing import Final

from gateway.transports.bridge.messages import HostMessage, MessageId

_LISTEN: Final = "subscriptions/listen"


class RelayedRequest:
    """One request of the host, until it is answered."""

    def __init__(self, message: HostMessage, request_id: MessageId) -> None:
        self.message = message
        self.id = request_id
        self.task: asyncio.Task[None] | None = None
        self.deadline: asyncio.Timeout | None = None
        """None before it begins, and for a stream that lasts."""
        self.is_answered = False
        """True also if the host no longer wants an answer."""
        self.is_repeated = False

    @property
    def is_modern(self) -> bool:
        """Whether it is cancelled by closing its connection, as since 2026-07-28."""
        return self.message.version is not None

    @property
    def is_endless(self) -> bool:
        """Whether it opens a stream that lasts until the host cancels it."""
        return self.message.method == _LISTEN

    def allow(self, seconds: float | None) -> None:
        """Give the remote so many seconds from now. None: as many as it needs."""
        if self.deadline is not None and not self.deadline.expired():
            now = asyncio.get_running_loop().time()
            self.deadline.reschedule(None if seconds is None else now + seconds)

    def cancel(self) -> None:
        """Close its connection."""
        if self.task is not None:
            self.task.cancel()


class RelayedRequests:
    """The requests of one host, by their ids and by the ids of the remote's open questions."""

    def __init__(self) -> None:
        self._by_id: dict[MessageId, RelayedRequest] = {}
        self._by_question: dict[MessageId, RelayedRequest] = {}

    def begin(self, message: HostMessage, request_id: MessageId) -> RelayedRequest:
        """Note a request that has been read."""
        relayed = self._by_id[request_id] = RelayedRequest(message, request_id)
        return relayed

    def end(self, relayed: RelayedRequest) -> None:
        """Forget it, and what was asked in it."""
        if self._by_id.get(relayed.id) is relayed:
            del self._by_id[relayed.id]
        for question in [each for each, of in self._by_question.items() if of is relayed]:
            del self._by_question[question]

    def find(self, request_id: object) -> RelayedRequest | None:
        """The request with this id, if it has not ended."""
        return self._by_id.get(request_id) if isinstance(request_id, int | str) else None

    def ask(self, question: MessageId, relayed: RelayedRequest) -> None:
        """Note that the host is asked. Meanwhile, the remote's time does not count."""
        self._by_question[question] = relayed
        relayed.allow(None)

    def answer(self, question: MessageId | None) -> RelayedRequest | None:
        """The request in which this question was asked. The question is no longer open."""
        return None if question is None else self._by_question.pop(question, None)

    def all(self) -> tuple[RelayedRequest, ...]:
        """Those that have not ended."""
        return tuple(self._by_id.values())
