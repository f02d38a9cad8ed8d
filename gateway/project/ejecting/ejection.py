"""Ejects operations of an imported document: they become contract files that do the same."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any, Final

from msgspec import Struct, structs

from gateway.backends.mock.samples.answers import Samples
from gateway.backends.mock.samples.errors import NoSample
from gateway.backends.mock.samples.flattening import Flattener
from gateway.contract.imported import ImportedConnector, ImportedOperation
from gateway.contract.slots import setting_variable
from gateway.contract.values.nearest import hint
from gateway.contracts.finding import ContractRefused, Finding
from gateway.contracts.sources.document import Document
from gateway.contracts.sources.tree import TOOLS, UPSTREAMS, SourceTree
from gateway.errors import ConfigurationError
from gateway.openapi.folder.importfile import IMPORT_FILE
from gateway.openapi.folder.reading import ImportFolder, read_document_of, read_import
from gateway.project.drafts.listing import with_listed
from gateway.project.drafts.names import check_connector
from gateway.project.ejecting.credentials import schemes_of
from gateway.project.ejecting.deselecting import deselected
from gateway.project.ejecting.missing import why_no_import
from gateway.project.ejecting.refusals import of_request
from gateway.project.ejecting.results import Unexpressed, of_replies, result_of, successes
from gateway.project.ejecting.schemas import Definitions
from gateway.project.ejecting.tools import loses_secrets, tool_text
from gateway.project.ejecting.upstream import EjectedOperation, extended_text, upstream_text
from gateway.project.placing import Files
from gateway.project.staging import Project, read_text

_OWN: Final = "_own"
"""The end of the name of the upstream, while the import serves other operations."""
_FIX: Final = "leave it in the import, or correct the document with an overlay"
_NULL_FIX: Final = "accept it with --omit-nulls, or correct the document with an overlay"


class EjectionWish(Struct, frozen=True, kw_only=True):
    """What is to be ejected."""

    connector: str
    tools: tuple[str, ...] = ()
    """Names of tools, or their ids. Empty: all that the import serves."""
    upstream: str | None = None
    """The name of the upstream. None: the connector's if nothing of the import remains."""
    omits_null: bool = False
    """Whether a null in a result may be left out."""


class Ejection(Struct, frozen=True, kw_only=True):
    """What an ejection changes."""

    files: Files
    removed: tuple[PurePosixPath, ...]
    tools: tuple[str, ...]
    """The ids of the ejected tools."""
    upstream: str
    notes: tuple[str, ...]


def eject(project: Project, tree: SourceTree, wish: EjectionWish) -> Ejection:
    """The contract files of operations, and the import without them. Nothing is written.

    Raises `ConfigurationError` for an unknown connector or tool, and `ContractRefused` with each
    part of an operation that contract files cannot express exactly.
    """
    folder = _folder(project, tree, wish.connector)
    connector = read_import(folder).connector
    chosen = _chosen(connector, wish.tools)
    is_whole = len(chosen) == len(connector.operations)
    upstream = wish.upstream or (wish.connector if is_whole else f"{wish.connector}{_OWN}")
    _check_upstream(tree, wish, upstream, is_whole=is_whole)
    _refuse_unexpressed(folder, connector, chosen, wish)
    ejected = [_ejected(connector, each) for each in chosen]
    return Ejection(
        files={
            **_tool_files(project, connector, upstream, ejected),
            **_upstream_file(project, tree, connector, upstream, ejected),
            **_listed(project, tree, connector, upstream, chosen),
            **({} if is_whole else _selection(project, folder, chosen)),
        },
        removed=_import_files(project, folder) if is_whole else (),
        tools=tuple(each.id for each in chosen),
        upstream=upstream,
        notes=tuple(_notes(connector, wish, upstream, ejected)),
    )


def explained(
    project: Project, ejection: Ejection, findings: Iterable[Finding]
) -> tuple[Finding, ...]:
    """`findings` of the lint in files that would be written: these do not exist, so it is the
    document that has to be corrected."""
    return tuple(
        structs.replace(each, message=f"in the contract, {each.message}", fix=_FIX)
        if project.place_of(PurePosixPath(each.path)) in ejection.files
        else each
        for each in findings
    )


def _folder(project: Project, tree: SourceTree, connector: str) -> ImportFolder:
    if connector not in tree.imports:
        raise ConfigurationError(why_no_import(project, tree, connector))
    return ImportFolder(schemas=project.schemas, connector=connector)


def _import_files(project: Project, folder: ImportFolder) -> tuple[PurePosixPath, ...]:
    found = (path for path in folder.files.rglob("*") if path.is_file())
    inside = (PurePosixPath(path.relative_to(project.schemas).as_posix()) for path in found)
    return tuple(sorted(map(project.place_of, inside)))


def _selection(
    project: Project, folder: ImportFolder, chosen: Sequence[ImportedOperation]
) -> dict[PurePosixPath, bytes]:
    return {project.place_of(folder.path / IMPORT_FILE): deselected(folder, chosen)}


def _tool_files(
    project: Project,
    connector: ImportedConnector,
    upstream: str,
    ejected: Sequence[EjectedOperation],
) -> dict[PurePosixPath, bytes]:
    definitions = Definitions(connector.definitions)
    files: dict[PurePosixPath, bytes] = {}
    for each in ejected:
        path = PurePosixPath(TOOLS, connector.connector, f"{each.operation.tool}.yaml")
        text = tool_text(each, upstream, definitions, _examples(connector, each.operation))
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


def _check_upstream(tree: SourceTree, wish: EjectionWish, upstream: str, *, is_whole: bool) -> None:
    check_connector(upstream, what="upstream")
    if upstream in tree.imports and not (is_whole and upstream == wish.connector):
        raise ConfigurationError(
            f"the upstream {upstream} is an imported document; choose another --upstream"
        )


def _refuse_unexpressed(
    folder: ImportFolder,
    connector: ImportedConnector,
    chosen: Sequence[ImportedOperation],
    wish: EjectionWish,
) -> None:
    """Raise `ContractRefused` with everything that cannot be expressed."""
    wishes, _ = folder.wishes()
    document = read_document_of(folder, folder.files / wishes.document)
    found = [
        Finding(
            path=str(folder.path / wishes.document),
            line=document.line_of(each.pointer),
            pointer=each.pointer,
            rule=f"eject/{problem.rule}",
            message=f"{each.id}: {problem.message}",
            fix=_NULL_FIX if problem.rule == "null" else _FIX,
        )
        for each in chosen
        for problem in problems_of(connector, each, omits_null=wish.omits_null)
    ]
    if found:
        raise ContractRefused(found)


def problems_of(
    connector: ImportedConnector, operation: ImportedOperation, *, omits_null: bool
) -> Iterator[Unexpressed]:
    """What contract files cannot express exactly of `operation`."""
    definitions = Definitions(connector.definitions)
    requests = list(of_request(operation, definitions))
    yield from requests
    yield from of_replies(operation, definitions, omits_null=omits_null)
    is_recursive = any(each.rule == "recursive" for each in requests)
    if not is_recursive and loses_secrets(operation, definitions):
        yield Unexpressed("sensitive", "a contract would not mark all of its secret arguments")
    if not connector.enforces_results:
        yield Unexpressed("results", "import.yaml says `results: report`, and contracts enforce")


def _ejected(connector: ImportedConnector, operation: ImportedOperation) -> EjectedOperation:
    reply = successes(operation)[0]
    body = None
    if reply.kind == "json":
        body = _sample(connector, operation, reply.schema, "reply")
    definitions = Definitions(connector.definitions)
    return EjectedOperation(
        operation=operation, result=result_of(operation, definitions), reply=body
    )


def _examples(connector: ImportedConnector, operation: ImportedOperation) -> tuple[Any, Any]:
    """Two examples of the arguments, the first with the fewest members."""
    schema = operation.input_schema
    first = _sample(connector, operation, schema, "one", is_short=True)
    return first, _sample(connector, operation, schema, "another")


def _sample(
    connector: ImportedConnector,
    operation: ImportedOperation,
    schema: Any,
    seed: str,
    *,
    is_short: bool = False,
) -> Any:
    samples = Samples(schema, connector.definitions, Flattener(connector.definitions))
    try:
        return samples.sample(operation.id, seed, is_short=is_short)
    except NoSample as error:
        raise ConfigurationError(
            f"{operation.id} has no example, which a contract needs: {error}; {_FIX}"
        ) from None


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


def _listed(
    project: Project,
    tree: SourceTree,
    connector: ImportedConnector,
    upstream: str,
    chosen: Sequence[ImportedOperation],
) -> dict[PurePosixPath, bytes]:
    name = connector.connector
    entries = {
        "x-upstreams": []
        if upstream in tree.upstreams
        else [f"- ./upstreams/{upstream}/openapi.yaml"],
        "paths": [
            f"/v1/{name}/{each.tool}: {{$ref: ./tools/{name}/{each.tool}.yaml}}" for each in chosen
        ],
    }
    return with_listed(project, tree, entries, {name: connector.title})


def _notes(
    connector: ImportedConnector,
    wish: EjectionWish,
    upstream: str,
    ejected: Sequence[EjectedOperation],
) -> Iterator[str]:
    """What the author has to know: differences, and settings with other names."""
    for each in ejected:
        yield from (f"{each.operation.id}: {note}" for note in each.result.notes)
    if upstream != wish.connector:
        schemes = schemes_of(connector, (each.operation for each in ejected))
        used = [slot for slot in connector.slots if slot.name in schemes]
        names = [name for slot in used for name in slot.settings]
        variables = [setting_variable(upstream, name) for name in (*names, "base_url")]
        yield f"the ejected tools have settings of their own: {', '.join(variables)}"
