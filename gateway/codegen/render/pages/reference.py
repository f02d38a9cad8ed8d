"""Reference pages of tools, one per tool."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Final

from gateway.amounts import amount
from gateway.codegen.ir import Example, ToolContract
from gateway.codegen.render.artifact import Artifact, pretty
from gateway.codegen.render.pages.fields import DocumentedField, fields_of
from gateway.codegen.render.pages.markdown import (
    code,
    fenced,
    inline,
    joined,
    page_header,
    prose,
    table,
)
from gateway.codegen.render.published_selection import published_input
from gateway.contract.operation import JOB_AFTER_SECONDS, Attempts, Escalation, TaskMode
from gateway.contract.policies.limits import ToolLimits
from gateway.contracts.cache import Remember

_EFFECTS: Final[Mapping[str, str]] = {
    "read": "reads; changes nothing",
    "write": "writes; adds, changes or sends something",
    "destroy": "destroys; removes something that cannot be restored",
}
_BASE_URL: Final = "http://127.0.0.1:8700"


def page(tool: ToolContract, remember: Remember) -> Artifact:
    """`<connector>/<tool>.md`: the reference of one tool for callers."""
    text = joined((page_header(tool.source), text_of(tool, remember).rstrip("\n")))
    return Artifact("docs", PurePosixPath(f"{tool.connector}/{tool.tool}.md"), text)


def text_of(tool: ToolContract, remember: Remember) -> str:
    """The page without the note of the generator."""
    basis = f"{tool.id} {tool.source.path} {tool.source.sha256}"
    return remember("page", basis, lambda: _page(tool))


def _page(tool: ToolContract) -> str:
    return joined(
        (
            f"# {inline(tool.title)}",
            prose(tool.description),
            _facts(tool),
            "## Arguments",
            _fields(fields_of(published_input(tool)), has_defaults=True) or "None.",
            "## Result",
            _fields(fields_of(tool.output_schema), has_defaults=False) or "An empty object.",
            "## Examples",
            *(part for example in tool.input_examples for part in _example(tool, example)),
            *(part for example in tool.output_examples[:1] for part in _answer(example)),
            "## Errors",
            _errors(tool),
        )
    )


def _facts(tool: ToolContract) -> str:
    names = f"`{tool.mcp_name}` on `/mcp`, `{tool.tool}` on `/mcp/{tool.connector}`"
    rows = (
        ("Operation", f"`{tool.id}`"),
        ("Effect", _escalation(tool.escalation) if tool.escalation else _EFFECTS[tool.effect]),
        ("REST", f"`POST {tool.route}`"),
        ("MCP", names),
        ("Needs of MCP clients", _listed(tool.requires)),
        ("Asks its client for", _listed(tool.x_binding.get("asks", ()))),
        ("Also answers to", _listed(tool.aliases)),
        ("Time limit", _duration(tool.timeout_seconds)),
        ("Job", _TASKS[tool.task]),
        ("Attempts", _attempts(tool.attempts) if tool.attempts.max > 1 else ""),
        ("Limits", _limits(tool.limits) if tool.limits else ""),
        ("Results kept", _kept(tool) if tool.cache_seconds else ""),
        ("Upstream" if len(tool.upstreams) == 1 else "Upstreams", _listed(tool.upstreams)),
        ("Contract", code(f"schemas/{tool.source.path}")),
    )
    return table(("", ""), (row for row in rows if row[1]))


_TASKS: Final[Mapping[TaskMode, str]] = {
    "never": "",
    "auto": f"a call that takes longer than {JOB_AFTER_SECONDS:g} s becomes one",
    "required": "each call becomes one",
}


def _kept(tool: ToolContract) -> str:
    kept = _duration(tool.cache_seconds)
    if not tool.stale_seconds:
        return kept
    return f"{kept}; while the upstream does not answer, {_duration(tool.stale_seconds)} longer"


def _escalation(rule: Escalation) -> str:
    needs = f" and needs {_listed(rule.requires)}" if rule.requires else ""
    return f"reads; with `{rule.when}: true` writes{needs}, if `{rule.grant}` is granted too"


def _attempts(rule: Attempts) -> str:
    limit = f" of at most {_duration(rule.timeout_seconds)} each" if rule.timeout_seconds else ""
    waits = ", then ".join(map(_duration, rule.backoff_seconds[: rule.max - 1]))
    statuses = "".join(f"{status}, " for status in rule.on)
    return f"up to {rule.max}{limit}; after {statuses}a timeout or a lost connection; waits {waits}"


def _limits(limits: ToolLimits) -> str:
    found = [f"{amount(each.max, 'call')} in {_duration(each.seconds)}" for each in limits.calls]
    if limits.concurrent is not None:
        found.append(f"{amount(limits.concurrent, 'call')} at the same time")
    each_caller = f"{', '.join(found)}, for each caller" if found else ""
    costs = f"costs {limits.cost} of the budget of its agent" if limits.cost > 1 else ""
    return "; ".join(filter(None, (each_caller, costs)))


def _duration(seconds: float) -> str:
    if seconds >= 3600 and seconds % 3600 == 0:
        return f"{seconds / 3600:g} h"
    if seconds > 60 and seconds % 60 == 0:
        return f"{seconds / 60:g} min"
    return f"{seconds:g} s"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(code, names))


def _fields(fields: Iterable[DocumentedField], *, has_defaults: bool) -> str:
    rows = [_row(field, has_defaults=has_defaults) for field in fields]
    if not rows:
        return ""
    last = ("Default", "Meaning") if has_defaults else ("Meaning",)
    return table(("Name", "Type", "Bounds", *last), rows)


def _row(field: DocumentedField, *, has_defaults: bool) -> tuple[str, ...]:
    name = code(field.path) + (" *(required)*" if field.is_required else "")
    default = (code(field.default) if field.default else "",) if has_defaults else ()
    return (name, field.kind, field.bounds, *default, inline(field.description))


def _example(tool: ToolContract, example: Example) -> Iterator[str]:
    arguments = json.dumps(example.value, ensure_ascii=False)
    yield f"### {inline(example.summary or example.name)}"
    yield fenced(
        "sh",
        f"curl -sS {_BASE_URL}{tool.route} \\\n"
        '  -H "Authorization: Bearer $GATEWAY_KEY" \\\n'
        '  -H "Content-Type: application/json" \\\n'
        f"  -d '{arguments.replace(chr(39), _QUOTE_IN_SHELL)}'",
    )
    yield "The same call over MCP:"
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool.mcp_name, "arguments": example.value},
    }
    yield fenced("json", pretty(message))


_QUOTE_IN_SHELL: Final = "'\\''"


def _answer(example: Example) -> Iterator[str]:
    yield f"### {inline(example.summary or 'The result')}"
    yield fenced("json", pretty(example.value))


def _errors(tool: ToolContract) -> str:
    general = (
        "Every tool may also fail with general errors, such as a missing key, invalid arguments, a"
        " limit, or an upstream that does not respond."
    )
    if not tool.errors:
        return f"This tool declares no errors. {general}"
    rows = [(code(each.reason), str(each.status), inline(each.title)) for each in tool.errors]
    return table(("Reason", "Status", "Meaning"), rows) + f"\n\n{general}"
