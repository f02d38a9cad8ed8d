"""Lint rules of publication that single tools break on purpose (`x-mcp.waive`)."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from gateway.contracts.finding import Finding
from gateway.contracts.sources.tree import ToolSource
from gateway.lint.draft import Draft


def without_waived(draft: Draft, found: Iterable[Finding]) -> Iterator[Finding]:
    """`found` without what tools waive in their own files, and tool/waiver for idle waivers.

    Files of `common/` are of all tools, so no tool waives what they break.
    """
    waivers = {
        (path, waiver["rule"]): (tool.id, index)
        for tool in draft.tools
        for index, waiver in enumerate(_waivers(tool))
        for path in _files(tool)
    }
    used = set()
    for finding in found:
        place = waivers.get((PurePosixPath(finding.path), finding.rule))
        if place is None:
            yield finding
        used.add(place)
    for tool in draft.tools:
        for index, waiver in enumerate(_waivers(tool)):
            if (tool.id, index) not in used:
                message = f"{waiver['rule']} has no finding in the files of this tool"
                pointer = f"/post/x-mcp/waive/{index}"
                yield draft.finding("tool/waiver", tool.document, pointer, message)


def _waivers(tool: ToolSource) -> Iterable[Mapping[str, str]]:
    found: Iterable[Mapping[str, str]] = tool.operation["x-mcp"].get("waive", ())
    return found


def _files(tool: ToolSource) -> Iterator[PurePosixPath]:
    yield tool.path
    for half in ("input", "output"):
        yield tool.path.with_name(f"{tool.tool}.{half}.json")
