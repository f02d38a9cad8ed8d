"""The contracts that are being checked, with cached values, and those that are sound."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, Final

from msgspec import Struct

from gateway.authoring.contracts import meta
from gateway.authoring.contracts.document import Document
from gateway.authoring.contracts.expanding import dereference
from gateway.authoring.contracts.finding import ContractRefused, Finding, Severity
from gateway.authoring.contracts.refs import RefTarget, closure, resolve
from gateway.authoring.contracts.tree import (
    ENTITIES,
    EVENTS,
    POLICIES,
    PROMPTS,
    RESOURCES,
    TOOLS,
    UPSTREAMS,
    WEBHOOKS,
    WORKFLOW_SUFFIX,
    WORKFLOWS,
    EventFile,
    OfferedSource,
    SourceTree,
    ToolSource,
    WebhookFile,
)
from gateway.authoring.lint.rules import BY_ID
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.contract.schemas import keywords
from gateway.contract.values.pointers import NoSuchPlace, child, follow
from gateway.contract.values.schema import Validator
from gateway.contract.values.violation import Violation
from gateway.project_folder import INDEX

# The contracts that are being checked, with cached values that several rules need.


def schema_roots(document: Document) -> Iterator[tuple[str, dict[str, Any]]]:
    """The outermost schema objects of a file, each with its pointer, in file order."""
    if document.path.suffix == ".json":
        if isinstance(document.value, dict):
            yield "", document.value
    elif document.path.parts[0] == UPSTREAMS:
        yield from _openapi_schemas(document.value, "", is_map=False)


def _openapi_schemas(
    value: Any, pointer: str, *, is_map: bool
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The schemas of an OpenAPI value: those under `schema` and in `components.schemas`."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _openapi_schemas(item, child(pointer, index), is_map=False)
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from _member_schemas(name, member, child(pointer, name), is_map=is_map)


def _member_schemas(
    name: str, value: Any, pointer: str, *, is_map: bool
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The schemas of one member. In a map, such as `responses`, `name` is never a keyword."""
    if is_map:
        yield from _openapi_schemas(value, pointer, is_map=False)
    elif name == "schema" and isinstance(value, dict):
        yield pointer, value
    elif pointer == "/components/schemas" and isinstance(value, dict):
        yield from _named_schemas(value, pointer)
    elif name not in keywords.DATA:
        yield from _openapi_schemas(value, pointer, is_map=name in keywords.NAME_MAPS)


def _named_schemas(schemas: dict[str, Any], pointer: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, schema in schemas.items():
        if isinstance(schema, dict):
            yield child(pointer, name), schema


BLOCKS_COPY: Final = PurePosixPath("common/content.json")
"""The copy of the schema of content blocks, which the gateway ships."""


class SchemaNode(Struct, frozen=True, eq=False):
    """A schema object with its file and pointer."""

    document: Document
    pointer: str
    schema: dict[str, Any]

    @property
    def is_ours(self) -> bool:
        """Whether this project defines the schema.

        Upstreams and senders define the others, and the gateway that of content blocks.
        """
        if self.document.path == BLOCKS_COPY:
            return False
        folder = self.document.path.parts[0]
        return folder not in {UPSTREAMS, WEBHOOKS} or is_table(self.document.path)


class Draft:
    """The contracts that are being checked."""

    def __init__(self, tree: SourceTree, packages: Sequence[str] = HANDLER_PACKAGES) -> None:
        self.tree = tree
        self.packages = packages
        """The connector packages of the project."""
        self._expanded: dict[tuple[PurePosixPath, str], Any] = {}
        self._validators: dict[tuple[PurePosixPath, str], Validator | None] = {}

    def finding(
        self, rule: str, document: Document, pointer: str, message: str, fix: str | None = None
    ) -> Finding:
        """A finding of `rule` at `pointer`. `fix` replaces the fix of the rule, if given."""
        known = BY_ID[rule]
        path, where, line = document.place(pointer)
        return Finding(
            path=str(path),
            line=line,
            pointer=where,
            rule=rule,
            message=message,
            fix=fix or known.fix,
            severity=known.severity,
        )

    @cached_property
    def misshapen(self) -> Mapping[PurePosixPath, tuple[Violation, ...]]:
        """The files that are invalid by their meta-schema. Other rules skip them."""
        checked = (
            (path, meta.validator(name).violations(document.value))
            for path, document in self.tree.documents.items()
            if document.declared is None and (name := meta_schema_of(path))
        )
        return {path: violations for path, violations in checked if violations}

    @cached_property
    def index(self) -> Document | None:
        """The index. None if it is invalid by its meta-schema or missing."""
        return None if INDEX in self.misshapen else self.tree.index

    @cached_property
    def tools(self) -> tuple[ToolSource, ...]:
        """The tools whose files are valid by their meta-schema."""
        return tuple(tool for tool in self.tree.tools if tool.path not in self.misshapen)

    @cached_property
    def upstreams(self) -> Mapping[str, Document]:
        """The upstreams whose files are valid by their meta-schema."""
        return {
            name: document
            for name, document in self.tree.upstreams.items()
            if document.path not in self.misshapen
        }

    @cached_property
    def webhooks(self) -> tuple[WebhookFile, ...]:
        """The webhooks whose files are valid by their meta-schema."""
        return tuple(each for each in self.tree.webhooks if each.path not in self.misshapen)

    @cached_property
    def events(self) -> tuple[EventFile, ...]:
        """The events whose files are valid by their meta-schema."""
        return tuple(each for each in self.tree.events if each.path not in self.misshapen)

    @cached_property
    def resources(self) -> tuple[OfferedSource, ...]:
        """The resources whose files are valid by their meta-schema."""
        return tuple(each for each in self.tree.resources if each.path not in self.misshapen)

    @cached_property
    def prompts(self) -> tuple[OfferedSource, ...]:
        """The prompts whose files are valid by their meta-schema."""
        return tuple(each for each in self.tree.prompts if each.path not in self.misshapen)

    @cached_property
    def workflows(self) -> tuple[Document, ...]:
        """The workflow files that are valid by their meta-schema."""
        return tuple(each for each in self.tree.workflows if each.path not in self.misshapen)

    @cached_property
    def entities(self) -> Mapping[str, Document]:
        """The entities whose files are valid by their meta-schema."""
        return {
            kind: document
            for kind, document in self.tree.entities.items()
            if document.path not in self.misshapen
        }

    @cached_property
    def roots(self) -> tuple[SchemaNode, ...]:
        """Every outermost schema of every file."""
        return tuple(
            SchemaNode(document, pointer, schema)
            for document in self.tree.documents.values()
            for pointer, schema in schema_roots(document)
        )

    @cached_property
    def entries(self) -> tuple[SchemaNode, ...]:
        """The roots and their `$defs`: the usual targets of references."""
        return tuple(schema for root in self.roots for schema in (root, *_definitions(root)))

    @cached_property
    def schemas(self) -> tuple[SchemaNode, ...]:
        """Every schema object of every file, once."""
        return tuple(
            SchemaNode(root.document, pointer, schema)
            for root in self.roots
            for pointer, schema in keywords.subschemas(root.schema, root.pointer)
        )

    def expanded(self, path: PurePosixPath, pointer: str) -> Any:
        """The dereferenced value. None if that fails; `refusals` then gives the reasons."""
        found = self._expansion(path, pointer)
        return None if isinstance(found, ContractRefused) else found

    def refusals(self, path: PurePosixPath, pointer: str) -> tuple[Finding, ...]:
        """Why the value at `pointer` cannot be dereferenced."""
        found = self._expansion(path, pointer)
        return found.findings if isinstance(found, ContractRefused) else ()

    def validator(self, path: PurePosixPath, pointer: str) -> Validator | None:
        """The validator of the schema at `pointer`. None if it cannot be compiled."""
        key = self._resolved(path, pointer)
        if key not in self._validators:
            self._validators[key] = _compiled(self.expanded(*key))
        return self._validators[key]

    def target(self, document: Document, pointer: str, holder: dict[str, Any]) -> RefTarget | None:
        """The target of the `$ref` in `holder`. None if it cannot be resolved."""
        try:
            return resolve(self.tree, document.path, holder["$ref"], pointer)
        except ContractRefused:
            return None

    def at(self, document: Document, pointer: str) -> Any:
        """The value at `pointer`. None if there is none."""
        try:
            return follow(document.value, pointer)
        except NoSuchPlace:
            return None

    def file_of(self, tool: ToolSource, pointer: str) -> RefTarget:
        """The target of the tool's reference at `pointer`, or the place itself if it has none."""
        holder = follow(tool.document.value, pointer)
        return self.target(tool.document, pointer, holder) or RefTarget(
            tool.document, pointer, holder
        )

    def published(self) -> Iterator[tuple[ToolSource, str]]:
        """The Media Type Objects of every tool's arguments and result, as tool and pointer."""
        for tool in self.tools:
            yield tool, "/post/requestBody/content/application~1json"
            yield tool, "/post/responses/200/content/application~1json"

    def _expansion(self, path: PurePosixPath, pointer: str) -> Any:
        key = self._resolved(path, pointer)
        if key not in self._expanded:
            self._expanded[key] = _expansion(self.tree, *key)
        return self._expanded[key]

    def _resolved(self, path: PurePosixPath, pointer: str) -> tuple[PurePosixPath, str]:
        """The target of an object that is only a `$ref`, or else the place itself.

        The target is a shared cache key for all its references.
        """
        document = self.tree.documents[path]
        value = self.at(document, pointer)
        if isinstance(value, dict) and value.keys() == {"$ref"}:
            target = self.target(document, pointer, value)
            if target and isinstance(target.value, dict) and "$ref" not in target.value:
                return target.document.path, target.pointer
        return path, pointer


def meta_schema_of(path: PurePosixPath) -> str | None:
    """The meta-schema of the file `path`. None for plain JSON Schema files."""
    match path.parts:
        case _ if path == INDEX:
            return "index.schema.json"
        case _ if path == POLICIES:
            return "policies.schema.json"
        case (folder, name) if folder == WORKFLOWS and name.endswith(WORKFLOW_SUFFIX):
            return "workflow.schema.json"
        case (folder, _) if (folder, path.suffix) in _FLAT:
            return _FLAT[folder, path.suffix]
        case (folder, _, _) if path.suffix == ".yaml":
            return _NESTED.get(folder)
        case _:
            return None


_FLAT: Final = {
    (EVENTS, ".yaml"): "event.schema.json",
    (ENTITIES, ".json"): "entity.schema.json",
}
_NESTED: Final = {
    TOOLS: "tool.schema.json",
    UPSTREAMS: "upstream.schema.json",
    WEBHOOKS: "webhook.schema.json",
    RESOURCES: "resource.schema.json",
    PROMPTS: "prompt.schema.json",
}
"""Meta-schemas of files: `_FLAT` of those in a folder, `_NESTED` of those one folder below it."""


def is_table(path: PurePosixPath) -> bool:
    """Whether the file `path` is the schema of a table's rows."""
    return path.parts[0] == UPSTREAMS and path.suffix == ".json"


def _definitions(root: SchemaNode) -> Iterator[SchemaNode]:
    definitions = root.schema.get("$defs")
    for name, schema in definitions.items() if isinstance(definitions, dict) else ():
        if isinstance(schema, dict):
            yield SchemaNode(root.document, child(child(root.pointer, "$defs"), name), schema)


def _expansion(tree: SourceTree, path: PurePosixPath, pointer: str) -> Any:
    try:
        return dereference(tree, path, pointer)
    except ContractRefused as refused:
        return refused
    except NoSuchPlace:
        return None


def _compiled(schema: Any) -> Validator | None:
    if not isinstance(schema, dict | bool):
        return None
    try:
        return Validator(schema)
    except ValueError:
        return None


# Finds the contracts that can be compared with others: those without errors in their files.

_NEEDS: Final = (
    *("file/", "json/", "yaml/", "ref/", "schema/", "shape/", "upstream/", "binding/"),
    *("webhook/", "event/", "entity/", "tool/schema-file", "publish/root"),
)
"""Prefixes of the rules that a contract must follow to be compared with another."""


def unsound_files(findings: Collection[Finding]) -> frozenset[PurePosixPath]:
    """The files with errors that make a comparison with other contracts impossible."""
    return frozenset(
        PurePosixPath(finding.path)
        for finding in findings
        if finding.severity is Severity.ERROR and finding.rule.startswith(_NEEDS)
    )


def is_sound(draft: Draft, path: PurePosixPath, unsound: frozenset[PurePosixPath]) -> bool:
    """Whether neither the file `path` nor a file that it refers to is in `unsound`."""
    try:
        return unsound.isdisjoint(closure(draft.tree, path))
    except ContractRefused:
        return False
