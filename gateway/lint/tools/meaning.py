"""Checks bindings against the contracts of their tool and upstream.

Runs after the other checks, because it needs valid contracts.
"""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

import msgspec

from gateway.contract.upstream import Upstream
from gateway.contracts.cache import Remember
from gateway.contracts.finding import Finding
from gateway.contracts.sources.tree import ToolSource
from gateway.contracts.upstreams import lower_upstream
from gateway.lint.draft import Draft
from gateway.lint.soundness import is_sound
from gateway.mapping.fields import BindingSource, MappingError, check, has_map

_POINTER: Final = "/post/x-binding"
_decoder = msgspec.json.Decoder(tuple[MappingError, ...])


def check_meaning(
    draft: Draft, unsound: frozenset[PurePosixPath], remember: Remember
) -> Iterator[Finding]:
    """binding/*, for every tool whose files and upstream's files are sound"""
    upstreams = {
        name: lower_upstream(draft.tree, name)
        for name, document in draft.upstreams.items()
        if is_sound(draft, document.path, unsound)
    }
    for tool in (each for each in draft.tools if each.document.declared is None):
        binding = tool.operation["x-binding"]
        name = binding.get("upstream")
        is_call = name in draft.tree.imports and not has_map(binding)
        if (name is None or name in upstreams or is_call) and is_sound(draft, tool.path, unsound):
            source = _source(draft, tool, upstreams.get(name))
            for problem in _problems(source, remember):
                yield _finding(tool, problem)


def _source(draft: Draft, tool: ToolSource, upstream: Upstream | None) -> BindingSource:
    arguments = "/post/requestBody/content/application~1json/schema"
    result = "/post/responses/200/content/application~1json/schema"
    return BindingSource(
        tool_id=tool.id,
        x_binding=tool.operation["x-binding"],
        input_schema=draft.expanded(tool.path, arguments),
        output_schema=draft.expanded(tool.path, result),
        upstream=upstream,
        declared_errors=frozenset(tool.operation["x-policy"].get("errors", ())),
    )


def _problems(source: BindingSource, remember: Remember) -> tuple[MappingError, ...]:
    """The problems of a binding, from the cache if possible: proofs take milliseconds."""
    basis = msgspec.json.encode(source, order="deterministic").decode()
    problems = remember("binding-check", basis, lambda: msgspec.json.encode(check(source)).decode())
    return _decoder.decode(problems)


def _finding(tool: ToolSource, problem: MappingError) -> Finding:
    pointer = _POINTER + problem.pointer
    return Finding(
        path=str(tool.path),
        line=tool.document.line_of(pointer),
        pointer=pointer,
        rule=problem.rule,
        message=problem.message,
        fix=problem.fix,
    )
