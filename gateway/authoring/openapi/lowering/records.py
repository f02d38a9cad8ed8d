"""Records of one import: the document, what its author selects, its operations, the report."""

from collections.abc import Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from gateway.authoring.contracts.finding import Finding, Severity
from gateway.authoring.openapi.reading.dialect import Direction
from gateway.authoring.openapi.reading.normalise import NormalDocument
from gateway.authoring.openapi.reading.schemas import (
    Part,
    Schema,
    SchemaLowering,
    is_binary,
    resolve_part,
)
from gateway.contract.imported import ImportedConnector, ResultCheck
from gateway.contract.operation import Effect

# What an author says in `import.yaml` about the operations that are served.

HeaderChoice = bool | tuple[str, ...]
"""All declared headers (`true`), none, or those with these names."""
HeaderWishes = HeaderChoice | Mapping[str, HeaderChoice]
"""One choice for all operations, or one for each, by operationId or `GET /path`."""


NameCuts = Literal["digests", "words"]
"""How names that are too long are cut: `words` leaves words out, `digests` keeps the beginning."""


class OperationSelection(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """The operations that are served: those that match every part that is given.

    All parts are globs (`*`, `?`, `[…]`) and match upper and lower case exactly, except `methods`.
    """

    tags: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    """Match operationIds, or a method and a path: `GET /pets/*`."""
    exclude: tuple[str, ...] = ()
    """Match as `operations`. These operations are not served."""


class ImportFile(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The content of `import.yaml`."""

    document: str
    """The name of the vendor's document beside the file."""
    sha256: str
    """Digest of the vendor's bytes."""
    entry: str | None = None
    """Of a folder with several documents: the path of the imported one in it."""
    source: str = ""
    """Where the document came from: a URL or a file name. Nothing is fetched from it."""
    title: str | None = None
    base_url: str | None = None
    select: OperationSelection = OperationSelection()
    names: Mapping[str, str] = {}
    """Names of tools, by operationId or `GET /path`."""
    long_names: NameCuts = "digests"
    """New imports have `words`. Without it, an import keeps the names that it had before."""
    effects: Mapping[str, Effect] = {}
    """Effects that differ from those of the method, by operationId or `GET /path`."""
    results: ResultCheck = "enforce"
    tool_results: Mapping[str, ResultCheck] = {}
    """In place of `results`, by operationId, `GET /path`, or a pattern of them."""
    result_formats: Literal["annotate", "enforce"] = "annotate"
    """Whether a reply may have another text than its `format` says. Arguments may never."""
    headers: HeaderWishes = False
    """The declared response headers that results have."""
    limits: Mapping[str, Any] | None = None
    """The limits of each tool, in the form of `x-policy.limits`."""
    tool_limits: Mapping[str, Mapping[str, Any]] = {}
    """Limits in place of `limits`, by operationId, `GET /path`, or a pattern of them."""
    policy: Mapping[str, Any] = {}
    """Members of `x-policy` that all tools have: `timeoutSeconds`, `task`, `attempts`."""
    tool_policies: Mapping[str, Mapping[str, Any]] = {}
    """Members in place of those of `policy`, by operationId, `GET /path`, or a pattern of them."""


# Records of one import: the operations of a document, and the report.


class OperationSource(Struct, frozen=True, kw_only=True, eq=False):
    """One Operation Object of the document, with its Path Item."""

    method: str
    """In upper case."""
    path: str
    """The path template."""
    pointer: str
    """JSON Pointer to the operation in the normal document."""
    item_pointer: str
    item: Mapping[str, Any]
    """The Path Item, with `$ref` followed."""
    value: Mapping[str, Any]

    @property
    def key(self) -> str:
        """`GET /users/{id}`, which identifies the operation."""
        return f"{self.method} {self.path}"

    @property
    def operation_id(self) -> str | None:
        found = self.value.get("operationId")
        return found if isinstance(found, str) and found else None

    @property
    def tags(self) -> tuple[str, ...]:
        found = self.value.get("tags")
        return tuple(map(str, found)) if isinstance(found, list) else ()


class Unservable(Exception):
    """A part of an operation that cannot be served exactly."""

    def __init__(self, pointer: str, rule: str, message: str, fix: str) -> None:
        super().__init__(message)
        self.pointer = pointer
        """JSON Pointer in the normal document."""
        self.rule = rule
        self.message = message
        self.fix = fix


class RefusedOperation(Struct, frozen=True, kw_only=True):
    """A selected operation that is not served, and why."""

    operation: str
    """`GET /users/{id}`."""
    finding: Finding


class RenamedOperation(Struct, frozen=True, kw_only=True):
    """A tool whose name differs from its operationId in more than the way of writing."""

    operation: str
    operation_id: str | None
    tool: str
    reason: str


class NeededCredential(Struct, frozen=True, kw_only=True):
    """A credential slot that served operations use."""

    slot: str
    kind: str
    settings: tuple[str, ...]
    choices: str
    """Which of the settings are set together, for people: `A, or B with C`."""
    operations: int
    """The number of served operations that may use it."""


class ImportReport(Struct, frozen=True, kw_only=True):
    """What an import serves, and what it does not serve."""

    connector: str
    title: str
    document: str
    version: str
    """The OpenAPI version of the document."""
    sha256: str
    operations: int
    """The number of operations in the document."""
    selected: int
    served: int
    refused: tuple[RefusedOperation, ...] = ()
    renamed: tuple[RenamedOperation, ...] = ()
    credentials: tuple[NeededCredential, ...] = ()
    notes: tuple[Finding, ...] = ()
    """What is served differently from the document, or is left out."""
    webhooks: tuple[str, ...] = ()
    """The webhooks of the document by name, and the callbacks of the selected operations."""

    @property
    def causes(self) -> dict[str, int]:
        """The number of refused operations by rule."""
        found: dict[str, int] = {}
        for each in self.refused:
            found[each.finding.rule] = found.get(each.finding.rule, 0) + 1
        return dict(sorted(found.items()))


class ImportOutcome(Struct, frozen=True, kw_only=True):
    """The record that is served, and the report."""

    connector: ImportedConnector
    report: ImportReport


class WrongSelection(Exception):
    """A part of `import.yaml` that does not fit the document."""

    def __init__(self, pointer: str, message: str, fix: str) -> None:
        super().__init__(message)
        self.pointer = pointer
        """JSON Pointer in `import.yaml`."""
        self.message = message
        self.fix = fix


# The document that is lowered, and what its operations have in common.

_NO_CHANGE: Final = "no change is needed"


class DocumentView:
    """One normal document. Collects the definitions and the notes of its operations."""

    def __init__(self, document: NormalDocument, *, checks_results: bool = True) -> None:
        """`checks_results`: formats of results refuse values. Otherwise they are annotations."""
        self.document = document
        self.value: Mapping[str, Any] = document.value
        self.schemas = SchemaLowering(document, checks_results=checks_results)
        self._notes: list[Finding] = []

    @property
    def notes(self) -> list[Finding]:
        """What is served differently from the document, or is left out."""
        noted = (each.finding for each in self.document.notes)
        return [*noted, *self.schemas.notes, *self._notes]

    def part(self, node: Any, pointer: str) -> Part:
        """`node` at `pointer`, or what its `$ref` refers to. Raises `PartRefused`, `Unservable`."""
        if not isinstance(node, dict):
            message = "an object is expected here"
            raise Unservable(pointer, "document/malformed", message, "correct it with an overlay")
        return resolve_part(self.document, node, pointer)

    def lower(self, schema: Any, direction: Direction, pointer: str) -> Schema:
        """`schema` in JSON Schema 2020-12. Raises `PartRefused`."""
        return self.schemas.lower(schema, direction, pointer)

    def is_binary(self, schema: Any) -> bool:
        """Whether `schema` describes bytes, which are base64 text in arguments and results."""
        return is_binary(self.document, schema)

    def note(self, pointer: str, rule: str, message: str, fix: str = _NO_CHANGE) -> None:
        """Report what is served differently from the document, or is left out."""
        self._notes.append(self.document.finding(pointer, rule, message, fix, Severity.NOTE))

    def refusal(self, problem: Unservable) -> Finding:
        """`problem` with its place in the vendor's document."""
        return self.document.finding(
            problem.pointer, problem.rule, problem.message, problem.fix, Severity.ERROR
        )
