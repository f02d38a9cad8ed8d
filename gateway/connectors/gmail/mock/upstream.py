"""The behaviour of the Gmail mock: one mailbox, agent@example.com, with an initial thread.

Sent mails can be read, with their parts in Gmail's form. Mails to limited@example.com, and requests
for the id 18c0f3a2b4d5e403, exceed the user's rate limit, which Gmail reports with 403. Raw mails
larger than 1 MiB are accepted but their raw text is not stored: the format `raw` lacks it.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.gmail.mock.envelope import GmailRefused, finish, for_account, refuse
from gateway.connectors.gmail.mock.mailbox import (
    SEEDED_THREAD,
    find_message,
    read_mail,
    store,
    thread_of,
)
from gateway.connectors.gmail.mock.payload import with_headers
from gateway.contract.connector import mock_behaviours
from gateway.contract.mock import MockReply, MockRequest, MockState

__all__ = ["BEHAVIOURS", "SEEDED_THREAD", "finish", "refuse"]

_LIMITED: Final = "User-rate limit exceeded."
_LIMITED_ADDRESS: Final = "limited@example.com"
_LIMITED_ID: Final = "18c0f3a2b4d5e403"


def send_message(request: MockRequest, state: MockState) -> MockReply:
    mail = read_mail(request.body)
    if _LIMITED_ADDRESS in mail.check_recipients():
        raise GmailRefused(403, _LIMITED, "userRateLimitExceeded")
    stored = store(mail, "SENT", request, state)
    return MockReply(body=_named(stored))


def create_draft(request: MockRequest, state: MockState) -> MockReply:
    mail = read_mail(request.body["message"])
    stored = store(mail, "DRAFT", request, state)
    return MockReply(body={"id": state.new_id("r"), "message": _named(stored)})


def read_message(request: MockRequest, state: MockState) -> MockReply:
    message = find_message(state, _id(request))
    if message is None:
        raise GmailRefused(404)
    return MockReply(body=_shown(message, request.query))


def read_thread(request: MockRequest, state: MockState) -> MockReply:
    messages = thread_of(state, _id(request))
    if not messages:
        raise GmailRefused(404)
    body = {
        "id": request.path["id"],
        "historyId": messages[-1]["historyId"],
        "messages": [_shown(message, request.query) for message in messages],
    }
    return MockReply(body=body)


BEHAVIOURS: Final = mock_behaviours(
    __name__,
    {
        "sendMessage": for_account(send_message),
        "createDraft": for_account(create_draft),
        "readMessage": for_account(read_message),
        "readThread": for_account(read_thread),
    },
)


def _id(request: MockRequest) -> str:
    """The id in the path. Gmail refuses ids that are not hexadecimal."""
    text: str = request.path["id"]
    try:
        int(text, 16)
    except ValueError:
        raise GmailRefused(400, "Invalid id value") from None
    if text == _LIMITED_ID:
        raise GmailRefused(403, _LIMITED, "userRateLimitExceeded")
    return text


def _named(message: Mapping[str, Any]) -> dict[str, Any]:
    return {name: message[name] for name in ("id", "threadId", "labelIds")}


def _shown(message: Mapping[str, Any], query: Mapping[str, Any]) -> dict[str, Any]:
    """The message in the requested format."""
    form = query.get("format", "full")
    hidden = {"raw": {"payload"}, "full": {"raw"}}.get(form, {"raw", "payload"})
    shown = {name: value for name, value in message.items() if name not in hidden}
    if form == "metadata":
        shown["payload"] = with_headers(message["payload"], query.get("metadataHeaders"))
    return shown
