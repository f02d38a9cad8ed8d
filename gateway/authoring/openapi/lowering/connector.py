"""Makes the record of an imported connector: its links, sensitive arguments, and the report."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from gateway.authoring.contracts.finding import ordered
from gateway.authoring.openapi.lowering.operation import (
    OperationLowering,
    refuse_undeclared,
    wanted_headers,
)
from gateway.authoring.openapi.lowering.parameters import shortened
from gateway.authoring.openapi.lowering.records import (
    DocumentView,
    ImportFile,
    ImportOutcome,
    ImportReport,
    NeededCredential,
    OperationSource,
    RefusedOperation,
    RenamedOperation,
    Unservable,
    WrongSelection,
)
from gateway.authoring.openapi.lowering.selecting import (
    FoundOperations,
    Naming,
    by_key,
    by_pattern,
    finding_of,
    own_name,
    refused_in,
    reserved,
    selected,
    tool_names,
)
from gateway.authoring.openapi.lowering.upstream import Schemes, Servers
from gateway.authoring.openapi.lowering.webhooks import (
    InboundMessages,
    named_messages,
    note_unserved,
    read_messages,
)
from gateway.authoring.openapi.reading.normalise import NormalDocument
from gateway.authoring.openapi.reading.schemas import Schema
from gateway.authoring.openapi.reading.source import PartRefused
from gateway.contract.imported import (
    HEADERS,
    ImportedConnector,
    ImportedLink,
    ImportedOperation,
    ImportedParameter,
    ImportedReply,
    LinkInput,
    LinkValue,
)
from gateway.contract.operation import CallPolicy, Effect
from gateway.contract.policies.limits import ToolLimits
from gateway.contract.schemas import keywords
from gateway.contract.schemas.shapes import LongestTexts
from gateway.contract.slots import filling, setting_variable
from gateway.contract.values.pointers import child, pointer_of, steps
from gateway.contract.values.schema import PREFIX, with_definitions
from gateway.encoding.replies.content import RESULT
from gateway.encoding.shapes import Shapes

# Adds the links of replies to the operations: which tool each leads to, with which arguments.
#
# A gateway does not follow links. `gateway test` does, to show that the operations fit together.
#
# Runtime expressions (OpenAPI 3.2 §4.20.5): which argument or part of a result they name.

_EMBEDDED: Final = re.compile(r"\{(\$[^{}]*)\}")
_BODY: Final = re.compile(r"\$(request|response)\.body(?:#(/.*)?)?", re.DOTALL)
_PARAMETER: Final = re.compile(r"\$(request|response)\.(header|query|path)\.(.+)", re.DOTALL)


class NotEvaluated(Exception):
    """A link or an expression in it cannot be evaluated. The text says why."""


class Expressions:
    """The expressions of links of one reply. Each method raises `NotEvaluated`."""

    def __init__(
        self, operation: ImportedOperation, status: str, definitions: Mapping[str, Any]
    ) -> None:
        self._operation = operation
        self._status = status
        self._definitions = definitions

    def parts(self, value: Any) -> tuple[LinkValue, ...]:
        """The parts of a value of a link: a constant, an expression, or a text that holds some."""
        if not isinstance(value, str):
            self._refuse_nested(value)
            return (LinkValue(source="constant", constant=value),)
        if value.startswith("$"):
            return (self._value(value),)
        return tuple(self._embedded(value)) or (LinkValue(source="constant", constant=value),)

    def _embedded(self, text: str) -> Iterator[LinkValue]:
        for index, part in enumerate(_EMBEDDED.split(text)):
            if index % 2:
                yield self._value(part)
            elif part:
                yield LinkValue(source="constant", constant=part)

    def _refuse_nested(self, value: Any) -> None:
        match value:
            case str() if value.startswith("$") or _EMBEDDED.search(value):
                raise NotEvaluated(f"the expression {value!r} inside another value")
            case dict():
                for each in value.values():
                    self._refuse_nested(each)
            case list():
                for each in value:
                    self._refuse_nested(each)

    def _value(self, expression: str) -> LinkValue:
        if expression == "$method":
            return LinkValue(source="constant", constant=self._operation.method)
        if expression == "$statusCode" and self._status.isdigit():
            return LinkValue(source="constant", constant=int(self._status))
        if found := _BODY.fullmatch(expression):
            in_body = self._in_request if found[1] == "request" else self._in_response
            return in_body(expression, found[2] or "")
        if found := _PARAMETER.fullmatch(expression):
            in_part = self._parameter if found[1] == "request" else self._header
            return in_part(expression, found[2], found[3])
        if expression in {"$url", "$statusCode"}:
            raise _refused(expression, "a result does not show it")
        raise _refused(expression, "it is no runtime expression")

    def _parameter(self, expression: str, location: str, name: str) -> LinkValue:
        for each in self._operation.parameters:
            is_header = location == "header" and each.name.lower() == name.lower()
            if each.location == location and (is_header or each.name == name):
                return LinkValue(source="arguments", pointer=child("", each.member))
        raise _refused(expression, "the operation has no such parameter")

    def _header(self, expression: str, location: str, name: str) -> LinkValue:
        declared = (each for each in self._operation.replies if each.status == self._status)
        names = [header.name for each in declared for header in each.headers]
        for each in names:
            if location == "header" and each.lower() == name.lower():
                return LinkValue(source="result", pointer=child(child("", HEADERS), each))
        raise _refused(expression, "results have only the headers that import.yaml names")

    def _in_request(self, expression: str, pointer: str) -> LinkValue:
        body = self._operation.body
        if body is None:
            raise _refused(expression, "the operation has no body")
        if body.member is not None:
            return LinkValue(source="arguments", pointer=child("", body.member) + pointer)
        first, _, rest = pointer.removeprefix("/").partition("/")
        for member, name in body.members.items():
            if pointer and child("", name) == f"/{first}":
                return LinkValue(
                    source="arguments", pointer=child("", member) + (f"/{rest}" if rest else "")
                )
        raise _refused(expression, "the body is sent by its members, and none has this name")

    def _in_response(self, expression: str, pointer: str) -> LinkValue:
        reply = self._reply()
        if reply is not None and reply.kind == "text" and not pointer:
            return LinkValue(source="result", pointer="/text")
        if reply is None or reply.kind != "json":
            raise _refused(expression, "the reply has no JSON body")
        is_object = "object" in Shapes(self._definitions).types(reply.schema)
        around = "" if is_object else child("", RESULT)
        return LinkValue(source="result", pointer=around + pointer)

    def _reply(self) -> ImportedReply | None:
        declared = [each for each in self._operation.replies if each.status == self._status]
        return min(declared, key=lambda each: each.kind != "json", default=None)


def _refused(expression: str, reason: str) -> NotEvaluated:
    return NotEvaluated(f"the expression {expression!r}: {reason}")


FOLLOWED: Final = "reply/links"
NOT_FOLLOWED: Final = "reply/link-not-tested"
_LOCATIONS: Final = frozenset({"path", "query", "header", "cookie"})


class _Spot(Struct, frozen=True):
    """A link as the document has it."""

    name: str
    status: str
    pointer: str
    node: Any


class Links:
    """Resolves the links of the served operations of one document."""

    def __init__(
        self,
        view: DocumentView,
        operations: Sequence[OperationSource],
        served: Mapping[str, ImportedOperation],
    ) -> None:
        """`operations` are all of the document; `served` has those that are served by key."""
        self._view = view
        self._served = served
        self._sources = {each.key: each for each in operations}
        self._by_id: dict[str, list[str]] = {}
        for each in operations:
            if each.operation_id:
                self._by_id.setdefault(each.operation_id, []).append(each.key)
        self._by_ref = {
            ref: each.key
            for each in operations
            for ref in (each.pointer, child(child("/paths", each.path), each.method.lower()))
        }

    def resolved(self) -> tuple[ImportedOperation, ...]:
        """The served operations with their links, each of which is noted."""
        return tuple(
            replace(each, links=tuple(self._of(self._sources[key], each)))
            for key, each in self._served.items()
        )

    def _of(self, source: OperationSource, operation: ImportedOperation) -> Iterator[ImportedLink]:
        for spot in self._spots(source):
            link = self._link(spot, operation)
            what = f"the link {spot.name!r} of the reply {spot.status} to {source.key}"
            if link.problem is None:
                message = f"{what} is not followed in calls; `gateway test` follows it"
                fix = "no change is needed: agents call the operation that the link names"
                self._view.note(spot.pointer, FOLLOWED, message, fix)
            else:
                message = f"{what} is not followed in calls or tests: {link.problem}"
                fix = "correct the link with an overlay, or leave it"
                self._view.note(spot.pointer, NOT_FOLLOWED, message, fix)
            yield link

    def _spots(self, source: OperationSource) -> Iterator[_Spot]:
        replies = source.value.get("responses")
        for status, node in (replies if isinstance(replies, dict) else {}).items():
            if status.startswith("x-"):
                continue
            reply = self._view.part(node, child(child(source.pointer, "responses"), status))
            links = reply.value.get("links")
            for name, link in (links if isinstance(links, dict) else {}).items():
                if not name.startswith("x-"):
                    place = child(child(reply.pointer, "links"), name)
                    yield _Spot(name, status, place, link)

    def _link(self, spot: _Spot, operation: ImportedOperation) -> ImportedLink:
        status = spot.status if spot.status == "default" else spot.status.upper()
        found = ImportedLink(
            name=spot.name, status=status, pointer=self._view.document.pointer_of(spot.pointer)
        )
        try:
            value, _ = self._view.part(spot.node, spot.pointer)
            target = self._target(value)
            expressions = Expressions(operation, status, self._view.schemas.definitions)
            inputs = tuple(_inputs(value, target, expressions))
        except NotEvaluated as problem:
            return replace(found, problem=str(problem))
        except (Unservable, PartRefused):
            return replace(found, problem="it cannot be read")
        return replace(found, target=target.id, inputs=inputs)

    def _target(self, link: Mapping[str, Any]) -> ImportedOperation:
        if "server" in link:
            raise NotEvaluated("it names a server of its own")
        name, ref = link.get("operationId"), link.get("operationRef")
        if isinstance(name, str) and ref is None:
            keys = self._by_id.get(name, [])
            if len(keys) > 1:
                raise NotEvaluated(f"the operationId {name!r} is not unique")
            key = keys[0] if keys else None
        elif isinstance(ref, str) and name is None:
            if not ref.startswith("#/"):
                raise NotEvaluated(f"the operationRef {ref!r} is in another document")
            key = self._by_ref.get(unquote(ref[1:]))
        else:
            raise NotEvaluated("it needs either operationId or operationRef")
        if key is None:
            raise NotEvaluated(f"there is no operation {name or ref!r}")
        if key not in self._served:
            raise NotEvaluated(f"its target {key} is not served")
        return self._served[key]


def _inputs(
    link: Mapping[str, Any], target: ImportedOperation, expressions: Expressions
) -> Iterator[LinkInput]:
    parameters = link.get("parameters", {})
    if not isinstance(parameters, dict):
        raise NotEvaluated("its parameters are no object")
    for name, value in parameters.items():
        parameter = _parameter(target, name)
        yield LinkInput(member=parameter.member, parts=expressions.parts(value))
    if "requestBody" in link:
        if target.body is None:
            raise NotEvaluated("its target has no body")
        yield LinkInput(member=target.body.member, parts=expressions.parts(link["requestBody"]))


def _parameter(target: ImportedOperation, name: str) -> ImportedParameter:
    """The parameter that a link names, with or without its location: `id` or `path.id`."""
    location, _, rest = name.partition(".")
    found = [each for each in target.parameters if each.name == name]
    if not found and location in _LOCATIONS:
        found = [e for e in target.parameters if (e.location, e.name) == (location, rest)]
    if len(found) != 1:
        what = "no parameter" if not found else "several parameters"
        raise NotEvaluated(f"its target has {what} {name!r}")
    return found[0]


# Which arguments of imported operations no log and no audit record may contain.

_MAX_DEPTH: Final = 12
"""A value this deep is wholly sensitive if it can hold something sensitive."""
_MARKS: Final = ("writeOnly", "x-sensitive")


class SensitiveArguments:
    """Finds `writeOnly`, `x-sensitive` and passwords in input schemas of one document."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions
        self._holding = {name: _is_marked(schema) for name, schema in definitions.items()}
        for name in definitions:
            self._holding[name] = self._reaches(name)

    def pointers(self, schema: Mapping[str, Any]) -> tuple[str, ...]:
        """JSON Pointers to sensitive parts of the arguments. `*` stands for any step."""
        found = (pointer_of(path) for path in self._paths(schema, (), frozenset()))
        return tuple(dict.fromkeys(found))

    def _reaches(self, name: str) -> bool:
        needed = with_definitions({"$ref": PREFIX + name}, self._definitions)
        reached = needed.get("$defs", {}) if isinstance(needed, dict) else {}
        return any(self._holding[each] for each in reached)

    def _paths(
        self, schema: Any, path: tuple[str, ...], within: frozenset[str]
    ) -> Iterator[tuple[str, ...]]:
        """`within`: the definitions that are being followed."""
        if not isinstance(schema, dict):
            return
        if any(schema.get(mark) is True for mark in _MARKS):
            yield path
            return
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference.startswith(PREFIX):
            yield from self._behind(steps(reference[1:])[1], path, within)
        for keyword, at, member in keywords.branches(schema, ""):
            if keyword in keywords.NAMED_MEMBERS:
                yield from self._paths(member, (*path, steps(at)[-1]), within)
            elif keyword in keywords.ANY_MEMBERS:
                yield from self._paths(member, (*path, "*"), within)
            elif keyword != "$defs":
                yield from self._paths(member, path, within)

    def _behind(
        self, name: str, path: tuple[str, ...], within: frozenset[str]
    ) -> Iterator[tuple[str, ...]]:
        if not self._holding.get(name, False):
            return
        if name in within or len(path) > _MAX_DEPTH:
            yield path
            return
        yield from self._paths(self._definitions[name], path, within | {name})


def _is_marked(schema: Any) -> bool:
    """Whether a mark is anywhere in `schema` itself."""
    if not isinstance(schema, dict):
        return False
    if any(schema.get(mark) is True for mark in _MARKS):
        return True
    return any(_is_marked(member) for _, _, member in keywords.branches(schema, ""))


# Makes the record of an imported connector, and the report of the import.

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
