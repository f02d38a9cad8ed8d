"""Response headers that results have, where `import.yaml` asks for them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from gateway.contract.imported import ImportedHeader, ImportedOperation
from gateway.contract.values.pointers import child
from gateway.encoding.texts import TOKEN
from gateway.openapi.lowering.records import OperationSource, Unservable, WrongSelection
from gateway.openapi.lowering.requests.media import kind_of
from gateway.openapi.lowering.selecting import by_key
from gateway.openapi.lowering.selection import HeaderChoice, HeaderWishes
from gateway.openapi.lowering.view import DocumentView

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
        _lowered(view, name, node, place)
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


def _lowered(view: DocumentView, name: str, node: Any, pointer: str) -> ImportedHeader:
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
