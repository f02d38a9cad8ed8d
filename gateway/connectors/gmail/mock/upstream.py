"""The behaviour of the Gmail mock: one mailbox, agent@example.com, with an initial thread.

Sent mails can be read, with their parts in Gmail's form. Mails to limited@example.com, and requests
for the id 18c0f3a2b4d5e403, exceed the user's rate limit, which Gmail reports with 403. Raw mails
larger than 1 MiB are accepted but their raw text is not stored: the format `raw` lacks it.
"""

import base64
import html
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import getaddresses
from functools import cache
from typing import Any, Final

from msgspec import Struct

from gateway.contract.connector import mock_behaviours
from gateway.contract.mock import (
    Behaviour,
    MockRefusal,
    MockRefused,
    MockReply,
    MockRequest,
    MockState,
)

__all__ = ["BEHAVIOURS", "SEEDED_THREAD", "finish", "refuse"]

ACCOUNT: Final = "agent@example.com"
_NOT_FOUND: Final = "Requested entity was not found."
_KINDS: Final[Mapping[int, tuple[str, str]]] = {
    400: ("INVALID_ARGUMENT", "invalidArgument"),
    401: ("UNAUTHENTICATED", "authError"),
    403: ("PERMISSION_DENIED", "forbidden"),
    404: ("NOT_FOUND", "notFound"),
    405: ("INVALID_ARGUMENT", "httpMethodNotAllowed"),
    409: ("ABORTED", "aborted"),
    429: ("RESOURCE_EXHAUSTED", "rateLimitExceeded"),
    500: ("INTERNAL", "backendError"),
    503: ("UNAVAILABLE", "backendError"),
}
"""Google's name of each status, and Gmail's most frequent reason for it."""
_UNPROCESSABLE: Final = 422


def refused(status: int, message: str = _NOT_FOUND, reason: str | None = None) -> MockRefused:
    """The mailbox refuses a request."""
    return MockRefused(MockReply(status=status, body=_error(status, message, reason)))


def refuse(refusal: MockRefusal) -> Any:
    """Google's error body."""
    return _error(refusal.status, refusal.title, None)


def finish(reply: MockReply) -> MockReply:
    """Change 422 to 400, because Google does not use 422."""
    if reply.status != _UNPROCESSABLE:
        return reply
    return MockReply(status=400, headers=reply.headers, body=reply.body)


def for_account(behaviour: Behaviour) -> Behaviour:
    """`behaviour` for the mailbox of the account."""

    def answer(request: MockRequest, state: MockState) -> MockReply:
        if request.path["userId"] not in {"me", ACCOUNT}:
            raise refused(403, f"Delegation denied for {ACCOUNT}")
        return behaviour(request, state)

    return answer


def _error(status: int, message: str, reason: str | None) -> dict[str, Any]:
    code = 400 if status == _UNPROCESSABLE else status
    word, usual = _KINDS.get(code, ("UNKNOWN", "backendError"))
    domain = "usageLimits" if (reason or usual).endswith("LimitExceeded") else "global"
    detail: dict[str, str] = {"message": message, "domain": domain, "reason": reason or usual}
    if code == 401:
        detail |= {"location": "Authorization", "locationType": "header"}
    return {"error": {"code": code, "message": message, "errors": [detail], "status": word}}


_SNIPPET: Final = 200
_TAG: Final = re.compile("<[^<>]*>")


def payload(part: EmailMessage, part_id: str = "") -> dict[str, Any]:
    """A part with all its parts. The content of files needs a separate request."""
    shown: dict[str, Any] = {
        "partId": part_id,
        "mimeType": part.get_content_type(),
        "filename": part.get_filename() or "",
        "headers": [{"name": name, "value": str(value)} for name, value in part.items()],
    }
    if part.is_multipart():
        prefix = f"{part_id}." if part_id else ""
        shown["body"] = {"size": 0}
        shown["parts"] = [
            payload(child, f"{prefix}{index}") for index, child in enumerate(_children(part))
        ]
    else:
        shown["body"] = _body(part, part_id)
    return shown


def with_headers(shown: dict[str, Any], names: Collection[str] | None) -> dict[str, Any]:
    """Only the headers of a payload; only those in `names`, if it is given."""
    wanted = {name.lower() for name in names or ()}
    headers = [
        header for header in shown["headers"] if not wanted or header["name"].lower() in wanted
    ]
    return {"partId": shown["partId"], "mimeType": shown["mimeType"], "headers": headers}


def snippet(mail: EmailMessage) -> str:
    """The beginning of the text, escaped as in HTML."""
    text = " ".join(_text(mail).split())[:_SNIPPET]
    return html.escape(text, quote=False).replace("'", "&#39;").replace('"', "&quot;")


def _body(part: EmailMessage, part_id: str) -> dict[str, Any]:
    content = _content(part)
    if part.get_filename():
        return {"attachmentId": f"ANGjdJ-{part_id or '0'}", "size": len(content)}
    return {"size": len(content), "data": base64.urlsafe_b64encode(content).decode("ascii")}


def _content(part: EmailMessage) -> bytes:
    """The bytes of a part. Text is converted to UTF-8."""
    if part.get_content_maintype() == "text" and not part.get_filename():
        return str(part.get_content(errors="replace")).encode()
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _text(mail: EmailMessage) -> str:
    body = mail.get_body(("plain", "html"))
    if body is None:
        return ""
    text = str(body.get_content(errors="replace"))
    is_html = body.get_content_subtype() == "html"
    return html.unescape(_TAG.sub(" ", text)) if is_html else text


def _children(part: EmailMessage) -> Iterator[EmailMessage]:
    return (child for child in part.iter_parts() if isinstance(child, EmailMessage))


SEEDED_THREAD: Final = "18c0f3a2b4d5e601"
_MAX_KEPT: Final = 2**20
_MESSAGES: Final = "messages"
_THREADS: Final = "threads"
_FIRST_ID: Final = 0x18C0F5A000000000
_FIRST_NUMBER: Final = 10_000_000
_BASE64URL: Final = re.compile(r"[A-Za-z0-9_-]*={0,2}")
_ANSWER: Final = re.compile(r"^(?:(?:re|fwd?): *)+", re.IGNORECASE)
_DOMAIN: Final = re.compile(r"[^@\s]+@[^@\s.]+(?:\.[^@\s.]+)+")
_SEEDS: Final = (
    (
        "Flight request",
        "client@example.com",
        ACCOUNT,
        "2026-10-21T10:00:00+00:00",
        "I need a flight from Teterboro to Van Nuys on December 1.",
    ),
    (
        "Re: Flight request",
        ACCOUNT,
        "client@example.com",
        "2026-10-21T14:30:00+00:00",
        "Gladly. How many passengers are you, and do you bring pets?",
    ),
    (
        "Re: Flight request",
        "client@example.com",
        ACCOUNT,
        "2026-10-21T16:05:00+00:00",
        "Six passengers and two small dogs.",
    ),
)


class StoredMail(Struct, frozen=True):
    """A mail as it was sent to the mailbox."""

    raw: bytes
    message: EmailMessage
    thread: str | None
    """The thread to which the mail should be added."""

    def check_recipients(self) -> list[str]:
        """The recipients. Raises `MockRefused` if there are none, or one is not an address."""
        found: list[str] = []
        for name in ("To", "Cc", "Bcc"):
            headers = map(str, self.message.get_all(name, ()))
            addresses = [address for _, address in getaddresses(list(headers))]
            if not all(map(_DOMAIN.fullmatch, addresses)):
                raise refused(400, f"Invalid {name} header")
            found += addresses
        if not found:
            raise refused(400, "Recipient address required")
        return found

    @property
    def subject(self) -> str:
        """The subject without `Re:` and `Fwd:`."""
        return _ANSWER.sub("", str(self.message.get("Subject", "")))

    @property
    def is_answer(self) -> bool:
        return "In-Reply-To" in self.message or "References" in self.message


def read_mail(message: Mapping[str, Any]) -> StoredMail:
    """The mail in a `Message`. Raises `MockRefused`."""
    text: str = message["raw"]
    bare = text.rstrip("=")
    if not _BASE64URL.fullmatch(text) or len(bare) % 4 == 1:
        raise refused(400, "Invalid value for ByteString")
    raw = base64.urlsafe_b64decode(bare + "=" * (-len(bare) % 4))
    return StoredMail(raw, _parsed(raw), message.get("threadId"))


def store(mail: StoredMail, label: str, request: MockRequest, state: MockState) -> dict[str, Any]:
    """Store a mail of this account under `label`. Raises `MockRefused`."""
    number = int(state.new_id("message").rpartition("-")[2]) - _FIRST_NUMBER
    message_id = f"{_FIRST_ID + number:016x}"
    thread = _thread(mail, message_id, state)
    if "From" not in mail.message:
        mail.message["From"] = ACCOUNT
    message = _message(mail, message_id, thread, request.now)
    message["labelIds"] = [label]
    state.add(_MESSAGES, message_id, message)
    known = state.find(_THREADS, thread) or {"messages": ()}
    state.add(_THREADS, thread, {"messages": (*known["messages"], message_id)})
    return message


def find_message(state: MockState, message_id: str) -> dict[str, Any] | None:
    """The message with this id, or None."""
    seeded = {message["id"]: message for message in _seeded()}
    return seeded.get(message_id) or state.find(_MESSAGES, message_id)


def thread_of(state: MockState, thread: str) -> list[dict[str, Any]]:
    """The messages of a thread, oldest first."""
    seeded = [message for message in _seeded() if message["threadId"] == thread]
    row = state.find(_THREADS, thread) or {"messages": ()}
    stored = (state.find(_MESSAGES, each) for each in row["messages"])
    return [*seeded, *(message for message in stored if message is not None)]


def _thread(mail: StoredMail, message_id: str, state: MockState) -> str:
    """The requested thread, if the mail is a reply in it; otherwise a new one.

    Gmail requires the thread's id, its subject, and a header that refers to one of its mails.
    """
    if mail.thread is None:
        return message_id
    messages = thread_of(state, mail.thread)
    if not messages:
        raise refused(404)
    is_same = mail.subject == _ANSWER.sub("", _header(messages[0], "Subject"))
    return mail.thread if is_same and mail.is_answer else message_id


def _message(mail: StoredMail, message_id: str, thread: str, now: datetime) -> dict[str, Any]:
    milliseconds = str(int(now.timestamp() * 1000))
    raw = base64.urlsafe_b64encode(mail.raw).decode("ascii") if len(mail.raw) <= _MAX_KEPT else ""
    return {
        "id": message_id,
        "threadId": thread,
        "snippet": snippet(mail.message),
        "historyId": str(int(message_id, 16) & 0xFFFFFFFF),
        "internalDate": milliseconds,
        "sizeEstimate": len(mail.raw),
        "payload": payload(mail.message),
        "raw": raw,
    }


@cache
def _seeded() -> Sequence[dict[str, Any]]:
    messages = []
    for index, (subject, sender, to, date, text) in enumerate(_SEEDS):
        mail = EmailMessage(policy=SMTP)
        mail["From"], mail["To"], mail["Subject"] = sender, to, subject
        mail["Message-ID"] = f"<request-{index + 1}@mail.example.com>"
        mail.set_content(text)
        message_id = f"{int(SEEDED_THREAD, 16) + index:016x}"
        received = datetime.fromisoformat(date).astimezone(UTC)
        read = StoredMail(mail.as_bytes(), _parsed(mail.as_bytes()), None)
        message = _message(read, message_id, SEEDED_THREAD, received)
        message["labelIds"] = ["SENT" if sender == ACCOUNT else "INBOX"]
        messages.append(message)
    return messages


def _parsed(raw: bytes) -> EmailMessage:
    return message_from_bytes(raw, _class=EmailMessage, policy=SMTP)


def _header(message: Mapping[str, Any], name: str) -> str:
    headers = message["payload"]["headers"]
    return next((each["value"] for each in headers if each["name"] == name), "")


_LIMITED: Final = "User-rate limit exceeded."
_LIMITED_ADDRESS: Final = "limited@example.com"
_LIMITED_ID: Final = "18c0f3a2b4d5e403"


def send_message(request: MockRequest, state: MockState) -> MockReply:
    mail = read_mail(request.body)
    if _LIMITED_ADDRESS in mail.check_recipients():
        raise refused(403, _LIMITED, "userRateLimitExceeded")
    stored = store(mail, "SENT", request, state)
    return MockReply(body=_named(stored))


def create_draft(request: MockRequest, state: MockState) -> MockReply:
    mail = read_mail(request.body["message"])
    stored = store(mail, "DRAFT", request, state)
    return MockReply(body={"id": state.new_id("r"), "message": _named(stored)})


def read_message(request: MockRequest, state: MockState) -> MockReply:
    message = find_message(state, _id(request))
    if message is None:
        raise refused(404)
    return MockReply(body=_shown(message, request.query))


def read_thread(request: MockRequest, state: MockState) -> MockReply:
    messages = thread_of(state, _id(request))
    if not messages:
        raise refused(404)
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
        raise refused(400, "Invalid id value") from None
    if text == _LIMITED_ID:
        raise refused(403, _LIMITED, "userRateLimitExceeded")
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
