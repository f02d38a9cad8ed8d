"""`gateway generate`: makes the generated package and the reference pages from the contracts."""

import keyword
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path, PurePosixPath

from msgspec import Struct

from gateway.amounts import amount
from gateway.codegen import snapshot
from gateway.codegen.format import formatted
from gateway.codegen.imported import imported_records, overlay_notes, with_imported
from gateway.codegen.ir import Contracts
from gateway.codegen.libraries import require_libraries
from gateway.codegen.lowering.lower import lower
from gateway.codegen.migrations.recorded import Revision, recorded_revisions
from gateway.codegen.render import offered, published, published_events, published_servers
from gateway.codegen.render.artifact import Artifact
from gateway.codegen.render.pages import events as event_pages
from gateway.codegen.render.pages import overview, reference
from gateway.codegen.render.pages import states as state_pages
from gateway.codegen.render.python import (
    bindings,
    entity_tables,
    handlers,
    migrations,
    models,
    policies,
    routes,
    tables,
    webhooks,
)
from gateway.codegen.snapshot import Snapshot
from gateway.codegen.version import CACHE_FOLDER, generator_version
from gateway.codegen.write import Change, apply, compare
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.contracts.cache import CHECKS, RENDERINGS, Cache, Remember
from gateway.contracts.finding import ContractRefused, Finding, errors
from gateway.contracts.sources.tree import SourceTree, read_tree
from gateway.errors import ContractError
from gateway.lint import lint

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
    recorded = migrations.recorded(revisions)
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
        yield reference.page(tool, remember)
    for connector, tools in connectors.items():
        yield tables.operations(connector, tools, package)
        yield tables.registrations(connector, tools)
        yield routes.routes(connector, tools)
    for upstream in contracts.upstreams:
        yield published.upstream_json(upstream)
    yield from entity_tables.entity_tables(contracts.entities, package)
    yield from migrations.migrations(contracts.entities, revisions)
    yield policies.policies(contracts)
    yield policies.grants_json(contracts)
    yield handlers.handlers_json(contracts)
    yield published.openapi_json(contracts)
    yield published.tools_json(contracts)
    yield offered.offered_json(contracts)
    yield offered.pages_json(contracts, remember)
    yield published_servers.servers_json(contracts)
    yield overview.index(contracts)


def _of_events(contracts: Contracts, package: str, remember: Remember) -> Iterator[Artifact]:
    """The files of webhooks, events and entities."""
    yield webhooks.joined(contracts.webhooks, package)
    yield webhooks.webhooks_json(contracts)
    yield published.events_json(contracts)
    yield published.entities_json(contracts)
    yield published_events.asyncapi_json(contracts)
    yield from _event_pages(contracts)
    for webhook in contracts.webhooks:
        yield webhooks.source_module(webhook, package)
        for payload in webhook.payloads:
            yield webhooks.event(webhook, payload, contracts, remember)
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
        yield event_pages.webhook_page(webhook)
    if contracts.events:
        yield event_pages.events_page(contracts)
    if contracts.entities:
        yield event_pages.rows_page(contracts)
    if any(each.entity.rules.states for each in contracts.entities):
        yield state_pages.states_page(contracts)


def _markers(connectors: list[str], package: str) -> Iterator[Artifact]:
    """The `__init__` modules."""
    contract = "gateway.contract.operation"
    handler = "litestar.handlers"
    yield tables.package_marker("", "The contracts as Python. This code has no branches.")
    yield tables.package_marker("models", "Typed views of arguments and results.")
    yield tables.package_marker("models/common", "Definitions that several contracts share.")
    yield tables.package_marker(
        "bindings", "How each operation reaches its upstream or its handler."
    )
    for name in connectors:
        yield tables.package_marker(f"models/{name}", f"Models of the {name} tools.", [name])
        yield tables.package_marker(f"bindings/{name}", f"Bindings of the {name} tools.", [name])
    yield tables.joined("operations", "OPERATIONS", "Operation", contract, connectors, package)
    yield tables.joined("tools", "TOOLS", "Tool", contract, connectors, package)
    yield tables.joined("routes", "ROUTES", "ASGIRouteHandler", handler, connectors, package)


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
