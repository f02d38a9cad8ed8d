"""What is called: cases from the examples of contracts, and made of the schemas of imports."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, Literal

import msgspec
from msgspec import Raw, Struct

from gateway.amounts import amount
from gateway.backends.mock.documents import made_arguments
from gateway.catalogue import Catalogue, Entry, StoredOperation
from gateway.contract.operation import Effect, HttpBinding, ImportedBinding, PythonBinding
from gateway.errors import CallerError
from gateway.testing import PER_DOCUMENT

Expectation = Literal["result", "answer", "admitted", "invalid", "no JSON"]
"""A result; a result or an error of the upstream; what the schema admits, refuses, cannot read."""

_METHODS: Final = frozenset({"delete", "get", "head", "options", "patch", "post", "put", "trace"})
MADE: Final = "made arguments"
"""The origin of arguments that no contract has."""
UNKNOWN: Final = "no_such_argument"
MADE_NUMBER: Final = 3
"""How many arguments are made for an imported operation."""
_RETYPED: Final = 6
"""How many arguments get a value of another type."""
_OTHER_TYPES: Final[tuple[Any, ...]] = (["x"], {"x": 1}, "x", 1.5, True, None)


class Case(Struct, frozen=True):
    """One call over each transport, and what must come of it."""

    contract: str
    """The id of the operation."""
    arguments: bytes
    """Any text: it is sent as it is."""
    origin: str
    """The name of the example, or how the arguments were made."""
    expectation: Expectation


def callable_alone(catalogue: Catalogue) -> list[Entry]:
    """The tools whose calls ask nobody: in a test, nobody answers."""
    return [each for each in catalogue.entries if not each.operation.asks]


def upstream_of(entry: Entry) -> str | None:
    """The upstream that a tool with contract files asks first. None for all other tools."""
    match entry.operation.binding:
        case HttpBinding(upstream=upstream) | PythonBinding(upstreams=(upstream, *_)):
            return upstream
    return None


def first_example(catalogue: Catalogue, entry: Entry) -> dict[str, Any]:
    """The arguments of the first example in the tool's contract."""
    return next(iter(catalogue.examples(entry).values()))


class _Paths(Struct, frozen=True):
    paths: dict[str, Raw]


def documented_requests(catalogue: Catalogue) -> Iterator[str]:
    """Method and path of what the published OpenAPI document has, imported operations aside."""
    imported = {each.operation.route for each in catalogue.entries if each.operation.is_imported}
    for path, item in msgspec.json.decode(catalogue.openapi, type=_Paths).paths.items():
        if path not in imported:
            for method in sorted(_METHODS.intersection(msgspec.json.decode(item))):
                yield f"{method.upper()} {path}"


def example_cases(catalogue: Catalogue, connector: str | None = None) -> list[Case]:
    """The examples of all contracts, or of one connector. For each connector, writes are first.

    So reads find the data that their examples need.
    """
    entries = [e for e in callable_alone(catalogue) if connector in {None, e.operation.connector}]
    entries.sort(key=lambda e: (e.operation.connector, e.operation.effect is Effect.READ, e.id))
    return [
        Case(entry.id, msgspec.json.encode(arguments), name, "result")
        for entry in entries
        for name, arguments in catalogue.examples(entry).items()
    ]


class MadeCases(Struct, frozen=True, kw_only=True):
    """The cases of imported operations, and how many operations have none, by the reason."""

    cases: tuple[Case, ...]
    left_out: Mapping[str, int]

    def lines(self) -> Iterator[str]:
        """A line for each reason."""
        for reason, number in self.left_out.items():
            yield f"not verified: {amount(number, 'imported tool')} {reason}"


def made_cases(
    catalogue: Catalogue, connector: str | None, report: Callable[[str], None]
) -> MadeCases:
    """One call of each imported read, of all connectors or of one.

    The mock answers reads by the document. Writes are left out, because it may need what no other
    call has made.
    """
    cases: list[Case] = []
    left_out: dict[str, int] = {}
    for entry in catalogue.entries:
        if not entry.operation.is_imported or connector not in {None, entry.operation.connector}:
            continue
        made: list[dict[str, Any]] = []
        reason = "that write or destroy"
        if entry.operation.effect is Effect.READ:
            report(f"arguments of {entry.id}")
            made, reason = made_arguments(entry), "without arguments that could be made"
        if not made:
            left_out[reason] = left_out.get(reason, 0) + 1
        for arguments in made:
            text = msgspec.json.encode(arguments)
            cases.append(Case(entry.id, text, MADE, "answer"))
    return MadeCases(cases=tuple(cases), left_out=left_out)


def imported_cases(entry: Entry, seed: int) -> list[Case]:
    """Calls of an imported operation with valid arguments. Empty: none are found."""
    return [
        Case(entry.id, json.dumps(each).encode(), f"{MADE} {number}", "answer")
        for number, each in enumerate(made_arguments(entry, MADE_NUMBER, seed))
    ]


def wrong_cases(entry: Entry, arguments: Mapping[str, Any]) -> Iterator[Case]:
    """Calls with arguments that differ from valid ones in one place, which their origin names."""
    schema = entry.listing.input_schema
    wrong: dict[str, Any] = {f"unknown {UNKNOWN}": {**arguments, UNKNOWN: 1}, "no object": []}
    for name in schema.get("required", ()):
        rest = {each: value for each, value in arguments.items() if each != name}
        wrong[f"without {name}"] = rest
    for name in list(arguments)[:_RETYPED]:
        for other in _OTHER_TYPES:
            changed = {**arguments, name: other}
            if not entry.input.admits(changed):
                wrong[f"wrong {name}"] = changed
                break
    for what, each in wrong.items():
        text = json.dumps(each).encode()
        yield Case(entry.id, text, what, "invalid")


def sent_arguments(entry: Entry, seed: int = 0) -> dict[str, Any] | None:
    """Valid arguments that a request can carry, such as no empty path segment. None: none found."""
    binding = entry.operation.binding
    assert isinstance(binding, ImportedBinding)
    for arguments in made_arguments(entry, MADE_NUMBER, seed):
        with suppress(CallerError):
            binding.request(arguments)
            return arguments
    return None


class OperationDraw(Struct, frozen=True, kw_only=True):
    """Which imported operations are tested: a few of each document, or all of them.

    A document may have thousands, and a suite that nobody waits for is not run. They are drawn by a
    seed, so that a run can be repeated, and from each HTTP method in turn.
    """

    seed: int = 0
    is_whole: bool = False
    """Whether all of them are tested."""

    def of(self, operations: Iterable[StoredOperation]) -> list[StoredOperation]:
        """The operations of one document that are tested, in the order of the document."""
        known = list(operations)
        if self.is_whole:
            return known
        drawn = set(self._drawn(known))
        return [each for each in known if each.head.id in drawn]

    def _drawn(self, operations: Sequence[StoredOperation]) -> list[str]:
        by_method: dict[str, list[str]] = {}
        for each in operations:
            by_method.setdefault(each.head.method, []).append(each.head.id)
        ranked = (
            (rank, self.rank(each), each)
            for ids in by_method.values()
            for rank, each in enumerate(sorted(ids, key=self.rank))
        )
        return [each for *_, each in sorted(ranked)[:PER_DOCUMENT]]

    def rank(self, text: str) -> str:
        """The place of `text` in the order of this seed."""
        return hashlib.sha256(f"{self.seed} {text}".encode()).hexdigest()

    def all_of(self, catalogue: Catalogue) -> Iterator[StoredOperation]:
        """The imported operations that are tested."""
        for document in catalogue.imported.values():
            yield from self.of(document.operations)

    def lines(self, catalogue: Catalogue) -> Iterator[str]:
        """For each imported document, how many of its operations are tested."""
        for name, document in catalogue.imported.items():
            tested, number = len(self.of(document.operations)), len(document.operations)
            fix = (
                ""
                if tested == number
                else f"; --all tests all, --seed {self.seed + 1} tests others"
            )
            yield f"gateway: {tested} of {number} imported operations of {name} are tested{fix}"


def stored_operation(catalogue: Catalogue, operation_id: str) -> StoredOperation:
    """The record of an imported operation."""
    document = catalogue.imported[operation_id.partition(".")[0]]
    return next(each for each in document.operations if each.head.id == operation_id)
