"""The rounds of a call that asks its client (SEP-2322), in revision 2026-07-28.

A round that ends with a question is answered with it and a sealed state. The client makes the call
again, with the answers and the state.
"""

import time
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from gateway.calls.asking.asked import size_of
from gateway.calls.asking.errors import InputRequired, InvalidAnswer, StateRefused
from gateway.calls.asking.questions import MAX_GIVEN_BYTES, MAX_QUESTIONS, Asking
from gateway.calls.asking.wire import Given, OpenQuestion
from gateway.calls.idempotency.key import fingerprint
from gateway.contract.policies.asking import ASK_KINDS
from gateway.contract.values import jsontext
from gateway.transports.mcp.asking.state import (
    TTL_SECONDS,
    RequestState,
    sealed,
    unsealed,
)
from gateway.transports.mcp.caller import Caller
from gateway.transports.mcp.outgoing.whole import WholeResult
from gateway.transports.mcp.own.delivery import secret_of


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
