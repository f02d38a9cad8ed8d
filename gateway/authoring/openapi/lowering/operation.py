"""Makes the record of one operation, with the response headers that its results have."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final, Literal

import msgspec
from msgspec.structs import replace

from gateway.authoring.openapi.lowering.bodies import LoweredBody, body_of
from gateway.authoring.openapi.lowering.parameters import (
    Argument,
    essence,
    fixed_query,
    input_schema,
    kind_of,
    member_names,
    parameters_of,
    sent_path,
    shortened,
)
from gateway.authoring.openapi.lowering.records import (
    DocumentView,
    HeaderChoice,
    HeaderWishes,
    OperationSource,
    Unservable,
    WrongSelection,
)
from gateway.authoring.openapi.lowering.selecting import by_key, snake_case
from gateway.authoring.openapi.lowering.upstream import Schemes, Servers
from gateway.authoring.openapi.reading.schemas import Schema, SchemaLowering
from gateway.contract.imported import (
    HEADERS,
    BodyField,
    ImportedBody,
    ImportedHeader,
    ImportedOperation,
    ImportedParameter,
    ImportedReply,
)
from gateway.contract.operation import DeclaredError, Effect
from gateway.contract.selection import takes_fields
from gateway.contract.values.hidden import holds_hidden
from gateway.contract.values.pointers import child
from gateway.contract.values.schema import Reach
from gateway.encoding.problems import Unsendable, problems
from gateway.encoding.replies.content import BODILESS, REDIRECTS
from gateway.encoding.replies.results import (
    collects_events,
    file_types,
    has_structured_results,
)
from gateway.encoding.texts import TOKEN

# Response headers that results have, where `import.yaml` asks for them.

_FIX: Final = "remove it from headers in import.yaml"
_NEVER: Final = frozenset(
    {
        # Credentials, and what asks for them.
        "authentication-info",
        "authorization",
        "cookie",
        "proxy-authenticate",
        "proxy-authentication-info",
        "proxy-authorization",
        "set-cookie",
        "set-cookie2",
        "www-authenticate",
        # Of the connection, or of a body that the gateway has decoded.
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_SECRET: Final = re.compile(
    r"(?:^|[-_])(?:auth|cookie|credential|key|passw(?:or)?d|secret|session|signature|token)s?(?:$|[-_])"
)
"""Names that are left out unless they are asked for by name."""


def wanted_headers(
    operations: Sequence[OperationSource], wishes: HeaderWishes
) -> dict[str, HeaderChoice]:
    """Which headers are wanted of each operation, by key. Raises `WrongSelection`."""
    if not isinstance(wishes, Mapping):
        _refuse_secret(wishes, "/headers")
        return dict.fromkeys((each.key for each in operations), wishes)
    for name, choice in wishes.items():
        _refuse_secret(choice, child("/headers", name))
    return by_key(operations, wishes, "headers")


def refuse_undeclared(
    wishes: HeaderWishes, wanted: Mapping[str, HeaderChoice], served: Mapping[str, Any]
) -> None:
    """Raise `WrongSelection` for a name that none of the `served` operations declares."""
    if not isinstance(wishes, Mapping):
        _refuse_unmatched(wishes, served.values(), "/headers")
        return
    for key, choice in wanted.items():
        if key in served:
            _refuse_unmatched(choice, [served[key]], "/headers")


def headers_of(
    view: DocumentView, reply: Mapping[str, Any], pointer: str, choice: HeaderChoice
) -> tuple[ImportedHeader, ...]:
    """The headers of the Response Object `reply` at `pointer` that `choice` names.

    Raises `Unservable` and `PartRefused`.
    """
    return tuple(
        _lowered_header(view, name, node, place)
        for name, node, place in _declared(reply, pointer)
        if _is_chosen(view, name, place, choice)
    )


def declares_link(reply: Mapping[str, Any]) -> bool:
    """Whether the Response Object declares the header `Link` (RFC 8288)."""
    return any(name.lower() == "link" for name, _, _ in _declared(reply, ""))


def _declared(reply: Mapping[str, Any], pointer: str) -> Iterator[tuple[str, Any, str]]:
    found = reply.get("headers")
    place = child(pointer, "headers")
    for name, node in (found if isinstance(found, dict) else {}).items():
        yield name, node, child(place, name)


def _is_chosen(view: DocumentView, name: str, place: str, choice: HeaderChoice) -> bool:
    if not isinstance(choice, bool):
        return name.lower() in {each.lower() for each in choice}
    if not choice:
        return False
    if not TOKEN.fullmatch(name) or name.lower() in _NEVER or _SECRET.search(name.lower()):
        message = f"the header {name!r} is left out of results, because it may hold a credential,"
        view.note(place, "reply/header", f"{message} or belongs to the connection")
        return False
    return True


def _lowered_header(view: DocumentView, name: str, node: Any, pointer: str) -> ImportedHeader:
    value, place = view.part(node, pointer)
    is_required = value.get("required") is True
    content = value.get("content")
    if isinstance(content, dict) and content:
        place = child(place, "content")
        (media_type, node), *others = content.items()
        if others or kind_of(media_type) not in {"json", "text"}:
            message = f"the header {name!r} cannot be read as {', '.join(content)}"
            raise Unservable(place, "reply/header", message, _FIX)
        media, place = view.part(node, child(place, media_type))
        is_json = kind_of(media_type) == "json"
        schema = view.lower(media.get("schema", True), "output", child(place, "schema"))
        return ImportedHeader(name=name, schema=schema, is_required=is_required, is_json=is_json)
    return ImportedHeader(
        name=name,
        schema=view.lower(
            value.get("schema", {"type": "string"}), "output", child(place, "schema")
        ),
        is_required=is_required,
        explode=value.get("explode") is True,
    )


def _refuse_secret(choice: HeaderChoice, pointer: str) -> None:
    for name in () if isinstance(choice, bool) else choice:
        if name.lower() in _NEVER:
            message = f"{name} is never part of a result: it holds a credential, or belongs to"
            raise WrongSelection(pointer, f"{message} the connection", "remove it from the list")


def _refuse_unmatched(
    choice: HeaderChoice, served: Iterable[ImportedOperation], pointer: str
) -> None:
    replies = [reply for operation in served for reply in operation.replies]
    known = {header.name.lower() for reply in replies for header in reply.headers}
    for name in () if isinstance(choice, bool) else choice:
        if name.lower() not in known:
            message = f"no served operation declares the header {name!r} in a reply of success"
            raise WrongSelection(pointer, message, "correct the name, or declare it in an overlay")


# Makes the record of one operation.
#
# Declared replies: every status, range and default (OpenAPI 3.2 §4.16 Responses Object).

ReplyKind = Literal["json", "text", "binary", "events"]

_STATUS: Final = re.compile(r"[1-5](?:[0-9][0-9]|XX)")
_REDIRECTS: Final = frozenset({"3XX", *map(str, REDIRECTS)})
_MAX_TITLE: Final = 200
_EVENT_STREAM: Final = "text/event-stream"


def replies_of(
    view: DocumentView, operation: OperationSource, choice: HeaderChoice
) -> tuple[ImportedReply, ...]:
    """The declared replies in document order. Raises `Unservable` and `PartRefused`."""
    found: list[ImportedReply] = []
    listed = [*_listed(view, operation)]
    only_redirects = not any(_is_success(status) for status, _, _ in listed)
    for status, pointer, node in listed:
        value, place = view.part(node, pointer)
        is_redirect = only_redirects and status in _REDIRECTS
        is_result = is_redirect or _is_success(status)
        headers = headers_of(view, value, place, choice) if is_result else ()
        if is_redirect:
            found.append(ImportedReply(status=status, kind="redirect", headers=headers))
            message = f"{status} is the only success: the result is its `location`, not fetched"
            view.note(place, "reply/redirect", message)
            continue
        content = value.get("content")
        if not isinstance(content, dict) or not content:
            found.append(ImportedReply(status=status, kind="empty", headers=headers))
            _note_untyped(view, operation, status, place)
            continue
        place = child(place, "content")
        found += (
            replace(
                _lowered(view, status, media_type, media, child(place, media_type)), headers=headers
            )
            for media_type, media in content.items()
        )
    return tuple(found)


def _note_untyped(
    view: DocumentView, operation: OperationSource, status: str, pointer: str
) -> None:
    """A note for a success that may have a body and declares none."""
    if status.startswith("2") and status not in BODILESS and operation.method != "HEAD":
        message = f"{status} declares no content; a body that comes is passed on unchecked"
        view.note(pointer, "reply/no-content", message)


def is_linked(view: DocumentView, operation: OperationSource) -> bool:
    """Whether a reply of success declares the header `Link`."""
    return any(
        declares_link(view.part(node, pointer).value)
        for status, pointer, node in _listed(view, operation)
        if _is_success(status)
    )


def _is_success(status: str) -> bool:
    return status.startswith("2") or status == "default"


def errors_of(view: DocumentView, operation: OperationSource) -> tuple[DeclaredError, ...]:
    """The declared errors: each reply with an exact status of 400 or higher."""
    found: dict[int, DeclaredError] = {}
    for status, pointer, node in _listed(view, operation):
        if status.isdigit() and int(status) >= 400:
            value = view.part(node, pointer).value
            found[int(status)] = _error(int(status), value.get("description"))
    return tuple(found[status] for status in sorted(found))


def _listed(view: DocumentView, operation: OperationSource) -> Iterator[tuple[str, str, Any]]:
    """Status, pointer and Response Object of each reply."""
    responses = operation.value.get("responses")
    pointer = child(operation.pointer, "responses")
    for name, node in (responses if isinstance(responses, dict) else {}).items():
        status = name.upper()
        if name == "default" or _STATUS.fullmatch(status):
            yield ("default" if name == "default" else status), child(pointer, name), node
        elif not name.startswith("x-"):
            message = f"{name!r} is neither a status nor a range of statuses; it is left out"
            view.note(child(pointer, name), "reply/status", message)


def _lowered(
    view: DocumentView, status: str, media_type: str, node: Any, pointer: str
) -> ImportedReply:
    media, place = view.part(node, pointer)
    kind, schema = _content(view, media_type, media, place)
    return ImportedReply(
        status=status,
        kind=kind,
        media_type=essence(media_type),
        schema=schema,
        is_whole_event=essence(media_type) == _EVENT_STREAM and "itemSchema" in media,
    )


def _content(
    view: DocumentView, media_type: str, media: Mapping[str, Any], pointer: str
) -> tuple[ReplyKind, Schema]:
    """How a reply is read, and the schema of its value."""
    raw = media.get("schema", True)
    match kind_of(media_type):
        case "events":
            member = "itemSchema" if "itemSchema" in media else "schema"
            return "events", view.lower(media.get(member, True), "output", child(pointer, member))
        case "text" | "xml" | "form":
            return "text", True
        case "json":
            return "json", view.lower(raw, "output", child(pointer, "schema"))
        case "any" if raw is not True and not view.is_binary(raw):
            schema = view.lower(raw, "output", child(pointer, "schema"))
            return ("text", True) if _is_text(view.schemas.target(schema)) else ("json", schema)
        case _:
            return "binary", True


def _is_text(schema: Schema) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "string"


def _error(status: int, description: Any) -> DeclaredError:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = f"Status {status}"
    first = description.strip().partition("\n")[0] if isinstance(description, str) else ""
    title = shortened(first, _MAX_TITLE) or phrase
    return DeclaredError(reason=snake_case(phrase), status=status, title=title)


_CURSORS: Final = (
    "cursor",
    "pagetoken",
    "nexttoken",
    "nextcursor",
    "startingafter",
    "continuationtoken",
    "paginationtoken",
    "pagecursor",
    "marker",
)
_PAGES: Final = ("page", "pagenumber", "pageindex")
_OFFSETS: Final = ("offset", "skip", "startindex", "startat")
_SIZES: Final = ("limit", "perpage", "pagesize", "maxresults", "top", "size")
_NEXT: Final = frozenset(
    {"nextcursor", "nextpagetoken", "nexttoken", "nextpage", "hasmore", "continuationtoken"}
)
"""Members of results that name the next page, or say whether there is one."""
_PLACES: Final = ("after", "since", "sinceid", "startid", "fromid", "next", "before")
"""Names that mean a place in a list where its pages are linked, and elsewhere often a time."""
_ODD: Final = re.compile(r"[^a-z0-9]")


def paging_hint(
    arguments: Mapping[str, str],
    replies: Iterable[ImportedReply],
    schemas: SchemaLowering,
    *,
    is_linked: bool = False,
) -> str:
    """How to get the next page. Empty if the operation is not known to answer in pages.

    `arguments` are the members of the arguments that are sent in the query, by name on the wire.
    `is_linked`: the reply declares the header `Link` (RFC 8288).
    """
    replies = tuple(replies)
    link = next((each for each in _headers(replies) if each.lower() == "link"), None)
    text = _by_arguments(arguments, replies, schemas) or (
        _by_links(arguments, is_known=link is not None) if is_linked else ""
    )
    if link is None or not text:
        return text
    return f'{text} `{HEADERS}.{link}` has the address of the next page (`rel="next"`), if any.'


def _headers(replies: Iterable[ImportedReply]) -> Iterator[str]:
    return (header.name for reply in replies for header in reply.headers)


def _by_links(arguments: Mapping[str, str], *, is_known: bool) -> str:
    """The hint for a list of which only the header `Link` shows that it comes in pages."""
    known = {_plain(name): member for name, member in reversed(list(arguments.items()))}
    if place := _first(known, _PLACES):
        return f"Answers in pages: `{place}` is the place to go on."
    if is_known:
        return "Answers in pages: the next one has the query parameters of its address."
    return "Answers in pages, and no argument is known to ask for the next one."


def _by_arguments(
    arguments: Mapping[str, str], replies: Iterable[ImportedReply], schemas: SchemaLowering
) -> str:
    known = {_plain(name): member for name, member in reversed(list(arguments.items()))}
    size = _first(known, _SIZES)
    limited = f", and `{size}` their number" if size else ""
    if cursor := _first(known, _CURSORS):
        members = [each for reply in replies for each in _next_members(reply, schemas)]
        source = f"from `{members[0]}` of the result" if members else "from the result before"
        return f"Answers in pages: `{cursor}` is the place to go on, {source}."
    if page := _first(known, _PAGES):
        sized = f" `{size}` is the number of items in it." if size else ""
        return f"Answers in pages: `{page}` is the number of the page.{sized}"
    if offset := _first(known, _OFFSETS):
        return f"Answers in pages: `{offset}` is the position of the first item{limited}."
    return ""


def _first(known: Mapping[str, str], names: Iterable[str]) -> str | None:
    return next((known[name] for name in names if name in known), None)


def _plain(name: str) -> str:
    return _ODD.sub("", name.lower())


def _next_members(reply: ImportedReply, schemas: SchemaLowering) -> Iterator[str]:
    """The members of a successful JSON reply that name the next page, also one level below."""
    if reply.kind != "json" or not reply.status.startswith("2"):
        return
    for name, member in _properties(reply.schema, schemas).items():
        if _plain(name) in _NEXT:
            yield name
        yield from (
            f"{name}.{below}" for below in _properties(member, schemas) if _plain(below) in _NEXT
        )


def _properties(schema: Schema, schemas: SchemaLowering) -> Mapping[str, Any]:
    target = schemas.target(schema)
    found = target.get("properties") if isinstance(target, dict) else None
    return found if isinstance(found, dict) else {}


def sendable(
    view: DocumentView, source: OperationSource, operation: ImportedOperation
) -> ImportedOperation:
    """`operation` without optional members that no request can express, each with a note.

    Raises `Unservable` if such a member is required, or if it is the whole body.
    """
    found = problems(operation, view.schemas.definitions)
    required = operation.input_schema.get("required", ())
    body = operation.body.member if operation.body else None
    left_out: set[str] = set()
    for each in found:
        rule = f"encoding/{each.rule}"
        if each.is_total and (each.member is None or each.member in {*required, body}):
            raise Unservable(source.pointer, rule, each.message, each.fix)
        view.note(source.pointer, rule, _note(each), each.fix)
        if each.is_total and each.member is not None:
            left_out.add(each.member)
    return _without(operation, left_out) if left_out else operation


def _note(problem: Unsendable) -> str:
    if problem.is_total:
        return f"the argument {problem.member} is left out: {problem.message}"
    return f"values with {problem.pointer} are refused: {problem.message}"


def _without(operation: ImportedOperation, members: Collection[str]) -> ImportedOperation:
    schema = operation.input_schema
    properties = {name: each for name, each in schema["properties"].items() if name not in members}
    changes: dict[str, Any] = {
        "input_schema": schema | {"properties": properties},
        "parameters": tuple(each for each in operation.parameters if each.member not in members),
    }
    if operation.body is not None:
        kept = {
            member: name for member, name in operation.body.members.items() if member not in members
        }
        changes["body"] = msgspec.structs.replace(operation.body, members=kept)
    return msgspec.structs.replace(operation, **changes)


_READS: Final = frozenset({"GET", "HEAD", "OPTIONS", "QUERY"})
_IDEMPOTENT: Final = _READS | {"PUT", "DELETE"}
"""RFC 9110 §9.2.2; QUERY is safe and idempotent too."""
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
