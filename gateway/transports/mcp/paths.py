"""Serves an authenticated caller's message: checks it, then uses the fast path or the SDK.

Loading the protocol's types takes a quarter of a second. So only `endpoint` imports this module,
in a thread, when the first request has come.

Asks the client of a request on the event stream of its answer, in the handshake revisions.

The client posts its answers in requests of their own: see `open_questions`.

Recognises the MCP messages that the fast path can serve. The SDK checks all others.

A message is recognised only if the SDK would certainly serve it. All others go to the SDK; nothing
is refused here. So this module does not repeat the rules of the protocol.
"""

import asyncio
from collections.abc import Mapping
from functools import lru_cache, partial
from http import HTTPStatus
from typing import Any, Final, Literal, TypeAlias

import msgspec
from mcp_types import CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY, CallToolRequestParams
from mcp_types.methods import validate_client_request
from mcp_types.version import LATEST_MODERN_VERSION
from msgspec import UNSET, Raw, Struct, UnsetType
from msgspec.structs import replace
from pydantic import ValidationError

from gateway.calls.asking import NotAnswered, OpenQuestion
from gateway.calls.call import UNBOUNDED, CallBounds, Result
from gateway.calls.validation import beside
from gateway.contract.operation import Requirement
from gateway.contract.values import jsontext
from gateway.errors import MalformedRequest
from gateway.profiles.clients import profile_of
from gateway.trace_context import TraceContext, current_trace
from gateway.transports.http.asgi import (
    ClientGone,
    Headers,
    Message,
    Receive,
    Scope,
    Send,
    of_head,
    read_body,
    replay,
    respond,
)
from gateway.transports.http.call_headers import bounds_of_meta, split_trace
from gateway.transports.http.connected import while_connected
from gateway.transports.json_rpc import INVALID_PARAMS, Refusal, error_response, refusal, reply_of
from gateway.transports.mcp.answers import BOTH_TYPES, EVENT, LateAnswers, without_type
from gateway.transports.mcp.asking import (
    ANSWER_SECONDS,
    Asker,
    OpenQuestions,
    SentQuestions,
    late,
    refused,
)
from gateway.transports.mcp.caller import CALLER, Caller, header_schemas
from gateway.transports.mcp.cancelling import SESSION_HEADER, CalledOff, new_session
from gateway.transports.mcp.descriptions import server_info
from gateway.transports.mcp.errors import CANCELLED, HTTP_STATUSES, error_of_call
from gateway.transports.mcp.loading import SdkPath
from gateway.transports.mcp.protocol import (
    HANDSHAKE_VERSIONS,
    LOG_LEVEL,
    NOTHING,
    PROGRESS,
    Cancelled,
    Initialize,
    ProtocolRevision,
    asked_by,
    client_name,
    control_of,
    declared_by,
    header_text,
    is_of_handshake_era,
    not_awaited,
    revision_of,
    version_in,
    version_of,
)
from gateway.transports.mcp.results import (
    ResultBytes,
    response,
)
from gateway.transports.mcp.tools import NO_ARGUMENTS, Tools

_MAX_META: Final = 2048
_VERSION: Final = b"mcp-protocol-version"
Routing: TypeAlias = Mapping[bytes, bytes]
"""The headers of a request that say what its body holds."""


class _CallParams(Struct, forbid_unknown_fields=True):
    name: str
    arguments: Raw | UnsetType = UNSET
    meta: Raw | UnsetType = msgspec.field(default=UNSET, name="_meta")


class _ListParams(Struct, forbid_unknown_fields=True):
    meta: Raw | UnsetType = msgspec.field(default=UNSET, name="_meta")


class ToolsCall(Struct, forbid_unknown_fields=True, tag_field="method", tag="tools/call"):
    """A `tools/call` request."""

    jsonrpc: Literal["2.0"]
    id: int | str
    params: _CallParams


class ToolsList(Struct, forbid_unknown_fields=True, tag_field="method", tag="tools/list"):
    """A `tools/list` request without a cursor."""

    jsonrpc: Literal["2.0"]
    id: int | str
    params: _ListParams | UnsetType = UNSET


class Recognised(Struct, frozen=True):
    """A request that the fast path serves, and its protocol version."""

    message: ToolsCall | ToolsList
    version: str
    bounds: CallBounds
    """The limits that its `_meta` asks for."""
    profile: str | None = None
    """The client profile, if its `_meta` names the client."""
    declared: frozenset[Requirement] = NOTHING
    """See `Caller.declared`."""
    asks_progress: bool = False
    """Whether its `_meta` has a `progressToken`."""
    trace: TraceContext | None = None
    """The trace that its `_meta` names."""

    @property
    def is_modern(self) -> bool:
        return self.version == LATEST_MODERN_VERSION


_decoder = msgspec.json.Decoder(ToolsCall | ToolsList)


def recognise(routing: Routing | None, body: bytes) -> Recognised | None:
    """The request with this `routing` and strict JSON `body`, or None if the SDK must serve it."""
    if routing is None:
        return None
    try:
        message = _decoder.decode(body)
    except msgspec.DecodeError:
        return None
    version = version_of(routing.get(_VERSION))
    is_served = (
        _agrees(routing, message)
        if version == LATEST_MODERN_VERSION
        else version in HANDSHAKE_VERSIONS
    )
    if not is_served or not _has_object_arguments(message):
        return None
    meta, trace = _meta_of(message)
    envelope = _envelope(meta, version)
    if envelope is None:
        return None
    return Recognised(
        message,
        version,
        envelope.bounds,
        profile=envelope.profile,
        declared=envelope.declared,
        asks_progress=envelope.asks_progress,
        trace=trace,
    )


def routing_in(headers: Headers) -> Routing | None:
    """The `mcp-…` headers. None if one occurs twice or repeats a parameter of the call."""
    found: dict[bytes, bytes] = {}
    for name, value in headers:
        if name.startswith(b"mcp-"):
            if name in found or name.startswith(b"mcp-param-"):
                return None
            found[name] = value
    return found


def _agrees(routing: Routing, message: ToolsCall | ToolsList) -> bool:
    """Whether the routing headers match the body."""
    if isinstance(message, ToolsList):
        return routing.get(b"mcp-method") == b"tools/list"
    name = routing.get(b"mcp-name", b"").decode("latin-1")
    is_call = routing.get(b"mcp-method") == b"tools/call"
    return is_call and header_text(name) == message.params.name


def _has_object_arguments(message: ToolsCall | ToolsList) -> bool:
    if isinstance(message, ToolsList) or message.params.arguments is UNSET:
        return True
    return bytes(message.params.arguments).startswith(b"{")


class _Envelope(Struct, frozen=True):
    """What the `_meta` of a request says."""

    bounds: CallBounds
    profile: str | None = None
    asks_progress: bool = False
    declared: frozenset[Requirement] = NOTHING


_EMPTY: Final = _Envelope(UNBOUNDED)


def _meta_of(message: ToolsCall | ToolsList) -> tuple[bytes | None, TraceContext | None]:
    """The `_meta` of the message without its trace, and the trace."""
    meta = UNSET if message.params is UNSET else message.params.meta
    return (None, None) if meta is UNSET else split_trace(bytes(meta))


def _envelope(meta: bytes | None, version: str) -> _Envelope | None:
    """What `_meta` says. None if the SDK must check it."""
    if meta is None:
        return _EMPTY if version in HANDSHAKE_VERSIONS else None
    return _read_envelope(meta, version) if len(meta) <= _MAX_META else None


@lru_cache(maxsize=512)
def _read_envelope(text: bytes, version: str) -> _Envelope | None:
    """What this `_meta` says, or None if the SDK does not accept it.

    The result is cached, because clients send the same `_meta` every time.
    """
    meta: Any = msgspec.json.decode(text)
    if not isinstance(meta, dict) or LOG_LEVEL in meta:
        return None
    params = {"name": "", "_meta": meta}
    try:
        validate_client_request("tools/call", version, params)
        CallToolRequestParams.model_validate(params, by_name=False)
        bounds = bounds_of_meta(meta)
    except (ValidationError, MalformedRequest):
        return None
    asks_progress = PROGRESS in meta
    if version in HANDSHAKE_VERSIONS:
        return _Envelope(bounds, asks_progress=asks_progress)
    if meta[PROTOCOL_VERSION_META_KEY] != version:
        return None
    info = meta.get(CLIENT_INFO_META_KEY)
    profile = None if info is None else profile_of(client_name(info)).name
    return _Envelope(bounds, profile, asks_progress, declared_by(meta))


class PostedCall(Struct, frozen=True):
    """One HTTP request, and the `send` for its answer."""

    scope: Scope
    receive: Receive
    send: Send


class QuestionStream:
    """The answer to one request, which is an event stream that questions can be sent on."""

    def __init__(
        self,
        posted: PostedCall,
        questions: OpenQuestions,
        asker: Asker,
        revision: ProtocolRevision,
    ) -> None:
        self._posted = posted
        self._questions = questions
        self._asker = asker
        self._revision = revision
        self._one_at_a_time = asyncio.Lock()
        self._has_begun = asyncio.Event()

    async def send(self, message: Message) -> None:
        """Send a part of the answer."""
        async with self._one_at_a_time:
            await self._posted.send(message)
        self._has_begun.set()

    async def ask(self, asked: Mapping[str, OpenQuestion]) -> Mapping[str, Any]:
        """See `AskClient`. A client that closes the connection does not answer."""
        work = self._answers(asked)
        try:
            return await while_connected(work, self._posted.receive, self._posted.scope)
        except ClientGone:
            detail = "The client closed the connection of the call before it answered."
            raise NotAnswered(detail) from None

    async def _answers(self, asked: Mapping[str, OpenQuestion]) -> dict[str, Any]:
        with self._questions.opened(self._asker, asked) as sent:
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    for question, key in sent.keys.items():
                        await self._write(self._request(question, asked[key]))
                    return await _read(sent)
            except (TimeoutError, NotAnswered) as error:
                await self._withdraw(sent)
                raise error if isinstance(error, NotAnswered) else late() from None

    def _request(self, question: str, asked: OpenQuestion) -> dict[str, Any]:
        params = asked_by(self._revision, asked.params)
        return {"id": question, "method": asked.method, "params": params}

    async def _withdraw(self, sent: SentQuestions) -> None:
        """Notify the client that open questions need no answer any more."""
        for question in filter(self._questions.is_open, sent.keys):
            method = "notifications/cancelled"
            await self._write({"method": method, "params": {"requestId": question}})

    async def _write(self, message: dict[str, Any]) -> None:
        await self._has_begun.wait()
        event = EVENT % jsontext.encode({"jsonrpc": "2.0", **message})
        await self.send({"type": "http.response.body", "body": event, "more_body": True})


async def _read(sent: SentQuestions) -> dict[str, Any]:
    """The answers by key. Raises `NotAnswered` at the first error."""
    answers: dict[str, Any] = {}
    while len(answers) < len(sent.keys):
        reply = await sent.replies.get()
        key = sent.keys[str(reply.id)]
        if reply.error is not UNSET:
            raise refused(key, reply.error.code, reply.error.message)
        answers[key] = reply.result
    return answers


class FastPath:
    """Serves the requests that `recognise` returned."""

    def __init__(self, tools: Tools, version: str) -> None:
        self._tools = tools
        self._version = version
        self._results: dict[tuple[str | None, bool], ResultBytes] = {}
        """By endpoint, and by whether the caller is shown what is there."""

    async def answer(
        self, request: Recognised, caller: Caller, scope: Scope, receive: Receive
    ) -> tuple[int, bytes]:
        """The HTTP status and the body.

        Raises `ClientGone` when the client closed the connection, which cancels the call in the
        modern revisions unless it has begun a write.
        """
        match request.message:
            case ToolsList(id=message_id):
                revision = revision_of(request.version)
                listed = await self._tools.texts(caller, revision)
                return 200, response(message_id, self._of(caller).listing(listed, revision))
            case ToolsCall() as message:
                if request.trace is not None:
                    # One task serves one request, so this context variable ends with the request.
                    current_trace.set(request.trace)
                work = self._call(message, caller, request.bounds, revision_of(request.version))
                # In the handshake revisions, a call goes on when its client leaves.
                if not request.is_modern:
                    return await work
                return await while_connected(work, receive, scope, caller.commitment)

    def _of(self, caller: Caller) -> ResultBytes:
        """The results of the server that the caller has reached."""
        servers = self._tools.servers
        key = caller.connector, servers.may_see(caller.principal, caller.connector)
        found = self._results.get(key)
        if found is None:
            server = servers.of(caller.principal, caller.connector)
            found = self._results[key] = ResultBytes(server_info(server, self._version))
        return found

    async def _call(
        self, message: ToolsCall, caller: Caller, bounds: CallBounds, revision: ProtocolRevision
    ) -> tuple[int, bytes]:
        name, raw = message.params.name, message.params.arguments
        arguments = NO_ARGUMENTS if raw is UNSET else bytes(raw)
        try:
            outcome = await self._tools.call(caller, name, arguments, message.id, bounds)
        except CalledOff:
            return 200, error_response(message.id, CANCELLED)
        if isinstance(outcome, Result):
            success = self._of(caller).success
            result = await beside(len(outcome.text), success, outcome, revision)
            return 200, response(message.id, result)
        error = error_of_call(outcome, name, revision)
        if error is not None:
            status = HTTP_STATUSES[error.code] if revision.is_modern else 200
            return status, error_response(message.id, error)
        return 200, response(message.id, self._of(caller).failure(outcome, revision))


_MALFORMED: Final = b"=?base64?!?="
"""A value that the SDK refuses because it is not valid base64."""


class Paths:
    """Serves messages on one of the two paths."""

    def __init__(self, tools: Tools, sdk: SdkPath, version: str, questions: OpenQuestions) -> None:
        self._questions = questions
        self._late = LateAnswers()
        self._tools = tools
        self._sdk = sdk
        self._fast = FastPath(tools, version)

    async def serve(self, caller: Caller, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one HTTP request: a POST of JSON. Raises `ClientGone` or `InternalError`."""
        body = await read_body(receive)
        refused = await beside(len(body), refusal, body, caller.request_id)
        if refused is not None:
            if refused.may_be_answer and is_of_handshake_era(scope["headers"]):
                refused = self._answered(caller, body, refused)
            await _end(send, scope, refused)
            return
        request = recognise(of_head(scope, routing_in), body)
        if request is None or self._is_for_sdk(caller, request):
            scope[CALLER] = caller
            scope["headers"] = _accepting_both(scope["headers"])
            send = without_type(send)
            if is_of_handshake_era(scope["headers"]):
                posted = self._asking(caller, PostedCall(scope, receive, send))
                send = self._control(caller, body, posted.send)
                # The SDK takes a disconnect for a cancellation. This is true only since 2026-07-28.
                receive = _never
            else:
                scope["headers"] = [
                    (name, _checked(name, value)) for name, value in scope["headers"]
                ]
            with header_schemas(partial(self._tools.header_schema, caller)):
                await self._sdk.handle(scope, replay(body, receive), send)
            return
        caller = self._known(caller, request)
        with self._late.of(send) as late:
            status, answer = await self._fast.answer(request, caller, scope, receive)
            await late.end(status, answer)

    def _answered(self, caller: Caller, body: bytes, refused: Refusal) -> Refusal | None:
        """Hand an answer of a client to its call. Returns the refusal of what is no answer."""
        reply = reply_of(body)
        if reply is None:
            return refused
        asker = Asker(caller.principal.subject, caller.session)
        is_awaited = self._questions.answer(asker, reply)
        return None if is_awaited else not_awaited(caller.request_id)

    def _asking(self, caller: Caller, posted: PostedCall) -> PostedCall:
        """The exchange, in which the client can be asked what it declares."""
        if not caller.declared:
            return posted
        asker = Asker(caller.principal.subject, caller.session)
        revision = revision_of(version_in(posted.scope["headers"]))
        stream = QuestionStream(posted, self._questions, asker, revision)
        posted.scope[CALLER] = replace(caller, ask=stream.ask)
        return replace(posted, send=stream.send)

    def _known(self, caller: Caller, request: Recognised) -> Caller:
        """The caller, with what the request says of its client."""
        if request.profile is not None:
            view = self._tools.view(caller.principal, request.profile)
            caller = caller if view == caller.view else replace(caller, view=view)
        return replace(caller, declared=request.declared) if request.declared else caller

    def _is_for_sdk(self, caller: Caller, request: Recognised) -> bool:
        """Whether the SDK must serve a request that was recognised.

        It compares arguments with headers, and sends the answer as a stream when notifications come
        before it.
        """
        message = request.message
        if not isinstance(message, ToolsCall):
            return False
        name = message.params.name
        if request.is_modern and self._tools.header_schema(caller, name) is not None:
            return True
        reporting = self._tools.reporting
        if not request.is_modern and reporting.may_ask(caller, name):
            return True
        if reporting.log_level(caller, name) is not None:
            return True
        return request.asks_progress and reporting.has_progress(name, caller.connector)

    def _control(self, caller: Caller, body: bytes, send: Send) -> Send:
        """Serve a message of the handshake revisions that concerns the transport itself.

        Returns the `send` for its answer.
        """
        match control_of(body):
            case Initialize() as first:
                return _naming_session(send, profile_of(first.client).name, first.asks)
            case Cancelled(params=params):
                self._tools.cancel(caller, params.request)
        return send


async def _end(send: Send, scope: Scope, refused: Refusal | None) -> None:
    if refused is None:
        await respond(without_type(send), HTTPStatus.ACCEPTED, b"")
        return
    # In the handshake revisions, errors of a call are answers like any other.
    is_answer = refused.code == INVALID_PARAMS and is_of_handshake_era(scope["headers"])
    status = HTTPStatus.OK if is_answer else HTTPStatus.BAD_REQUEST
    await respond(send, status, refused.answer)


def _accepting_both(headers: Headers) -> Headers:
    """The headers for the SDK: it serves only those who accept both, and `send` does the rest."""
    others = [each for each in headers if each[0] != b"accept"]
    return [*others, (b"accept", BOTH_TYPES.encode())]


def _checked(name: bytes, value: bytes) -> bytes:
    """The value of a header that repeats a text of the body: other than ASCII must be base64.

    The SDK would take the bytes of other characters for Latin-1, and fail on such base64.
    """
    is_coded = name == b"mcp-name" or name.startswith(b"mcp-param-")
    return _MALFORMED if is_coded and not value.isascii() else value


def _naming_session(send: Send, profile: str, asks: frozenset[Requirement]) -> Send:
    """A `send` that adds a new session id to the answer to `initialize`."""

    async def send_named(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == HTTPStatus.OK:
            session = SESSION_HEADER, new_session(profile, asks)
            message["headers"] = [*message["headers"], session]
        await send(message)

    return send_named


async def _never() -> Message:
    endless: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
    return await endless
