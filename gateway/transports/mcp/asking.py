"""Calls that ask their clients, and what is kept of them until the answers come.

In revision 2026-07-28, a call that asks ends with its questions and a sealed state (SEP-2322), and
the client makes it again with both the answers and the state. In the handshake revisions the client
is sent requests while it waits, and the call is run again with its answers.

Nothing of a round is stored. Its state is encrypted and authenticated (AES-256-GCM) with a secret
of the caller, which the gateway gets with each request. So every process can open it, only for the
caller that it was given to, and the client cannot read or change it.
"""

import asyncio
import base64
import hashlib
import secrets
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, TypeAlias, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from gateway.amounts import in_seconds
from gateway.calls.asking import (
    MAX_GIVEN_BYTES,
    MAX_QUESTIONS,
    Asking,
    Given,
    InputRequired,
    InvalidAnswer,
    NotAnswered,
    OpenQuestion,
    StateRefused,
    size_of,
)
from gateway.calls.idempotency import fingerprint
from gateway.contract.policies.questions import ASK_KINDS
from gateway.contract.values import jsontext
from gateway.contract.values.hidden import visible_text
from gateway.errors import LimitExceeded
from gateway.transports.json_rpc import ClientReply
from gateway.transports.mcp.caller import Caller
from gateway.transports.mcp.delivery import WholeResult, secret_of

TTL_SECONDS: Final = 600.0
MAX_LENGTH: Final = 512 * 1024
"""Characters. The answers in it are limited: see `MAX_GIVEN_BYTES`."""
_NONCE: Final = 12
_PURPOSE: Final = b"contract-gateway request state 1\0"


class RequestState(Struct, frozen=True, array_like=True):
    """The state of a call between two rounds."""

    subject: str
    """The key that made the call."""
    endpoint: str
    """Where it was made: a connector, or empty for all."""
    call: str
    """A digest of the tool and its arguments."""
    expires: float
    """Seconds since the epoch."""
    given: Mapping[str, Given]
    """The answers so far, by key."""
    asked: Mapping[str, str]
    """The digests of the open questions, by key."""


def sealed(state: RequestState, secret: bytes) -> str:
    """`state` as text for the caller with `secret`."""
    from cryptography.hazmat.primitives.ciphers.aead import (  # noqa: PLC0415 - few need these 6 MB
        AESGCM,
    )

    nonce = secrets.token_bytes(_NONCE)
    hidden = AESGCM(_key(secret)).encrypt(nonce, msgspec.json.encode(state), _PURPOSE)
    return base64.urlsafe_b64encode(nonce + hidden).rstrip(b"=").decode()


def unsealed(text: str, secret: bytes) -> RequestState:
    """The state of `text`. Raises `StateRefused` unless this caller was given it."""
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - as in `sealed`
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - as in `sealed`

    if len(text) > MAX_LENGTH or not text.isascii():
        raise StateRefused
    try:
        found = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        plain = AESGCM(_key(secret)).decrypt(found[:_NONCE], found[_NONCE:], _PURPOSE)
    except (ValueError, InvalidTag):
        raise StateRefused from None
    return msgspec.json.decode(plain, type=RequestState)


def _key(secret: bytes) -> bytes:
    return hashlib.sha256(_PURPOSE + secret).digest()


class Round(Struct, frozen=True):
    """A call, as far as its rounds need it."""

    caller: Caller
    tool: str
    arguments: bytes

    @property
    def digest(self) -> str:
        """Equal for equal calls. The paths of this endpoint write JSON differently."""
        return fingerprint(self.tool, jsontext.decode(self.arguments, jsontext.MESSAGE))


def asking_of(call: Round) -> Asking:
    """What the client can be asked, and what it has answered.

    Raises `StateRefused`, and `InvalidAnswer` for answers that are too many or too large.
    """
    caller = call.caller
    kinds = frozenset(each for each in ASK_KINDS if each in caller.declared)
    given: Mapping[str, Given] = {}
    if caller.state is not None:
        state = _opened(call, caller.state)
        new = {key: each for key, each in caller.answers.items() if key in state.asked}
        given = {**state.given, **{key: Given(new[key], state.asked[key]) for key in new}}
    elif caller.answers:
        given = {key: Given(each) for key, each in caller.answers.items()}
    require_bounded(given)
    job_kinds = kinds if caller.takes_tasks else frozenset()
    return Asking(kinds=kinds, job_kinds=job_kinds, given=given)


def require_bounded(given: Mapping[str, Given]) -> None:
    """Raise `InvalidAnswer` for answers that are too many or too large."""
    if len(given) > 2 * MAX_QUESTIONS or (given and size_of(given) > MAX_GIVEN_BYTES):
        raise InvalidAnswer("There are too many answers, or they are too large.")


def question_of(call: Round, error: InputRequired) -> WholeResult:
    """The answer that asks the client."""
    state = RequestState(
        call.caller.principal.subject,
        call.caller.connector or "",
        call.digest,
        time.time() + TTL_SECONDS,
        error.given,
        {key: each.digest for key, each in error.asked.items()},
    )
    values = {
        "resultType": "input_required",
        "inputRequests": requests_of(error.asked),
        "requestState": sealed(state, secret_of(call.caller.credentials.bearer)),
    }
    return WholeResult(values, jsontext.encode(values), "python")


def requests_of(asked: Mapping[str, OpenQuestion]) -> dict[str, Any]:
    """The questions as MCP has them, by key."""
    return {key: {"method": each.method, "params": each.params} for key, each in asked.items()}


def at_hand(call: Round) -> Caller:
    """The caller with what it can be asked. Raises as `asking_of` does."""
    caller = call.caller
    if not (caller.declared or caller.answers or caller.state):
        return caller
    return replace(caller, asking=asking_of(call))


def _opened(call: Round, text: str) -> RequestState:
    caller = call.caller
    state = unsealed(text, secret_of(caller.credentials.bearer))
    is_ours = state.subject == caller.principal.subject and state.call == call.digest
    if not is_ours or state.endpoint != (caller.connector or "") or state.expires < time.time():
        raise StateRefused
    return state


_T = TypeVar("_T")
ANSWER_SECONDS: Final = TTL_SECONDS
"""How long a client has for its answer: as long as in the rounds."""
_MAX_MESSAGE: Final = 200


async def conversed(caller: Caller, run: Callable[[Caller], Awaitable[_T]]) -> _T:
    """What `run` returns when it has all answers. `run` makes the call for the caller it is given.

    Raises `InputRequired` if this client is asked by rounds, and `NotAnswered` or `InvalidAnswer`.
    """
    while True:
        try:
            return await run(caller)
        except InputRequired as error:
            if caller.ask is None:
                raise
            asked, known = error.asked, error.given
        if caller.commitment is not None:
            caller.commitment.take_back()
        answers = await caller.ask(asked)
        given = {**known, **{key: Given(answers[key], asked[key].digest) for key in asked}}
        require_bounded(given)
        caller = replace(caller, asking=replace(caller.asking, given=given))


def refused(key: str, code: int, message: str) -> NotAnswered:
    """The outcome when the client answers a question with an error."""
    said = visible_text(message[:_MAX_MESSAGE])[0]
    return NotAnswered(f"The client did not answer {key}. It says: {said} ({code}).")


def late() -> NotAnswered:
    """The outcome when the client does not answer."""
    return NotAnswered(f"The client did not answer within {in_seconds(ANSWER_SECONDS)}.")


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
