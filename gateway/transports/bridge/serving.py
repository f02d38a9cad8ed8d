"""What the bridge knows of the protocol, so that it starts without loading the SDK.

Each definition has the meaning of the SDK's own. `tests/unit/transports/bridge/test_protocol.py`
compares them.
"""

import asyncio
import base64
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from gateway.amounts import in_seconds
from gateway.contract.values import jsontext
from gateway.transports.bridge.remote import MAX_MESSAGE_BYTES, Remote, RemoteFailed
from gateway.transports.json_rpc import HEADER_MISMATCH, RpcError, error_response, refusal_of_line
from gateway.transports.stdio.streams import Output, read_lines

METHOD_HEADER: Final = "mcp-method"
NAME_HEADER: Final = "mcp-name"
VERSION_HEADER: Final = "mcp-protocol-version"
VERSION_META: Final = "io.modelcontextprotocol/protocolVersion"
PROGRESS: Final = "progressToken"
HEADER_KEYWORD: Final = "x-mcp-header"
NAMING_MEMBERS: Final[Mapping[str, str]] = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
}
"""The member of the parameters that `Mcp-Name` repeats, by method."""
_PLAIN: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?|")
_CODED: Final = re.compile(r"=\?base64\?.*\?=")


def header_value(value: str) -> str:
    """`value` for a header: as it is, or in base64 if a header cannot carry it."""
    if _PLAIN.fullmatch(value) and not _CODED.fullmatch(value):
        return value
    return f"=?base64?{base64.b64encode(value.encode()).decode('ascii')}?="


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


_MAX_PAGES: Final = 100


class _Tool(msgspec.Struct):
    name: str
    input_schema: Any = msgspec.field(name="inputSchema", default=None)


class _Page(msgspec.Struct):
    tools: tuple[_Tool, ...] = ()
    cursor: str | None = msgspec.field(name="nextCursor", default=None)


class _Answer(msgspec.Struct):
    result: _Page = msgspec.field(default_factory=_Page)


class HeaderParameters:
    """The header parameters of the remote's tools, as far as they were needed."""

    def __init__(self, remote: Remote) -> None:
        self._remote = remote
        self._by_tool: dict[str, Mapping[tuple[str, ...], str]] = {}

    def of(self, message: HostMessage) -> dict[str, str]:
        """The headers that repeat arguments of `message`, if it calls a known tool."""
        known = self._by_tool.get(message.name or "") if message.method == "tools/call" else None
        arguments = message.params.get("arguments")
        if known is None or not isinstance(arguments, dict):
            return {}
        return _repeated(known, arguments)

    async def asked(self, message: HostMessage) -> dict[str, str]:
        """The same headers, by the remote's list of tools. Raises `RemoteFailed`."""
        meta = {k: v for k, v in message.params.get("_meta", {}).items() if k != PROGRESS}
        found: dict[str, Mapping[tuple[str, ...], str]] = {}
        cursor: dict[str, str] = {}
        for _ in range(_MAX_PAGES):
            page = await self._page({"_meta": meta, **cursor})
            found.update((each.name, _headers_of(each)) for each in page.tools)
            if page.cursor is None:
                break
            cursor = {"cursor": page.cursor}
        self._by_tool = {name: headers for name, headers in found.items() if headers}
        return self.of(message)

    async def _page(self, params: Mapping[str, Any]) -> _Page:
        request = {"jsonrpc": "2.0", "id": "bridge", "method": "tools/list", "params": params}
        message = host_message(msgspec.json.encode(request))
        texts: list[bytes] = []

        async def take(text: bytes) -> None:
            texts.append(text)

        await self._remote.post(message.text, routing_headers(message, None), take)
        try:
            return msgspec.json.decode(texts[-1], type=_Answer).result
        except (IndexError, msgspec.DecodeError):
            raise self._remote.failed("its list of tools cannot be read") from None


def _headers_of(tool: _Tool) -> Mapping[tuple[str, ...], str]:
    schema = tool.input_schema
    return _declared(schema) if HEADER_KEYWORD in str(schema) else {}


def _declared(schema: Any) -> Mapping[tuple[str, ...], str]:
    from mcp.shared.inbound import (  # noqa: PLC0415 - few tools have such arguments
        find_invalid_x_mcp_header,
        x_mcp_header_map,
    )

    return {} if find_invalid_x_mcp_header(schema) is not None else x_mcp_header_map(schema)


def _repeated(known: Mapping[tuple[str, ...], str], arguments: Mapping[str, Any]) -> dict[str, str]:
    from mcp.shared.inbound import mcp_param_headers  # noqa: PLC0415 - as `_declared`

    return mcp_param_headers(known, arguments)


_LISTEN: Final = "subscriptions/listen"


class RelayedRequest:
    """One request of the host, until it is answered."""

    def __init__(self, message: HostMessage, request_id: MessageId) -> None:
        self.message = message
        self.id = request_id
        self.task: asyncio.Task[None] | None = None
        self.deadline: asyncio.Timeout | None = None
        """None before it begins, and for a stream that lasts."""
        self.is_answered = False
        """True also if the host no longer wants an answer."""
        self.is_repeated = False

    @property
    def is_modern(self) -> bool:
        """Whether it is cancelled by closing its connection, as since 2026-07-28."""
        return self.message.version is not None

    @property
    def is_endless(self) -> bool:
        """Whether it opens a stream that lasts until the host cancels it."""
        return self.message.method == _LISTEN

    def allow(self, seconds: float | None) -> None:
        """Give the remote so many seconds from now. None: as many as it needs."""
        if self.deadline is not None and not self.deadline.expired():
            now = asyncio.get_running_loop().time()
            self.deadline.reschedule(None if seconds is None else now + seconds)

    def cancel(self) -> None:
        """Close its connection."""
        if self.task is not None:
            self.task.cancel()


class RelayedRequests:
    """The requests of one host, by their ids and by the ids of the remote's open questions."""

    def __init__(self) -> None:
        self._by_id: dict[MessageId, RelayedRequest] = {}
        self._by_question: dict[MessageId, RelayedRequest] = {}

    def begin(self, message: HostMessage, request_id: MessageId) -> RelayedRequest:
        """Note a request that has been read."""
        relayed = self._by_id[request_id] = RelayedRequest(message, request_id)
        return relayed

    def end(self, relayed: RelayedRequest) -> None:
        """Forget it, and what was asked in it."""
        if self._by_id.get(relayed.id) is relayed:
            del self._by_id[relayed.id]
        for question in [each for each, of in self._by_question.items() if of is relayed]:
            del self._by_question[question]

    def find(self, request_id: object) -> RelayedRequest | None:
        """The request with this id, if it has not ended."""
        return self._by_id.get(request_id) if isinstance(request_id, int | str) else None

    def ask(self, question: MessageId, relayed: RelayedRequest) -> None:
        """Note that the host is asked. Meanwhile, the remote's time does not count."""
        self._by_question[question] = relayed
        relayed.allow(None)

    def answer(self, question: MessageId | None) -> RelayedRequest | None:
        """The request in which this question was asked. The question is no longer open."""
        return None if question is None else self._by_question.pop(question, None)

    def all(self) -> tuple[RelayedRequest, ...]:
        """Those that have not ended."""
        return tuple(self._by_id.values())


_log: Final = logging.getLogger(__name__)
_AFTER_END_SECONDS: Final = 10.0
"""How long to wait for answers after the end of the input, and then for the host to read them."""
_NOTIFY_SECONDS: Final = 30.0
"""How long the remote may take to accept a notification. The next messages wait for it."""
_MAX_PAUSE_SECONDS: Final = 30.0
_MAX_LINES: Final = 64
"""How many lines may wait for a host that does not read them."""


class Relay:
    """Passes on everything unchanged, in the revision that the host and the remote agree on.

    It reads of messages what their transports need: ids, headers, and the end of streams.
    """

    def __init__(
        self, remote: Remote, write: Callable[[bytes], Awaitable[None]], answer_seconds: float
    ) -> None:
        """`write` takes lines for the host. The remote may take `answer_seconds` for an answer."""
        self._remote = remote
        self._write = write
        self._answer_seconds = answer_seconds
        self._lines: asyncio.Queue[bytes] = asyncio.Queue(_MAX_LINES)
        self._relayed = RelayedRequests()
        self._header_parameters = HeaderParameters(remote)
        self._following: asyncio.Task[None] | None = None
        self._agreed: str | None = None
        """The revision that a handshake has agreed on."""

    async def run(self, lines: AsyncIterator[bytes]) -> None:
        """Pass on `lines`, the host's messages, until they end and the requests are answered."""
        async with asyncio.TaskGroup() as tasks:
            writing = tasks.create_task(self._write_lines())
            async for line in lines:
                await self._take(host_message(line), tasks)
            await self._finish()
            writing.cancel()

    async def refuse(self, request: MessageId | None, error: RpcError) -> None:
        """Answer a request with `error`. None: the request cannot be read."""
        await self._lines.put(error_response(request, error) + b"\n")

    async def _finish(self) -> None:
        """Wait for the answers that will come, and end everything else."""
        answered = [each.task for each in self._relayed.all() if each.task and not each.is_endless]
        if answered:
            await asyncio.wait(answered, timeout=_AFTER_END_SECONDS)
        for relayed in self._relayed.all():
            relayed.cancel()
        if self._following is not None:
            self._following.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(_AFTER_END_SECONDS):
                await self._lines.join()

    async def _write_lines(self) -> None:
        """Write each line as a whole, also if the request that it answers is cancelled."""
        while True:
            await self._write(await self._lines.get())
            self._lines.task_done()

    async def _take(self, message: HostMessage, tasks: asyncio.TaskGroup) -> None:
        if message.method is not None and message.id is not None:
            relayed = self._relayed.begin(message, message.id)
            relayed.task = tasks.create_task(self._relay(relayed))
            relayed.task.add_done_callback(partial(self._end, relayed))
        elif not self._is_cancelled_here(message):
            await self._notify(message)
        if message.method == "notifications/initialized" and self._remote.session is not None:
            self._following = self._following or tasks.create_task(self._follow())

    def _is_cancelled_here(self, message: HostMessage) -> bool:
        """Cancel a request by closing its connection, where `message` says so."""
        if message.method != "notifications/cancelled":
            return False
        relayed = self._relayed.find(message.params.get("requestId"))
        if relayed is None:
            return self._agreed is None
        relayed.is_answered = True
        if relayed.is_modern:
            relayed.cancel()
        return relayed.is_modern

    async def _notify(self, message: HostMessage) -> None:
        """Pass on a notification or an answer of the host, before the messages after it."""
        headers = routing_headers(message, self._agreed)
        try:
            async with asyncio.timeout(_NOTIFY_SECONDS):
                await self._remote.post(message.text, headers, _ignore)
        except (RemoteFailed, TimeoutError) as error:
            _log.warning("a message of the host was not passed on: %s", str(error) or "no answer")
        asked_by = self._relayed.answer(message.id)
        if asked_by is not None:
            asked_by.allow(self._answer_seconds)

    async def _relay(self, relayed: RelayedRequest) -> None:
        """Pass on a request, and its answer or why there is none."""
        try:
            async with asyncio.timeout(None) as deadline:
                if not relayed.is_endless:
                    relayed.deadline = deadline
                    relayed.allow(self._answer_seconds)
                try:
                    await self._passed(relayed)
                finally:
                    # The host's answer to a question may be passed on just now.
                    relayed.deadline = None
            failure = self._remote.failed("it ended its answer too early")
        except RemoteFailed as error:
            failure = error
        except TimeoutError:
            allowed = in_seconds(self._answer_seconds)
            failure = self._remote.failed(f"it did not answer within {allowed}")
            await self._cancel(relayed)
        if not relayed.is_answered:
            await self.refuse(relayed.id, RpcError(failure.code, str(failure)))

    async def _passed(self, relayed: RelayedRequest) -> None:
        message, headers = relayed.message, routing_headers(relayed.message, self._agreed)
        deliver = partial(self._deliver, relayed)
        parameters = self._header_parameters.of(message)
        await self._remote.post(
            message.text, headers | parameters, deliver, is_endless=relayed.is_endless
        )
        if relayed.is_repeated and not relayed.is_answered:
            parameters = await self._header_parameters.asked(message)
            await self._remote.post(message.text, headers | parameters, deliver)

    async def _deliver(self, relayed: RelayedRequest | None, text: bytes) -> None:
        """Pass a message of the remote on to the host."""
        message = remote_message(text)
        if message is None:
            raise self._remote.failed("it sent what is no message of MCP")
        if relayed is not None:
            if self._is_to_repeat(relayed, message):
                relayed.is_repeated = True
                return
            if message.is_answer and relayed.is_answered:
                return
            self._note(relayed, message)
        await self._lines.put(line_of(text, message, relayed.id if relayed else None))

    def _is_to_repeat(self, relayed: RelayedRequest, message: RemoteMessage) -> bool:
        """Whether the remote asks for headers of arguments that are not known here yet."""
        error = message.error
        return (
            error is not msgspec.UNSET
            and error.code == HEADER_MISMATCH
            and relayed.message.method == "tools/call"
            and not relayed.is_repeated
        )

    def _note(self, relayed: RelayedRequest, message: RemoteMessage) -> None:
        if (question := message.question) is not None:
            self._relayed.ask(question, relayed)
        if not message.is_answer:
            return
        relayed.is_answered = True
        if relayed.message.method == "initialize":
            self._agreed = agreed_version(message.result)

    def _end(self, relayed: RelayedRequest, _: asyncio.Task[None]) -> None:
        self._relayed.end(relayed)

    async def _cancel(self, relayed: RelayedRequest) -> None:
        """Notify the remote that nobody waits, where closing the connection does not say so."""
        if relayed.is_modern:
            return
        params: dict[str, Any] = {"requestId": relayed.id, "reason": "timeout"}
        text = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
        await self._notify(host_message(msgspec.json.encode(text)))

    async def _follow(self) -> None:
        """Pass on what the remote sends of itself, as long as it has such a stream."""
        headers = agreed_header(self._agreed)
        pause = 1.0
        while True:
            asked = 0.0
            try:
                if not await self._remote.follow(headers, partial(self._deliver, None)):
                    return
                pause = 1.0
            except RemoteFailed as error:
                _log.info("no messages outside of requests: %s", error)
                pause, asked = min(2 * pause, _MAX_PAUSE_SECONDS), error.retry_after_seconds
            await asyncio.sleep(max(pause, asked))


async def _ignore(_: bytes) -> None:
    """The remote has no answer to a notification."""


ANSWER_SECONDS: Final = 300.0
"""How long the remote may take to answer. The host's configuration can set another time."""


async def serve_bridge(url: str, key: str | None, *, answer_seconds: float) -> None:
    """Pass messages on to the gateway at `url` and back, until the host closes standard input.

    The remote may take `answer_seconds` for an answer. Raises `ConfigurationError`, in a group,
    when a stream cannot be used.
    """
    lines, output = read_lines(MAX_MESSAGE_BYTES), Output()
    try:
        async with Remote(url, key) as remote:
            relay = Relay(remote, output.write, answer_seconds)
            await relay.run(checked(lines, relay, MAX_MESSAGE_BYTES))
    except* BrokenPipeError:
        _log.info("the host reads no more answers")


async def checked(
    lines: AsyncIterator[bytes], relay: Relay, max_bytes: int
) -> AsyncIterator[bytes]:
    """The `lines` that are valid messages. The host is answered to the others with an error."""
    async for line in lines:
        if not line.strip():
            continue
        refused = refusal_of_line(line, max_bytes)
        if refused is None:
            yield line
        else:
            await relay.refuse(refused.id, refused.error)
