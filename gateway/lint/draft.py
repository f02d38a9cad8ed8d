"""The contracts that rules examine: what several of them need, worked out once."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, Final

from msgspec import Struct

from gateway.contract.connector import HANDLER_PACKAGES
from gateway.contract.values.pointers import NoSuchPlace, child, follow
from gateway.contract.values.schema import Validator
from gateway.contract.values.violation import Violation
from gateway.contracts import meta
from gateway.contracts.finding import ContractRefused, Finding
from gateway.contracts.sources import keywords
from gateway.contracts.sources.document import Document
from gateway.contracts.sources.refs import RefTarget, dereference, resolve
from gateway.contracts.sources.tree import (
    ENTITIES,
    EVENTS,
    INDEX,
    POLICIES,
    TOOLS,
    UPSTREAMS,
    WEBHOOKS,
    EventFile,
    SourceTree,
    ToolSource,
    WebhookFile,
)
from gateway.lint.places import schema_roots
from gateway.lint.rules.all_rules import BY_ID


class SchemaPlace(Struct, frozen=True, eq=False):
    """A schema object where it is written."""

    document: Document
    pointer: str
    schema: dict[str, Any]

    @property
    def is_ours(self) -> bool:
        """Whether it is ours to decide; the others describe what upstreams and senders say."""
        folder = self.document.path.parts[0]
        return folder not in {UPSTREAMS, WEBHOOKS} or is_table(self.document.path)


class Draft:
    """The contracts under examination. Caches; reads nothing but their tree."""

    def __init__(self, tree: SourceTree, packages: Sequence[str] = HANDLER_PACKAGES) -> None:
        self.tree = tree
        self.packages = packages
        """The connector packages of the project."""
        self._expanded: dict[tuple[PurePosixPath, str], Any] = {}
        self._validators: dict[tuple[PurePosixPath, str], Validator | None] = {}

    def finding(
        self, rule: str, document: Document, pointer: str, message: str, fix: str | None = None
    ) -> Finding:
        """A break of `rule` at `pointer`; `fix` says more than the rule's own when given."""
        known = BY_ID[rule]
        return Finding(
            path=str(document.path),
            line=document.line_of(pointer),
            pointer=pointer,
            rule=rule,
            message=message,
            fix=fix or known.fix,
            severity=known.severity,
        )

    @cached_property
    def misshapen(self) -> Mapping[PurePosixPath, tuple[Violation, ...]]:
        """Files that break their meta-schema. Other rules leave them alone."""
        checked = (
            (path, meta.validator(name).violations(document.value))
            for path, document in self.tree.documents.items()
            if (name := meta_schema_of(path))
        )
        return {path: violations for path, violations in checked if violations}

    @cached_property
    def index(self) -> Document | None:
        """The index, when it has the right shape."""
        return None if INDEX in self.misshapen else self.tree.index

    @cached_property
    def tools(self) -> tuple[ToolSource, ...]:
        """The tools whose files have the right shape."""
        return tuple(tool for tool in self.tree.tools if tool.path not in self.misshapen)

    @cached_property
    def upstreams(self) -> Mapping[str, Document]:
        """The upstreams whose files have the right shape."""
        return {
            name: document
            for name, document in self.tree.upstreams.items()
            if document.path not in self.misshapen
        }

    @cached_property
    def webhooks(self) -> tuple[WebhookFile, ...]:
        """The webhooks whose files have the right shape."""
        return tuple(each for each in self.tree.webhooks if each.path not in self.misshapen)

    @cached_property
    def events(self) -> tuple[EventFile, ...]:
        """The events whose files have the right shape."""
        return tuple(each for each in self.tree.events if each.path not in self.misshapen)

    @cached_property
    def entities(self) -> Mapping[str, Document]:
        """The kinds of rows whose files have the right shape."""
        return {
            kind: document
            for kind, document in self.tree.entities.items()
            if document.path not in self.misshapen
        }

    @cached_property
    def roots(self) -> tuple[SchemaPlace, ...]:
        """Every outermost schema of every file."""
        return tuple(
            SchemaPlace(document, pointer, schema)
            for document in self.tree.documents.values()
            for pointer, schema in schema_roots(document)
        )

    @cached_property
    def entries(self) -> tuple[SchemaPlace, ...]:
        """The roots and their `$defs`: every schema that a reference may lead to first."""
        return tuple(place for root in self.roots for place in (root, *_definitions(root)))

    @cached_property
    def schemas(self) -> tuple[SchemaPlace, ...]:
        """Every schema object of every file, once, where it is written."""
        return tuple(
            SchemaPlace(root.document, pointer, schema)
            for root in self.roots
            for pointer, schema in keywords.subschemas(root.schema, root.pointer)
        )

    def expanded(self, path: PurePosixPath, pointer: str) -> Any:
        """The dereferenced value; None when it cannot be had, which `refusals` explains."""
        found = self._expansion(path, pointer)
        return None if isinstance(found, ContractRefused) else found

    def refusals(self, path: PurePosixPath, pointer: str) -> tuple[Finding, ...]:
        """Why the value at `pointer` cannot be dereferenced."""
        found = self._expansion(path, pointer)
        return found.findings if isinstance(found, ContractRefused) else ()

    def validator(self, path: PurePosixPath, pointer: str) -> Validator | None:
        """The gate of the schema at `pointer`; None when it cannot be compiled."""
        place = self._meant(path, pointer)
        if place not in self._validators:
            self._validators[place] = _compiled(self.expanded(*place))
        return self._validators[place]

    def target(self, document: Document, pointer: str, holder: dict[str, Any]) -> RefTarget | None:
        """What the `$ref` of `holder` leads to; None when that is refused."""
        try:
            return resolve(self.tree, document.path, holder["$ref"], pointer)
        except ContractRefused:
            return None

    def at(self, document: Document, pointer: str) -> Any:
        """What lies at `pointer`; None when nothing does."""
        try:
            return follow(document.value, pointer)
        except NoSuchPlace:
            return None

    def file_of(self, tool: ToolSource, pointer: str) -> RefTarget:
        """Where the schema that a tool refers to at `pointer` is written."""
        holder = follow(tool.document.value, pointer)
        return self.target(tool.document, pointer, holder) or RefTarget(
            tool.document, pointer, holder
        )

    def published(self) -> Iterator[tuple[ToolSource, str]]:
        """Each tool with the pointers of its arguments' and its result's Media Type Object."""
        for tool in self.tools:
            yield tool, "/post/requestBody/content/application~1json"
            yield tool, "/post/responses/200/content/application~1json"

    def _expansion(self, path: PurePosixPath, pointer: str) -> Any:
        place = self._meant(path, pointer)
        if place not in self._expanded:
            self._expanded[place] = _expansion(self.tree, *place)
        return self._expanded[place]

    def _meant(self, path: PurePosixPath, pointer: str) -> tuple[PurePosixPath, str]:
        """The place that a bare reference leads to; otherwise the place itself."""
        document = self.tree.documents[path]
        value = self.at(document, pointer)
        if isinstance(value, dict) and value.keys() == {"$ref"}:
            target = self.target(document, pointer, value)
            if target and isinstance(target.value, dict) and "$ref" not in target.value:
                return target.document.path, target.pointer
        return path, pointer


def meta_schema_of(path: PurePosixPath) -> str | None:
    """The meta-schema that validates the file `path`; None for plain JSON Schema files."""
    match path.parts:
        case _ if path == INDEX:
            return "index.schema.json"
        case _ if path == POLICIES:
            return "policies.schema.json"
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
}
"""Meta-schemas by folder, of files in it and of files one folder below it."""


def is_table(path: PurePosixPath) -> bool:
    """Whether the file `path` is the schema of a table's rows."""
    return path.parts[0] == UPSTREAMS and path.suffix == ".json"


def _definitions(root: SchemaPlace) -> Iterator[SchemaPlace]:
    definitions = root.schema.get("$defs")
    for name, schema in definitions.items() if isinstance(definitions, dict) else ():
        if isinstance(schema, dict):
            yield SchemaPlace(root.document, child(child(root.pointer, "$defs"), name), schema)


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
