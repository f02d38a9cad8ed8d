"""Reports by name what a document says and the gateway does not serve: callbacks, webhooks, links.

No construct of a document is left out silently.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from gateway.contract.values.pointers import child
from gateway.openapi.lowering.records import OperationSource
from gateway.openapi.lowering.view import DocumentView

CALLBACK: Final = "callback/not-served"
WEBHOOK: Final = "webhook/not-served"
_LINKS: Final = "reply/links"
_RECEIVE: Final = "receive it with a webhook contract: docs/how-to/add-a-webhook-provider.md"


def note_unserved(view: DocumentView, operations: Sequence[OperationSource]) -> None:
    """Note the document's webhooks, and the callbacks and links of the selected `operations`."""
    for name in _members(view.value, "webhooks"):
        place = child("/webhooks", name)
        view.note(place, WEBHOOK, f"the webhook {name!r} is not received", _RECEIVE)
    for each in operations:
        for name in _members(each.value, "callbacks"):
            place = child(child(each.pointer, "callbacks"), name)
            message = f"the callback {name!r} of {each.key} is not received"
            view.note(place, CALLBACK, message, _RECEIVE)
        for status, name, pointer in _links(each):
            message = f"the link {name!r} of the reply {status} to {each.key} is not followed"
            fix = "no change is needed: agents call the operation that the link names"
            view.note(pointer, _LINKS, message, fix)


def _members(holder: Mapping[str, Any], name: str) -> list[str]:
    found = holder.get(name)
    names = found if isinstance(found, dict) else {}
    return [each for each in names if not each.startswith("x-")]


def _links(operation: OperationSource) -> Iterator[tuple[str, str, str]]:
    """Status, name and pointer of each link. Replies behind a reference have none here."""
    replies = operation.value.get("responses")
    for status, reply in (replies if isinstance(replies, dict) else {}).items():
        place = child(child(operation.pointer, "responses"), status)
        for name in _members(reply if isinstance(reply, dict) else {}, "links"):
            yield status, name, child(child(place, "links"), name)
