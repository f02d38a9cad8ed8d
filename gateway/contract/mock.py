"""The words a mock upstream's behaviour is written in: what it is asked, what it knows and answers.

A behaviour module, named by `x-upstream.mock`, holds three things:

    BEHAVIOURS: Mapping[str, Behaviour]      what each operation does, by operation id
    refuse(refusal: Refusal) -> Any          the body in which this vendor refuses a request
    finish(reply: MockReply) -> MockReply    what every reply of this vendor carries

and, where the token endpoint does not word its refusals as RFC 6749 §5.2 does:

    refuse_token(refusal: TokenRefusal) -> Any

and, where messages or replies hold links into the vendor's API:

    BASE_URL: str                            the vendor's, for a mock that is not served elsewhere

The operations that issue tokens need no behaviour: `gateway.backends.mock_tokens` is theirs.
"""

import hashlib
from bisect import insort
from collections.abc import Callable, Mapping
from datetime import datetime
from random import Random
from typing import Any, Final, Literal

from msgspec import Struct

MAX_ROWS: Final = 10_000
"""A table keeps the newest rows up to here, so that a mock under load does not grow for ever."""
MAX_MESSAGES: Final = 10_000
"""Messages that wait for their moment; beyond it those farthest off are not kept."""
_FIRST_NUMBER: Final = 10_000_001


class MockRequest(Struct, frozen=True, kw_only=True):
    """A request that the upstream's contract has admitted."""

    operation: str
    path: Mapping[str, Any] = {}
    query: Mapping[str, Any] = {}
    headers: Mapping[str, str] = {}
    """By lower-case name."""
    body: Any = None
    now: datetime
    """Mock time, in UTC."""
    seed: str
    base_url: str = ""
    """Of the API, for links into it."""
    fingerprint: str
    """The operation and its arguments, in one canonical text."""

    def random(self, *salt: str) -> Random:
        """Chance that repeats: by the seed and `salt`, or by the request when there is no salt."""
        return Random(self._digest(salt))  # noqa: S311 - repeatable by design, guards nothing

    def fraction(self, *salt: str) -> float:
        """One number from 0 up to 1, of the same chance: a tenth of the time of a `Random`."""
        return int.from_bytes(self._digest(salt)[:6], "big") / (1 << 48)

    def _digest(self, salt: tuple[str, ...]) -> bytes:
        text = "\0".join((self.seed, *(salt or (self.fingerprint,))))
        return hashlib.sha256(text.encode()).digest()


class MockReply(Struct, frozen=True, kw_only=True):
    """What a behaviour answers, before it is checked and encoded."""

    status: int = 200
    headers: Mapping[str, str] = {}
    """By lower-case name."""
    body: Any


class Refusal(Struct, frozen=True, kw_only=True):
    """Why the upstream refuses a request, in words that each vendor puts into its own envelope."""

    status: int
    title: str
    path: str = ""
    """Where in the request, if it is in one place."""
    reason: Literal["", "missing_credentials", "invalid_token", "expired_token"] = ""
    """Why credentials are refused, for vendors that have a code for each."""


class TokenRefusal(Struct, frozen=True, kw_only=True):
    """Why the token endpoint issues no token (RFC 6749 §5.2)."""

    status: int
    error: str
    description: str


class MockMessage(Struct, frozen=True, kw_only=True):
    """What the upstream tells those who listen to its webhook."""

    id: str
    """The same when it is sent again."""
    event: str
    """An event of the webhook's contract, which decides in which profiles it may be sent."""
    payload: Mapping[str, Any]


class MockState:
    """What the upstream remembers: tables of rows by id, and what it is going to tell."""

    def __init__(self) -> None:
        self._tables: dict[str, dict[str, dict[str, Any]]] = {}
        self._numbers: dict[str, int] = {}
        self._messages: list[tuple[datetime, int, MockMessage]] = []
        self._said = 0

    def new_id(self, prefix: str) -> str:
        """The next id with this prefix, `<prefix>-10000001`."""
        number = self._numbers.get(prefix, _FIRST_NUMBER)
        self._numbers[prefix] = number + 1
        return f"{prefix}-{number}"

    def add(self, table: str, row_id: str, row: dict[str, Any]) -> None:
        """Remember `row`; the oldest row goes when the table is full."""
        rows = self._tables.setdefault(table, {})
        if len(rows) >= MAX_ROWS:
            del rows[next(iter(rows))]
        rows[row_id] = row

    def find(self, table: str, row_id: str) -> dict[str, Any] | None:
        """The row with this id, or None."""
        return self._tables.get(table, {}).get(row_id)

    def later(self, moment: datetime, message: MockMessage) -> None:
        """Tell it when mock time has reached `moment`."""
        self._said += 1
        insort(self._messages, (moment, self._said, message), key=lambda each: each[:2])
        del self._messages[MAX_MESSAGES:]

    def due(self, now: datetime) -> list[MockMessage]:
        """What is to be told by `now`, earliest first; each is given once."""
        count = next(
            (i for i, (moment, _, _) in enumerate(self._messages) if moment > now),
            len(self._messages),
        )
        found = [message for _, _, message in self._messages[:count]]
        del self._messages[:count]
        return found


Behaviour = Callable[[MockRequest, MockState], MockReply]
