"""Validates the arguments and the result of a call against their schemas."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from gateway.auth.principal import Permit
from gateway.calls.call import Arguments, Deliver, Outcome, Result
from gateway.calls.changes import HAS_HAPPENED
from gateway.catalogue import Entry
from gateway.contract.operation import Effect, Operation
from gateway.contract.selection import FIELDS, Selection, UnknownMembers, selected
from gateway.contract.values import hidden, jsontext
from gateway.contract.values.pointers import child
from gateway.contract.values.schema import Validator
from gateway.contract.values.violation import Violation
from gateway.errors import InvalidArguments, InvalidResult, MalformedRequest

# Does the work on large texts beside the event loop, which serves all callers.

T = TypeVar("T")
LARGE_BYTES: Final = 256 * 1024
"""The work on a text of this size takes about 10 ms. To hand it over takes a tenth of one."""
# Python runs one thread at a time. With several, the event loop would wait for each in turn.
_BESIDE: Final = ThreadPoolExecutor(max_workers=1, thread_name_prefix="large")


async def beside(size: int, work: Callable[..., T], *args: object) -> T:
    """`work(*args)`, done in a thread if the text that it is about has many bytes: `size`.

    The work must be free of effects: it goes on if its caller is cancelled.
    """
    if size < LARGE_BYTES:
        return work(*args)
    run = partial(copy_context().run, work, *args)
    return await asyncio.get_running_loop().run_in_executor(_BESIDE, run)


async def read_arguments(permit: Permit, text: bytes) -> Arguments:
    """See `decode_arguments`."""
    return await beside(len(text), decode_arguments, permit.entry, text)


async def checked(permit: Permit, outcome: Outcome, effect: Effect) -> Result:
    """See `check_result`. If the call had an `effect`, its error says that it has happened."""
    try:
        return await beside(outcome.size, check_result, permit, outcome)
    except InvalidResult as error:
        if effect is not Effect.READ:
            error.detail = f"{error.detail} {HAS_HAPPENED}"
        raise


async def reduced(result: Result, selection: Selection | None) -> Result:
    """See `reduce_result`. Without a selection, the result itself."""
    if selection is None:
        return result
    return await beside(len(result.text), reduce_result, result, selection)


async def delivered(result: Result, deliver: Deliver | None) -> Result:
    """What the transport makes of the result. Without `deliver`, the result itself."""
    if deliver is None:
        return result
    return await beside(len(result.text), deliver, result)


def decode_arguments(entry: Entry, text: bytes) -> Arguments:
    """The arguments of a call. Raises `MalformedRequest` or `InvalidArguments`."""
    try:
        values = jsontext.decode(text, jsontext.REQUEST)
    except jsontext.NotJson as error:
        raise MalformedRequest(f"The arguments are not valid JSON: {error}.") from error
    validator = entry.input
    if not validator.admits(values):
        raise InvalidArguments(validator.violations(values))
    members = entry.members
    if members is None or FIELDS not in values:
        return Arguments(values, _effect(entry.operation, values))
    fields = tuple(values.pop(FIELDS))
    effect = _effect(entry.operation, values)
    try:
        return Arguments(values, effect, fields, members.selection(fields))
    except UnknownMembers as error:
        raise InvalidArguments(error.violations) from None


def _effect(operation: Operation, values: dict[str, Any]) -> Effect:
    """The effect of the call.

    Raises `InvalidArguments` when the arguments ask for an escalation and lack one that it needs.
    """
    escalation = operation.escalation
    if escalation is None or values.get(escalation.when) is not True:
        return operation.effect
    lacking = [name for name in escalation.requires if values.get(name) is None]
    if lacking:
        detail = f"is required when {escalation.when} is true"
        raise InvalidArguments(
            [
                Violation(pointer=child("", name), keyword="required", detail=detail)
                for name in lacking
            ]
        )
    return Effect.WRITE


def reduce_result(result: Result, selection: Selection) -> Result:
    """The complete and valid `result` with only the members of `selection`."""
    values = selected(result.values, selection)
    return replace(result, values=values, text=jsontext.encode(values))


def check_result(permit: Permit, outcome: Outcome) -> Result:
    """The result to send. Raises `InvalidResult` when it breaks the output schema."""
    validator = permit.entry.output
    if not validator.admits(outcome.values):
        raise InvalidResult(validator.violations(outcome.values))
    text = jsontext.encode(outcome.values)
    if hidden.may_hide(text):
        return _visible(validator, outcome)
    return _result(outcome, outcome.values, text)


def _visible(validator: Validator, outcome: Outcome) -> Result:
    """The result without its hidden characters.

    If that breaks the output schema (a text may become too short), each hidden character is
    replaced by a visible mark instead. Raises `InvalidResult` when both break the schema.
    """
    for mark in ("", hidden.REPLACEMENT):
        values, count = hidden.visible(outcome.values, mark)
        if validator.admits(values):
            text = jsontext.encode(values)
            return _result(outcome, values, text, count)
    detail = "breaks the output schema once hidden characters are removed"
    raise InvalidResult([Violation(pointer="", keyword="hidden", detail=detail)])


def _result(outcome: Outcome, values: dict[str, Any], text: bytes, hidden_count: int = 0) -> Result:
    return Result(
        values,
        text,
        outcome.backend,
        hidden_count,
        outcome.file,
        fallbacks=outcome.fallbacks,
        left_out=outcome.left_out,
    )
