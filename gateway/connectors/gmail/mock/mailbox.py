"""The mailbox of the Gmail mock: its messages and threads, with one initial thread."""

import base64
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import getaddresses
from functools import cache
from typing import Any, Final

from msgspec import Struct

from gateway.connectors.gmail.mock.envelope import ACCOUNT, GmailRefused
from gateway.connectors.gmail.mock.payload import payload, snippet
from gateway.contract.mock import MockRequest, MockState

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
        """The recipients. Raises `GmailRefused` if there are none, or one is not an address."""
        found: list[str] = []
        for name in ("To", "Cc", "Bcc"):
            headers = map(str, self.message.get_all(name, ()))
            addresses = [address for _, address in getaddresses(list(headers))]
            if not all(map(_DOMAIN.fullmatch, addresses)):
                raise GmailRefused(400, f"Invalid {name} header")
            found += addresses
        if not found:
            raise GmailRefused(400, "Recipient address required")
        return found

    @property
    def subject(self) -> str:
        """The subject without `Re:` and `Fwd:`."""
        return _ANSWER.sub("", str(self.message.get("Subject", "")))

    @property
    def is_answer(self) -> bool:
        return "In-Reply-To" in self.message or "References" in self.message


def read_mail(message: Mapping[str, Any]) -> StoredMail:
    """The mail in a `Message`. Raises `GmailRefused`."""
    text: str = message["raw"]
    bare = text.rstrip("=")
    if not _BASE64URL.fullmatch(text) or len(bare) % 4 == 1:
        raise GmailRefused(400, "Invalid value for ByteString")
    raw = base64.urlsafe_b64decode(bare + "=" * (-len(bare) % 4))
    return StoredMail(raw, _parsed(raw), message.get("threadId"))


def store(mail: StoredMail, label: str, request: MockRequest, state: MockState) -> dict[str, Any]:
    """Store a mail of this account under `label`. Raises `GmailRefused`."""
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
        raise GmailRefused(404)
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
