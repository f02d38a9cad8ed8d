"""Reports by name what a document says and the gateway does not serve: callbacks and webhooks.

No construct of a document is left out silently.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from gateway.contract.values.pointers import child
from gateway.openapi.lowering.records import OperationSource
from gateway.openapi.lowering.view import DocumentView

CALLBACK: Final = "callback/not-served"
WEBHOOK: Final = "webhook/not-served"
_RECEIVE: Final = "receive it with a webhook contract: docs/how-to/add-a-webhook-provider.md"


def note_unserved(view: DocumentView, operations: Sequence[OperationSource]) -> None:
    """Note the document's webhooks, and the callbacks of the selected `operations`."""
    for name in _members(view.value, "webhooks"):
        place = child("/webhooks", name)
        view.note(place, WEBHOOK, f"the webhook {name!r} is not received", _RECEIVE)
    for each in operations:
        for name in _members(each.value, "callbacks"):
            place = child(child(each.pointer, "callbacks"), name)
            message = f"the callback {name!r} of {each.key} is not received"
            view.note(place, CALLBACK, message, _RECEIVE)


def _members(holder: Mapping[str, Any], name: str) -> list[str]:
    found = holder.get(name)
    names = found if isinstance(found, dict) else {}
    return [each for each in names if not each.startswith("x-")]
