"""The call context: the second argument of a Python handler."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal, Protocol

from msgspec import UNSET, Struct, UnsetType

from gateway.contract.policies.questions import Answer, AskKind, Elicited, Question, Root, Sampled
from gateway.contract.rows.entity import EntityPages
from gateway.contract.rows.rows import Shape
from gateway.contract.rows.tables import Tables

LogLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
"""How severe a message is, from the least to the most: the levels of RFC 5424."""
WriteLog = Callable[[LogLevel, str], None]
"""Says something about a call to the client that makes it. It returns at once. The transport of the
call decides what is done with it."""


class ReportProgress(Protocol):
    """Says how far a call is: a number that grows, what it counts, for people, and its last value.

    It returns at once. The transport of the call decides what is done with it.
    """

    def __call__(self, done: float, message: str, total: float | None = None, /) -> None: ...


class CallFacts(Struct, frozen=True, kw_only=True):
    """The facts of a call that a field map can read besides the arguments (`$call.…`)."""

    id: str
    """The id of the call, for example as an upstream's idempotency key."""
    now: str
    """The time of the call's arrival, RFC 3339 in UTC."""
    settings: Mapping[str, str] = {}
    """The upstream's settings that are not secret (`$settings.…`)."""
    is_id_kept: bool = False
    """Whether a repetition of the call has the same id: its caller gave it an idempotency key."""
    tenant: str = ""
    """The sender's customer whose webhook it is. Empty if it names none."""
    may_escalate: bool = True
    """Whether the caller's grants allow the tool's escalation, so that a result can advise it.
    False if results are kept for other callers."""


class UpstreamCall(Struct, frozen=True):
    """A handler's request to an upstream: an operation of its contract, and the values for it."""

    upstream: str
    operation: str
    path: Mapping[str, str] = {}
    query: Mapping[str, str | Sequence[str]] = {}
    """A list of values repeats the parameter."""
    headers: Mapping[str, str] = {}
    body: Any | UnsetType = UNSET
    is_key_ours: bool = False
    """Whether the gateway made the idempotency key in `headers` for this call. False if the caller
    sent it."""
    timeout_seconds: float | None = None
    """Time limit for all attempts together. None: what is left of the call's time."""


class UpstreamReply(Struct, frozen=True, kw_only=True):
    """A reply that is valid by the upstream's contract."""

    status: int
    headers: Mapping[str, str]
    """By lower-case name."""
    body: Any
    """The JSON value. None if the contract declares no body."""
    failure: Exception | None = None
    """Of a status of `expect` that is no success: the error to raise if it means nothing else. It
    has the upstream's code and its answer."""
    left_out: tuple[str, ...] = ()
    """Rows that the body lacks because they break the contract, each with its place and cause."""
    is_not_found: bool = False
    """Whether the upstream says that what the arguments name does not exist."""


class CallContext(Protocol):
    """Sends the requests of one call to upstreams, and reads settings and rows."""

    @property
    def call(self) -> CallFacts: ...

    async def send(self, call: UpstreamCall, *, expect: Collection[int] = ()) -> UpstreamReply:
        """Send one request and read its reply. Retry it as the tool's contract allows and is safe.

        Raises `UpstreamError` for a reply that is neither a success nor has a status in `expect`,
        and `InvalidReply` for a reply that breaks the contract.
        """
        ...

    def progress(self, done: float, message: str = "", total: float | None = None) -> None:
        """Say how far the call is: a number that grows, and what it counts, for people.

        `total` is the number at the end, if it is known. Returns at once. Who asks for it is shown
        it, at most once or twice a second. The message is cut after 200 characters. Raises
        `ValueError` for a number that is negative or not finite.
        """
        ...

    def log(self, level: LogLevel, text: str) -> None:
        """Say something about the call to the client that makes it.

        Returns at once. Only MCP clients that ask for messages of this level are sent it. The text
        is cut after 500 characters. It goes into no log of the gateway. Raises `ValueError` for an
        unknown level.
        """
        ...

    def left_out(self, rows: Sequence[str]) -> None:
        """Note that the result lacks these rows, each told by its place and what is wrong with it.

        The answer says so to the caller. `send` does it for rows that it leaves out itself.
        """
        ...

    def fell_back(self, upstream: str, error: Exception) -> None:
        """Note that `error` of the upstream is passed over, and what is used instead is answered.

        The call succeeds, and the operator is told in the log, the metrics and the audit.
        """
        ...

    def can_ask(self, kind: AskKind) -> bool:
        """Whether the client of the call can be asked this, and the contract names it."""
        ...

    async def ask(
        self, message: str, schema: Mapping[str, Any], *, key: str | None = None
    ) -> Elicited:
        """Ask the client's user to fill in a form (elicitation).

        Without an answer, this does not return: the handler runs again from its start once there is
        one. So ask before any change, and ask the same questions in the same order each time. `key`
        names the question, and is only used once. The handler sees each valid answer, also that the
        user declined. Raises `InternalError` if the handler may not ask this, or not any more.
        """
        ...

    async def sample(
        self,
        messages: str | Sequence[Mapping[str, Any]],
        *,
        max_tokens: int,
        system_prompt: str | None = None,
        key: str | None = None,
    ) -> Sampled:
        """Ask the client's model. A text is one message of the user. See `ask`."""
        ...

    async def roots(self, *, key: str | None = None) -> tuple[Root, ...]:
        """Ask for the folders and files that the client works on. See `ask`."""
        ...

    async def ask_all(self, questions: Mapping[str, Question]) -> dict[str, Answer]:
        """Ask several questions at once. The answers have the same keys. See `ask`."""
        ...

    def setting(self, upstream: str, name: str) -> str:
        """The setting `name` of the upstream, which is not secret."""
        ...

    def shape(self, upstream: str, table: str) -> Shape:
        """The shape of a table, as the upstream's contract declares it."""
        ...

    def workspace(self, upstream: str) -> Tables | None:
        """The workspace database if it replaces the upstream, else None."""
        ...

    @property
    def entities(self) -> EntityPages:
        """The rows that webhooks wrote."""
        ...

    def exclusive(self, key: str) -> AbstractAsyncContextManager[None]:
        """Lock `key` during a `with` block. Other calls of this process wait for the lock."""
        ...
