"""What the audit log reads of a call, and what it does not store of the arguments.

The pipeline has the types.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Final, Protocol, TypeAlias

import msgspec
from msgspec import Struct

from gateway.catalogue import Entry
from gateway.contract.operation import Effect
from gateway.contract.refusals import with_sentence
from gateway.contract.values.hidden import visible_text
from gateway.contract.values.pointers import steps
from gateway.errors import (
    GatewayError,
    InvalidArguments,
    InvalidReply,
    InvalidResult,
    NotPermitted,
)
from gateway.store.records import ACCEPTED

REDACTED: Final = "<redacted>"
MAX_ARGUMENTS_BYTES: Final = 8192
MAX_TEXT: Final = 200

_ANY: Final = "*"
_SHORTEST: Final = 3
_Table: TypeAlias = dict[str, Any]
"""For each step the table of the steps after it, or None where the value is sensitive."""

_encode = msgspec.json.Encoder().encode
_CONTROLS: Final = {code: f"\\x{code:02x}" for code in (*range(32), 127)}
_PLACES: Final = 5
_MAX_TEXT: Final = 500
OPERATOR: Final = "operator"
"""The transport of requests of operators, which are no calls."""


class OperatorRequest(Struct, frozen=True, kw_only=True):
    """A request of an operator, for its audit record."""

    request_id: str
    operation_id: str
    """`operator.<thing>.<verb>`."""
    transport: str = OPERATOR


ObserveCall = Callable[[str | None, str, float], None]
"""Called with the operation of a call, its outcome, and its seconds. None: there is no such
operation."""


def redact(arguments: dict[str, Any], sensitive: tuple[str, ...]) -> dict[str, Any]:
    """`arguments` with `REDACTED` at the JSON Pointers `sensitive`. `*` is any index or name.

    Only what holds something sensitive is copied.
    """
    table = _table(sensitive)
    if table is None:
        return dict.fromkeys(arguments, REDACTED)
    redacted: dict[str, Any] = _without(arguments, table)
    return redacted


def sensitive_texts(arguments: dict[str, Any], sensitive: tuple[str, ...]) -> set[str]:
    """The texts and numbers at the JSON Pointers `sensitive`, but those too short to be known."""
    found: set[str] = set()
    _collect(arguments, _table(sensitive), found)
    return found


def cut(arguments: dict[str, Any]) -> dict[str, Any]:
    """`arguments`, cut to `MAX_ARGUMENTS_BYTES`. The size takes the place of a large member."""
    if len(_encode(arguments)) <= MAX_ARGUMENTS_BYTES:
        return arguments
    remaining = MAX_ARGUMENTS_BYTES
    kept: dict[str, Any] = {}
    for name, value in arguments.items():
        size = len(_encode({name: value}))
        if size > remaining:
            value = f"<cut: {size} bytes>"  # noqa: PLW2901 - it takes the place of the member
            size = len(_encode({name: value}))
        if size > remaining:
            break
        kept[name] = value
        remaining -= size
    return kept


def printable(text: str) -> str:
    """A text from a caller as printable ASCII, of at most `MAX_TEXT` characters."""
    plain = text[:MAX_TEXT].encode("ascii", "backslashreplace").decode()
    return plain.translate(_CONTROLS)[:MAX_TEXT]


@lru_cache(maxsize=4096)
def _table(sensitive: tuple[str, ...]) -> _Table | None:
    """The steps of the pointers as one table, so that each value is looked at once."""
    return _merged([steps(pointer) for pointer in sensitive])


def _merged(paths: list[list[str]]) -> _Table | None:
    if [] in paths:
        return None
    every = [path[1:] for path in paths if path[0] == _ANY]
    names = dict.fromkeys(path[0] for path in paths)
    return {
        name: _merged([*(path[1:] for path in paths if path[0] == name != _ANY), *every])
        for name in names
    }


def _without(value: Any, table: _Table | None) -> Any:
    if table is None:
        return REDACTED
    match value:
        case dict():
            found = _members(table, value.items())
            return {**value, **found} if found else value
        case list():
            found = _members(table, ((str(at), item) for at, item in enumerate(value)))
            return [found.get(str(at), item) for at, item in enumerate(value)] if found else value
        case _:
            return value


def _collect(value: Any, table: _Table | None, found: set[str]) -> None:
    """Add the texts and numbers of `value` that `table` names."""
    match value:
        case dict():
            members: Iterable[tuple[str, Any]] = value.items()
        case list():
            members = ((str(at), item) for at, item in enumerate(value))
        case bool() | None:
            return
        case _:
            text = str(value)
            if table is None and len(text) >= _SHORTEST:
                found.add(text)
            return
    for name, member in members:
        if table is None:
            _collect(member, None, found)
        elif name in table or _ANY in table:
            _collect(member, table.get(name, table.get(_ANY)), found)


def _members(table: _Table, members: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """The redacted values of those members that the table has."""
    if _ANY not in table:
        return {name: _without(value, table[name]) for name, value in members if name in table}
    other = table[_ANY]
    return {name: _without(value, table.get(name, other)) for name, value in members}


def observe_nothing(operation: str | None, outcome: str, seconds: float) -> None:
    """Count nothing."""


class AuditedCall(Protocol):
    """The facts of a call that are known at its start."""

    @property
    def operation_id(self) -> str: ...
    @property
    def transport(self) -> str: ...
    @property
    def request_id(self) -> str: ...


class AuditedCaller(Protocol):
    """The authenticated caller."""

    @property
    def subject(self) -> str: ...
    @property
    def agent(self) -> str: ...


class NamesJob(Protocol):
    """What knows the job of a call, if there is one."""

    @property
    def job_id(self) -> str | None: ...


class AuditedArguments(Protocol):
    """The validated arguments."""

    @property
    def given(self) -> dict[str, Any]: ...
    @property
    def effect(self) -> Effect: ...


class AuditedResult(NamesJob, Protocol):
    """What a call returned."""

    @property
    def hidden_characters(self) -> int: ...
    @property
    def fallbacks(self) -> tuple[str, ...]: ...
    @property
    def left_out(self) -> tuple[str, ...]: ...


def success_status(result: AuditedResult | None) -> int:
    """The HTTP status of a call with this result, on all transports. None: it returns nothing."""
    return 200 if result is None or result.job_id is None else ACCEPTED


def job_of(*known: NamesJob | None) -> str | None:
    """The first job that is named."""
    return next((each.job_id for each in known if each is not None and each.job_id), None)


def hidden_in(result: AuditedResult | None, error: BaseException | None) -> int:
    """The number of hidden characters that were removed from the texts of a call."""
    in_error = visible_text(error.detail)[1] if isinstance(error, GatewayError) else 0
    return in_error if result is None else in_error + result.hidden_characters


def with_places(error: GatewayError) -> str:
    """The detail of `error` and the places that it names, on one line."""
    found = [error.detail]
    if isinstance(error, InvalidArguments | InvalidReply | InvalidResult):
        found += [f"{each.pointer or '/'}: {each.detail}." for each in error.violations[:_PLACES]]
    return _one_line(" ".join(found))


def logged_text(error: GatewayError) -> str:
    """What the log says of `error`: no name that a caller chose. It has the
    upstream's sentence only about what the contract knows to be a matter of the operator."""
    if isinstance(error, InvalidArguments | NotPermitted):
        return error.detail
    text = with_places(error)
    return _one_line(with_sentence(text, error.answer)) if error.is_answer_logged else text


def audited_text(
    error: BaseException | None,
    entry: Entry | None,
    arguments: AuditedArguments | None,
    result: AuditedResult | None,
) -> str | None:
    """The same with the sentence of the upstream, whatever it is about. None: nothing has failed.

    It may repeat a part of the arguments, so it is left out if the call has sensitive ones. Of a
    call that succeeded, what failed and was passed over.
    """
    if not isinstance(error, GatewayError):
        return _gaps(result) or None if result else None
    text = logged_text(error)
    if entry and arguments and sensitive_texts(arguments.given, entry.operation.sensitive):
        return text
    return _one_line(with_sentence(text, error.answer))


def _gaps(result: AuditedResult) -> str:
    lacking = (f"left out of the reply: {each}" for each in result.left_out)
    return _one_line("; ".join((*result.fallbacks, *lacking)))


def _one_line(text: str) -> str:
    line = " ".join(visible_text(text)[0].split())
    return line if len(line) <= _MAX_TEXT else line[: _MAX_TEXT - 1] + "…"


def must_be_durable(entry: Entry | None, arguments: AuditedArguments | None) -> bool:
    """Whether the call is more than a read. Its arguments may turn a read into a write."""
    effect = arguments.effect if arguments else entry.operation.effect if entry else Effect.READ
    return effect is not Effect.READ
