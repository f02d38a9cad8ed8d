"""What a vendor sends: the webhooks of a document (OpenAPI 3.1 §4.8.1) and the callbacks of its
operations (§4.8.18).

They are no tools. The report names them, and drafts of webhook contracts are made of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NoReturn

from msgspec import Struct

from gateway.authoring.contracts.finding import Finding
from gateway.authoring.openapi.lowering.parameters import essence
from gateway.authoring.openapi.lowering.records import DocumentView, OperationSource, Unservable
from gateway.authoring.openapi.lowering.selecting import finding_of
from gateway.authoring.openapi.reading.normalise import METHODS
from gateway.authoring.openapi.reading.schemas import Schema
from gateway.authoring.openapi.reading.source import PartRefused
from gateway.contract.values.pointers import child
from gateway.contract.values.schema import with_definitions

WEBHOOKS: Final = ("webhooks", "x-webhooks")
"""Members of the document. The second one is used by documents before OpenAPI 3.1."""
CALLBACK: Final = "callback/not-served"
WEBHOOK: Final = "webhook/not-served"
NOT_RECEIVED: Final = "webhook/not-received"
_RECEIVE: Final = "draft its contract with --webhook: docs/author/import.md"
_JSON: Final = "application/json"
_FIX: Final = "correct it with an overlay, or write its contract by hand: gateway new webhook"


class NamedMessage(Struct, frozen=True, kw_only=True):
    """A webhook or a callback of a document."""

    kind: Literal["webhook", "callback"]
    name: str
    operation: str | None = None
    """The operation that a callback belongs to, as `POST /orders`."""
    pointer: str
    """JSON Pointer in the normal document."""
    value: Any
    """The Path Item of a webhook, or the Callback Object."""

    @property
    def label(self) -> str:
        """Its name, and the operation that it belongs to."""
        return f"{self.name} of {self.operation}" if self.operation else self.name

    @property
    def title(self) -> str:
        """Names it in messages for people."""
        of = f" of {self.operation}" if self.operation else ""
        return f"the {self.kind} {self.name!r}{of}"


class InboundMessage(Struct, frozen=True, kw_only=True):
    """A message that the vendor posts."""

    name: str
    title: str
    """Names it in messages for people."""
    finding: Finding
    """Its place in the document."""
    description: str
    body: dict[str, Any]
    """The schema of its body with all definitions that it needs."""
    headers: Mapping[str, tuple[str, ...]]
    """The declared headers, each with the texts that it may have. Empty: they are not known."""


class RefusedMessage(Struct, frozen=True, kw_only=True):
    """A message that cannot be received, and why."""

    name: str
    finding: Finding


class InboundMessages(Struct, frozen=True, kw_only=True):
    """The messages of one document."""

    read: tuple[InboundMessage, ...]
    refused: tuple[RefusedMessage, ...]


def named_messages(
    view: DocumentView, operations: Sequence[OperationSource]
) -> Iterator[NamedMessage]:
    """The webhooks of the document, then the callbacks of `operations`."""
    for member in WEBHOOKS:
        for name, value in _members(view.value, member):
            pointer = child(f"/{member}", name)
            yield NamedMessage(kind="webhook", name=name, pointer=pointer, value=value)
    for each in operations:
        for name, value in _members(each.value, "callbacks"):
            yield NamedMessage(
                kind="callback",
                name=name,
                operation=each.key,
                pointer=child(child(each.pointer, "callbacks"), name),
                value=value,
            )


def note_unserved(view: DocumentView, operations: Sequence[OperationSource]) -> None:
    """Note the document's webhooks, and the callbacks of the selected `operations`."""
    for named in named_messages(view, operations):
        rule = WEBHOOK if named.kind == "webhook" else CALLBACK
        view.note(named.pointer, rule, f"{named.title} is not received", _RECEIVE)


def read_messages(view: DocumentView, operations: Sequence[OperationSource]) -> InboundMessages:
    """The messages of the document and of the callbacks of `operations`."""
    read: list[InboundMessage] = []
    refused: list[RefusedMessage] = []
    for each in named_messages(view, operations):
        try:
            read += _read(view, each)
        except (Unservable, PartRefused) as problem:
            refused.append(RefusedMessage(name=each.name, finding=finding_of(view, problem)))
    return InboundMessages(read=tuple(read), refused=tuple(refused))


def _read(view: DocumentView, named: NamedMessage) -> Iterator[InboundMessage]:
    """The messages of one webhook or callback. Raises `Unservable` and `PartRefused`."""
    found = view.part(named.value, named.pointer)
    items = [(found.pointer, found.value)]
    if named.kind == "callback":
        items = [(child(found.pointer, name), value) for name, value in found.value.items()]
    for pointer, value in items:
        item = view.part(value, pointer)
        for method in METHODS:
            if method in item.value:
                at = child(item.pointer, method)
                if method != "post":
                    _refuse(at, f"{named.title} is sent with {method.upper()}, and not with POST")
                yield _message(view, named, item.value, view.part(item.value[method], at))


def _message(
    view: DocumentView, named: NamedMessage, item: Mapping[str, Any], operation: Any
) -> InboundMessage:
    value, pointer = operation
    texts = (value.get(each) for each in ("description", "summary"))
    finding = view.document.finding(pointer, NOT_RECEIVED, f"{named.title} is not received", _FIX)
    schema = _body(view, named, value, pointer)
    return InboundMessage(
        name=named.name,
        title=named.title,
        finding=finding,
        description=next((each for each in texts if isinstance(each, str) and each.strip()), ""),
        body=schema,
        headers=dict(_headers(view, [item, value])),
    )


def _body(
    view: DocumentView, named: NamedMessage, value: Mapping[str, Any], pointer: str
) -> dict[str, Any]:
    """The schema of the body, an object. Raises `Unservable` and `PartRefused`."""
    at = child(pointer, "requestBody")
    if "requestBody" not in value:
        _refuse(pointer, f"{named.title} has no body")
    body = view.part(value["requestBody"], at)
    content = body.value.get("content")
    medias = content if isinstance(content, dict) else {}
    name = next((each for each in medias if essence(each) == _JSON), None)
    if name is None:
        _refuse(body.pointer, f"the body of {named.title} is not {_JSON}")
    media = view.part(medias[name], child(child(body.pointer, "content"), name))
    place = child(media.pointer, "schema")
    lowered = view.lower(media.value.get("schema", True), "output", place)
    whole = with_definitions(lowered, view.schemas.definitions)
    if not isinstance(whole, dict) or not _is_object(view.schemas.target(lowered)):
        _refuse(place, f"the body of {named.title} is no object")
    return whole


def _is_object(schema: Schema) -> bool:
    """Whether `schema` says that its values are objects, itself or by its parts."""
    if not isinstance(schema, dict):
        return False
    declared = schema.get("type")
    if declared is not None:
        return bool(declared == "object")
    parts = (*schema.get("allOf", ()), *schema.get("anyOf", ()), *schema.get("oneOf", ()))
    return "properties" in schema or bool(parts)


def _headers(
    view: DocumentView, holders: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for holder in holders:
        parameters = holder.get("parameters")
        for each in parameters if isinstance(parameters, list) else ():
            try:
                value = view.part(each, "").value
            except (Unservable, PartRefused):
                continue
            name = value.get("name")
            if value.get("in") == "header" and isinstance(name, str):
                yield name, _texts(value)


def _texts(parameter: Mapping[str, Any]) -> tuple[str, ...]:
    """The texts that a parameter may have, else that of its example."""
    schema = parameter.get("schema")
    facts = schema if isinstance(schema, dict) else {}
    values = facts.get("enum", [facts["const"]] if "const" in facts else [])
    if not values and "example" in parameter:
        values = [parameter["example"]]
    return tuple(each for each in values if isinstance(each, str))


def _refuse(pointer: str, message: str) -> NoReturn:
    raise Unservable(pointer, NOT_RECEIVED, message, _FIX)


def _members(holder: Mapping[str, Any], name: str) -> list[tuple[str, Any]]:
    found = holder.get(name)
    members = found if isinstance(found, dict) else {}
    return [(each, value) for each, value in members.items() if not each.startswith("x-")]
