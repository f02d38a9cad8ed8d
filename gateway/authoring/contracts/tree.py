"""Reads a schemas folder: all contract files, and findings for those that cannot be read."""

import os
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from pathlib import Path, PurePath, PurePosixPath
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct

from gateway.authoring.contracts.document import SUFFIXES, Document, read_bytes, read_document
from gateway.authoring.contracts.entity_tools import entity_tools
from gateway.authoring.contracts.finding import ContractRefused, Finding, ordered
from gateway.contract.schemas import keywords
from gateway.contract.values.pointers import child
from gateway.errors import ContractError
from gateway.project_folder import INDEX

# The contract files of resources and prompts, and what lint and generator know of them.

FILES: Final = "files"
"""The folder beside contracts of resources and prompts with what they send as it is."""


class _ContractFile(Struct, frozen=True, eq=False):
    document: Document

    @property
    def path(self) -> PurePosixPath:
        return self.document.path


class OfferedSource(_ContractFile, frozen=True, eq=False):
    """The file of one resource or prompt, `<kind>/<connector>/<name>.yaml`."""

    @property
    def connector(self) -> str:
        return self.path.parts[1]

    @property
    def grant(self) -> str:
        """`<kind>/<connector>.<name>`."""
        return f"{self.path.parts[0]}/{self.connector}.{self.path.stem}"

    def file(self, name: str) -> PurePosixPath:
        """The path of the file `name` that belongs to it."""
        return self.path.parent / FILES / name


# Facts about the contracts of resources and prompts that the lint and the generator share.


def needs_grant(offered: OfferedSource) -> bool:
    """Whether agents are granted it by its own name. A resource of a tool follows the tool."""
    return "tool" not in offered.document.value.get("contents", {})


def templates_of(message: Mapping[str, Any], pointer: str) -> Iterator[tuple[str, str]]:
    """The texts of a prompt's message that have placeholders, each with its pointer."""
    if "text" in message:
        yield child(pointer, "text"), message["text"]
    resource = message.get("resource", {})
    for name in ("uri", "text"):
        if name in resource:
            yield child(child(pointer, "resource"), name), resource[name]


def files_of(value: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The files that a contract sends: the pointer to the name, the name, the media type."""
    contents = value.get("contents", {})
    if "file" in contents:
        yield "/contents/file", contents["file"], value["mimeType"]
    for index, message in enumerate(value.get("messages", ())):
        for kind in ("image", "resource"):
            part = message.get(kind, {})
            if "file" in part:
                pointer = child(child(child("/messages", index), kind), "file")
                yield pointer, part["file"], part["mimeType"]


# Reads a schemas folder: all contract files, and findings for the files that cannot be read.

POLICIES: Final = PurePosixPath("policies/agents.yaml")
COMMON: Final = "common"
TOOLS: Final = "tools"
UPSTREAMS: Final = "upstreams"
WEBHOOKS: Final = "webhooks"
EVENTS: Final = "events"
ENTITIES: Final = "entities"
RESOURCES: Final = "resources"
PROMPTS: Final = "prompts"
WORKFLOWS: Final = "workflows"
WORKFLOW_SUFFIX: Final = ".arazzo.yaml"
META: Final = "_meta"
VECTORS: Final = ".vectors.json"
"""The end of the names of files with test vectors, which are no contracts."""
SHAPES: Final = "shapes.json"
"""The shapes of an upstream's answers, beside its contract."""
IMPORT: Final = "import.yaml"
"""Marks the folder of an imported document, which holds no contract files."""
_TEXT_SUFFIXES: Final = frozenset({".md", ".txt"})


class ToolSource(_ContractFile, frozen=True, eq=False):
    """One tool's Path Item file, `tools/<connector>/<tool>.yaml`."""

    connector: str
    tool: str

    @property
    def id(self) -> str:
        """`<connector>.<tool>`, from the file's path."""
        return f"{self.connector}.{self.tool}"

    @property
    def operation(self) -> dict[str, Any]:
        """The Operation Object under `post`. Empty if the file has none."""
        value = self.document.value
        operation = value.get("post") if isinstance(value, dict) else None
        return operation if isinstance(operation, dict) else {}


class EventFile(_ContractFile, frozen=True, eq=False):
    """One event's Path Item file, `events/<entity>.<verb>.v<n>.yaml`."""

    @property
    def type(self) -> str:
        """`gateway.<entity>.<verb>.v<n>`, from the file's path."""
        return f"gateway.{self.path.stem}"


class WebhookFile(_ContractFile, frozen=True, eq=False):
    """One provider's Path Item file, `webhooks/<provider>/webhook.yaml`."""

    @property
    def provider(self) -> str:
        return self.path.parts[1]

    @property
    def rules(self) -> dict[str, Any]:
        """The value of `x-webhook`."""
        found: dict[str, Any] = self.document.value["post"]["x-webhook"]
        return found


class SourceTree:
    """The contract files of one folder, by relative path and sorted by it."""

    def __init__(
        self,
        root: Path,
        documents: Mapping[PurePosixPath, Document],
        findings: tuple[Finding, ...] = (),
        imports: frozenset[str] = frozenset(),
        files: Mapping[PurePosixPath, bytes] = {},
    ) -> None:
        self.root = root
        self.documents: Mapping[PurePosixPath, Document] = MappingProxyType(
            dict(sorted(documents.items()))
        )
        self.imports = imports
        """The connectors of imported documents: folders of upstreams with an `import.yaml`."""
        self.files = files
        """The files of resources and prompts: no contracts, but what is sent as it is."""
        self.findings = findings
        """One finding for each file that could not be read."""
        self._unread = frozenset(PurePosixPath(finding.path) for finding in findings)
        self._references: dict[PurePosixPath, tuple[tuple[str, dict[str, Any]], ...]] = {}
        self.definitions: dict[tuple[PurePosixPath, str], Any] = {}
        """Kept by `expanding`: definitions of schemas that contain themselves, by file and pointer.
        """

    @property
    def index(self) -> Document | None:
        return self.documents.get(INDEX)

    @property
    def policies(self) -> Document | None:
        return self.documents.get(POLICIES)

    @cached_property
    def tools(self) -> tuple[ToolSource, ...]:
        """All tool files, sorted by connector and tool."""
        return tuple(
            ToolSource(document, path.parts[1], path.stem)
            for path, document in self.documents.items()
            if len(path.parts) == 3 and path.parts[0] == TOOLS and path.suffix == ".yaml"
        )

    @cached_property
    def upstreams(self) -> Mapping[str, Document]:
        """The contract of each upstream, by folder name."""
        return MappingProxyType(
            {
                path.parts[1]: document
                for path, document in self.documents.items()
                if len(path.parts) == 3
                and path.parts[0] == UPSTREAMS
                and path.name == "openapi.yaml"
            }
        )

    @cached_property
    def webhooks(self) -> tuple[WebhookFile, ...]:
        """All webhook files, sorted by provider."""
        return tuple(
            WebhookFile(document)
            for path, document in self.documents.items()
            if len(path.parts) == 3 and path.parts[0] == WEBHOOKS and path.name == "webhook.yaml"
        )

    @cached_property
    def events(self) -> tuple[EventFile, ...]:
        """All event files, sorted by type."""
        return tuple(
            EventFile(document)
            for path, document in self.documents.items()
            if len(path.parts) == 2 and path.parts[0] == EVENTS and path.suffix == ".yaml"
        )

    @cached_property
    def entities(self) -> Mapping[str, Document]:
        """The schema of each entity, by kind."""
        return MappingProxyType(
            {
                path.stem: document
                for path, document in self.documents.items()
                if len(path.parts) == 2 and path.parts[0] == ENTITIES and path.suffix == ".json"
            }
        )

    @cached_property
    def resources(self) -> tuple[OfferedSource, ...]:
        """All resources, sorted by connector and name."""
        return self._offered(RESOURCES)

    @cached_property
    def prompts(self) -> tuple[OfferedSource, ...]:
        """All prompts, sorted by connector and name."""
        return self._offered(PROMPTS)

    @cached_property
    def workflows(self) -> tuple[Document, ...]:
        """All workflow files, sorted by name."""
        return tuple(
            document
            for path, document in self.documents.items()
            if len(path.parts) == 2
            and path.parts[0] == WORKFLOWS
            and path.name.endswith(WORKFLOW_SUFFIX)
        )

    def _offered(self, kind: str) -> tuple[OfferedSource, ...]:
        return tuple(
            OfferedSource(document)
            for path, document in self.documents.items()
            if len(path.parts) == 3 and path.parts[0] == kind and path.suffix == ".yaml"
        )

    def is_unread(self, path: PurePosixPath) -> bool:
        """Whether `path` or one of its folders exists and could not be read."""
        return not self._unread.isdisjoint((path, *path.parents))

    def has_unread(self, folder: PurePosixPath) -> bool:
        """Whether `folder`, or something in it, exists and could not be read."""
        return self.is_unread(folder) or any(folder in each.parents for each in self._unread)

    def is_unread_tool(self, operation_id: str) -> bool:
        """Whether the contract of this tool exists and could not be read."""
        connector, _, tool = operation_id.partition(".")
        return self.is_unread(PurePosixPath(TOOLS, connector, f"{tool}.yaml"))

    def references(self, path: PurePosixPath) -> tuple[tuple[str, dict[str, Any]], ...]:
        """Every object with a `$ref` in the file `path`, each with its pointer, in file order."""
        if path not in self._references:
            self._references[path] = tuple(keywords.references(self.documents[path].value))
        return self._references[path]

    def find(self, path: str | PurePosixPath) -> Document | None:
        """The document at `path`, relative to the schemas folder."""
        return self.documents.get(PurePosixPath(path))


def read_tree(root: Path) -> SourceTree:
    """Read every contract file under `root`. A file that cannot be read becomes a finding.

    The files of the tools that entities declare are in the tree, too.
    Raises `ContractError` if `root` is not a folder or cannot be read.
    """
    if not root.is_dir():
        raise ContractError(f"{root} is not a folder; name the folder that holds openapi.yaml")
    documents: dict[PurePosixPath, Document] = {}
    findings: list[Finding] = []
    data: dict[PurePosixPath, bytes] = {}
    for path in _files(root):
        try:
            if _is_data(path):
                data[path] = read_bytes(root / path, path)
            elif path.suffix not in _TEXT_SUFFIXES:
                documents[path] = _read(root, path)
        except ContractRefused as refused:
            findings.extend(refused.findings)
    imports = frozenset(each.parent.name for each in root.glob(f"{UPSTREAMS}/*/{IMPORT}"))
    derived = entity_tools(documents)
    return SourceTree(root, {**documents, **derived}, ordered(findings), imports, data)


def _is_data(path: PurePosixPath) -> bool:
    return len(path.parts) == 4 and path.parts[0] in {RESOURCES, PROMPTS} and path.parts[2] == FILES


def _read(root: Path, path: PurePosixPath) -> Document:
    if path.suffix not in SUFFIXES:
        raise ContractRefused(
            [
                Finding(
                    path=str(path),
                    line=1,
                    pointer="",
                    rule="file/unknown-kind",
                    message="a contract must be a .yaml or .json file",
                    fix="rename the file, or move it out of the schemas folder",
                )
            ]
        )
    return read_document(root, path)


def _files(root: Path) -> Iterator[PurePosixPath]:
    for folder, names, files in os.walk(root, onerror=_refuse_folder):
        current = Path(folder)
        links = [name for name in names if (current / name).is_symlink()]
        names[:] = sorted(name for name in names if name not in links and not _is_hidden(name))
        if current == root and META in names:
            names.remove(META)
        if is_import(current.relative_to(root), files):
            names.clear()
            continue
        for name in sorted([*files, *links]):
            path = PurePosixPath((current / name).relative_to(root).as_posix())
            if not (_is_hidden(name) or name.endswith(VECTORS) or _are_shapes(path)):
                yield path


def is_import(folder: PurePath, files: Collection[str]) -> bool:
    """Whether `folder`, relative to the schemas folder, holds an imported document."""
    return len(folder.parts) == 2 and folder.parts[0] == UPSTREAMS and IMPORT in files


def _are_shapes(path: PurePosixPath) -> bool:
    return len(path.parts) == 3 and path.parts[0] == UPSTREAMS and path.name == SHAPES


def is_read(path: PurePosixPath) -> bool:
    """Whether a file is read outside of imports: it is not hidden, and no text for people."""
    return not any(map(_is_hidden, path.parts)) and path.suffix not in _TEXT_SUFFIXES


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "__"))


def _refuse_folder(error: OSError) -> None:
    raise ContractError(f"{error.filename} cannot be read: {error.strerror}") from error
