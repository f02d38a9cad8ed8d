"""Workflows are followed over each transport, and what came of them is told."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cache
from pathlib import Path
from shlex import quote
from typing import Any, Final, NoReturn

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from gateway.amounts import amount
from gateway.app import Gateway
from gateway.auth.keys import ADMINISTRATOR
from gateway.authoring.workflows.conditions import BadCondition, Criterion
from gateway.authoring.workflows.expressions import NoValue, Source, Values, filled
from gateway.authoring.workflows.reading import (
    FollowUp,
    Invariant,
    Step,
    Workflow,
    read_workflows,
)
from gateway.catalogue import Catalogue, Entry
from gateway.cli.reports.record import Check, ReplayLines
from gateway.contract.values.pointers import NoSuchPlace, follow
from gateway.errors import UnknownOperation
from gateway.testing.asgi_server import serving
from gateway.testing.gateways import (
    KEY,
    catalogue_under_test,
    mocked_settings,
    over_inner_pipes,
    project_under_test,
    watch,
)
from gateway.testing.judging import breaks_contract, erratic, masked, varying
from gateway.testing.replays import replay_of
from gateway.testing.transports import (
    HANDSHAKE,
    MODERN,
    REST,
    STDIO,
    Ask,
    CallAnswer,
    Mcp,
    Rest,
    client,
    over_http,
)

CHECK: Final = "workflow"
MOST_CALLS: Final = 500
"""So many calls one workflow may make: `goto` can lead in a circle."""
_LONGEST_SHOWN: Final = 300
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d", re.ASCII)


class Made(Struct, frozen=True):
    """A call that was made."""

    step: Step
    entry: Entry
    arguments: bytes
    key: str | None
    answer: CallAnswer

    @property
    def shown(self) -> dict[str, Any]:
        """What is compared between transports."""
        return {"status": self.answer.status, "body": self.answer.body}

    @property
    def replay(self) -> ReplayLines:
        """The call as lines to paste."""
        return replay_of(self.entry, self.arguments, self.key)


class UnmetCondition(Struct, frozen=True, kw_only=True):
    """Why a workflow failed: the first condition that was not met."""

    step: str
    pointer: str
    """The place in the workflow's file."""
    expression: str
    expected: str
    got: str

    def __str__(self) -> str:
        return f"step {self.step}: {self.expression}: expected {self.expected}, got {self.got}"


class WorkflowRun(Struct, frozen=True, kw_only=True):
    """What came of a workflow."""

    workflow: Workflow
    calls: tuple[Made, ...]
    outputs: Mapping[str, Any] = {}
    failure: UnmetCondition | None = None

    @property
    def replay(self) -> ReplayLines:
        """All calls up to the failure, one line each: the later ones need the earlier ones."""
        return ReplayLines(
            command=f"gateway test -- -k {quote(self.workflow.id)}",
            curl="\n".join(each.replay.curl or "" for each in self.calls) or None,
            rpc="\n".join(each.replay.rpc or "" for each in self.calls) or None,
        )

    @property
    def last_answers(self) -> dict[str, Any]:
        """The last answer to each step: earlier ones were repeated, as often as it took."""
        return {each.step.id: each.shown for each in self.calls}


class Stopped(Exception):
    """The run ends with a failure."""

    def __init__(self, failure: UnmetCondition) -> None:
        super().__init__(str(failure))
        self.failure = failure


async def run_all(
    workflows: Sequence[Workflow], catalogue: Catalogue, ask: Ask
) -> dict[str, WorkflowRun]:
    """What came of each workflow, over one transport of one gateway."""
    runs: dict[str, WorkflowRun] = {}
    for each in workflows:
        before = {name: runs[name].outputs for name in each.needs}
        runs[each.id] = await run(each, catalogue, ask, before)
    return runs


async def run(
    workflow: Workflow,
    catalogue: Catalogue,
    ask: Ask,
    before: Mapping[str, Mapping[str, Any]] | None = None,
) -> WorkflowRun:
    """Follow a workflow. `before`: the outputs of those that it needs."""
    follower = _Follower(workflow, catalogue, ask, before or {})
    failure, outputs = None, {}
    try:
        await follower.follow()
        outputs = follower.outputs()
    except Stopped as stopped:
        failure = stopped.failure
    return WorkflowRun(
        workflow=workflow, calls=tuple(follower.calls), outputs=outputs, failure=failure
    )


class _Follower:
    def __init__(
        self,
        workflow: Workflow,
        catalogue: Catalogue,
        ask: Ask,
        before: Mapping[str, Mapping[str, Any]],
    ) -> None:
        self._workflow = workflow
        self._catalogue = catalogue
        self._ask = ask
        self._steps: dict[str, dict[str, Any]] = {}
        self._state = Values(inputs=workflow.inputs, steps=self._steps, workflows=before)
        self._repeated: dict[str, int] = {}
        self._open: list[Invariant] = list(workflow.invariants)
        """Those that nothing has checked."""
        self.calls: list[Made] = []

    async def follow(self) -> None:
        steps = self._workflow.steps
        places = {each.id: number for number, each in enumerate(steps)}
        number: int | None = 0
        while number is not None and number < len(steps):
            step = steps[number]
            taken = await self._take(step)
            if taken is None:
                number += 1
            elif taken.kind == "retry":
                await asyncio.sleep(taken.after_seconds)
            else:
                number = None if taken.kind == "end" else places[taken.step or ""]
                self._open = [] if taken.kind == "end" else self._open
        for each in self._open:
            got = "a run in which a value of it was never there"
            self._stop(steps[-1], each.criterion, "to be checked", got)

    async def _take(self, step: Step) -> FollowUp | None:
        """Make the call. Returns the action that follows, None for the next step."""
        made = await self._call(step)
        state = replace(
            self._state,
            request=json.loads(made.arguments),
            response=made.answer.body,
            status=made.answer.status,
        )
        failure = self._failure(made, state)
        if failure is None:
            self._keep_outputs(step, state)
            self._check_invariants(step)
            return self._chosen(step, step.on_success, state)
        action = self._chosen(step, step.on_failure, state)
        if action is None:
            raise Stopped(failure)
        if action.kind == "retry":
            count = self._repeated[step.id] = self._repeated.get(step.id, 0) + 1
            if count > action.limit:
                raise Stopped(
                    replace(failure, got=f"{failure.got}, after {amount(count - 1, 'repetition')}")
                )
        return action

    async def _call(self, step: Step) -> Made:
        if len(self.calls) >= MOST_CALLS:
            self._fail(step, step.pointer, "the workflow", f"at most {MOST_CALLS} calls", "more")
        try:
            entry = self._catalogue.find(step.operation)
        except UnknownOperation:
            where = "operationId", "a tool that exists"
            self._fail(step, step.pointer, where[0], where[1], step.operation)
        try:
            arguments = filled(dict(step.arguments), self._state)
            key = None if step.key is None else str(filled(step.key, self._state))
        except NoValue as missing:
            self._fail(step, step.pointer, str(missing), "a value", "nothing")
        text = msgspec.json.encode(arguments)
        answer = await self._ask(entry, text, key)
        made = Made(step, entry, text, key, answer)
        self.calls.append(made)
        return made

    def _failure(self, made: Made, state: Values) -> UnmetCondition | None:
        """Why a step is no success."""
        step, answer = made.step, made.answer
        broken = (
            breaks_contract(self._catalogue, made.entry, answer.body) if answer.accepted else None
        )
        if broken is not None:
            what = "a result by its contract"
            return _failed(step, step.pointer, made.entry.id, what, broken)
        if not step.criteria and not answer.accepted:
            return _failed(step, step.pointer, made.entry.id, "a result", answer.refusal)
        for each in step.criteria:
            if (failure := _unmet(step, each, state)) is not None:
                is_refused = not answer.accepted
                got = f"{failure.got} ({answer.refusal})" if is_refused else failure.got
                return replace(failure, got=got)
        return None

    def _keep_outputs(self, step: Step, state: Values) -> None:
        found = {}
        for name, source in step.outputs.items():
            try:
                found[name] = source.read(state)
            except NoValue:
                at = f"{step.pointer}/outputs/{name}"
                self._fail(step, at, source.text, "a value", _shown(state.response))
        self._steps[step.id] = found

    def _check_invariants(self, step: Step) -> None:
        for each in self._workflow.invariants:
            if not self._is_ready(each.criterion):
                continue
            self._open = [other for other in self._open if other is not each]
            if (failure := _unmet(step, each.criterion, self._state)) is not None:
                text = f"invariant {each.name!r}: {failure.expression}"
                raise Stopped(replace(failure, expression=text))

    def _is_ready(self, criterion: Criterion) -> bool:
        return all(each.root != "steps" or each.of in self._steps for each in criterion.sources())

    def _chosen(self, step: Step, actions: Sequence[FollowUp], state: Values) -> FollowUp | None:
        for each in actions:
            if all(_unmet(step, criterion, state) is None for criterion in each.criteria):
                return each
        return None

    def outputs(self) -> dict[str, Any]:
        """The outputs of the workflow. One whose step was left out is left out."""
        found = {}
        for name, source in self._workflow.outputs.items():
            if source.root != "steps" or source.of in self._steps:
                found[name] = self._output(name, source)
        return found

    def _output(self, name: str, source: Source) -> Any:
        try:
            return source.read(self._state)
        except NoValue:
            at = f"{self._workflow.pointer}/outputs/{name}"
            self._fail(self._workflow.steps[-1], at, source.text, "a value", "nothing")

    def _stop(self, step: Step, criterion: Criterion, expected: str, got: str) -> None:
        self._fail(step, criterion.pointer, criterion.text, expected, got)

    def _fail(self, step: Step, pointer: str, expression: str, expected: str, got: str) -> NoReturn:
        raise Stopped(_failed(step, pointer, expression, expected, got))


def _failed(step: Step, pointer: str, expression: str, expected: str, got: str) -> UnmetCondition:
    return UnmetCondition(
        step=step.id, pointer=pointer, expression=expression, expected=expected, got=got
    )


def _unmet(step: Step, criterion: Criterion, state: Values) -> UnmetCondition | None:
    """Why a criterion is not met, with the values that it has read."""
    expected = "it to hold"
    try:
        if criterion.holds(state):
            return None
        got = ", ".join(_read(each, state) for each in dict.fromkeys(criterion.sources()))
    except NoValue as missing:
        expected, got = "a value", f"nothing at {missing}"
    except BadCondition as bad:
        got = f"{bad}: " + ", ".join(_read(each, state) for each in criterion.sources())
    return _failed(step, criterion.pointer, criterion.text, expected, got)


def _read(source: Source, state: Values) -> str:
    try:
        return f"{source.text} = {_shown(source.read(state))}"
    except NoValue:
        return f"nothing at {source.text}"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def differences(runs: Mapping[str, WorkflowRun], again: WorkflowRun) -> Iterator[tuple[str, str]]:
    """Transports on which answers differ from those of the first, and where.

    `again`: a second run over the first transport, in a gateway of its own. What differs there
    varies, such as times, and is not compared.
    """
    (first, reference), *others = runs.items()
    one = reference.last_answers
    for place in erratic(one, again.last_answers):
        yield first, f"{place or '/'} is present in one run and missing in another"
    varies = frozenset(varying(one, again.last_answers))
    for name, each in others:
        here, there = masked(one, varies), masked(each.last_answers, varies)
        found = sorted(at for at in varying(here, there) if not _are_times(here, there, at))
        if found:
            yield name, f"{found[0] or '/'} differs from {first}"


def _are_times(one: Any, other: Any, place: str) -> bool:
    """Whether both sides have a time there, which may by chance be equal in the second run."""
    with suppress(NoSuchPlace):
        found = follow(one, place), follow(other, place)
        return all(isinstance(each, str) and _TIME.match(each) for each in found)
    return False


def check_of(transport: str, run: WorkflowRun, difference: str | None = None) -> Check:
    """The record of a workflow over one transport."""
    failure, workflow = run.failure, run.workflow
    text = difference or ""
    if failure is not None:
        text = f"workflow {workflow.id} at {transport}, {failure}"
    return Check(
        subject=workflow.id,
        check=CHECK,
        outcome="failed" if text else "passed",
        text=text,
        cases=len(run.calls),
        path=str(workflow.path),
        line=workflow.line,
        pointer=failure.pointer if failure else workflow.pointer,
        cause=f"{workflow.id} {failure.pointer if failure else difference or ''}".strip(),
        replay=run.replay if text else ReplayLines(),
    )


PASSES: Final = (REST, f"MCP {MODERN}", f"MCP {HANDSHAKE}", STDIO)
"""The transports over which workflows are followed."""
_QUICK: Final = "100000"
"""People of mocks answer at once: a workflow waits for them."""


class WorkflowPasses(Struct, frozen=True):
    """What came of all workflows over each transport."""

    by_transport: Mapping[str, Mapping[str, WorkflowRun]]
    again: Mapping[str, WorkflowRun]
    """Of a second pass over REST."""

    def checks(self, workflow: str) -> list[Check]:
        """A record for each transport."""
        runs = {name: found[workflow] for name, found in self.by_transport.items()}
        failed = any(each.failure for each in (*runs.values(), self.again[workflow]))
        # Where one of them failed, the others have gone further.
        different = {} if failed else dict(differences(runs, self.again[workflow]))
        checks = [check_of(name, each, different.get(name)) for name, each in runs.items()]
        if all(each.outcome == "passed" for each in checks) and failed:
            checks.append(check_of(f"{REST}, a second time", self.again[workflow]))
        return checks


@cache
def workflows_under_test() -> tuple[Workflow, ...]:
    """The workflows of the project, each after those that it needs. Raises `ContractRefused`."""
    return read_workflows(project_under_test().schemas)


async def follow_workflows(workflows: Sequence[Workflow], folder: Path) -> WorkflowPasses:
    """Follow `workflows` over each transport, each time with a gateway and mocks of its own.

    `folder` is empty, for the state of the gateways.
    """
    passes: list[dict[str, WorkflowRun]] = []
    for number, name in enumerate((*PASSES, REST)):
        async with _opened(folder / str(number), name) as (catalogue, ask):
            passes.append(await run_all(workflows, catalogue, ask))
    return WorkflowPasses(dict(zip(PASSES, passes, strict=False)), passes[-1])


@asynccontextmanager
async def _opened(data: Path, transport: str) -> AsyncIterator[tuple[Catalogue, Ask]]:
    """A gateway on mocks, with all tools granted, at work: mocks send it their webhooks."""
    settings = mocked_settings(data, GATEWAY_BOOTSTRAP_KEY=KEY, GATEWAY_MOCK_SPEED=_QUICK)
    granted = frozenset(entry.id for entry in catalogue_under_test().entries)
    async with (
        Gateway.open(settings, grants={ADMINISTRATOR: granted}) as gateway,
        serving(gateway.http_app()) as url,
        gateway.at_work(url),
        client(url, KEY) as http,
        over_inner_pipes(gateway) as piped,
    ):
        dict(watch(gateway))
        exchange = piped if transport == STDIO else over_http(http)
        spoken = Mcp(exchange, HANDSHAKE if transport.endswith(HANDSHAKE) else MODERN)
        if transport.endswith(HANDSHAKE):
            await spoken.shake_hands()
        yield gateway.parts.catalogue, Rest(http).call if transport == REST else spoken.call
