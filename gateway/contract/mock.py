"""The records and protocols in which the behaviour of a mock upstream is written.

`x-upstream.mock` names a behaviour module. It defines three names:

    BEHAVIOURS: Mapping[str, Behaviour]      the behaviour of each operation, by operation id
    refuse(refusal: MockRefusal) -> Any      makes the body of the vendor's error reply
    finish(reply: MockReply) -> MockReply    adds what every reply of the vendor has

If the errors of the token endpoint do not have the form of RFC 6749 §5.2, it also defines:

    refuse_token(refusal: TokenRefusal) -> Any

If messages or replies contain links into the vendor's API, it also defines:

    BASE_URL: str                            the vendor's base URL, unless the mock is served

Operations that issue tokens need no behaviour: `gateway.backends.mock.credentials` mocks them.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any, Final, Literal, Protocol

from msgspec import Struct

MAX_ROWS: Final = 10_000
"""The most rows of a table. The newest are kept, so that the memory of a mock stays bounded."""
MAX_TABLE_BYTES: Final = 64 * 2**20
"""The most bytes of a table, because some rows are large (mails)."""
MAX_MESSAGES: Final = 10_000
"""The most messages that wait to be sent. Beyond it, the latest ones are dropped."""


class MockRequest(Struct, frozen=True, kw_only=True):
    """A request that is valid by the upstream's contract."""

    operation: str
    target: str = ""
    """The path as it was sent, without a slash at its end."""
    path: Mapping[str, Any] = {}
    query: Mapping[str, Any] = {}
    filters: Mapping[str, Sequence[str]] = {}
    """Other query parameters, of an upstream with tables: those with the names of columns."""
    tables: Mapping[str, dict[str, Any]] = {}
    """The schemas of its rows, by table."""
    headers: Mapping[str, str] = {}
    """By lower-case name."""
    body: Any = None
    now: datetime
    """The current time in UTC: that of the gateway, unless an operator set the mock's clock."""
    speed: float = 1.0
    """The factor by which simulated people answer faster than real people."""
    seed: str
    base_url: str = ""
    """The base URL of the API, for links into it."""
    fingerprint: str
    """The operation and its arguments as one canonical text."""

    def after(self, minutes: float) -> datetime:
        """The time at which a person answers who needs so many minutes, at the mock's speed."""
        return self.now + timedelta(minutes=minutes / self.speed)

    def random(self, *salt: str) -> Random:
        """A repeatable random generator. Its seed is `seed` with `salt`, or with the request."""
        return Random(self._digest(salt))  # noqa: S311 - repeatable by design, protects nothing

    def fraction(self, *salt: str) -> float:
        """One repeatable random number in [0, 1), in a tenth of the time of a `Random`."""
        return int.from_bytes(self._digest(salt)[:6], "big") / (1 << 48)

    def _digest(self, salt: tuple[str, ...]) -> bytes:
        text = "\0".join((self.seed, *(salt or (self.fingerprint,))))
        return hashlib.sha256(text.encode()).digest()


class MockReply(Struct, frozen=True, kw_only=True):
    """The reply of a behaviour, before it is validated and encoded."""

    status: int = 200
    headers: Mapping[str, str] = {}
    """By lower-case name."""
    body: Any


class MockRefused(Exception):
    """A behaviour refuses the request: it is answered with `reply`. What was stored stays."""

    def __init__(self, reply: MockReply) -> None:
        super().__init__(f"status {reply.status}")
        self.reply = reply


class MockRefusal(Struct, frozen=True, kw_only=True):
    """Why the upstream refuses a request. `refuse` turns it into the vendor's error body."""

    status: int
    title: str
    path: str = ""
    """The member of the request that is wrong, if it is a single one."""
    reason: Literal["", "missing_credentials", "invalid_token", "expired_token"] = ""
    """Why credentials are refused, for vendors with a code for each reason."""


class TokenRefusal(Struct, frozen=True, kw_only=True):
    """The error of a token endpoint that issues no token (RFC 6749 §5.2)."""

    status: int
    error: str
    description: str


class MockMessage(Struct, frozen=True, kw_only=True):
    """A message that the upstream sends to its webhook."""

    id: str
    """Stays the same when the message is sent again."""
    event: str
    """An event type of the webhook's contract, which names the profiles it may be sent in."""
    payload: Mapping[str, Any]


class MockState(Protocol):
    """The state of a mock upstream: tables of rows by id, and messages to send later.

    Rows are plain data: objects, lists, scalars and date-times. `find` returns a copy of a row. To
    store a changed row, add it again.
    """

    def new_id(self, prefix: str) -> str:
        """A new id, `<prefix>-10000001` and so on. No id is returned twice."""
        ...

    def add(self, table: str, row_id: str, row: dict[str, Any]) -> None:
        """Store `row`. If the table is full, its oldest rows are removed."""
        ...

    def find(self, table: str, row_id: str) -> dict[str, Any] | None:
        """The row with this id, or None."""
        ...

    def later(self, moment: datetime, message: MockMessage) -> None:
        """Send `message` when the mock's clock reaches `moment`."""
        ...


Behaviour = Callable[[MockRequest, MockState], MockReply]
"""Raises `MockRefused`."""


def answer_of(behaviour: Behaviour, request: MockRequest, state: MockState) -> MockReply:
    """The reply of `behaviour`, also where it refuses."""
    try:
        return behaviour(request, state)
    except MockRefused as refused:
        return refused.reply
