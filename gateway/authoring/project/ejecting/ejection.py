"""Ejects operations of an imported document: they become contract files that do the same."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final

import msgspec
import yaml
from msgspec import Struct, structs

from gateway.authoring.contracts.document import Document
from gateway.authoring.contracts.finding import ContractRefused, Finding
from gateway.authoring.contracts.tree import TOOLS, UPSTREAMS, SourceTree, is_read, read_tree
from gateway.authoring.contracts.yamltext import written
from gateway.authoring.openapi.folder import (
    IMPORT_FILE,
    ImportFolder,
    import_text,
    lower_import,
    read_document_of,
    read_import,
)
from gateway.authoring.openapi.lowering.records import ImportFile
from gateway.authoring.openapi.reading.source import SourceDocument
from gateway.authoring.project.changes import Files, occupied
from gateway.authoring.project.connectors import ready_connectors
from gateway.authoring.project.drafts.texts import check_connector, with_listed
from gateway.authoring.project.ejecting.forms import EjectedTool, text_of, tool_of
from gateway.authoring.project.ejecting.upstream import (
    EjectedOperation,
    extended_text,
    schemes_of,
    upstream_text,
)
from gateway.authoring.project.merging import with_entries, with_nested
from gateway.authoring.project.staging import Project, read_text
from gateway.contract.imported import ImportedConnector, ImportedOperation
from gateway.contract.schemas.flattening import NoSample
from gateway.contract.slots import setting_variable
from gateway.contract.values.nearest import hint
from gateway.contract.values.pointers import steps
from gateway.errors import ConfigurationError
from gateway.library import library_folder

_GLOB: Final = re.compile(r"[*?\[]")


def deselected(
    folder: ImportFolder, operations: Sequence[ImportedOperation], bound: Collection[str]
) -> bytes:
    """`import.yaml` that serves all but `operations`. Its comments stay where that is possible.

    `bound` are those that the contract files of tools will call.

    Raises `ConfigurationError` if they cannot be taken out alone.
    """
    old, _ = folder.wishes()
    new = [_GLOB.sub(r"[\g<0>]", _key(each)) for each in operations]
    exclude = (*old.select.exclude, *new)
    select = msgspec.structs.replace(old.select, exclude=exclude)
    wishes = msgspec.structs.replace(old, select=select)
    before = {each.id for each in read_import(folder).connector.operations}
    source = read_document_of(folder, wishes)
    outcome = lower_import(folder, source, wishes, None, bound)
    after = {each.id for each in outcome.connector.operations}
    if before - after != {each.id for each in operations} or after - before:
        raise ConfigurationError(
            "other tools would change with the operations; take them out of the selection in "
            "import.yaml by hand first"
        )
    text = read_text(folder.files / "import.yaml")
    return _edited(text, old, wishes, new).encode()


def _key(operation: ImportedOperation) -> str:
    """`GET /path` as the document has it. The path that is sent lacks a query and a fragment."""
    place = steps(operation.pointer)
    is_plain = len(place) == 3 and place[0] == "paths"
    return f"{operation.method} {place[1] if is_plain else operation.path}"


def _edited(text: str, old: ImportFile, wishes: ImportFile, new: Sequence[str]) -> str:
    entries = [f"- {written(each, width=1000).splitlines()[0]}" for each in new]
    try:
        if old.select.exclude:
            edited = with_nested(text, ("select", "exclude"), entries, "import.yaml")
        elif re.search(r"^select:", text, re.MULTILINE):
            lines = "\n".join(["exclude:", *(f"  {each}" for each in entries)])
            edited = with_nested(text, ("select",), [lines], "import.yaml")
        else:
            lines = "\n".join(["exclude:", *(f"  {each}" for each in entries)])
            edited = with_entries(text, "select", [lines], "import.yaml")
    except ConfigurationError:
        return import_text(wishes)
    return edited if _says(edited, wishes) else import_text(wishes)


def _says(text: str, wishes: ImportFile) -> bool:
    try:
        return msgspec.convert(yaml.safe_load(text), ImportFile) == wishes
    except (yaml.YAMLError, msgspec.ValidationError):
        return False


_SUFFIX: Final = ".txt"
"""Of texts, which are no contracts."""


class Leftovers(Struct, frozen=True, kw_only=True):
    """What becomes of the files in the folder of an import."""

    files: Files = {}
    """Files of the author under the names with which they stay."""
    removed: frozenset[PurePosixPath] = frozenset()
    notes: tuple[str, ...] = ()


def leftovers(project: Project, folder: ImportFolder) -> Leftovers:
    """What becomes of all files in `folder`: those that `gateway import` wrote are removed.

    Files of the author stay. Without the import, some would be taken for contracts, such as its
    overlay: these get the suffix of a text.
    """
    found = [path for path in folder.files.rglob("*") if path.is_file()]
    names = {PurePosixPath(path.relative_to(folder.files).as_posix()): path for path in found}
    wishes, _ = folder.wishes()
    written = {name for name in names if name.parts[0] in {IMPORT_FILE, wishes.document}}
    kept = {name for name in names.keys() - written if is_read(name)}
    place = project.place_of(folder.path)
    return Leftovers(
        files={place / f"{name}{_SUFFIX}": names[name].read_bytes() for name in sorted(kept)},
        removed=frozenset(place / name for name in written | kept),
        notes=tuple(f"{place / name} is kept as {name.name}{_SUFFIX}" for name in sorted(kept)),
    )


def refuse_occupied(
    project: Project, paths: Iterable[PurePosixPath], known: Iterable[PurePosixPath]
) -> None:
    """Raise `ConfigurationError` if something is at one of `paths`. `known` files may be."""
    allowed = set(known)
    if found := [str(path) for path in occupied(project.folder, paths) if path not in allowed]:
        raise ConfigurationError(
            f"{', '.join(found)} would be replaced by what is ejected; move that elsewhere, or "
            "leave its tool in the import"
        )


def why_no_import(project: Project, tree: SourceTree, connector: str) -> str:
    """Why nothing of `connector` can be ejected, and what to do instead."""
    written = [tool for tool in tree.tools if tool.connector == connector]
    if written:
        place = project.place_of(PurePosixPath(TOOLS, connector))
        code = "; to replace its Python code, name your own under x-binding"
        return (
            f"{connector} is not an import: its tools are contract files already, in {place}; edit"
            " them and run `gateway generate`, and `gateway add` leaves what you edited"
            f"{code if any('python' in tool.operation['x-binding'] for tool in written) else ''}"
        )
    ready = {each.name for each in ready_connectors(read_tree(library_folder() / "schemas"))}
    if connector in ready:
        return (
            f"{connector} is not an import; `gateway add {connector}` copies its contract files"
            " into the project, where you can edit them"
        )
    suggestion = hint(connector, tree.imports, "`gateway import` makes one")
    return f"there is no import {connector!r}; {suggestion}"


_OWN: Final = "_own"
"""The end of the name of the upstream, while the import serves other operations."""
_FIX: Final = "correct the document with an overlay, or leave the operation in the import"
_BIND_FIX: Final = "eject it with --bind, or correct the document with an overlay"


class EjectionWish(Struct, frozen=True, kw_only=True):
    """What is to be ejected."""

    connector: str
    tools: tuple[str, ...] = ()
    """Names of tools, or their ids. Empty: all that the import serves."""
    upstream: str | None = None
    """The name of the upstream. None: the connector's if nothing of the import remains."""
    omits_null: bool = False
    """Whether a null in a result may be left out."""
    binds: bool = False
    """Whether all of them call the operations of the import, also where a field map could."""


class Ejection(Struct, frozen=True, kw_only=True):
    """What an ejection changes."""

    files: Files
    removed: tuple[PurePosixPath, ...]
    tools: tuple[str, ...]
    """The ids of the ejected tools."""
    upstream: str | None
    """The upstream of the tools with a field map. None: there are none."""
    notes: tuple[str, ...]


def eject(project: Project, tree: SourceTree, wish: EjectionWish) -> Ejection:
    """The contract files of operations, and the import without them. Nothing is written.

    Raises `ConfigurationError` for an unknown connector or tool and for files that would be
    replaced, and `ContractRefused` with each operation that contract files cannot express.
    """
    folder = _folder(project, tree, wish.connector)
    connector = read_import(folder).connector
    chosen = _chosen(connector, wish.tools)
    tools = _tools(folder, connector, chosen, wish)
    mapped = [each for each in tools if each.mapped is not None]
    is_left = len(chosen) < len(connector.operations) or bool(connector.bound)
    is_whole = not is_left and len(mapped) == len(tools)
    upstream = _upstream_name(tree, wish, is_whole=is_whole, is_needed=bool(mapped))
    ejected = [each.mapped for each in mapped if each.mapped is not None]
    left = leftovers(project, folder) if is_whole else Leftovers()
    new = {**_tool_files(project, connector, upstream, tools), **left.files}
    if mapped:
        new |= _upstream_file(project, tree, connector, upstream, ejected)
    refuse_occupied(project, new, {*left.removed, *_extended(project, tree, upstream)})
    return Ejection(
        files={
            **new,
            **_listed(project, tree, connector, upstream if mapped else None, chosen),
            **({} if is_whole else _selection(project, folder, tools)),
        },
        removed=tuple(sorted(left.removed - new.keys())),
        tools=tuple(each.id for each in chosen),
        upstream=upstream if mapped else None,
        notes=(*_notes(connector, wish, upstream, tools), *left.notes),
    )


def explained(
    project: Project, ejection: Ejection, findings: Iterable[Finding]
) -> tuple[Finding, ...]:
    """`findings` of the lint in files that would be written: these do not exist, so it is the
    document that has to be corrected."""
    return tuple(
        structs.replace(each, message=f"in the contract, {each.message}", fix=_BIND_FIX)
        if project.place_of(PurePosixPath(each.path)) in ejection.files
        else each
        for each in findings
    )


def _folder(project: Project, tree: SourceTree, connector: str) -> ImportFolder:
    if connector not in tree.imports:
        raise ConfigurationError(why_no_import(project, tree, connector))
    return ImportFolder(schemas=project.schemas, connector=connector)


def _selection(
    project: Project, folder: ImportFolder, tools: Sequence[EjectedTool]
) -> dict[PurePosixPath, bytes]:
    bound = {each.operation.tool for each in tools if each.mapped is None}
    text = deselected(folder, [each.operation for each in tools], bound)
    return {project.place_of(folder.path / IMPORT_FILE): text}


def _tool_files(
    project: Project, connector: ImportedConnector, upstream: str, tools: Sequence[EjectedTool]
) -> dict[PurePosixPath, bytes]:
    files: dict[PurePosixPath, bytes] = {}
    for each in tools:
        path = PurePosixPath(TOOLS, connector.connector, f"{each.operation.tool}.yaml")
        text = text_of(connector, each, upstream)
        files[project.place_of(path)] = text.contract
        files[project.place_of(path.with_suffix(".input.json"))] = text.arguments
        files[project.place_of(path.with_suffix(".output.json"))] = text.result
    return files


def _chosen(connector: ImportedConnector, tools: Collection[str]) -> list[ImportedOperation]:
    known = {each.tool: each for each in connector.operations}
    names = [name.removeprefix(f"{connector.connector}.") for name in tools]
    for name in names:
        if name not in known:
            suggestion = hint(name, known, "`gateway tools list` prints all")
            raise ConfigurationError(
                f"the import {connector.connector} serves no tool {name!r}; {suggestion}"
            )
    return [each for each in connector.operations if not names or each.tool in names]


def _upstream_name(tree: SourceTree, wish: EjectionWish, *, is_whole: bool, is_needed: bool) -> str:
    """The name of the upstream of the tools with a field map. Raises `ConfigurationError`."""
    name = wish.upstream or (wish.connector if is_whole else f"{wish.connector}{_OWN}")
    if wish.upstream is not None and not is_needed:
        raise ConfigurationError(
            f"these tools call the operations of the import {wish.connector}, so they need no"
            " upstream of their own; leave out --upstream"
        )
    check_connector(name, what="upstream")
    if name in tree.imports and not (is_whole and name == wish.connector):
        raise ConfigurationError(
            f"the upstream {name} is an imported document; choose another --upstream"
        )
    return name


def _tools(
    folder: ImportFolder,
    connector: ImportedConnector,
    chosen: Sequence[ImportedOperation],
    wish: EjectionWish,
) -> list[EjectedTool]:
    """What becomes of each operation. Raises `ContractRefused` with all that cannot be ejected."""
    found: list[EjectedTool] = []
    refused: list[Finding] = []
    document: Document | SourceDocument | None = None
    for each in chosen:
        try:
            found.append(tool_of(connector, each, omits_null=wish.omits_null, binds=wish.binds))
        except NoSample as error:
            wishes, _ = folder.wishes()
            document = document or read_document_of(folder, wishes)
            refused.append(
                Finding(
                    path=str(folder.path / wishes.document),
                    line=document.line_of(each.pointer),
                    pointer=each.pointer,
                    rule="eject/example",
                    message=f"{each.id}: it has no example, which a contract needs: {error}",
                    fix=_FIX,
                )
            )
    if refused:
        raise ContractRefused(refused)
    return found


def _upstream_file(
    project: Project,
    tree: SourceTree,
    connector: ImportedConnector,
    upstream: str,
    ejected: Sequence[EjectedOperation],
) -> dict[PurePosixPath, bytes]:
    document: Document | None = tree.upstreams.get(upstream)
    if document is None:
        place = project.place_of(PurePosixPath(UPSTREAMS, upstream, "openapi.yaml"))
        return {place: upstream_text(upstream, connector, ejected).encode()}
    place = project.place_of(document.path)
    text = read_text(project.folder / place)
    return {place: extended_text(text, document, connector, ejected).encode()}


def _extended(project: Project, tree: SourceTree, upstream: str) -> tuple[PurePosixPath, ...]:
    """The contract of the upstream, if it exists: it gets more operations."""
    document = tree.upstreams.get(upstream)
    return () if document is None else (project.place_of(document.path),)


def _listed(
    project: Project,
    tree: SourceTree,
    connector: ImportedConnector,
    upstream: str | None,
    chosen: Sequence[ImportedOperation],
) -> dict[PurePosixPath, bytes]:
    name = connector.connector
    is_listed = upstream is None or upstream in tree.upstreams
    entries = {
        "x-upstreams": [] if is_listed else [f"- ./upstreams/{upstream}/openapi.yaml"],
        "paths": [
            f"/v1/{name}/{each.tool}: {{$ref: ./tools/{name}/{each.tool}.yaml}}" for each in chosen
        ],
    }
    return with_listed(project, tree, entries, {name: connector.title})


def _notes(
    connector: ImportedConnector, wish: EjectionWish, upstream: str, tools: Sequence[EjectedTool]
) -> Iterator[str]:
    """What the author has to know: differences, and settings with other names."""
    mapped = [each.mapped for each in tools if each.mapped is not None]
    for each in mapped:
        yield from (f"{each.operation.id}: {note}" for note in each.result.notes)
    for tool in tools:
        if tool.reason:
            yield f"{tool.operation.id} calls the operation of the import: {tool.reason}"
    schemes = schemes_of(connector, (each.operation for each in mapped))
    if mapped and upstream != wish.connector:
        used = [slot for slot in connector.slots if slot.name in schemes]
        names = [name for slot in used for name in slot.settings]
        variables = [setting_variable(upstream, name) for name in (*names, "base_url")]
        yield f"the ejected tools have settings of their own: {', '.join(variables)}"
