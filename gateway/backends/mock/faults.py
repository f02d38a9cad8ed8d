"""Faults that a mock simulates on request, to test how callers handle them.

A fault is written `latency=250ms;status=429;retry-after=2`, in the header `Mock-Fault` of a request
or in a scenario. The parts:

    latency=TIME        reply after this time, such as `250ms` or `1.5s`
    body-latency=TIME   send the head, and the body after this time
    status=N            reply with this status instead
    retry-after=N       reply with this `Retry-After`
    exhausted=N         report that the rate limit is used up for N seconds
    truncate            send half of the body, as if it were complete
    close               close the connection in the middle of the body
    break-contract      reply with a body that the contract does not allow
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Annotated, Final, Literal, get_args

import msgspec
from msgspec import Meta, Struct

from gateway.contract.values.nearest import hint

FAULT_HEADER: Final = "mock-fault"
Damage = Literal["truncate", "close", "break-contract"]
MAX_SECONDS: Final = 3600.0
_TIME: Final = re.compile(r"([0-9]{1,7}(?:\.[0-9]{1,3})?)(ms|s)")
_MOST_NAMED: Final = 40
_NUMBER: Final = re.compile(r"[0-9]{1,6}")
_FIELDS: Final[Mapping[str, str]] = {
    "latency": "latency_seconds",
    "body-latency": "body_latency_seconds",
    "status": "status",
    "retry-after": "retry_after_seconds",
    "exhausted": "exhausted_seconds",
}


class Fault(Struct, frozen=True, kw_only=True):
    """The fault of one reply. The default is no fault."""

    latency_seconds: float = 0.0
    body_latency_seconds: float = 0.0
    status: Annotated[int, Meta(ge=300, le=599)] | None = None
    retry_after_seconds: int | None = None
    exhausted_seconds: int | None = None
    damage: Damage | None = None


class ScenarioStep(Struct, frozen=True, kw_only=True):
    """A fault for the next `calls` calls of `operation`, or of any operation if it is None."""

    fault: Fault
    calls: int = 1
    operation: str | None = None


NO_FAULT: Final = Fault()


class NotAFault(ValueError):
    """The text does not describe a fault."""


class Scenario:
    """A sequence of steps. The first step for an operation is used up before the next one."""

    def __init__(self, steps: Sequence[ScenarioStep] = ()) -> None:
        self._steps = list(steps)

    def next_for(self, *names: str) -> Fault:
        """The fault for this call of the operation with these names. It counts as used."""
        for index, step in enumerate(self._steps):
            if step.operation in {None, *names}:
                rest = msgspec.structs.replace(step, calls=step.calls - 1)
                self._steps[index : index + 1] = [rest] if rest.calls > 0 else []
                return step.fault
        return NO_FAULT


def parse_fault(text: str) -> Fault:
    """The fault that `text` describes. Raises `NotAFault`."""
    found: dict[str, float | int | str] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        name, _, value = part.partition("=")
        if part in get_args(Damage):
            found["damage"] = part
        elif name in _FIELDS:
            found[_FIELDS[name]] = _time(value) if "latency" in name else _number(value)
        else:
            known = ", ".join((*_FIELDS, *get_args(Damage)))
            raise NotAFault(f"{name[:40]!r} is not a fault; use {known}")
    try:
        return msgspec.convert(found, Fault)
    except msgspec.ValidationError:
        raise NotAFault("a status is a number from 300 to 599") from None


def requested_fault(headers: Iterable[tuple[str, str]]) -> Fault | None:
    """The fault that the header `Mock-Fault` describes, if there is one. Raises `NotAFault`."""
    found = (value for name, value in headers if name.lower() == FAULT_HEADER)
    value = next(found, None)
    return None if value is None else parse_fault(value)


def parse_step(text: str) -> ScenarioStep:
    """A step written `OPERATION CALLS FAULT`, with `*` for every operation. Raises `NotAFault`."""
    parts = text.split(maxsplit=2)
    if len(parts) != 3:
        raise NotAFault("write OPERATION CALLS FAULT, such as: * 3 status=503")
    operation, calls, fault = parts
    count = _number(calls)
    if count == 0:
        raise NotAFault("a fault is for 1 call or more")
    return ScenarioStep(
        fault=parse_fault(fault),
        calls=count,
        operation=None if operation == "*" else operation,
    )


def check_steps(steps: Iterable[ScenarioStep], names: Collection[str], limit: str | None) -> None:
    """Raise `NotAFault` for a step that could never happen.

    `names`: the operations of the mock. `limit`: the header with its rate limit, if it has one.
    """
    for step in steps:
        name = step.operation
        if name is not None and name not in names:
            known = sorted(names)
            listed = ", ".join(known[:_MOST_NAMED]) + (", …" if len(known) > _MOST_NAMED else "")
            unlike = f"the operations are {listed}"
            raise NotAFault(f"there is no operation {name[:80]!r}; {hint(name, names, unlike)}")
        if step.fault.exhausted_seconds is not None and limit is None:
            raise NotAFault("exhausted has no effect: this upstream reports no rate limit")


def _time(text: str) -> float:
    found = _TIME.fullmatch(text)
    if found is None:
        raise NotAFault("write a time as 250ms or 1.5s")
    seconds = float(found[1]) / (1000 if found[2] == "ms" else 1)
    return min(seconds, MAX_SECONDS)


def _number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise NotAFault("write a number in digits")
    return int(text)
