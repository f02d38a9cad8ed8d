"""What the bridge reads of messages. Everything else of them is passed on as it was sent."""

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from gateway.contract.values import jsontext
from gateway.transports.bridge.protocol import (
    METHOD_HEADER,
    NAME_HEADER,
    NAMING_MEMBERS,
    VERSION_HEADER,
    VERSION_META,
    header_value,
)

MessageId: TypeAlias = int | str
_TASKS: Final = "tasks/"


class HostMessage(Struct, frozen=True):
    """A request, a notification or an answer of the host."""

    text: bytes
    id: MessageId | None
    method: str | None
    """None: it is an answer to a question of the remote."""
    params: Mapping[str, Any]

    @property
    def version(self) -> str | None:
        """The revision that the message itself names, as those of 2026-07-28 do."""
        meta = self.params.get("_meta")
        version = meta.get(VERSION_META) if isinstance(meta, dict) else None
        return version if isinstance(version, str) else None

    @property
    def name(self) -> str | None:
        """What the header `Mcp-Name` repeats: a tool, a prompt, a resource or a task."""
        method = self.method or ""
        member = "taskId" if method.startswith(_TASKS) else NAMING_MEMBERS.get(method)
        name = None if member is None else self.params.get(member)
        return name if isinstance(name, str) else None


def host_message(text: bytes) -> HostMessage:
    """Read `text`, which is one valid message in strict JSON."""
    known: dict[str, Any] = jsontext.decode(text, jsontext.MESSAGE)
    params = known.get("params")
    return HostMessage(
        text.strip(),
        known.get("id"),
        known.get("method"),
        params if isinstance(params, dict) else {},
    )


def routing_headers(message: HostMessage, agreed: str | None) -> dict[str, str]:
    """The headers by which HTTP servers and proxies route `message`.

    `agreed` is the revision of a handshake, which has only one of them.
    """
    version = message.version
    if version is None or message.method is None:
        return agreed_header(agreed)
    headers = {
        VERSION_HEADER: header_value(version),
        METHOD_HEADER: header_value(message.method),
    }
    if (name := message.name) is not None:
        headers[NAME_HEADER] = header_value(name)
    return headers


def agreed_header(agreed: str | None) -> dict[str, str]:
    """The header that names the revision of a handshake. None: there was none."""
    return {} if agreed is None else {VERSION_HEADER: header_value(agreed)}


class _Error(Struct):
    code: int


class RemoteMessage(Struct):
    """A message of the remote: an answer, a question or a notification."""

    jsonrpc: Literal["2.0"]
    id: MessageId | UnsetType | None = UNSET
    method: str | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: _Error | UnsetType = UNSET

    @property
    def is_answer(self) -> bool:
        """Whether it answers a request."""
        return self.method is UNSET

    @property
    def question(self) -> MessageId | None:
        """The id, if it is a question to the host."""
        return self.id if not self.is_answer and isinstance(self.id, int | str) else None


_remote: Final[msgspec.json.Decoder[RemoteMessage]] = msgspec.json.Decoder(RemoteMessage)


def remote_message(text: bytes) -> RemoteMessage | None:
    """Read `text`. None if it is no message."""
    try:
        found = _remote.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    has_outcome = (found.result is UNSET) is not (found.error is UNSET)
    return found if has_outcome is found.is_answer else None


def line_of(text: bytes, message: RemoteMessage, request: MessageId | None) -> bytes:
    """`text` as one line for the host.

    A refusal that names no request, as HTTP servers send it before they have read one, answers
    `request`.
    """
    if message.is_answer and message.id in {None, UNSET} and request is not None:
        return msgspec.json.encode({**msgspec.json.decode(text), "id": request}) + b"\n"
    if b"\n" in text or b"\r" in text:
        text = msgspec.json.format(text, indent=-1)
    return text + b"\n"


class _Introduction(Struct):
    version: str | None = msgspec.field(name="protocolVersion", default=None)


def agreed_version(result: Raw | UnsetType) -> str | None:
    """The revision in the answer to `initialize`. None if it names none."""
    if result is UNSET:
        return None
    try:
        return msgspec.json.decode(result, type=_Introduction).version
    except msgspec.DecodeError:
        return None
