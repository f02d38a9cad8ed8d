# Generated from schemas/webhooks/desk/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 21e365f6841f5a075df10f8c4f8b877f; generator 1

"""What book_lent of desk does.

Every function takes the payload and the facts of its arrival.
"""

from typing import Any, Final

from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import (
    ABSENT,
    as_date,
    converted,
    not_null,
    present,
    reference,
    stated,
)
from gateway.contract.webhook import Emission, EntityEffect, Notification, WebhookEvent


def _borrower(payload: Any, call: CallFacts) -> dict[str, Any]:
    return present(
        {"card": payload["card"]["number"], "name": not_null(payload["card"].get("name"))}
    )


def _loan(payload: Any, call: CallFacts) -> dict[str, Any] | None:
    return (
        {
            "loan_number": payload["loan"],
            "isbn": payload["isbn"],
            "borrower_id": reference("borrowers", {"card": payload["card"]["number"]}),
            "lent_on": converted(payload["at"], as_date, "/at"),
        }
        if "isbn" in payload
        else None
    )


def _subject(payload: Any, call: CallFacts) -> Any:
    return payload["loan"]


def _data(payload: Any, call: CallFacts) -> dict[str, Any]:
    return present(
        {
            "loan_id": reference("loans", {"loan_number": payload["loan"]}),
            "isbn": payload.get("isbn", ABSENT),
        }
    )


def _hello_greet(payload: Any, call: CallFacts) -> dict[str, Any] | None:
    return (
        {"name": call.settings["librarian"]}
        if stated(call.settings, "librarian") is not ABSENT
        else None
    )


EVENT: Final = WebhookEvent(
    type="book_lent",
    profiles=("signed",),
    occurred_at="/at",
    effects=(
        EntityEffect(entity="borrowers", row=_borrower),
        EntityEffect(entity="loans", mode="create", row=_loan),
    ),
    emission=Emission(event="gateway.book.lent.v1", subject=_subject, data=_data),
    notifications=(Notification(operation="hello.greet", arguments=_hello_greet),),
)
