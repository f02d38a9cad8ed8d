"""Makes the record of an imported connector, and the report of the import."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from gateway.contract.imported import ImportedConnector, ImportedOperation
from gateway.contract.operation import CallPolicy, Effect
from gateway.contract.policies.limits import ToolLimits
from gateway.contract.schemas.shapes import LongestTexts
from gateway.contract.slots import filling, setting_variable
from gateway.contracts.finding import ordered
from gateway.openapi.lowering.headers import refuse_undeclared, wanted_headers
from gateway.openapi.lowering.links import Links
from gateway.openapi.lowering.naming import Naming, own_name, reserved, tool_names
from gateway.openapi.lowering.operation import OperationLowering
from gateway.openapi.lowering.operations import FoundOperations, finding_of
from gateway.openapi.lowering.records import (
    ImportOutcome,
    ImportReport,
    NeededCredential,
    OperationSource,
    RefusedOperation,
    RenamedOperation,
    Unservable,
    WrongSelection,
)
from gateway.openapi.lowering.requests.arguments import shortened
from gateway.openapi.lowering.security import Schemes
from gateway.openapi.lowering.selecting import by_key, by_pattern, refused_in, selected
from gateway.openapi.lowering.selection import ImportFile
from gateway.openapi.lowering.sensitive import SensitiveArguments
from gateway.openapi.lowering.servers import Servers
from gateway.openapi.lowering.view import DocumentView
from gateway.openapi.lowering.webhooks import (
    InboundMessages,
    named_messages,
    note_unserved,
    read_messages,
)
from gateway.openapi.reading.normalise import NormalDocument
from gateway.openapi.reading.refusal import PartRefused
from gateway.openapi.reading.schemas import Schema

_SAFE: Final = frozenset({"GET", "HEAD"})


class CallWishes:
    """What `import.yaml` says of calls, by the key of the operation."""

    def __init__(self, operations: Sequence[OperationSource], wishes: ImportFile) -> None:
        """Raises `WrongSelection` for what names no operation, or one in two ways."""
        limits = by_pattern(operations, wishes.tool_limits, "tool_limits")
        self._wishes = wishes
        self._usual_limits = msgspec.convert(wishes.limits, ToolLimits | None)
        self._limits = {key: msgspec.convert(each, ToolLimits) for key, each in limits.items()}
        self._policies = by_pattern(operations, wishes.tool_policies, "tool_policies")
        self._results = by_pattern(operations, wishes.tool_results, "tool_results")

    def applied(self, operations: Mapping[str, ImportedOperation]) -> dict[str, ImportedOperation]:
        """The operations by key, with what is said of their calls. Raises `WrongSelection`."""
        return {
            key: replace(
                each,
                limits=self._limits.get(key, self._usual_limits),
                policy=self._policy(key, each),
                results=self._results.get(key, self._wishes.results),
            )
            for key, each in operations.items()
        }

    def _policy(self, key: str, operation: ImportedOperation) -> CallPolicy:
        """A member of the tool's own policy stands in place of the one for all tools."""
        own = self._policies.get(key, {})
        may_repeat = operation.effect is Effect.READ or operation.method in _SAFE
        if "attempts" in own and not may_repeat:
            message = f"{key} is not safe to repeat, so it has no attempts"
            fix = "remove attempts, or correct the operation under `effects`"
            raise WrongSelection("/tool_policies", message, fix)
        return msgspec.convert({**self._wishes.policy, **own}, CallPolicy)


_MAX_TITLE: Final = 100


def lower_connector(
    document: NormalDocument, name: str, wishes: ImportFile, bound: Collection[str] = ()
) -> ImportOutcome:
    """The connector `name` with the operations that `wishes` selects. Raises `WrongSelection`.

    `bound` are the names of operations that tools with contract files call, selected or not.
    Operations that cannot be served exactly are in the report, each with its reason.
    """
    found = FoundOperations(view := _view(document, wishes))
    chosen = _chosen(found, wishes, may_be_empty=bool(bound))
    names = _names(found.operations, names_of := Naming(name, wishes.long_names), wishes.names)
    effects = by_pattern(found.operations, wishes.effects, "effects")
    calls = CallWishes(found.operations, wishes)
    headers = wanted_headers(found.operations, wishes.headers)
    servers = Servers(view.value, wishes.base_url, wishes.source)
    schemes = Schemes(view, servers.base_url)
    lowering = OperationLowering(view, name, servers, schemes, headers)
    served, refused = _lowered(lowering, view, chosen, names, effects)
    others = _only_bound(found.operations, chosen, names, bound)
    only_bound, unbound = _lowered(lowering, view, others, names, effects)
    refuse_undeclared(wishes.headers, headers, served)
    served, only_bound = calls.applied(served), calls.applied(only_bound)
    _note(view, chosen, servers, schemes)
    every = [*served.values(), *only_bound.values()]
    definitions = _needed(view, every)
    connector = ImportedConnector(
        connector=name,
        title=wishes.title or _title(view.value, name),
        base_url=servers.base_url,
        sha256=wishes.sha256,
        operations=_marked(Links(view, found.operations, served).resolved(), definitions),
        bound=_marked(only_bound.values(), definitions),
        slots=schemes.slots(_uses(every)),
        definitions=definitions,
    )
    unread = refused_in(found.refused, wishes.select)
    report = replace(
        _report(view, connector, wishes),
        operations=len(found.operations) + len(found.refused),
        selected=len(chosen) + len(unread),
        refused=(*unread, *refused, *unbound),
        renamed=tuple(_renamed(chosen, served, wishes.names, names_of)),
        webhooks=tuple(each.label for each in named_messages(view, chosen)),
    )
    return ImportOutcome(connector=connector, report=report)


def _view(document: NormalDocument, wishes: ImportFile) -> DocumentView:
    return DocumentView(document, checks_results=wishes.result_formats == "enforce")


def _report(view: DocumentView, connector: ImportedConnector, wishes: ImportFile) -> ImportReport:
    """The report without what concerns the selection."""
    return ImportReport(
        connector=connector.connector,
        title=connector.title,
        document=wishes.document,
        version=view.document.source.version,
        sha256=wishes.sha256,
        operations=0,
        selected=0,
        served=len(connector.operations),
        credentials=_credentials(connector),
        notes=ordered(view.notes),
    )


def lower_messages(document: NormalDocument, wishes: ImportFile) -> InboundMessages:
    """The webhooks of the document, and the callbacks of the operations that `wishes` selects.

    Raises `WrongSelection`.
    """
    view = DocumentView(document)
    return read_messages(view, _chosen(FoundOperations(view), wishes))


def _note(
    view: DocumentView, chosen: Sequence[OperationSource], servers: Servers, schemes: Schemes
) -> None:
    """Note what the operations together lack, what is checked, and what is not served."""
    if formats := view.schemas.formats.of_arguments:
        message = f"arguments must have their formats: {', '.join(formats)}"
        view.note("", "argument/format", message)
    note_unserved(view, chosen)
    if chosen:
        schemes.note_missing()
    if chosen and servers.problem is not None:
        view.note("", servers.problem.rule, servers.problem.message, servers.problem.fix)


def _chosen(
    found: FoundOperations, wishes: ImportFile, *, may_be_empty: bool = False
) -> Sequence[OperationSource]:
    if not found.operations and not found.refused:
        return ()
    return selected(found.operations, found.refused, wishes.select, may_be_empty=may_be_empty)


def _marked(
    operations: Iterable[ImportedOperation], definitions: Mapping[str, Any]
) -> tuple[ImportedOperation, ...]:
    """The operations by tool, each with its sensitive arguments and the length of its texts."""
    sensitive = SensitiveArguments(definitions)
    texts = LongestTexts(definitions)
    return tuple(
        replace(
            each,
            sensitive=sensitive.pointers(each.input_schema),
            longest_text=texts.of(each.input_schema),
        )
        for each in sorted(operations, key=lambda each: each.tool)
    )


def _lowered(
    lowering: OperationLowering,
    view: DocumentView,
    chosen: Sequence[OperationSource],
    names: Mapping[str, str],
    effects: Mapping[str, Effect],
) -> tuple[dict[str, ImportedOperation], list[RefusedOperation]]:
    """The served operations by key, and the refused ones."""
    served: dict[str, ImportedOperation] = {}
    refused: list[RefusedOperation] = []
    for each in chosen:
        try:
            served[each.key] = lowering.lower(each, names[each.key], effects.get(each.key))
        except (Unservable, PartRefused) as problem:
            finding = finding_of(view, problem)
            refused.append(RefusedOperation(operation=each.key, finding=finding))
    return served, refused


def _only_bound(
    operations: Sequence[OperationSource],
    chosen: Sequence[OperationSource],
    names: Mapping[str, str],
    bound: Collection[str],
) -> list[OperationSource]:
    keys = {each.key for each in chosen}
    return [e for e in operations if names[e.key] in bound and e.key not in keys]


def _names(
    operations: Sequence[OperationSource], names_of: Naming, wishes: Mapping[str, str]
) -> dict[str, str]:
    """The name of each tool by operation key. Raises `WrongSelection` for a name that is taken."""
    given = by_key(operations, wishes, "names")
    owners: dict[str, str] = {}
    for key, tool in given.items():
        if tool in owners:
            message = f"the name {tool!r} is given to {owners[tool]} and to {key}"
            raise WrongSelection("/names", message, "give each operation its own name")
        owners[tool] = key
        if tool in reserved(names_of.connector):
            message = f"the name {tool!r} is that of a tool of the gateway itself"
            raise WrongSelection("/names", message, "give another name")
        if tool != names_of.fitted(tool, key):
            message = f"the name {names_of.connector}_{tool} is longer than 60 characters"
            raise WrongSelection("/names", message, "give a shorter name")
    return tool_names(operations, names_of, given)


def _renamed(
    chosen: Sequence[OperationSource],
    served: Mapping[str, ImportedOperation],
    wishes: Mapping[str, str],
    names_of: Naming,
) -> list[RenamedOperation]:
    found: list[RenamedOperation] = []
    for each in chosen:
        own = own_name(each)
        if each.key not in served or not own or served[each.key].tool == own:
            continue
        if each.key in wishes or each.operation_id in wishes:
            reason = "import.yaml gives this name"
        elif names_of.fitted(own, each.key) != own:
            reason = "the name would be too long"
        elif own in reserved(names_of.connector):
            reason = "a tool of the gateway itself has the same name"
        else:
            reason = "another operation has the same name"
        found.append(
            RenamedOperation(
                operation=each.key,
                operation_id=each.operation_id,
                tool=served[each.key].tool,
                reason=reason,
            )
        )
    return found


def _title(document: Mapping[str, Any], name: str) -> str:
    facts = document.get("info")
    title = facts.get("title") if isinstance(facts, dict) else None
    return shortened(title, _MAX_TITLE) if isinstance(title, str) and title.strip() else name


def _uses(operations: Any) -> dict[str, int]:
    """The number of operations that may use each slot."""
    counts: dict[str, int] = {}
    for operation in operations:
        for slot in {use.slot for uses in operation.security for use in uses}:
            counts[slot] = counts.get(slot, 0) + 1
    return counts


def _credentials(connector: ImportedConnector) -> tuple[NeededCredential, ...]:
    counts = _uses(connector.callable_operations)
    return tuple(
        NeededCredential(
            slot=slot.name,
            kind=slot.kind,
            settings=tuple(setting_variable(connector.connector, n) for n in slot.settings),
            choices=filling(connector.connector, slot),
            operations=counts[slot.name],
        )
        for slot in connector.slots
    )


def _needed(view: DocumentView, operations: Any) -> dict[str, Any]:
    """The definitions that the served operations refer to, sorted by name."""
    schemas: list[Schema] = []
    for operation in operations:
        schemas += [operation.input_schema, *(reply.schema for reply in operation.replies)]
        schemas += [each.schema for reply in operation.replies for each in reply.headers]
    return dict(sorted(view.schemas.needed({"allOf": schemas}).items()))
