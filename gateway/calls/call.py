"""One request to run one operation, and its result."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, Literal, Protocol, TypeVar

from msgspec import Struct

from gateway.auth.principal import Credentials, Permit, Principal
from gateway.calls.asking import NOBODY, Asking
from gateway.contract.context import ReportProgress, WriteLog
from gateway.contract.operation import Deprecation, Effect
from gateway.contract.selection import FIELDS, Selection
from gateway.contract.values import jsontext
from gateway.contract.values.files import FileContent
from gateway.errors import GatewayError
from gateway.limits.standing import LimitReport
from gateway.trace_context import current_parent

BackendName = Literal["live", "mock", "python", "workspace"]


class CallBounds(Struct, frozen=True, kw_only=True):
    """Limits that a caller sets below those of the tool's contract. They cannot raise a limit."""

    timeout_seconds: float | None = None
    max_attempts: int | None = None
    """For each request that is safe to repeat."""
    idempotency_key: str | None = None
    """The key under which the call may be repeated, if it is not only a read."""

    @property
    def are_lower(self) -> bool:
        """Whether a limit is below that of the contract, so that others cannot share the call."""
        return self.timeout_seconds is not None or self.max_attempts is not None


UNBOUNDED: Final = CallBounds()


_Kind = TypeVar("_Kind", bound="Result")


class ResultAge(Struct, frozen=True, kw_only=True):
    """How old a result is whose contract allows to use it again."""

    seconds: float
    """The time since the upstream answered. Of a result that is not stale and that a call of
    another caller made: since this caller has first got it."""
    fresh_seconds: float
    """How old it may become. Older ones are stale."""
    is_public: bool
    """Whether the contract says that all callers get the same."""
    may_be_kept: bool
    """Whether a client may use it again too. No, if a write of others could change it."""
    is_reused: bool = False
    """Whether the caller got it before."""
    failure: GatewayError | None = None
    """Why the result is stale: the upstream failed. None: it is not stale."""

    @property
    def left_seconds(self) -> float:
        """How long a client may use it again."""
        return max(0.0, self.fresh_seconds - self.seconds) if self.may_be_kept else 0.0


class Result(Struct, frozen=True):
    """A result that is valid against the output schema."""

    values: dict[str, Any]
    text: bytes
    """The values as JSON text, encoded once for all transports."""
    backend: BackendName
    hidden_characters: int = 0
    """How many invisible characters were removed from the result."""
    file: FileContent | None = None
    """The bytes that the values describe. Each transport sends them in its own form."""
    is_repeated: bool = False
    """Whether this is the answer of an earlier call with the same idempotency key."""
    age: ResultAge | None = None
    """None: the contract does not allow to use the result again."""
    job_id: str | None = None
    """The job that the call became. Then the values describe the job."""
    fallbacks: tuple[str, ...] = ()
    """What failed and was passed over, for the operator."""
    left_out: tuple[str, ...] = ()
    """Rows that it lacks because they break the upstream's contract, each with place and cause."""
    mocked: tuple[str, ...] = ()
    """The upstreams of the call for which a mock answers, while other upstreams are live."""
    deprecation: Deprecation | None = None
    """Set if the tool will end."""

    def as_kind(self, kind: type[_Kind], **more: Any) -> _Kind:
        """The same result as this `kind` of result. `more`: its members that differ."""
        same = {name: getattr(self, name) for name in Result.__struct_fields__}
        return kind(**same | more)

    @property
    def whole_values(self) -> dict[str, Any]:
        """The values. Those of a file include its bytes as `data`, in base64."""
        return self.values if self.file is None else {**self.values, "data": self.file.base64}

    @property
    def whole_text(self) -> bytes:
        """`whole_values` as JSON text."""
        return self.text if self.file is None else jsontext.encode(self.whole_values)


Deliver = Callable[[Result], Result]
"""Makes of a result what the client of a transport is sent. Raises a `GatewayError`."""


class Commitment:
    """Says when a call may no longer be cancelled because its caller leaves.

    The pipeline makes it, because the effect of a call may depend on its arguments. Transports ask
    for it before they cancel. A server that stops does not ask.
    """

    __slots__ = (
        "has_begun",
        "is_made",
        "job_id",
        "key_digest",
        "key_holder",
        "on_made",
        "on_taken_back",
        "parent",
    )

    def __init__(self) -> None:
        self.is_made = False
        self.has_begun = False
        """Whether the operation itself runs: the call is no repetition of another one."""
        self.job_id: str | None = None
        """The job that the call has become, since it takes long."""
        self.parent: str | None = None
        """The `traceparent` of what the call does. It may be a span that only its task knows."""
        self.on_made: Callable[[], None] | None = None
        self.on_taken_back: Callable[[], None] | None = None
        self.key_holder = ""
        """See `KeyedCall.id`. Empty for a call without an idempotency key."""
        self.key_digest = ""
        """See `KeyedCall.fingerprint`."""

    def hold_key(self, call_id: str, digest: str) -> None:
        """Note under which id and fingerprint the call holds its key, which commits it."""
        self.key_holder, self.key_digest = call_id, digest
        self.make()

    def begin(self) -> None:
        """Note that the operation itself runs."""
        self.has_begun = True
        self.parent = current_parent()

    def make(self) -> None:
        """From now on, a caller that leaves does not cancel the call."""
        if self.is_made:
            return
        self.is_made = True
        if self.on_made is not None:
            self.on_made()

    def take_back(self) -> None:
        """The call has changed nothing and asks its client: until it runs again, it is as new."""
        if self.is_made and self.on_taken_back is not None:
            self.on_taken_back()
        self.is_made = self.has_begun = False
        self.key_holder = self.key_digest = ""


class Arguments(Struct, frozen=True):
    """Arguments that are valid against the input schema."""

    values: dict[str, Any]
    """Those of the operation: `fields` is not among them."""
    effect: Effect
    """What the call does with these arguments."""
    fields: tuple[str, ...] | None = None
    """The members of the result that the caller names."""
    selection: Selection | None = None
    """What the caller gets of the result. None: all of it."""

    @property
    def given(self) -> dict[str, Any]:
        """All arguments as the caller gave them."""
        return self.values if self.fields is None else {**self.values, FIELDS: [*self.fields]}


Begin = Callable[[], Awaitable[None]]
"""Makes it durable that the call begins. Raises `NotBegun`."""


class Accept(Protocol):
    """Stores a call that is permitted. The result names its job."""

    async def __call__(self, permit: Permit, arguments: Arguments) -> Result: ...


class Call(Struct, frozen=True, kw_only=True):
    """A call as a transport read it: the caller's credentials, the operation, the arguments."""

    operation_id: str
    credentials: Credentials
    arguments: bytes
    """The JSON text of the arguments. It is decoded in one place, strictly, for all transports."""
    transport: Literal["rest", "mcp", "stdio", "local", "job"]
    request_id: str
    bounds: CallBounds = UNBOUNDED
    effect: Effect | None = None
    """The only effect that the call may have. None: each effect that the caller is granted."""
    progress: ReportProgress | None = None
    """None: nobody asks how far the call is."""
    log: WriteLog | None = None
    """None: nobody asks for messages about the call."""
    deliver: Deliver | None = None
    """Fits the result into what the caller can be sent. Its `GatewayError` is the call's outcome.
    None: the result is sent as it is."""
    limits: LimitReport | None = None
    """Filled in if the call has limits. None: the transport does not show them."""
    commitment: Commitment | None = None
    """What the transport asks before it cancels the call. None: it does not ask."""
    accept: Accept | None = None
    """Stores the call as a job in place of running it. None: the call runs."""
    asking: Asking = NOBODY
    """What its client can be asked, and what it has answered."""
    job_id: str | None = None
    """The job that makes this call. It keeps the answer for the idempotency key."""
    confirm: Begin | None = None
    """Awaited once it is durable that the call begins. Its `NotBegun` ends the call before its
    effect. None: only this process has the call."""

    @property
    def is_shared(self) -> bool:
        """Whether other callers may get its outcome. A caller's own lower limit may cause it."""
        return not self.bounds.are_lower

    @property
    def own_key(self) -> str | None:
        """The idempotency key whose answer the call itself must keep."""
        return None if self.job_id is not None else self.bounds.idempotency_key

    async def commit(self, begin: Begin, undo: Callable[[], None]) -> None:
        """Begin. Then the effect may begin, and the transport must not cancel the call any more.

        Raises what `begin` and `confirm` raise, after `undo`: the call is not made.
        """
        try:
            await begin()
            if self.confirm is not None:
                await self.confirm()
        except BaseException:
            undo()
            raise
        if self.commitment is not None:
            self.commitment.make()


class Outcome(Struct, frozen=True):
    """What a backend returned. It is not validated yet."""

    values: Any
    backend: BackendName
    file: FileContent | None = None
    """The bytes that `values` describes."""
    size: int = 0
    """The bytes of the replies that it was made from."""
    fallbacks: tuple[str, ...] = ()
    """What failed and was passed over, for the operator."""
    left_out: tuple[str, ...] = ()
    """Rows that it lacks because they break the upstream's contract, each with place and cause."""


class Invoke(Protocol):
    """The type of `Pipeline.invoke`, which transports receive."""

    def __call__(
        self,
        call: Call,
        refusal: BaseException | None = None,
        principal: Principal | None = None,
    ) -> Coroutine[Any, Any, Result]: ...
