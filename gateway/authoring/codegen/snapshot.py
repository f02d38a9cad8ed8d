"""Snapshots of the contracts of an earlier run, and the version of the generator that made them."""

import hashlib
import importlib.metadata
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final

import msgspec
from msgspec import Struct

from gateway.authoring.codegen.ir import Contracts, ToolContract, UpstreamContract
from gateway.authoring.codegen.lowering import lower
from gateway.authoring.codegen.render.artifact import GENERATOR_VERSION
from gateway.authoring.contracts.cache import RENDERINGS, Cache, read_sealed, write_sealed
from gateway.authoring.contracts.document import Document, read_document
from gateway.authoring.contracts.finding import ContractRefused, Finding, errors, ordered
from gateway.authoring.contracts.tree import ENTITIES, POLICIES, TOOLS, SourceTree, is_import
from gateway.authoring.contracts.yamltext import LineTable
from gateway.authoring.lint import lint
from gateway.authoring.lint.bindings import Handlers
from gateway.authoring.mapping.event_maps import named_in
from gateway.contract.offered import HandlerContents, ToolContents
from gateway.installed import AUTHOR_LIBRARIES
from gateway.project_folder import INDEX

# The version of the generator, and the cache of what this version has rendered.

CACHE_FOLDER: Final = ".gateway-cache"

_ROOMS: Final = (
    "codegen",
    "contract",
    "contracts",
    "encoding",
    "lint",
    "mapping",
    "openapi",
    "workflows",
)
_DECIDING_LIBRARIES: Final = (*AUTHOR_LIBRARIES, "jsonschema-rs", "pyyaml")


def renderings(schemas: Path) -> Cache:
    """The texts that earlier runs of this version have rendered from `schemas`."""
    folder = schemas.resolve().parent / CACHE_FOLDER
    return Cache(folder / RENDERINGS, generator_version())


def generator_version() -> str:
    """A text that changes with the generator, the lint or a library that affects the output."""
    rooms = Path(__file__).parents[1]
    folders = [rooms / name for name in _ROOMS]
    found = (path for folder in folders for path in folder.rglob("*"))
    files = sorted(path for path in found if path.suffix in {".py", ".json"})
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
    return " ".join([GENERATOR_VERSION, digest, *map(_installed, _DECIDING_LIBRARIES)])


def _installed(name: str) -> str:
    found = importlib.metadata.distributions(name=name)
    return f"{name} {next((each.version for each in found), 'not installed')}"


# Snapshots of the contracts of an earlier run, so that only changed tools are read again.
#
# Linting and converting a thousand tools takes seconds. A snapshot contains contracts without lint
# errors. If only tools were edited and their names are unchanged, `refresh` reads only these tools.
# After any other change, such as a new, removed or shared file, the whole tree is read.

FILE_NAME: Final = "contracts"


class Snapshot(Struct, frozen=True, kw_only=True):
    """Contracts without lint errors, and the digests of their files."""

    version: str
    digests: dict[str, str]
    contracts: Contracts
    notes: tuple[Finding, ...]


def load(folder: Path, version: str) -> Snapshot | None:
    """The snapshot of this version of the generator. None if there is none, or it is damaged."""
    payload = read_sealed(folder / FILE_NAME)
    if payload is None:
        return None
    try:
        found = msgspec.msgpack.decode(payload, type=Snapshot, dec_hook=_decoded)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return found if found.version == version else None


def save(folder: Path, snapshot: Snapshot) -> None:
    """Write `snapshot` for the next run."""
    write_sealed(folder / FILE_NAME, msgspec.msgpack.encode(snapshot, enc_hook=str))


def digests(schemas: Path) -> dict[str, str]:
    """The digest of every file under `schemas`, by path, except those of imported documents.

    Empty if the file cannot be read.
    """
    found: dict[str, str] = {}
    for folder, names, files in os.walk(schemas):
        names.sort()
        if is_import(Path(folder).relative_to(schemas), files):
            names.clear()
            continue
        for name in sorted(files):
            path = Path(folder) / name
            try:
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
            except OSError:
                digest = ""
            found[path.relative_to(schemas).as_posix()] = digest
    return found


def refresh(
    old: Snapshot, schemas: Path, found: dict[str, str], packages: Sequence[str]
) -> Snapshot | None:
    """`old` with the changed tools read again. None if the whole tree must be read."""
    if _has_other_handlers(old.contracts, Handlers(schemas, packages)):
        return None
    if found == old.digests:
        return old
    changed = _changed_in_tools(old.digests, found)
    touched = [t for t in old.contracts.tools if changed.intersection(t.source.closure)]
    owned = {path for tool in touched for path in tool.source.closure}
    if not changed or not changed <= owned or _concerns_events(old.contracts, changed, touched):
        return None
    try:
        tree = _part(old.contracts, touched, schemas)
        findings = lint(tree, packages=packages)
        tools = () if errors(findings) else lower(tree).tools
    except ContractRefused:
        return None
    if [_identity(tool) for tool in tools] != [_identity(tool) for tool in touched]:
        return None
    return Snapshot(
        version=old.version,
        digests=found,
        contracts=_with_tools(old.contracts, tools),
        notes=_with_notes(old.notes, findings, tree),
    )


def _has_other_handlers(contracts: Contracts, handlers: Handlers) -> bool:
    """Whether Python code that a contract names now has lint errors.

    Changes of Python code do not change the digests, which are those of contracts.
    """
    return (
        any(
            any(handlers.of_binding(tool.x_binding))
            or any(handlers.signature_faults(tool.x_binding))
            for tool in contracts.tools
        )
        or any(
            any(handlers.of_event(rules))
            for webhook in contracts.webhooks
            for rules in webhook.x_webhook["events"].values()
        )
        or any(
            any(handlers.of_mock(each.upstream.mock))
            for each in contracts.upstreams
            if each.upstream.mock
        )
        or any(
            any(handlers.of_resource(each.contents.module, each.contents.function))
            for each in contracts.offered.resources
            if isinstance(each.contents, HandlerContents)
        )
    )


def _concerns_events(
    contracts: Contracts, changed: frozenset[PurePosixPath], touched: Iterable[ToolContract]
) -> bool:
    """Whether webhooks, events, entities, resources or prompts depend on a changed file or tool."""
    sources = [each.source for each in contracts.webhooks]
    sources += [each.source for each in contracts.events]
    sources += [each.source for each in contracts.entities]
    if any(tool.id in _offering(contracts) for tool in touched):
        return True
    is_shared = any(changed.intersection(source.closure) for source in sources)
    return is_shared or not _notified(contracts).isdisjoint(tool.id for tool in touched)


def _offering(contracts: Contracts) -> frozenset[str]:
    """The tools that resources and prompts name."""
    offered = contracts.offered
    contents = (each.contents for each in offered.resources)
    return offered.tools | {each.operation for each in contents if isinstance(each, ToolContents)}


def _notified(contracts: Contracts) -> frozenset[str]:
    """The tools that webhooks call. The checks of webhooks depend on the tools' input schemas."""
    return frozenset(
        tool
        for webhook in contracts.webhooks
        for rules in webhook.x_webhook["events"].values()
        for tool in named_in(rules).tools
    )


def _changed_in_tools(old: Mapping[str, str], new: Mapping[str, str]) -> frozenset[PurePosixPath]:
    """The changed files. Empty if a file is new or removed, or is not in the folder of tools."""
    if old.keys() != new.keys():
        return frozenset()
    changed = {PurePosixPath(name) for name, digest in new.items() if digest != old[name]}
    is_local = all(path.parts[0] == TOOLS for path in changed)
    return frozenset(changed) if is_local else frozenset()


def _identity(tool: ToolContract) -> tuple[Any, ...]:
    """The members on which other files or tools may depend."""
    names = tool.id, tool.mcp_name, tool.aliases, tool.replaces, tool.deprecation
    return (*names, tool.effect, tool.upstreams, tool.limits)


def _part(contracts: Contracts, tools: list[ToolContract], schemas: Path) -> SourceTree:
    """A complete tree of only these tools and the files that they need."""
    names = {name for tool in tools for name in tool.upstreams}
    upstreams = [each for each in contracts.upstreams if each.upstream.name in names]
    sources = [*(tool.source for tool in tools), *(each.source for each in upstreams)]
    paths = {path for source in sources for path in source.closure}
    documents = {path: read_document(schemas, path) for path in sorted(paths)}
    documents[INDEX] = _replaced(read_document(schemas, INDEX), _index(tools, upstreams, paths))
    documents[POLICIES] = _replaced(read_document(schemas, POLICIES), _policies(tools))
    imports = frozenset(names - {each.upstream.name for each in upstreams})
    return SourceTree(schemas, documents, imports=imports)


def _replaced(document: Document, members: Mapping[str, Any]) -> Document:
    """`document` with `members` replaced."""
    value = {**document.value, **members}
    return Document(document.path, value, document.text_sha256, LineTable)


def _index(
    tools: Iterable[ToolContract],
    upstreams: Iterable[UpstreamContract],
    paths: Iterable[PurePosixPath],
) -> dict[str, Any]:
    connectors = sorted({tool.connector for tool in tools})
    return {
        "tags": [{"name": each, "description": f"Tools of {each}."} for each in connectors],
        "paths": {tool.route: {"$ref": f"./{tool.source.path}"} for tool in tools},
        "x-upstreams": [f"./{each.source.path}" for each in upstreams],
        "x-entities": [f"./{path}" for path in paths if path.parts[0] == ENTITIES],
        "webhooks": {},
    }


def _policies(tools: Iterable[ToolContract]) -> dict[str, Any]:
    grants = [tool.id for tool in tools]
    # The lint wants an administrator.
    description = "The agents that may call them."
    return {"agents": {"administrator": {"description": description, "grants": grants}}}


def _with_tools(contracts: Contracts, tools: Iterable[ToolContract]) -> Contracts:
    new = {tool.id: tool for tool in tools}
    merged = tuple(new.get(tool.id, tool) for tool in contracts.tools)
    return msgspec.structs.replace(contracts, tools=merged)


def _with_notes(
    old: Iterable[Finding], new: Iterable[Finding], part: SourceTree
) -> tuple[Finding, ...]:
    """`old`, with the notes on the files of `part` replaced by `new`, except for the index.

    The index of `part` is not the whole index, so its notes are not used.
    """
    read = {str(path) for path in part.documents} - {str(INDEX), str(POLICIES)}
    kept = [note for note in old if note.path not in read]
    return ordered([*kept, *(note for note in new if note.path in read)])


def _decoded(kind: type, value: Any) -> Any:
    return kind(value)
