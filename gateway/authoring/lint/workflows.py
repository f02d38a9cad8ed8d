"""Checks of workflow files: what can be read of them, and the tools that they call."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from gateway.authoring.contracts.document import Document
from gateway.authoring.contracts.finding import Finding
from gateway.authoring.contracts.refs import INPUT
from gateway.authoring.contracts.tree import ToolSource
from gateway.authoring.lint.draft import Draft
from gateway.authoring.workflows.reading import Step, Workflow, WorkflowProblem, misplaced, parse
from gateway.contract.values.nearest import did_you_mean
from gateway.contract.values.pointers import child


def check_workflows(draft: Draft) -> Iterator[Finding]:
    """workflow/*"""
    tools = {each.id: each for each in draft.tree.tools}
    found: list[Workflow] = []
    for document in draft.workflows:
        workflows, problems = parse(document)
        yield from (_finding(draft, document, each) for each in problems)
        for workflow in workflows:
            found.append(workflow)
            for step in workflow.steps:
                yield from _check_step(draft, document, step, tools)
    for each, problem in misplaced(found):
        yield _finding(draft, draft.tree.documents[each.path], problem)


def _finding(draft: Draft, document: Document, problem: WorkflowProblem) -> Finding:
    return draft.finding(problem.rule, document, problem.pointer, problem.message, problem.fix)


def _check_step(
    draft: Draft, document: Document, step: Step, tools: Mapping[str, ToolSource]
) -> Iterator[Finding]:
    tool = tools.get(step.operation)
    if tool is not None:
        if tool in draft.tools:
            yield from _check_arguments(draft, document, step, tool)
    elif not _is_unread(draft, step.operation):
        message = f"there is no tool {step.operation}"
        fix = did_you_mean(step.operation, list(tools))
        pointer = child(step.pointer, "operationId")
        yield draft.finding("workflow/operation", document, pointer, message, fix)


def _is_unread(draft: Draft, operation: str) -> bool:
    """Whether an operation may exist that the lint does not know, or has another finding."""
    is_imported = operation.partition(".")[0] in draft.tree.imports
    return not operation or is_imported or draft.tree.is_unread_tool(operation)


def _check_arguments(
    draft: Draft, document: Document, step: Step, tool: ToolSource
) -> Iterator[Finding]:
    schema: Any = draft.expanded(tool.path, INPUT)
    if not isinstance(schema, dict):
        return
    members = schema.get("properties", {})
    known: Collection[str] = members if isinstance(members, dict) else {}
    if schema.get("additionalProperties") is False:
        for name in step.arguments:
            if name not in known:
                message = f"{tool.id} has no argument {name}"
                fix = did_you_mean(name, list(known))
                yield draft.finding("workflow/argument", document, step.pointer, message, fix)
    required = schema.get("required", ())
    for name in required if isinstance(required, list) else ():
        if name not in step.arguments:
            message = f"{tool.id} needs the argument {name}"
            yield draft.finding("workflow/argument", document, step.pointer, message)
