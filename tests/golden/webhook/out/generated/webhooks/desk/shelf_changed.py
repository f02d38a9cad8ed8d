# Generated from schemas/webhooks/desk/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 79ed2858ed19a92e25e9b0413d72d098; generator 1

"""What shelf.changed of desk does.

Every function takes the payload and the facts of its arrival.
"""

from typing import Any, Final

from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import each
from gateway.contract.webhook import Derivation, Fetch, MessagePart, WebhookEvent


def _path(payload: Any, call: CallFacts) -> dict[str, Any]:
    return {}


def _query(payload: Any, call: CallFacts) -> dict[str, Any]:
    return {"q": payload["shelf"]}


def _item(item: Any, call: CallFacts) -> dict[str, Any]:
    return {
        "kind": "book_lent",
        "message": item["isbn"],
        "at": call.now,
        "loan": item["isbn"],
        "isbn": item["isbn"],
        "card": {"number": call.settings["tongue"]},
    }


def _book_lent(payload: Any, call: CallFacts) -> Any:
    return each(payload["items"], lambda item: _item(item, call))


EVENT: Final = WebhookEvent(
    type="shelf.changed",
    profiles=("pointer",),
    fetch=Fetch(
        upstream="books",
        operation="searchBooks",
        path=_path,
        query=_query,
        href=MessagePart(pointer="/link"),
    ),
    derives=(Derivation(event="book_lent", payloads=_book_lent, message_id="/message"),),
)
