"""Reads workflow files, of which it has checked the shape, to records; every problem is named."""

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final, Literal

from msgspec import Struct

from gateway.authoring.contracts import meta
from gateway.authoring.contracts.document import Document, finding_at, read_document
from gateway.authoring.contracts.finding import ContractRefused, Finding
from gateway.authoring.contracts.tree import WORKFLOW_SUFFIX, WORKFLOWS
from gateway.authoring.workflows.conditions import BadCondition, Criterion, criterion
from gateway.authoring.workflows.expressions import Source, expressions_in, parse_source
from gateway.contract.values.pointers import child, steps
from gateway.contract.values.schema import Validator

META: Final = "workflow.schema.json"
RETRIES: Final = 3
"""How often a step is repeated if its action names no `retryLimit`."""
_PATH: Final = re.compile(r"\{\$sourceDescriptions\.[A-Za-z0-9_-]+\.url\}#(/paths/[^/]+/post)")
_NAMED: Final = re.compile(r"\$sourceDescriptions\.[A-Za-z0-9_-]+\.(.+)")
_ROUTE: Final = re.compile(r"/v1/([a-z][a-z0-9_]*)/([a-z][a-z0-9_]*)")
KEY: Final = "idempotency-key"
_EXPRESSIONS: Final = (
    "write $inputs.name, $steps.id.outputs.name, $workflows.id.outputs.name, "
    "$request.body#/pointer, $response.body#/pointer or $statusCode"
)
_HEADERS: Final = "read a member of $response.body: a workflow runs over MCP too, without headers"
_BEFORE: Final = frozenset({"inputs", "steps", "workflows"})
_AFTER: Final = _BEFORE | {"request", "response", "status"}


class FollowUp(Struct, frozen=True, kw_only=True):
    """What follows a step that ended well, or not."""

    pointer: str
    name: str
    kind: Literal["end", "goto", "retry"]
    step: str | None = None
    after_seconds: float = 0.0
    limit: int = RETRIES
    criteria: tuple[Criterion, ...] = ()


class Step(Struct, frozen=True, kw_only=True):
    """One call, and what must come of it."""

    id: str
    pointer: str
    operation: str
    """The id of the tool, or the `operationId` of an imported operation."""
    arguments: Mapping[str, Any]
    """With expressions in the place of values."""
    key: Any = None
    """The idempotency key of the call."""
    criteria: tuple[Criterion, ...] = ()
    outputs: Mapping[str, Source] = {}
    on_success: tuple[FollowUp, ...] = ()
    on_failure: tuple[FollowUp, ...] = ()


class Invariant(Struct, frozen=True, kw_only=True):
    """What holds after each step, from the step on that gives the last of its values."""

    name: str
    criterion: Criterion


class Workflow(Struct, frozen=True, kw_only=True):
    """A sequence of calls."""

    id: str
    path: PurePosixPath
    """The file, relative to the schemas folder."""
    pointer: str
    line: int
    inputs: Mapping[str, Any]
    """The default or the first example of each input."""
    needs: tuple[str, ...] = ()
    """The workflows that run before."""
    steps: tuple[Step, ...]
    outputs: Mapping[str, Source] = {}
    invariants: tuple[Invariant, ...] = ()


class WorkflowProblem(Struct, frozen=True, kw_only=True):
    """Why a file cannot be followed, at one place of it."""

    pointer: str
    rule: str
    message: str
    fix: str


def parse(document: Document) -> tuple[tuple[Workflow, ...], tuple[WorkflowProblem, ...]]:
    """The workflows of a file that has the right shape, and its problems.

    With a problem, the workflows are not to be followed.
    """
    reader = _Reader(document)
    found = tuple(
        reader.workflow(written, child("/workflows", index))
        for index, written in enumerate(document.value["workflows"])
    )
    reader.check_unique([each.id for each in found], "/workflows", "workflowId")
    return found, tuple(reader.problems)


def read_workflows(schemas: Path) -> tuple[Workflow, ...]:
    """All workflows of a schemas folder, each after those that it needs.

    Raises `ContractRefused`, with a finding for each problem.
    """
    found: list[Workflow] = []
    findings: list[Finding] = []
    for file in sorted((schemas / WORKFLOWS).glob(f"*{WORKFLOW_SUFFIX}")):
        document = read_document(schemas, PurePosixPath(WORKFLOWS, file.name))
        refused = [
            WorkflowProblem(
                pointer=e.pointer, rule="shape/workflow", message=e.detail, fix="see the lint"
            )
            for e in meta.validator(META).violations(document.value)
        ]
        parsed: tuple[Workflow, ...] = ()
        problems: tuple[WorkflowProblem, ...] = tuple(refused)
        if not refused:
            parsed, problems = parse(document)
        found += parsed
        findings += [_finding(document, each) for each in problems]
    if not findings:
        findings = [_at(schemas, *each) for each in misplaced(found)]
    if findings:
        raise ContractRefused(findings)
    return in_order(found)


def _finding(document: Document, problem: WorkflowProblem) -> Finding:
    return finding_at(document, problem.pointer, problem.rule, problem.message, problem.fix)


def _at(schemas: Path, workflow: Workflow, problem: WorkflowProblem) -> Finding:
    return _finding(read_document(schemas, workflow.path), problem)


def misplaced(workflows: Collection[Workflow]) -> Iterator[tuple[Workflow, WorkflowProblem]]:
    """Problems between workflows, of one file or of several."""
    known: set[str] = set()
    for each in workflows:
        if each.id in known:
            yield each, _problem(each.pointer, "name", f"{each.id} is there twice", "rename one")
        known.add(each.id)
    for each in workflows:
        for other in each.needs:
            if other not in known:
                message = f"needs {other}, which no file has"
                yield each, _problem(each.pointer, "unknown-step", message, "correct the name")
    circular = {each.id for each in workflows} - {each.id for each in in_order(workflows)}
    for each in workflows:
        if each.id in circular and not set(each.needs) - known:
            message = f"{each.id} waits for itself"
            yield each, _problem(each.pointer, "unknown-step", message, "remove a dependsOn")


def in_order(workflows: Collection[Workflow]) -> tuple[Workflow, ...]:
    """Each after those that it needs. Those that wait for themselves are left out."""
    done: dict[str, Workflow] = {}
    left = list(workflows)
    while ready := [each for each in left if done.keys() >= set(each.needs)]:
        done |= {each.id: each for each in ready}
        left = [each for each in left if each.id not in done]
    return tuple(done.values())


def _problem(pointer: str, rule: str, message: str, fix: str) -> WorkflowProblem:
    return WorkflowProblem(pointer=pointer, rule=f"workflow/{rule}", message=message, fix=fix)


class _Reader:
    """Collects problems. A part with a problem is left out, and reading continues."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self.problems: list[WorkflowProblem] = []
        self._outputs: Mapping[str, Collection[str]] = {}
        """Of each step of the workflow that is being read."""
        self._needs: Collection[str] = ()

    def refuse(self, pointer: str, rule: str, message: str, fix: str) -> None:
        self.problems.append(_problem(pointer, rule, message, fix))

    def check_unique(self, names: list[str], pointer: str, member: str) -> None:
        for index, name in enumerate(names):
            if name in names[:index]:
                at = child(child(pointer, index), member)
                self.refuse(at, "name", f"{name} is there twice", "rename one of them")

    def workflow(self, written: Mapping[str, Any], pointer: str) -> Workflow:
        self._outputs = {e["stepId"]: e.get("outputs", {}) for e in written["steps"]}
        self._needs = written.get("dependsOn", ())
        below = child(pointer, "steps")
        self.check_unique([each["stepId"] for each in written["steps"]], below, "stepId")
        return Workflow(
            id=written["workflowId"],
            path=self._document.path,
            pointer=pointer,
            line=self._document.line_of(pointer),
            inputs=self._inputs(written.get("inputs", {}), child(pointer, "inputs")),
            needs=tuple(self._needs),
            steps=tuple(
                self._step(each, child(below, index)) for index, each in enumerate(written["steps"])
            ),
            outputs=self._sources(written, child(pointer, "outputs"), _BEFORE),
            invariants=tuple(
                Invariant(name=each["name"], criterion=found)
                for index, each in enumerate(written.get("x-invariants", ()))
                if (
                    found := self._criterion(
                        each, child(child(pointer, "x-invariants"), index), _BEFORE
                    )
                )
            ),
        )

    def _inputs(self, schema: Mapping[str, Any], pointer: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, each in schema.get("properties", {}).items():
            if "default" in each:
                found[name] = each["default"]
            elif each.get("examples"):
                found[name] = each["examples"][0]
        try:
            violations = Validator(dict(schema)).violations(found)
        except ValueError as error:
            message, fix = f"is no JSON Schema: {error}", "correct the schema"
            self.refuse(pointer, "input", message, fix)
            return found
        for each in violations:
            message = f"the values that the suite would give are refused: {each.detail}"
            self.refuse(pointer, "input", message, "give each input a default or examples")
        return found

    def _step(self, written: Mapping[str, Any], pointer: str) -> Step:
        arguments, key = self._call(written, pointer)
        return Step(
            id=written["stepId"],
            pointer=pointer,
            operation=self._operation(written, pointer),
            arguments=arguments,
            key=key,
            criteria=self._criteria(written, child(pointer, "successCriteria")),
            outputs=self._sources(written, child(pointer, "outputs"), _AFTER),
            on_success=self._actions(written, child(pointer, "onSuccess")),
            on_failure=self._actions(written, child(pointer, "onFailure")),
        )

    def _operation(self, written: Mapping[str, Any], pointer: str) -> str:
        if "operationId" in written:
            named = _NAMED.fullmatch(written["operationId"])
            return named[1] if named else str(written["operationId"])
        found = _PATH.fullmatch(written["operationPath"])
        route = _ROUTE.fullmatch(steps(found[1])[1]) if found else None
        if route is None:
            at = child(pointer, "operationPath")
            message = "names no tool"
            fix = "write {$sourceDescriptions.<name>.url}#/paths/~1v1~1<connector>~1<tool>/post"
            self.refuse(at, "operation", message, fix)
            return ""
        return f"{route[1]}.{route[2]}"

    def _call(self, written: Mapping[str, Any], pointer: str) -> tuple[dict[str, Any], Any]:
        """The arguments, and the idempotency key."""
        body = written.get("requestBody", {})
        arguments = dict(body.get("payload", {}))
        key = None
        for name, value in body.get("payload", {}).items():
            self._check(value, child(child(child(pointer, "requestBody"), "payload"), name))
        for index, each in enumerate(written.get("parameters", ())):
            at = child(child(pointer, "parameters"), index)
            self._check(each["value"], child(at, "value"))
            if each["in"] == "query":
                arguments[each["name"]] = each["value"]
            elif each["name"].lower() == KEY:
                key = each["value"]
            else:
                message = f"the header {each['name']} has no equal over MCP"
                self.refuse(child(at, "name"), "operation", message, "only Idempotency-Key has one")
        return arguments, key

    def _check(self, value: Any, pointer: str) -> None:
        for at, text in expressions_in(value, pointer):
            self._source(text, at, _BEFORE)

    def _sources(
        self, written: Mapping[str, Any], pointer: str, allowed: Collection[str]
    ) -> dict[str, Source]:
        found = {}
        for name, text in written.get("outputs", {}).items():
            if source := self._source(text, child(pointer, name), allowed):
                found[name] = source
        return found

    def _source(self, text: str, pointer: str, allowed: Collection[str]) -> Source | None:
        source = parse_source(text)
        if source is None:
            fix = _HEADERS if text.startswith("$response.header") else _EXPRESSIONS
            self.refuse(pointer, "expression", f"{text} is not supported here", fix)
            return None
        return source if self._is_there(source, pointer, allowed) else None

    def _is_there(self, source: Source, pointer: str, allowed: Collection[str]) -> bool:
        if source.root not in allowed:
            message, fix = f"{source.text} is not known here", "use outputs of steps"
            self.refuse(pointer, "expression", message, fix)
            return False
        if source.root == "steps" and source.output not in self._outputs.get(source.of, ()):
            message = f"no step {source.of} has the output {source.output}"
            self.refuse(pointer, "unknown-step", message, "correct the names")
            return False
        if source.root == "workflows" and source.of not in self._needs:
            message = f"{source.of} does not run before this workflow"
            self.refuse(pointer, "unknown-step", message, f"add {source.of} to dependsOn")
            return False
        return True

    def _criteria(self, written: Mapping[str, Any], pointer: str) -> tuple[Criterion, ...]:
        name = steps(pointer)[-1]
        found = (
            self._criterion(each, child(pointer, index), _AFTER)
            for index, each in enumerate(written.get(name, ()))
        )
        return tuple(each for each in found if each)

    def _criterion(
        self, written: Mapping[str, Any], pointer: str, allowed: Collection[str]
    ) -> Criterion | None:
        try:
            found = criterion(pointer, written)
        except BadCondition as error:
            fix = "see the conditions in docs/author/workflows.md"
            self.refuse(child(pointer, "condition"), "condition", str(error), fix)
            return None
        sources = list(found.sources())
        if not sources:
            message, fix = "reads nothing, so it says nothing of the run", "compare a value of it"
            self.refuse(child(pointer, "condition"), "condition", message, fix)
        is_there = [self._is_there(each, child(pointer, "condition"), allowed) for each in sources]
        return found if all(is_there) and is_there else None

    def _actions(self, written: Mapping[str, Any], pointer: str) -> tuple[FollowUp, ...]:
        return tuple(
            self._action(each, child(pointer, index))
            for index, each in enumerate(written.get(steps(pointer)[-1], ()))
        )

    def _action(self, written: Mapping[str, Any], pointer: str) -> FollowUp:
        step = written.get("stepId")
        if written["type"] == "goto" and step not in self._outputs:
            message = f"there is no step {step}" if step else "names no step"
            self.refuse(pointer, "unknown-step", message, "write the stepId of one of the steps")
        return FollowUp(
            pointer=pointer,
            name=written["name"],
            kind=written["type"],
            step=step,
            after_seconds=written.get("retryAfter", 0),
            limit=written.get("retryLimit", RETRIES),
            criteria=self._criteria(written, child(pointer, "criteria")),
        )
