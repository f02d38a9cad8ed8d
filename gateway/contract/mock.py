"""The words a mock upstream's behaviour is written in: what it is asked, what it knows and answers.

A behaviour module, named by `x-upstream.mock`, holds three things:

    BEHAVIOURS: Mapping[str, Behaviour]      what each operation does, by operation id
    refuse(refusal: MockRefusal) -> Any          the body in which this vendor refuses a request
    finish(reply: MockReply) -> MockReply    what every reply of this vendor carries

and, where the token endpoint does not word its refusals as RFC 6749 §5.2 does:

    refuse_token(refusal: TokenRefusal) -> Any

and, where messages or replies hold links into the vendor's API:

    BASE_URL: str                            the vendor's, for a mock that is not served elsewhere

The operations that issue tokens need no behaviour: `gateway.backends.mock.tokens` is theirs.
"""

import hashlib
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from random import Random
from typing import Any, Final, Literal, Protocol

from msgspec import Struct

MAX_ROWS: Final = 10_000
"""A table keeps the newest rows up to here, so that a mock under load does not grow for ever."""
MAX_TABLE_BYTES: Final = 64 * 2**20
"""And up to so many bytes: mails are large."""
MAX_MESSAGES: Final = 10_000
"""Messages that wait for their moment; beyond it those farthest off are not kept."""


class MockRequest(Struct, frozen=True, kw_only=True):
    """A request that the upstream's contract has admitted."""

    operation: str
    path: Mapping[str, Any] = {}
    query: Mapping[str, Any] = {}
    headers: Mapping[str, str] = {}
    """By lower-case name."""
    body: Any = None
    now: datetime
    """The time, in UTC: the gateway's, unless an operator has set the mock's."""
    speed: float = 1.0
    """How many times faster than people the people of the mock answer."""
    seed: str
    base_url: str = ""
    """Of the API, for links into it."""
    fingerprint: str
    """The operation and its arguments, in one canonical text."""

    def after(self, minutes: float) -> datetime:
        """When somebody will have answered who takes so many minutes."""
        return self.now + timedelta(minutes=minutes / self.speed)

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


class MockRefusal(Struct, frozen=True, kw_only=True):
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
    """What the upstream sends to the listener of its webhook."""

    id: str
    """The same when it is sent again."""
    event: str
    """An event of the webhook's contract, which decides in which profiles it may be sent."""
    payload: Mapping[str, Any]


class MockState(Protocol):
    """What the upstream remembers: tables of rows by id, and what it is going to send.

    Rows are plain data: objects, lists, scalars and date-times. A row that is found is a copy;
    what is changed in it is remembered by adding it again.
    """

    def new_id(self, prefix: str) -> str:
        """The next id with this prefix, `<prefix>-10000001`; never one that was given before."""
        ...

    def add(self, table: str, row_id: str, row: dict[str, Any]) -> None:
        """Remember `row`; the oldest rows go when the table is full."""
        ...

    def find(self, table: str, row_id: str) -> dict[str, Any] | None:
        """The row with this id, or None."""
        ...

    def later(self, moment: datetime, message: MockMessage) -> None:
        """Send it when mock time has reached `moment`."""
        ...


Behaviour = Callable[[MockRequest, MockState], MockReply]
