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
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Annotated, Any, Final, Literal, get_args

import msgspec
from msgspec import Meta, Struct

from gateway.backends.wire import WireReply
from gateway.contract.values import jsontext
from gateway.contract.values.nearest import hint
from gateway.contract.values.schema import Validator
from gateway.encoding.replies.content import ReplySchema

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


class MadeReply(Struct, frozen=True, kw_only=True):
    """The reply of a mock, before faults are applied to it."""

    status: int
    headers: Mapping[str, str]
    """By lower-case name."""
    body: bytes
    validator: Validator | None = None
    """What admits the body."""
    is_breakable: bool = True
    """Whether `break-contract` has an effect on it."""


def faulty(made: MadeReply, fault: Fault, rate: tuple[str, str] | None) -> WireReply:
    """The reply with the fault applied.

    `rate`: the headers that report what is left of the limit, and the seconds until it is reset.
    """
    headers = dict(made.headers)
    if fault.retry_after_seconds is not None:
        headers["retry-after"] = str(fault.retry_after_seconds)
    if fault.status is not None and 300 <= fault.status < 400:
        headers["location"] = "/"
    if fault.exhausted_seconds is not None and rate is not None:
        headers |= {rate[0]: "0", rate[1]: str(fault.exhausted_seconds)}
    is_whole = fault.damage == "break-contract" and not made.is_breakable
    return WireReply(
        status=made.status,
        headers=headers,
        body=made.body if is_whole else damaged(made.body, fault.damage, made.validator),
        is_cut=fault.damage == "close",
        body_delay_seconds=fault.body_latency_seconds,
    )


_NOTHING: Final = "not what the contract says"


def damaged(text: bytes, damage: Damage | None, validator: Validator | None) -> bytes:
    """`text` with `damage` applied. `break-contract` makes a body that `validator` rejects."""
    match damage:
        case "truncate":
            return text[: len(text) // 2]
        case "break-contract" if text:
            return jsontext.encode(_broken(jsontext.decode(text), validator))
        case _:
            return text


def _broken(body: Any, validator: Validator | None) -> Any:
    """The first variant that the contract rejects: a member left out, null, or of a wrong type.

    If a tolerant reader would read it all the same, another value.
    """
    for variant in _variants(body):
        if validator is None or not validator.admits(variant):
            return variant if not _is_tolerable(variant, validator) else _NOTHING
    return _NOTHING


def _is_tolerable(variant: Any, validator: Validator | None) -> bool:
    if not isinstance(validator, ReplySchema):
        return False
    return validator.admits(validator.lenient(deepcopy(variant))[0])


def _variants(value: Any) -> Iterator[Any]:
    """Copies of `value` with one change each, the innermost changes first."""
    if isinstance(value, dict):
        for name, member in value.items():
            rest = {key: each for key, each in value.items() if key != name}
            yield from ({**value, name: variant} for variant in _variants(member))
            yield from (rest, {**value, name: None}, {**value, name: ["?"]})
    elif isinstance(value, list):
        for index, item in enumerate(value[:3]):
            yield from ([*value[:index], each, *value[index + 1 :]] for each in _variants(item))
