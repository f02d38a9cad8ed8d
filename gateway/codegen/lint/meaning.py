"""Bindings, held against the two contracts they join. Needs both to be sound, so it runs last."""

from collections.abc import Collection, Iterator
from pathlib import PurePosixPath
from typing import Final

import msgspec

from gateway.codegen.cache import Remember
from gateway.codegen.fieldmap import BindingSource, Problem, check
from gateway.codegen.finding import ContractRefused, Finding, Severity
from gateway.codegen.lint.draft import Draft
from gateway.codegen.sources.refs import closure
from gateway.codegen.sources.tree import ToolSource
from gateway.codegen.upstreams import lower_upstream
from gateway.contract.upstream import Upstream

_POINTER: Final = "/post/x-binding"
_NEEDS: Final = (
    *("file/", "json/", "yaml/", "ref/", "schema/", "shape/", "upstream/", "binding/"),
    *("tool/schema-file", "publish/root"),
)
"""Rules without which a contract cannot be compared with another."""
_decoder = msgspec.json.Decoder(tuple[Problem, ...])


def unsound_files(findings: Collection[Finding]) -> frozenset[PurePosixPath]:
    """The files in which something is wrong that comparing contracts would stumble over."""
    return frozenset(
        PurePosixPath(finding.path)
        for finding in findings
        if finding.severity is Severity.ERROR and finding.rule.startswith(_NEEDS)
    )


def check_meaning(
    draft: Draft, unsound: frozenset[PurePosixPath], remember: Remember
) -> Iterator[Finding]:
    """binding/*, for every tool whose files, and whose upstream's files, are all sound."""
    upstreams = {
        name: lower_upstream(draft.tree, name)
        for name, document in draft.upstreams.items()
        if _is_sound(draft, document.path, unsound)
    }
    for tool in draft.tools:
        name = tool.operation["x-binding"].get("upstream")
        if (name is None or name in upstreams) and _is_sound(draft, tool.path, unsound):
            source = _source(draft, tool, upstreams.get(name))
            for problem in _problems(source, remember):
                yield _finding(tool, problem)


def _is_sound(draft: Draft, path: PurePosixPath, unsound: frozenset[PurePosixPath]) -> bool:
    try:
        return unsound.isdisjoint(closure(draft.tree, path))
    except ContractRefused:
        return False


def _source(draft: Draft, tool: ToolSource, upstream: Upstream | None) -> BindingSource:
    given = "/post/requestBody/content/application~1json/schema"
    answered = "/post/responses/200/content/application~1json/schema"
    return BindingSource(
        tool_id=tool.id,
        x_binding=tool.operation["x-binding"],
        input_schema=draft.expanded(tool.path, given),
        output_schema=draft.expanded(tool.path, answered),
        upstream=upstream,
        declared_errors=frozenset(tool.operation["x-policy"].get("errors", ())),
    )


def _problems(source: BindingSource, remember: Remember) -> tuple[Problem, ...]:
    """What is wrong with a binding. Proofs cost milliseconds, so that verdicts are remembered."""
    basis = msgspec.json.encode(source, order="deterministic").decode()
    verdict = remember("binding-check", basis, lambda: msgspec.json.encode(check(source)).decode())
    return _decoder.decode(verdict)


def _finding(tool: ToolSource, problem: Problem) -> Finding:
    pointer = _POINTER + problem.pointer
    return Finding(
        path=str(tool.path),
        line=tool.document.line_of(pointer),
        pointer=pointer,
        rule=problem.rule,
        message=problem.message,
        fix=problem.fix,
    )
