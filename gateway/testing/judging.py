"""What is judged: the answers of all transports to one case, and what imports promise."""

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from gateway.catalogue import Catalogue, Entry, StoredOperation
from gateway.contract.operation import Effect
from gateway.contract.selection import FIELDS
from gateway.contract.values.hidden import holds_hidden
from gateway.contract.values.pointers import NoSuchPlace, child, follow
from gateway.contract.values.schema import Validator
from gateway.encoding.replies.content import BODILESS
from gateway.testing.authority import authority_on, is_beyond
from gateway.testing.cases import Case, stored_operation
from gateway.testing.replays import replay_command
from gateway.testing.transports import REST, STDIO, CallAnswer

VARYING: Final = "(varies)"
UNSENDABLE: Final = 400
"""Of arguments that the schema admits and no request can carry, such as an empty path segment."""
INVALID: Final = 422
BROKEN_REQUEST: Final = "BROKEN_REQUEST"
"""The code of an answer to a call that sent an upstream what its contract does not allow."""
_DEFECT: Final = 500
_REJECTED: Final = "/problems/upstream-rejected"
IMPOSSIBLE: Final = "the mock finds no answer that the document allows"
_IMPOSSIBLE: Final = "The upstream answered 501."
_NOTHING_THERE: Final = "The upstream answered 404"
"""The end of the refusal where a 404 of the upstream is not declared."""
_OF_NAMES: Final = frozenset({"additionalProperties", "propertyNames", "unevaluatedProperties"})
_NO_OBJECT: Final = -32602
"""MCP's own schema says that arguments are an object (JSON-RPC invalid params)."""


Oracle = Literal[
    "verdict", "pointers", "result", "alike", "sent", "arrived", "request", "server-error"
]
MEANING: Final[Mapping[str, str]] = {
    "verdict": "the schema says whether arguments are valid, and the answer says otherwise",
    "pointers": "invalid arguments are refused, but for another place than what is wrong",
    "result": "the result breaks the tool's own contract",
    "alike": "one transport answers otherwise than REST",
    "sent": "arguments that the schema refuses have led to a request to the upstream",
    "arrived": "the tool got other arguments than its caller has sent, or its result has changed",
    "request": "what was sent to the upstream, or what its mock has answered, breaks its document",
    "server-error": "valid arguments end as a defect; its log shows where it was raised",
}
"""What a failure of each oracle means, in words for its reader."""


class Verdict(Struct, frozen=True, kw_only=True):
    """What became of a case over one transport."""

    case: Case
    transport: str
    outcome: Literal["ok", "failed", "skipped"]
    cause: str
    """Why it failed, or was skipped."""
    replay: str
    """The command that makes the call again."""
    oracle: Oracle = "verdict"
    place: str = ""
    """The pointer of the first violation that was answered, if one was."""


def verdict_on(
    case: Case,
    transport: str,
    cause: str | None,
    outcome: Literal["failed", "skipped"] = "failed",
    oracle: Oracle = "verdict",
) -> Verdict:
    """That outcome if there is a cause."""
    return Verdict(
        case=case,
        transport=transport,
        outcome="ok" if cause is None else outcome,
        cause=cause or "",
        replay=replay_command(case.contract, case.arguments),
        oracle=oracle,
    )


def judged(
    case: Case,
    catalogue: Catalogue,
    answers: Mapping[str, CallAnswer],
    *,
    is_sent: bool = False,
    varies: frozenset[str] | None = None,
    again: CallAnswer | None = None,
) -> list[Verdict]:
    """The verdict on the answer of each transport. The first one is the reference.

    `is_sent`: the upstream was asked. `varies`: each transport had a gateway of its own, so all
    results are equal but for the members at these pointers. Without it they share one, and only
    what reads is answered with the same. `again`: the reference for refusals of a made write.
    """
    entry = catalogue.find(case.contract)
    reference, *_ = answers.values()
    if case.expectation == "admitted" and any(map(is_impossible, answers.values())):
        return [verdict_on(case, each, IMPOSSIBLE, "skipped") for each in answers]
    found = []
    for transport, answer in answers.items():
        oracle: Oracle = "verdict"
        if case.expectation == "invalid":
            held = (answer, reference)
            oracle, cause = _wrong_refusal(case, entry, transport, held, is_sent=is_sent)
        elif not answer.accepted and not _may_refuse(case, entry, answer, is_sent=is_sent):
            oracle = "server-error" if answer.status >= _DEFECT else "verdict"
            oracle = "request" if answer.code == BROKEN_REQUEST else oracle
            cause = answer.refusal
        else:
            oracle, cause = "result", None
            if answer.accepted:
                cause = breaks_contract(catalogue, entry, answer.body)
            held_to = reference if answer.accepted else again or reference
            one, other = (_compared(each, entry, varies) for each in (answer, held_to))
            if cause is None and one != other:
                cause = f"differs from {REST}" if answer.accepted else answer.refusal
                oracle = "alike"
        found.append(_placed(verdict_on(case, transport, cause, oracle=oracle), answer))
    return found


def changed_on_the_way(
    case: Case, entry: Entry, transport: str, arrived: bytes
) -> Iterator[Verdict]:
    """A failure if the tool has got other arguments than its caller sent."""
    sent = _with_exact_numbers(case.arguments)
    if entry.members is not None and isinstance(sent, dict):
        sent.pop(FIELDS, None)  # it is a matter of the gateway
    for pointer in sorted(varying(sent, _with_exact_numbers(arrived)))[:1]:
        cause = f"{pointer or '/'}: the tool has got another value than was sent"
        yield verdict_on(case, transport, cause, oracle="arrived")


def changed_on_the_way_back(
    case: Case, entry: Entry, made: bytes, answer: CallAnswer
) -> Iterator[Verdict]:
    """A failure if the caller has got another result over REST than the tool has made.

    The bytes of a file are added to it, hidden characters are removed, and `fields` selects.
    """
    is_whole = not (entry.operation.file_types or entry.operation.is_imported)
    is_same = answer.accepted and is_whole and not holds_hidden(json.loads(made))
    if is_same and FIELDS not in json.loads(case.arguments):
        for pointer in sorted(varying(json.loads(made), answer.body))[:1]:
            cause = f"{pointer or '/'}: the caller has got another value than the tool has made"
            yield verdict_on(case, REST, cause, oracle="arrived")


def _with_exact_numbers(text: bytes) -> Any:
    """A JSON value in which one number is equal to itself, however it is written: 1e20, 1.0."""
    return json.loads(text, parse_int=Decimal, parse_float=lambda each: Decimal(repr(float(each))))


def _placed(verdict: Verdict, answer: CallAnswer) -> Verdict:
    """With the place that the answer names, without the numbers of items."""
    if verdict.outcome != "failed" or not answer.errors:
        return verdict
    pointer, keyword = min(answer.errors)
    steps = ("*" if step.isdecimal() else step for step in pointer.split("/"))
    return replace(verdict, place=f"{'/'.join(steps)} {keyword}")


def failures(verdicts: list[Verdict]) -> list[str]:
    """What failed, with the call that shows it."""
    return [
        f"{each.case.origin} at {each.transport}: {each.cause}; {each.replay}"
        for each in verdicts
        if each.outcome == "failed"
    ]


class Disagreement(AssertionError):
    """A case that failed, with the verdicts on it."""

    def __init__(self, verdicts: list[Verdict]) -> None:
        self.verdicts = [each for each in verdicts if each.outcome == "failed"]
        super().__init__("\n".join(failures(verdicts)))


def agree(verdicts: list[Verdict]) -> None:
    """Raise `Disagreement` if one of them failed."""
    if any(each.outcome == "failed" for each in verdicts):
        raise Disagreement(verdicts)


def _wrong_refusal(
    case: Case,
    entry: Entry,
    transport: str,
    held: tuple[CallAnswer, CallAnswer],
    *,
    is_sent: bool,
) -> tuple[Oracle, str | None]:
    """Why arguments that the schema refuses are not refused as they should be, or None.

    `held`: the answer, and the one that it is held against.
    """
    answer, reference = held
    if is_sent:
        return "sent", "something was sent to the upstream"
    oracle: Oracle = "verdict"
    if transport.startswith(("MCP", STDIO)) and not isinstance(json.loads(case.arguments), dict):
        is_right = (answer.accepted, answer.status) == (False, _NO_OBJECT)
    else:
        is_right = (answer.status, answer.code) == (INVALID, "VALIDATION_ERROR")
        oracle = "pointers" if is_right else "verdict"
        is_right &= bool(answer.errors) and answer.errors == reference.errors
        is_right &= _is_placed(case, entry, answer)
        if is_right and _without_request(answer.body) != _without_request(reference.body):
            oracle, is_right = "alike", False
    return oracle, None if is_right else _told(answer)


def _told(answer: CallAnswer) -> str:
    """What came of invalid arguments instead of a refusal at the right place."""
    if answer.accepted:
        return f"accepted, and answered {json.dumps(answer.body, ensure_ascii=False)}"
    places = ", ".join(
        f"{pointer or '/'} ({keyword})" for pointer, keyword in sorted(answer.errors)
    )
    return f"{answer.refusal}{places and f', at {places}'}"


def _is_placed(case: Case, entry: Entry, answer: CallAnswer) -> bool:
    """Whether a pointer leads to what the authority refuses too, by whichever of its rules.

    Names that the caller chose are shown without what is hidden in them, and cut, so it is enough
    if one does.
    """
    places = authority_on(entry).places(json.loads(case.arguments))
    named = {pointer for pointer, keyword in answer.errors if not is_beyond(keyword)}
    named |= {place.rpartition("/")[0] for place, keyword in answer.errors if keyword in _OF_NAMES}
    return not places or not named or not places.isdisjoint(named)


def _without_request(problem: Mapping[str, Any]) -> dict[str, Any]:
    """A problem without the id of its request: the rest is the same over each transport."""
    return {name: value for name, value in problem.items() if name != "request_id"}


def _may_refuse(case: Case, entry: Entry, answer: CallAnswer, *, is_sent: bool) -> bool:
    if case.expectation == "result":
        return False
    is_declared = answer.status in {each.status for each in entry.operation.errors}
    if case.expectation == "answer":
        # Made arguments name what the mock does not have, and many documents declare no 404.
        return is_declared or _NOTHING_THERE in answer.refusal
    if answer.code == "VALIDATION_ERROR":
        # By what no schema can say.
        return not is_sent and (
            answer.status == UNSENDABLE
            or (answer.status == INVALID and _is_beyond_schemas(case, entry, answer))
        )
    return is_declared or (entry.operation.is_imported and answer.body.get("type") == _REJECTED)


def _is_beyond_schemas(case: Case, entry: Entry, answer: CallAnswer) -> bool:
    """Whether arguments that the schema admits are refused by rules that it cannot say.

    Handlers and functions of maps have rules of their own, whatever they call them. So it is asked
    whether the gate itself is stricter than the authority.
    """
    violations = entry.input.violations(json.loads(case.arguments))
    return bool(answer.errors) and all(is_beyond(each.keyword) for each in violations)


def breaks_contract(catalogue: Catalogue, entry: Entry, values: Any) -> str | None:
    """Where a result breaks its schema, or None."""
    if entry.operation.is_imported:
        return breaks_document(stored_operation(catalogue, entry.id), values)
    return _violation(entry.output, values)


def _violation(validator: Validator, value: Any) -> str | None:
    violations = validator.violations(value)
    return f"{violations[0].pointer or '/'}: {violations[0].detail}" if violations else None


def _compared(answer: CallAnswer, entry: Entry, varies: frozenset[str] | None) -> Any:
    """What is the same for each transport."""
    if varies is not None:
        return masked(answer.body, varies) if answer.accepted else answer.refusal
    is_read = entry.operation.effect is Effect.READ
    if entry.operation.is_imported and not is_read:
        # Its mock keeps what a call has changed, for the next one.
        return None
    head = answer.accepted, answer.status, answer.code, answer.errors
    return (head, answer.body) if is_read and answer.accepted else head


def breaks_document(stored: StoredOperation, result: Any) -> str | None:
    """Where the result of an imported operation breaks the schema of the document, or None."""
    replies = stored.whole().replies
    has_bodies = stored.head.method != "HEAD" and all(each.kind != "empty" for each in replies)
    if stored.head.results == "report" or (result == {} and not (replies and has_bodies)):
        return None
    if any(each.kind == "empty" and each.status not in BODILESS for each in replies):
        # A body that no content describes is passed on, whatever it is.
        return None
    return _violation(Validator(stored.result_schema()), result)


def is_impossible(answer: CallAnswer) -> bool:
    """Whether the mock found no answer that the document allows."""
    return not answer.accepted and answer.body.get("detail") == _IMPOSSIBLE


def varying(one: Any, other: Any, pointer: str = "") -> Iterator[str]:
    """Pointers to the strings and numbers that differ, and to values whose structure differs.

    The structure of a result must not vary: `erratic` has the latter.
    """
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for name in one:
            yield from varying(one[name], other[name], child(pointer, name))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from varying(left, right, child(pointer, index))
    elif type(one) is not type(other) or one != other:
        yield pointer


def erratic(one: Any, other: Any) -> Iterator[str]:
    """Pointers to the values whose structure differs."""
    for pointer in sorted(varying(one, other)):
        try:
            values = follow(one, pointer), follow(other, pointer)
        except NoSuchPlace:
            yield pointer
            continue
        if not all(isinstance(e, str | int | float) and not isinstance(e, bool) for e in values):
            yield pointer


def masked(value: Any, pointers: frozenset[str], pointer: str = "") -> Any:
    """`value` with `VARYING` at each of `pointers`."""
    if pointer in pointers:
        return VARYING
    if isinstance(value, dict):
        return {n: masked(v, pointers, child(pointer, n)) for n, v in value.items()}
    if isinstance(value, list):
        return [masked(v, pointers, child(pointer, i)) for i, v in enumerate(value)]
    return value
