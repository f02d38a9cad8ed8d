"""`gateway generate`: makes the generated package and the reference pages from the contracts."""

import json
import keyword
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Final

from msgspec import Struct

from gateway.amounts import amount
from gateway.authoring.codegen import snapshot
from gateway.authoring.codegen.imported import imported_records, overlay_notes, with_imported
from gateway.authoring.codegen.ir import Contracts, Example, ToolContract, WebhookContract
from gateway.authoring.codegen.lowering import lower
from gateway.authoring.codegen.render import (
    bindings,
    entities,
    models,
    pages,
    published,
    published_events,
    tables,
)
from gateway.authoring.codegen.render.artifact import Artifact, document, pretty
from gateway.authoring.codegen.render.entities import Revision, recorded_revisions
from gateway.authoring.codegen.render.markdown import (
    DocumentedField,
    code,
    fenced,
    fields_of,
    inline,
    joined,
    page_header,
    prose,
    table,
)
from gateway.authoring.codegen.render.published import published_input
from gateway.authoring.codegen.snapshot import CACHE_FOLDER, Snapshot, generator_version
from gateway.authoring.codegen.write import Change, apply, compare
from gateway.authoring.contracts.cache import CHECKS, RENDERINGS, Cache, Remember
from gateway.authoring.contracts.finding import ContractRefused, Finding, errors
from gateway.authoring.contracts.tree import SourceTree, read_tree
from gateway.authoring.lint import lint
from gateway.authoring.mapping.event_language import functions as event_functions
from gateway.authoring.mapping.fields.nodes import HandlerMap
from gateway.authoring.mapping.fields.parse import functions, parse
from gateway.contract.connector import HANDLER_PACKAGES, NamedCode
from gateway.contract.offered import RESOURCES, HandlerContents
from gateway.contract.operation import JOB_AFTER_SECONDS, Attempts, Escalation, TaskMode
from gateway.contract.policies.limits import ToolLimits
from gateway.contract.values.pointers import child
from gateway.errors import ContractError
from gateway.installed import require_libraries

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
        ("Replaces", _listed(tool.replaces)),
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


def handlers_json(contracts: Contracts) -> Artifact:
    """`handlers.json`. The catalogue checks it before it imports the code."""
    named = [each for tool in contracts.tools for each in _of_tool(tool)]
    named += [each for webhook in contracts.webhooks for each in _of_webhook(webhook)]
    named += [
        NamedCode(
            use="mock",
            module=each.upstream.mock,
            path=str(each.source.path),
            pointer="/x-upstream/mock",
        )
        for each in contracts.upstreams
        if each.upstream.mock
    ]
    named += _of_resources(contracts)
    return document("handlers.json", named)


def _of_tool(tool: ToolContract) -> Iterator[NamedCode]:
    written, _ = parse(tool.x_binding)
    for pointer, module, function in functions(written) if written else ():
        yield NamedCode(
            use="tool" if isinstance(written, HandlerMap) else "mapping",
            module=module,
            function=function,
            path=str(tool.source.path),
            pointer=f"/post/x-binding{pointer}",
        )


def _of_webhook(webhook: WebhookContract) -> Iterator[NamedCode]:
    for name, rules in webhook.x_webhook["events"].items():
        for pointer, module, function in event_functions(rules):
            yield NamedCode(
                use="mapping",
                module=module,
                function=function,
                path=str(webhook.source.path),
                pointer=child("/post/x-webhook/events", name) + pointer,
            )


def _of_resources(contracts: Contracts) -> Iterator[NamedCode]:
    for each in contracts.offered.resources:
        if isinstance(each.contents, HandlerContents):
            yield NamedCode(
                use="resource",
                module=each.contents.module,
                function=each.contents.function,
                path=f"{RESOURCES}/{each.connector}/{each.name}.yaml",
                pointer="/contents/python",
            )


_COMMON: Final = ("--isolated", "--no-cache", "--quiet", "--target-version", "py311")
_FIXED_RULES: Final = ("--select", "I,F401,UP034")
_LINE_LENGTH: Final = ("--line-length", "100")


def formatted(sources: Mapping[PurePosixPath, str], package: str) -> dict[PurePosixPath, str]:
    """The formatted text of each module. `package` is the package of the modules.

    Raises `ContractError` if ruff cannot be run, or if it refuses a text, which is a defect of the
    generator.
    """
    if not sources:
        return {}
    with tempfile.TemporaryDirectory(prefix="gateway-generate-") as folder:
        root = Path(folder)
        for path, text in sources.items():
            file = root / package / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())
        first_party = f'lint.isort.known-first-party=["gateway", "{package}"]'
        _ruff(root, ("check", *_FIXED_RULES, "--fix", *_LINE_LENGTH, "--config", first_party))
        _ruff(root, ("format", *_LINE_LENGTH))
        return {path: (root / package / path).read_bytes().decode() for path in sources}


def _ruff(root: Path, arguments: Sequence[str]) -> None:
    from ruff import (  # type: ignore[import-untyped]  # noqa: PLC0415 - untyped, and of the extra `author`
        find_ruff_bin,
    )

    command = arguments[0], *_COMMON, *arguments[1:], "."
    try:
        run = subprocess.run(  # noqa: S603  fixed program and options, texts only by file
            [find_ruff_bin(), *command], cwd=root, capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise ContractError(
            f"ruff, which formats generated code, cannot be run: {error}"
        ) from error
    if run.returncode != 0:
        detail = (run.stderr or run.stdout).strip().partition("\n")[0]
        raise ContractError(f"the generated code cannot be formatted: {detail}")


def offered_json(contracts: Contracts) -> Artifact:
    """`offered.json`: what the run time decodes."""
    return document("offered.json", contracts.offered)


def pages_json(contracts: Contracts, remember: Remember) -> Artifact:
    """`pages.json`: the reference pages by operation id, without the note of the generator."""
    texts = {tool.id: text_of(tool, remember) for tool in contracts.tools}
    return document("pages.json", texts)


Progress = Callable[[str], None]


class PackageNames(Struct, frozen=True, kw_only=True):
    """Dotted names of the project's Python packages."""

    package: str | None = None
    """The import name of the generated package. Default: the name of its folder."""
    of_handlers: Sequence[str] = HANDLER_PACKAGES
    """The connector packages: contracts may name Python code only from these."""


class GenerateReport(Struct, frozen=True, kw_only=True):
    """The result of one run. With `check`, of a run that writes nothing."""

    tools: int
    files: int
    """The number of files that the contracts give."""
    changes: tuple[Change, ...]
    """Files that were missing, different or surplus."""
    notes: tuple[Finding, ...]
    """Findings of the lint with the severity note, and targets of overlays that match nothing."""
    is_check: bool

    @property
    def is_stale(self) -> bool:
        """Whether the files on disk differ from the contracts after the run."""
        return self.is_check and bool(self.changes)

    def diff(self, root: Path) -> str:
        """A unified diff of all changes. Files under `root` have relative names."""
        return "".join(change.diff(shown_path(change.path, root)) for change in self.changes)


def generate(
    schemas: Path,
    out: Path,
    docs: Path | None = None,
    *,
    check: bool = False,
    progress: Progress = lambda _: None,
    names: PackageNames = PackageNames(),  # noqa: B008 - frozen
) -> GenerateReport:
    """Generate the package `out` and the pages under `docs` from the contracts under `schemas`.

    With `check`, nothing is written outside the cache. Raises `ContractRefused` if the lint finds
    errors, and `ContractError` if a part cannot be generated, a folder cannot be used, or the
    extra `author` is not installed.
    """
    require_libraries()
    name = _package(out, names.package)
    folder = schemas.resolve().parent / CACHE_FOLDER
    version = generator_version()
    contracts, notes = read_contracts(schemas, progress, folder, version, names.of_handlers)
    cache = Cache(folder / RENDERINGS, version)
    progress(f"rendering {amount(len(contracts.tools), 'tool')}")
    revisions = recorded_revisions(out)
    records = tuple(imported_records(schemas, cache.remember, progress))
    contracts = with_imported(contracts, records)
    notes += overlay_notes(schemas, cache.remember)
    artifacts = [*render(contracts, name, cache.remember, revisions), *records]
    recorded = entities.recorded(revisions)
    files = _by_path([*recorded, *_formatted(artifacts, name, cache)], out, docs)
    cache.save()
    progress(f"comparing {amount(len(files), 'file')}")
    changes = compare([out, *([docs] if docs else [])], files)
    if not check:
        apply(changes)
    return GenerateReport(
        tools=len(contracts.tools) + sum(len(each.operations) for each in contracts.imported),
        files=len(files),
        changes=changes,
        notes=notes,
        is_check=check,
    )


def read_contracts(
    schemas: Path, progress: Progress, folder: Path, version: str, packages: Sequence[str]
) -> tuple[Contracts, tuple[Finding, ...]]:
    """The contracts under `schemas` and the lint's notes. Uses and updates the cache in `folder`.

    Raises `ContractRefused` if the lint finds errors.
    """
    progress(f"reading {schemas}")
    found = snapshot.digests(schemas)
    old = snapshot.load(folder, version)
    new = snapshot.refresh(old, schemas, found, packages) if old else None
    if new is None:
        tree = read_tree(schemas)
        progress(f"linting {amount(len(tree.documents), 'file')}")
        notes = _linted(tree, Cache(folder / CHECKS, version), packages)
        contracts = lower(tree)
        new = Snapshot(version=version, digests=found, contracts=contracts, notes=notes)
    if new is not old:
        snapshot.save(folder, new)
    return new.contracts, new.notes


def _linted(tree: SourceTree, checks: Cache, packages: Sequence[str]) -> tuple[Finding, ...]:
    """The lint's notes. Raises `ContractRefused` if the lint finds errors."""
    notes = lint(tree, checks.remember, packages)
    if refusals := errors(notes):
        raise ContractRefused(refusals)
    checks.save()
    return notes


def render(
    contracts: Contracts, package: str, remember: Remember, revisions: Sequence[Revision] = ()
) -> Iterator[Artifact]:
    """Every file of the generated package and of the reference, unformatted.

    Of the migrations, only a new one that follows `revisions`, if needed.
    """
    connectors = contracts.by_connector()
    yield from _markers(list(connectors), package)
    yield from _of_events(contracts, package, remember)
    for common in contracts.common:
        yield models.common_models(common).render(package, remember)
    for tool in contracts.tools:
        yield models.tool_models(tool).render(package, remember)
        yield bindings.binding(tool, contracts, package, remember)
        yield page(tool, remember)
    for connector, tools in connectors.items():
        yield tables.operations(connector, tools, package)
        yield tables.registrations(connector, tools)
    for upstream in contracts.upstreams:
        yield published.upstream_json(upstream)
    yield from entities.entity_tables(contracts.entities, package)
    yield from entities.migrations(contracts.entities, revisions)
    yield tables.policies(contracts)
    yield tables.grants_json(contracts)
    yield handlers_json(contracts)
    yield published.openapi_json(contracts)
    yield published.tools_json(contracts)
    yield offered_json(contracts)
    yield pages_json(contracts, remember)
    yield published.servers_json(contracts)
    yield pages.index(contracts)


def _of_events(contracts: Contracts, package: str, remember: Remember) -> Iterator[Artifact]:
    """The files of webhooks, events and entities."""
    yield bindings.joined(contracts.webhooks, package)
    yield bindings.webhooks_json(contracts)
    yield published.events_json(contracts)
    yield published.entities_json(contracts)
    yield published_events.asyncapi_json(contracts)
    yield from _event_pages(contracts)
    for webhook in contracts.webhooks:
        yield bindings.source_module(webhook, package)
        for payload in webhook.payloads:
            yield bindings.event(webhook, payload, contracts, remember)
            yield models.payload_models(webhook, payload).render(package, remember)
    for event in contracts.events:
        yield models.event_models(event).render(package, remember)
    for entity in contracts.entities:
        yield models.entity_models(entity).render(package, remember)
    yield tables.package_marker("models/webhooks", "Typed views of the payloads of webhooks.")
    yield tables.package_marker("models/events", "Typed views of published events.")
    yield tables.package_marker("models/rows", "Typed views of the rows of entities.")
    for webhook in contracts.webhooks:
        folder = f"models/webhooks/{webhook.provider}"
        yield tables.package_marker(folder, f"Payloads of {webhook.provider}.", [webhook.provider])


def _event_pages(contracts: Contracts) -> Iterator[Artifact]:
    """The reference pages of webhooks, events and entities, if there are any."""
    for webhook in contracts.webhooks:
        yield pages.webhook_page(webhook)
    if contracts.events:
        yield pages.events_page(contracts)
    if contracts.entities:
        yield pages.rows_page(contracts)
    if any(each.entity.rules.states for each in contracts.entities):
        yield pages.states_page(contracts)


def _markers(connectors: list[str], package: str) -> Iterator[Artifact]:
    """The `__init__` modules."""
    yield tables.package_marker("", "The contracts as Python. This code has no branches.")
    yield tables.package_marker("models", "Typed views of arguments and results.")
    yield tables.package_marker("models/common", "Definitions that several contracts share.")
    yield tables.package_marker(
        "bindings", "How each operation reaches its upstream or its handler."
    )
    for name in connectors:
        yield tables.package_marker(f"models/{name}", f"Models of the {name} tools.", [name])
        yield tables.package_marker(f"bindings/{name}", f"Bindings of the {name} tools.", [name])
    yield tables.joined("operations", "OPERATIONS", "Operation", connectors, package)
    yield tables.joined("tools", "TOOLS", "Tool", connectors, package)


def _formatted(artifacts: Iterable[Artifact], package: str, cache: Cache) -> Iterator[Artifact]:
    """The artifacts with formatted Python. Only modules that are not in the cache are formatted."""
    known = list(artifacts)
    modules = {e.path: e.text for e in known if e.is_python and isinstance(e.text, str)}
    basis = {path: f"{package}\0{path}\0{text}" for path, text in modules.items()}
    new = {path: text for path, text in modules.items() if not cache.holds("format", basis[path])}
    texts = formatted(new, package)
    for each in known:
        if each.is_python:
            make = partial(texts.__getitem__, each.path)
            text = cache.remember("format", basis[each.path], make)
            yield Artifact(each.root, each.path, text)
        else:
            yield each


def _by_path(artifacts: Iterable[Artifact], out: Path, docs: Path | None) -> dict[Path, bytes]:
    """The contents by path. Raises `ContractError` if two of them have the same path."""
    folders = {"generated": out, "docs": docs}
    files: dict[Path, bytes] = {}
    for each in artifacts:
        folder = folders[each.root]
        if folder is None:
            continue
        path = folder / each.path
        if path in files:
            raise ContractError(f"two contracts generate the same file {path}; rename one of them")
        files[path] = each.content
    return files


def _package(out: Path, package: str | None) -> str:
    name = package or out.resolve().name
    if not all(part.isidentifier() and not keyword.iskeyword(part) for part in name.split(".")):
        raise ContractError(f"{name!r} cannot be the name of a Python package; rename the folder")
    return name


def shown_path(path: Path, root: Path) -> str:
    """`path` with `/`, relative to `root` if it is inside."""
    resolved = path.resolve()
    inside = resolved.is_relative_to(root.resolve())
    return str(PurePosixPath(resolved.relative_to(root.resolve()))) if inside else str(path)
