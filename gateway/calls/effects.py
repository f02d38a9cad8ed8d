"""Holds a call to the effect that its caller allows it, and to what its client can answer."""

from gateway.calls.asking import CapabilityMissing
from gateway.calls.call import Call
from gateway.catalogue import Entry
from gateway.contract.agent_view import CALL_TOOLS
from gateway.contract.operation import Effect, Operation
from gateway.contract.policies.questions import ASK_KINDS
from gateway.errors import CallerError, MalformedRequest

_MEANINGS = {Effect.READ: "only reads", Effect.WRITE: "writes", Effect.DESTROY: "destroys"}


class WrongEffect(CallerError):
    """The call would have another effect than the tool that calls it may have."""

    stage = "authorize"


def require_possible_effect(call: Call, operation: Operation) -> None:
    """Raise `WrongEffect` if no arguments give `operation` the effect that the call may have."""
    if call.effect in {None, operation.effect}:
        return
    if operation.escalation is None or call.effect is not Effect.WRITE:
        raise _wrong_effect("This tool", operation.effect)


def require_effect(call: Call, effect: Effect) -> None:
    """Raise `WrongEffect` if the arguments give the call another effect than it may have.

    Raises `MalformedRequest` if a call that only reads has an idempotency key.
    """
    if call.effect not in {None, effect}:
        raise _wrong_effect("With these arguments, this tool", effect)
    if effect is Effect.READ and call.bounds.idempotency_key is not None:
        raise MalformedRequest("This call only reads. Leave the idempotency key out.")


def require_client(call: Call, entry: Entry) -> None:
    """Raise `CapabilityMissing` if the tool requires a kind of question that nobody can answer."""
    required = entry.tool.requires
    if not required:
        return
    can_answer = call.asking.job_kinds if call.accept is not None else call.asking.kinds
    lacking = tuple(each for each in required if each in ASK_KINDS and each not in can_answer)
    if lacking:
        raise CapabilityMissing(lacking)


def _wrong_effect(what: str, effect: Effect) -> WrongEffect:
    return WrongEffect(f"{what} {_MEANINGS[effect]}: call it with {CALL_TOOLS[effect]}.")
