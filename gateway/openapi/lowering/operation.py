"""Makes the record of one operation."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from gateway.contract.imported import (
    BodyField,
    ImportedBody,
    ImportedOperation,
    ImportedParameter,
    ImportedReply,
)
from gateway.contract.operation import Effect
from gateway.contract.selection.argument import takes_fields
from gateway.contract.values.hidden import holds_hidden
from gateway.contract.values.reach import Reach
from gateway.encoding.replies.results import (
    collects_events,
    file_types,
    has_structured_results,
)
from gateway.openapi.lowering.paging import paging_hint
from gateway.openapi.lowering.records import OperationSource, Unservable
from gateway.openapi.lowering.replies import errors_of, is_linked, replies_of
from gateway.openapi.lowering.requests.arguments import (
    Argument,
    input_schema,
    member_names,
    shortened,
)
from gateway.openapi.lowering.requests.bodies import LoweredBody, body_of
from gateway.openapi.lowering.requests.parameters import fixed_query, parameters_of, sent_path
from gateway.openapi.lowering.requests.sending import sendable
from gateway.openapi.lowering.security import Schemes
from gateway.openapi.lowering.selection import HeaderChoice
from gateway.openapi.lowering.servers import Servers
from gateway.openapi.lowering.view import DocumentView

_READS: Final = frozenset({"GET", "HEAD", "OPTIONS", "QUERY"})
_IDEMPOTENT: Final = _READS | {"PUT", "DELETE"}
"""RFC 9110 §9.2.2; QUERY is safe and idempotent too."""
_MAX_TITLE: Final = 200
_MAX_LISTED: Final = 10
_MAX_REACH: Final = 4000
"""Of the public documents that were counted, one reaches 1,720; most reach fewer than 1,000."""


class OperationLowering:
    """Makes the records of the operations of one document."""

    def __init__(
        self,
        view: DocumentView,
        connector: str,
        servers: Servers,
        schemes: Schemes,
        headers: Mapping[str, HeaderChoice],
    ) -> None:
        """`headers` are those that results have, by the key of the operation."""
        self._view = view
        self._connector = connector
        self._servers = servers
        self._schemes = schemes
        self._headers = headers
        self._reach = Reach(view.schemas.definitions)

    def lower(
        self, operation: OperationSource, tool: str, effect: Effect | None
    ) -> ImportedOperation:
        """The record of `operation`. Raises `Unservable` and `PartRefused`."""
        if operation.method in {"TRACE", "CONNECT"}:
            message = f"the gateway sends no {operation.method} requests"
            raise Unservable(operation.pointer, "operation/method", message, "exclude it")
        placed = parameters_of(self._view, operation)
        parameters = [argument for argument, _ in placed]
        body = body_of(self._view, operation, parameters)
        arguments = [*parameters, *((*body.arguments, *body.headers) if body else ())]
        names = self._named(operation, arguments)
        of_body = names[len(parameters) :]
        sent_body = _body(body, of_body) if body else None
        replies = replies_of(self._view, operation, self._headers.get(operation.key, False))
        pairs = zip(names, placed, strict=False)
        sent = tuple(replace(own, member=name) for name, (_, own) in pairs)
        found = ImportedOperation(
            id=f"{self._connector}.{tool}",
            tool=tool,
            title=_title(operation, tool),
            description=self._description(operation, tool, sent, replies),
            effect=effect or effect_of(operation.method),
            is_idempotent=operation.method in _IDEMPOTENT,
            pointer=self._view.document.pointer_of(operation.pointer),
            method=operation.method,
            path=sent_path(operation),
            fixed_query=fixed_query(operation),
            server=self._servers.of_operation(operation),
            input_schema=input_schema(arguments, names, _needed(body, of_body, sent_body)),
            parameters=sent,
            body=sent_body,
            replies=replies,
            security=self._schemes.of_operation(operation),
            errors=errors_of(self._view, operation),
            file_types=file_types(replies),
            collects_events=collects_events(replies),
        )
        found = self._checked(operation, sendable(self._view, operation, found))
        selects = has_structured_results(found) and takes_fields(found.effect, found.input_schema)
        return replace(found, selects_fields=selects, tags=operation.tags)

    def _named(self, operation: OperationSource, arguments: Sequence[Argument]) -> list[str]:
        """The member of each argument. Those that the vendor names otherwise are noted."""
        names = member_names(arguments)
        pairs = zip(arguments, names, strict=True)
        renamed = [f"{each.name} as {name}" for each, name in pairs if each.name != name]
        if renamed:
            message = f"arguments have other names: {', '.join(renamed[:_MAX_LISTED])}"
            self._view.note(operation.pointer, "argument/renamed", message)
        return names

    def _checked(self, source: OperationSource, operation: ImportedOperation) -> ImportedOperation:
        """`operation`. Raises `Unservable` for hidden characters.

        Also if to validate one value could stop the gateway.
        """
        if holds_hidden(operation):
            message = "a name or a value of it has invisible characters, which a model reads"
            fix = "correct it with an overlay, or exclude it"
            raise Unservable(source.pointer, "operation/hidden-text", message, fix)
        schemas = (operation.input_schema, *(each.schema for each in operation.replies))
        most = max(map(self._reach.of, schemas))
        if most > _MAX_REACH:
            message = (
                f"its schemas lead to one place of a value in {most:,} ways, and each is checked;"
                f" {_MAX_REACH:,} are allowed"
            )
            fix = "with an overlay, name shared schemas fewer times, or exclude it"
            raise Unservable(source.pointer, "schema/reach", message, fix)
        return operation

    def _description(
        self,
        operation: OperationSource,
        tool: str,
        parameters: Iterable[ImportedParameter],
        replies: Iterable[ImportedReply],
    ) -> str:
        found = operation.value.get("description")
        text = shortened(found) if isinstance(found, str) else ""
        text = text or _title(operation, tool)
        in_query = {each.name: each.member for each in parameters if each.location == "query"}
        if operation.method != "GET":
            return text
        has_links = is_linked(self._view, operation)
        hint = paging_hint(in_query, replies, self._view.schemas, is_linked=has_links)
        return f"{text}\n\n{hint}" if hint else text


def effect_of(method: str) -> Effect:
    """The effect of a method. Contracts may declare another one."""
    if method in _READS:
        return Effect.READ
    return Effect.DESTROY if method == "DELETE" else Effect.WRITE


def _title(operation: OperationSource, tool: str) -> str:
    summary = operation.value.get("summary")
    first = summary.strip().partition("\n")[0] if isinstance(summary, str) else ""
    return shortened(first, _MAX_TITLE) or tool.replace("_", " ").capitalize()


def _needed(
    body: LoweredBody | None, names: Sequence[str], sent: ImportedBody | None
) -> Mapping[str, Sequence[str]]:
    """The members that each member needs, in an optional body and for what belongs to a part."""
    needed: dict[str, list[str]] = {}
    if body is not None and not body.is_required:
        if not body.properties and len(body.arguments) > 1:
            return {names[0]: [names[1]], names[1]: [names[0]]}
        members = dict(zip(body.properties, names, strict=False))
        required = [members[each] for each in body.required]
        for member in members.values():
            needed[member] = [each for each in required if each != member]
    for member, other in _beside(sent):
        needed.setdefault(member, []).append(other)
    return {member: others for member, others in needed.items() if others}


def _beside(body: ImportedBody | None) -> Iterator[tuple[str, str]]:
    """Headers and file names, each with the member of its part, and parts with their headers."""
    if body is None:
        return
    members = {name: member for member, name in body.members.items()}
    for field in body.fields:
        part = members.get(field.name, body.member or field.name)
        if field.filename_member is not None:
            yield field.filename_member, part
        for header in field.headers:
            yield header.member, part
            if header.is_required and body.member is None:
                yield part, header.member


def _body(body: LoweredBody, names: Sequence[str]) -> ImportedBody:
    """The record of `body`. `names` are the members of its arguments, then of its headers."""
    own: Sequence[Argument] = body.arguments
    headers = list(names[len(own) :])
    return ImportedBody(
        kind=body.kind,
        media_type=body.media_type,
        member=None if body.properties else names[0],
        media_type_member=names[1] if not body.properties and len(own) > 1 else None,
        members=dict(zip(names, body.properties, strict=False)),
        is_required=body.is_required,
        fields=tuple(_with_members(each, headers) for each in body.fields),
        order=body.order,
    )


def _with_members(field: BodyField, names: list[str]) -> BodyField:
    """`field` whose headers and file name have the first of `names`, which are removed."""
    named: list[ImportedParameter] = []
    for header in field.headers:
        facts: dict[str, Any] = {"member": names.pop(0)}
        named.append(replace(header, **facts))
    filename = None if field.filename_member is None else names.pop(0)
    return replace(field, headers=tuple(named), filename_member=filename)
