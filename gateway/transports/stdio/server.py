"""MCP over standard input and output, in all revisions, for a host that starts the gateway."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    suppress,
)
from functools import partial
from typing import Any, Final, Protocol

import anyio
import msgspec
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import (
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    Request,
    RequestId,
)
from msgspec import to_builtins
from pydantic import RootModel, ValidationError

from gateway.auth.principal import Credentials
from gateway.calls.asking import InvalidAnswer, OpenQuestion
from gateway.calls.call import Commitment
from gateway.contract.operation import Requirement
from gateway.transports.events import Followers
from gateway.transports.http.asgi import new_request_id
from gateway.transports.http.bodies import LARGEST_BYTES, body_limits, largest_body
from gateway.transports.json_rpc import refusal_of_line
from gateway.transports.mcp.asking import ANSWER_SECONDS, late, refused
from gateway.transports.mcp.caller import AskClient, Caller
from gateway.transports.mcp.protocol import NOTHING, asked_by, asks_in_handshake, revision_of
from gateway.transports.mcp.requests import Context
from gateway.transports.mcp.server import (
    ShieldedCalls,
    build_server,
    profile_of_client,
)
from gateway.transports.mcp.subscriptions import PipeSubscriptions
from gateway.transports.mcp.tools import Tools
from gateway.transports.stdio.streams import Output, read_lines

LAST_ANSWERS_SECONDS: Final = 10.0
"""How long to wait for answers after the end of the input."""


class Outgoing(Protocol):
    """The stream of messages to the host."""

    async def send(self, item: SessionMessage, /) -> None: ...
    async def aclose(self) -> None: ...


class Unanswered:
    """The requests that were read and are not answered yet.

    When the input ends, the SDK stops and drops the running calls. But a host may close the pipe
    after its last request and still wait for the answers.
    """

    def __init__(self, shielded: ShieldedCalls) -> None:
        """`shielded`: the calls that have begun a write, also those that the host cancelled."""
        self._shielded = shielded
        self._waiting: Counter[RequestId] = Counter()
        self._is_none = asyncio.Event()
        self._is_none.set()

    async def reading(
        self, incoming: AsyncIterator[SessionMessage | Exception]
    ) -> AsyncIterator[SessionMessage | Exception]:
        """The messages of `incoming`. They end when all are answered, or in time."""
        try:
            async for item in incoming:
                if isinstance(item, SessionMessage):
                    self._note_read(item.message)
                yield item
            with suppress(TimeoutError):
                async with asyncio.timeout(LAST_ANSWERS_SECONDS):
                    await self._is_none.wait()
                    await self._shielded.ended()
        finally:
            self._shielded.expose()

    def note_sent(self, message: Any) -> None:
        """Note that an answer was sent."""
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            self._drop(message.id)

    def _note_read(self, message: Any) -> None:
        match message:
            case JSONRPCRequest(id=request_id):
                self._waiting[coerce_request_id(request_id)] += 1
                self._is_none.clear()
            case JSONRPCNotification(
                method="notifications/cancelled",
                params={"requestId": int() | str() as request_id},
            ):
                # The protocol forbids an answer to a request that the host has cancelled.
                self._drop(request_id)

    def _drop(self, request_id: RequestId) -> None:
        key = coerce_request_id(request_id)
        if self._waiting[key] > 1:
            self._waiting[key] -= 1
        else:
            del self._waiting[key]
        if not self._waiting:
            self._is_none.set()


class NotedOutgoing:
    """An outgoing stream that notes the answers sent through it."""

    def __init__(self, inner: Outgoing, unanswered: Unanswered) -> None:
        self._inner = inner
        self._unanswered = unanswered

    async def send(self, item: SessionMessage, /) -> None:
        await self._inner.send(item)
        self._unanswered.note_sent(item.message)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> "NotedOutgoing":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class _Question(Request[dict[str, Any], str]):
    """Any question. The SDK's own types would add to what the tool asks."""


class _Answer(RootModel[dict[str, Any]]):
    """Any answer. It is checked as all answers are."""


def asks_of_host(ctx: Context) -> frozenset[Requirement]:
    """What the host has declared in `initialize` that it can be asked."""
    capabilities = ctx.session.client_capabilities
    if capabilities is None or revision_of(ctx.protocol_version).is_modern:
        return NOTHING
    known = capabilities.model_dump(mode="json", by_alias=True, exclude_none=True)
    return asks_in_handshake({"protocolVersion": ctx.protocol_version, "capabilities": known})


def asking_host(ctx: Context) -> AskClient | None:
    """Asks the host. None in the revision in which a call that asks ends with its questions."""
    return None if revision_of(ctx.protocol_version).is_modern else partial(_ask, ctx)


async def _ask(ctx: Context, asked: Mapping[str, OpenQuestion]) -> Mapping[str, Any]:
    """Asks one question after the other. When the time is over, the SDK withdraws the question."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return {key: await _answer(ctx, key, question) for key, question in asked.items()}
    except TimeoutError:
        raise late() from None


async def _answer(ctx: Context, key: str, asked: OpenQuestion) -> dict[str, Any]:
    params = asked_by(revision_of(ctx.protocol_version), asked.params)
    question = _Question(method=asked.method, params=params)
    try:
        answer = await ctx.session.send_request(
            question,  # type: ignore[arg-type]  # any request: the SDK only writes it
            _Answer,
            metadata=ServerMessageMetadata(related_request_id=ctx.request_id),
        )
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise InvalidAnswer(f"The answer to {key} is not valid: {place} {first['msg']}.") from None
    except MCPError as error:
        raise refused(key, error.code, error.message) from None
    return answer.root


_log: Final = logging.getLogger(__name__)


async def serve_stdio(
    tools: Tools,
    version: str,
    *,
    max_message_bytes: int,
    max_upload_bytes: int = LARGEST_BYTES,
    connector: str | None = None,
    followers: Followers | None = None,
) -> None:
    """Serve `tools` until the host closes standard input.

    A message is at most `max_message_bytes` long, or what the longest text or file of a tool needs,
    up to `max_upload_bytes`, as over HTTP. The caller is the user who started this process: `tools`
    identifies it without credentials. From now on, all other output of the process goes to standard
    error.
    """
    serving = local_server(
        tools,
        version,
        max_message_bytes=max_message_bytes,
        max_upload_bytes=max_upload_bytes,
        connector=connector,
        followers=followers,
    )
    async with serving as server:
        await run_on_stdio(server.server, server.largest_bytes, server.shielded)


class LocalServer(msgspec.Struct, frozen=True, kw_only=True):
    """An MCP server for the user who started this process."""

    server: Server[Any]
    largest_bytes: int
    """The size of its largest message."""
    shielded: ShieldedCalls


@asynccontextmanager
async def local_server(
    tools: Tools,
    version: str,
    *,
    max_message_bytes: int,
    max_upload_bytes: int = LARGEST_BYTES,
    connector: str | None = None,
    followers: Followers | None = None,
) -> AsyncIterator[LocalServer]:
    """What `serve_stdio` serves, until the block ends."""
    credentials = Credentials()
    principal = await tools.identify(credentials)

    async def caller_of(ctx: Context) -> Caller:
        return Caller(
            principal=principal,
            credentials=credentials,
            transport="stdio",
            request_id=new_request_id(),
            connector=connector,
            view=tools.view(principal, profile_of_client(ctx)),
            commitment=Commitment(),
            declared=asks_of_host(ctx),
            ask=asking_host(ctx),
        )

    limits = body_limits(tools.names.entries, max_message_bytes, max_upload_bytes)
    largest = largest_body(limits, max_message_bytes, tools.may_call(principal))
    shielded, kept = ShieldedCalls(), PipeSubscriptions(followers)
    server = build_server(tools, caller_of, version, followers, shielded, kept=kept)
    try:
        yield LocalServer(server=server, largest_bytes=largest, shielded=shielded)
    finally:
        await kept.close()


class Pipes(Protocol):
    """Where a server on pipes reads and writes."""

    def lines(self, max_bytes: int) -> AsyncIterator[bytes]:
        """The lines of the host, each at most `max_bytes` long, until it closes its end."""

    def output(self) -> Any:
        """What writes to the host, with `write` and `flush`."""


class _StandardStreams:
    """Those of this process."""

    def lines(self, max_bytes: int) -> AsyncIterator[bytes]:
        return read_lines(max_bytes)

    def output(self) -> Output:
        return Output()


async def run_on_stdio(
    server: Server[Any],
    max_message_bytes: int,
    shielded: ShieldedCalls | None = None,
    pipes: Pipes | None = None,
) -> None:
    """Run any MCP server on this process's standard streams, or on `pipes`, until the host closes
    them.

    `shielded` are the calls that its notifications do not cancel. Raises `ConfigurationError`, in a
    group, when a stream cannot be used.
    """
    used: Pipes = pipes or _StandardStreams()
    lines = StrictLines(used.lines(max_message_bytes), max_message_bytes)
    shielded = shielded or ShieldedCalls()
    unanswered = Unanswered(shielded)
    streams: AbstractAsyncContextManager[Any] = stdio_server(
        stdin=lines,  # type: ignore[arg-type]  # it iterates over lines, which is all that is used
        stdout=used.output(),
    )
    try:
        async with AsyncExitStack() as after, streams as (incoming, outgoing):
            # A message may come while this stops: its sender is ended before the stream is closed.
            await after.enter_async_context(incoming)
            lines.outgoing = outgoing
            work = server.run(
                unanswered.reading(incoming),  # type: ignore[arg-type]  # it is iterated and closed
                NotedOutgoing(outgoing, unanswered),
                server.create_initialization_options(),
            )
            await _until_stopped(work, shielded)
    except* BrokenPipeError:
        _log.info("the host reads no more answers")


async def _until_stopped(work: Coroutine[Any, Any, None], shielded: ShieldedCalls) -> None:
    """Await `work`. When this is cancelled, the shielded calls are cancelled too: it stops."""
    task = asyncio.create_task(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        shielded.expose()
        task.cancel()
        # Its failure is of no interest: a message may have arrived that nobody reads any more.
        await asyncio.gather(task, return_exceptions=True)
        raise


class StrictLines:
    """Iterates over the lines that are valid messages. Answers the others with an error."""

    def __init__(self, lines: AsyncIterator[bytes], max_bytes: int) -> None:
        self._lines = lines
        self._max_bytes = max_bytes
        self.outgoing: Outgoing | None = None
        """The stream for refusals."""

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self._lines:
            if not line.strip():
                continue
            refused = refusal_of_line(line, self._max_bytes)
            if refused is None:
                yield line.decode()
            elif self.outgoing is not None:
                error = ErrorData(**to_builtins(refused.error))
                answer = JSONRPCError(jsonrpc="2.0", id=refused.id, error=error)
                # The writer gets the same error and reports it.
                with suppress(anyio.BrokenResourceError):
                    await self.outgoing.send(SessionMessage(answer))
