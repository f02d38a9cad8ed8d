"""Arguments in and results out, each against its schema."""

from gateway.auth.principal import Permit
from gateway.calls.call import Arguments, Outcome, Result
from gateway.contract import jsontext
from gateway.errors import InvalidArguments, InvalidResult, MalformedRequest


def decode_arguments(permit: Permit, text: bytes) -> Arguments:
    """The arguments of a call. Raises `MalformedRequest` or `InvalidArguments`."""
    try:
        values = jsontext.decode(text, jsontext.REQUEST)
    except jsontext.NotJson as error:
        raise MalformedRequest(f"The arguments are not valid JSON: {error}.") from error
    gate = permit.entry.input
    if not gate.admits(values):
        raise InvalidArguments(gate.violations(values))
    return Arguments(values)


def check_result(permit: Permit, outcome: Outcome) -> Result:
    """The result that may be sent. Raises `InvalidResult` when it would break the contract."""
    gate = permit.entry.output
    if not gate.admits(outcome.values):
        raise InvalidResult(gate.violations(outcome.values))
    return Result(outcome.values, jsontext.encode(outcome.values), outcome.backend)
