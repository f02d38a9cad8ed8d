"""Runs the plan over every transport and reports the outcome of each tool."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from gateway.catalogue import Catalogue
from gateway.cli.verification.compare import is_leaf, masked, varying
from gateway.cli.verification.plan import Step, steps
from gateway.cli.verification.serving import Gateways
from gateway.cli.verification.transports import (
    TRANSPORTS,
    UNREACHABLE,
    Ask,
    CallRefused,
)
from gateway.cli.verification.world import TransportFailed, World
from gateway.contract.operation import ImportedBinding
from gateway.contract.values.pointers import NoSuchPlace, follow

REFERENCE: Final = "REST"
"""The transport with which the others are compared. It runs twice, to find values that vary."""

_NOTHING_THERE: Final = "The upstream answered 404"
"""The end of the refusal where a 404 of the upstream is not declared."""

Answer = dict[str, Any] | str
"""A result, or the reason why there is none."""
Report = Callable[[str], None]


class ToolReport(Struct, frozen=True, kw_only=True):
    """The outcome for one tool."""

    operation: str
    examples: int
    verified: Mapping[str, int]
    """By transport: the number of examples with a valid result, equal to the reference's."""
    failures: tuple[str, ...] = ()
    varying: tuple[str, ...] = ()
    """Members that differ between runs, such as times. They are not compared between transports."""

    @property
    def is_verified(self) -> bool:
        return not self.failures


async def verify(
    catalogue: Catalogue,
    world: World,
    *,
    connector: str | None = None,
    more: Sequence[Step] = (),
    report: Report,
) -> list[ToolReport]:
    """Run all examples, and `more` calls, over all transports, on mocks.

    Raises `TransportFailed`.
    """
    plan = (*steps(catalogue, connector), *more)
    names = [*TRANSPORTS, REFERENCE]
    async with Gateways(world, report) as gateways:
        # One after the other: each has the machine to itself.
        answers = [await _pass(gateways, name, plan, report) for name in names]
    by_transport = dict(zip(TRANSPORTS, answers[:-1], strict=True))
    varies = [_varying(*pair) for pair in zip(by_transport[REFERENCE], answers[-1], strict=True)]
    # Over all examples of a tool: two runs can give one example the same millisecond.
    by_tool: dict[str, frozenset[str]] = {}
    for step, found in zip(plan, varies, strict=True):
        by_tool[step.entry.id] = by_tool.get(step.entry.id, frozenset()) | found
    checked = [
        _check(step, i, by_transport, answers[-1][i], by_tool[step.entry.id])
        for i, step in enumerate(plan)
    ]
    operations = dict.fromkeys(step.entry.id for step in plan)
    return [_tool_report(each, [j for j in checked if j.operation == each]) for each in operations]


async def _pass(
    gateways: Gateways, name: str, plan: Sequence[Step], report: Report
) -> list[Answer]:
    answers: list[Answer] = []
    failed: Exception | None = None
    try:
        async with TRANSPORTS[name](gateways) as ask:
            for step in plan:
                report(f"{name} {step.entry.id}")
                answers.append(await _answer(ask, step))
    except* (*UNREACHABLE, TransportFailed) as failures:
        failed = _first(failures)
    if isinstance(failed, TransportFailed):
        raise TransportFailed(f"{name}: {failed}")
    if failed is not None:
        # A step without a response ends the pass, because the connection is lost.
        what = f"{name}: {plan[len(answers)].entry.id}" if len(answers) < len(plan) else name
        raise TransportFailed(f"{what}: {type(failed).__name__}")
    return answers


def _first(failures: BaseExceptionGroup[Exception]) -> Exception:
    first = failures.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first


async def _answer(ask: Ask, step: Step) -> Answer:
    try:
        return await ask(step)
    except CallRefused as refused:
        return str(refused)


class _ExampleReport(Struct, frozen=True, kw_only=True):
    """The outcome for one example."""

    operation: str
    verified: tuple[str, ...]
    failures: tuple[str, ...]
    varying: tuple[str, ...]


def _varying(reference: Answer, repeated: Answer) -> frozenset[str]:
    return frozenset(varying(reference, repeated)) if isinstance(reference, dict) else frozenset()


def _check(
    step: Step,
    index: int,
    by_transport: Mapping[str, Sequence[Answer]],
    repeated: Answer,
    varies: frozenset[str],
) -> _ExampleReport:
    reference = by_transport[REFERENCE][index]
    failures = [
        f"{step.example}: {place or '/'} is present in one run and missing in another"
        for place in sorted(_varying(reference, repeated))
        if not _is_leaf_at(reference, repeated, place)
    ]
    verified = []
    for transport, answers in by_transport.items():
        problem = _problem(step, answers[index], reference, varies)
        if problem is None:
            verified.append(transport)
        else:
            failures.append(f"{step.example} at {transport}: {problem}")
    return _ExampleReport(
        operation=step.entry.id,
        verified=tuple(verified),
        failures=tuple(failures),
        varying=tuple(sorted(varies)),
    )


def _problem(step: Step, answer: Answer, reference: Answer, varies: frozenset[str]) -> str | None:
    if isinstance(answer, str):
        return None if answer == reference and _is_expected(step, answer) else answer
    violations = step.entry.output.violations(answer)
    if violations:
        return f"{violations[0].pointer or '/'}: {violations[0].detail}"
    if masked(answer, varies) != masked(reference, varies):
        return f"differs from {REFERENCE}"
    return None


def _is_expected(step: Step, refusal: str) -> bool:
    """Whether an imported operation failed as its document says, or because nothing is there.

    Made arguments name things that the mock does not have, and many documents declare no 404.
    """
    status = refusal.partition(" ")[0]
    operation = step.entry.operation
    is_declared = status in {str(each.status) for each in operation.errors}
    is_missing = _NOTHING_THERE in refusal
    return isinstance(operation.binding, ImportedBinding) and (is_declared or is_missing)


def _is_leaf_at(one: Answer, other: Answer, pointer: str) -> bool:
    try:
        return is_leaf(follow(one, pointer)) and is_leaf(follow(other, pointer))
    except NoSuchPlace:
        return False


def _tool_report(operation: str, checked: Sequence[_ExampleReport]) -> ToolReport:
    return ToolReport(
        operation=operation,
        examples=len(checked),
        verified={
            transport: sum(transport in each.verified for each in checked)
            for transport in TRANSPORTS
        },
        failures=tuple(failure for each in checked for failure in each.failures),
        varying=tuple(dict.fromkeys(place for each in checked for place in each.varying)),
    )
