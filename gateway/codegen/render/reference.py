"""The reference: a Markdown page per tool, and an index of all."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Final

from gateway.codegen.cache import Remember
from gateway.codegen.ir import Contracts, Example, Source, ToolContract
from gateway.codegen.render.artifact import Artifact, header, joint_source, pretty
from gateway.codegen.render.fields import Field, fields_of

_EFFECTS: Final[Mapping[str, str]] = {
    "read": "reads; changes nothing",
    "write": "writes; changes something that can be changed again",
    "destroy": "destroys; what is gone stays gone",
}
_BASE_URL: Final = "http://127.0.0.1:8700"


def page(tool: ToolContract, remember: Remember) -> Artifact:
    """`<connector>/<tool>.md`: everything a caller needs to know of one tool."""
    basis = f"{tool.source.path} {tool.source.sha256}"
    text = remember("page", basis, lambda: _page(tool))
    return Artifact("docs", PurePosixPath(f"{tool.connector}/{tool.tool}.md"), text)


def index(contracts: Contracts) -> Artifact:
    """`index.md`: every tool of every connector."""
    connectors = contracts.by_connector()
    tags = {tag["name"]: tag for tag in contracts.index.document.get("tags", ())}
    source = joint_source("tools/", (), *(f"{t.id} {t.title} {t.effect}" for t in contracts.tools))
    parts = [_header(source), "# Tools", f"{len(contracts.tools)} tools, by connector."]
    for connector, tools in connectors.items():
        about = tags.get(connector, {}).get("description")
        parts += [f"## {connector}", *([about] if about else []), _listed(tools)]
    pages = "\n".join(f"{tool.connector}/{tool.tool}" for tool in contracts.tools)
    parts.append(f"```{{toctree}}\n:hidden:\n\n{pages}\n```")
    return Artifact("docs", PurePosixPath("index.md"), _joined(parts))


def _page(tool: ToolContract) -> str:
    return _joined(
        (
            _header(tool.source),
            f"# {tool.title}",
            tool.description,
            _facts(tool),
            "## Arguments",
            _table(fields_of(tool.input_schema), has_defaults=True) or "None.",
            "## Result",
            _table(fields_of(tool.output_schema), has_defaults=False) or "An empty object.",
            "## Examples",
            *(part for example in tool.input_examples for part in _example(tool, example)),
            *(part for example in tool.output_examples[:1] for part in _answer(example)),
            "## Errors",
            _errors(tool),
        )
    )


def _header(source: Source) -> str:
    return f"<!--\n{header(source, comment='')}\n-->"


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(parts) + "\n"


def _facts(tool: ToolContract) -> str:
    names = f"`{tool.mcp_name}` on `/mcp`, `{tool.tool}` on `/mcp/{tool.connector}`"
    rows = [
        ("Operation", f"`{tool.id}`"),
        ("Effect", _EFFECTS[tool.effect]),
        ("REST", f"`POST {tool.route}`"),
        ("MCP", names),
        ("Time limit", f"{tool.timeout_seconds:g} s"),
        ("Contract", f"`schemas/{tool.source.path}`"),
    ]
    if tool.aliases:
        rows.insert(4, ("Also answers to", ", ".join(f"`{alias}`" for alias in tool.aliases)))
    return _rows(("", ""), rows)


def _table(fields: Iterable[Field], *, has_defaults: bool) -> str:
    rows = [_row(field, has_defaults=has_defaults) for field in fields]
    if not rows:
        return ""
    last = ("Default", "Meaning") if has_defaults else ("Meaning",)
    return _rows(("Name", "Type", "Bounds", *last), rows)


def _row(field: Field, *, has_defaults: bool) -> tuple[str, ...]:
    name = f"`{field.path}`" + (" *(required)*" if field.is_required else "")
    default = (f"`{field.default}`" if field.default else "",) if has_defaults else ()
    return (name, field.kind, field.bounds, *default, field.description)


def _rows(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [_line(head), "|" + "---|" * len(head), *(_line(row) for row in rows)]
    return "\n".join(lines)


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _example(tool: ToolContract, example: Example) -> Iterator[str]:
    arguments = json.dumps(example.value, ensure_ascii=False)
    yield f"### {example.summary or example.name}"
    yield _fenced(
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
    yield _fenced("json", pretty(message))


_QUOTE_IN_SHELL: Final = "'\\''"


def _answer(example: Example) -> Iterator[str]:
    yield f"### {example.summary or 'What comes back'}"
    yield _fenced("json", pretty(example.value))


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text}\n```"


def _errors(tool: ToolContract) -> str:
    general = (
        "Every tool may also fail for reasons that are not its own: a missing key, arguments that"
        " do not match, a limit, an upstream that does not answer."
    )
    if not tool.errors:
        return f"This tool declares no errors of its own. {general}"
    rows = [(f"`{each.reason}`", str(each.status), each.title) for each in tool.errors]
    return _rows(("Reason", "Status", "Meaning"), rows) + f"\n\n{general}"


def _listed(tools: Iterable[ToolContract]) -> str:
    rows = (
        (f"[`{t.tool}`]({t.connector}/{t.tool}.md)", t.effect.value, t.description) for t in tools
    )
    return _rows(("Tool", "Effect", "What it does"), rows)
