"""What the gateway's own tools are given, and what they need of the endpoint."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, TypeAlias

from msgspec import Struct

from gateway.calls.call import CallBounds, Result
from gateway.contract.operation import Effect
from gateway.contract.values import jsontext
from gateway.errors import InvalidArguments, MalformedRequest
from gateway.publication.own_tools import Offer, OwnTool

Direct: TypeAlias = Callable[[str, bytes, Effect | None], Awaitable[Result]]
"""Calls a tool of a contract by its name with the JSON text of its arguments, as the caller would
directly. If an effect is given, calls with another effect are refused. Raises a `GatewayError`."""

Resume: TypeAlias = Callable[[str], Awaitable[Result]]
"""Returns the part of a result that a continuation names. Raises a `GatewayError`."""


class OwnJobs(Protocol):
    """The jobs of the caller, by their ids. Each method raises a `GatewayError`."""

    async def status(self, job_id: str) -> Result: ...
    async def result(self, job_id: str) -> Result: ...
    async def cancel(self, job_id: str) -> Result: ...


class OwnCall(Struct, frozen=True, kw_only=True):
    """One call of an own tool."""

    offer: Offer
    """What the caller may call."""
    values: Mapping[str, Any]
    """The arguments. They are valid against the tool's input schema."""
    text: bytes
    """The JSON text of the arguments."""
    bounds: CallBounds
    direct: Direct
    resume: Resume
    jobs: OwnJobs | None = None
    """The jobs of the caller. None: no call becomes a job."""


Run: TypeAlias = Callable[[OwnCall], Awaitable[Result]]
"""Runs an own tool. Raises a `GatewayError`."""


def result_of(values: dict[str, Any]) -> Result:
    """The result of an own tool."""
    return Result(values, jsontext.encode(values), "python")


def read_arguments(tool: OwnTool, text: bytes) -> dict[str, Any]:
    """The arguments of an own tool. Raises `MalformedRequest` or `InvalidArguments`."""
    try:
        values: dict[str, Any] = jsontext.decode(text, jsontext.MESSAGE)
    except jsontext.NotJson as error:
        raise MalformedRequest(f"The arguments are not valid JSON: {error}.") from error
    if not tool.input.admits(values):
        raise InvalidArguments(tool.input.violations(values))
    return values
