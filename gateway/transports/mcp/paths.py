"""Serves an authenticated caller's message: checks it, then uses the fast path or the SDK.

Loading the protocol's types takes a quarter of a second. So only `endpoint` imports this module,
in a thread, when the first request has come.
"""

import asyncio
from functools import partial
from http import HTTPStatus
from typing import Final

from msgspec.structs import replace

from gateway.calls.large import beside
from gateway.contract.operation import Requirement
from gateway.profiles.clients import profile_of
from gateway.transports.http.asgi import (
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
from gateway.transports.json_rpc.checking import INVALID_PARAMS, Refusal, refusal
from gateway.transports.mcp.asking.open_questions import Asker, OpenQuestions
from gateway.transports.mcp.asking.reply import reply_of
from gateway.transports.mcp.asking.stream import PostedCall, QuestionStream
from gateway.transports.mcp.caller import CALLER, Caller, header_schemas
from gateway.transports.mcp.cancelling import SESSION_HEADER, new_session
from gateway.transports.mcp.fast.path import FastPath
from gateway.transports.mcp.fast.recognise import Recognised, ToolsCall, recognise, routing_in
from gateway.transports.mcp.loading import SdkPath
from gateway.transports.mcp.messages import Cancelled, Initialize, control_of, not_awaited
from gateway.transports.mcp.outgoing.keep_alive import LateAnswers
from gateway.transports.mcp.outgoing.media_types import BOTH_TYPES, without_type
from gateway.transports.mcp.protocol import is_of_handshake_era, version_in
from gateway.transports.mcp.revisions import revision_of
from gateway.transports.mcp.tools import Tools

_MALFORMED: Final = b"=?base64?!?="
"""A value that the SDK refuses because it is not valid base64."""


class Paths:
    """Serves messages on one of the two paths."""

    def __init__(
        self,
        tools: Tools,
        sdk: SdkPath,
        version: str,
        questions: OpenQuestions,
        late: LateAnswers | None = None,
    ) -> None:
        self._questions = questions
        self._late = late or LateAnswers()
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
