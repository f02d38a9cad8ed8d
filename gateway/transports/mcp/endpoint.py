"""The MCP endpoint over HTTP: authenticates the caller and passes its messages on."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from gateway.auth.principal import Principal
from gateway.calls.call import Commitment
from gateway.contract.server_description import ServerDescription
from gateway.contract.values import jsontext
from gateway.errors import (
    CallerError,
    GatewayError,
    MalformedRequest,
    MethodNotAllowed,
    UnknownPath,
)
from gateway.store.publishing import SubscriptionStore
from gateway.transports.events import EVENT_STREAM, Followers
from gateway.transports.http.asgi import (
    JSON,
    ClientGone,
    Headers,
    Receive,
    Scope,
    Send,
    header_values,
    of_head,
    request_id_of,
    respond,
)
from gateway.transports.http.bodies import largest_body
from gateway.transports.http.call_headers import refuse_headers
from gateway.transports.http.content import accepts, require_accept, require_json_body
from gateway.transports.http.edge import EdgeRules
from gateway.transports.http.heads import HostRules
from gateway.transports.http.problems import send_problem
from gateway.transports.http.senders import authenticate, sender_of, shown_credentials
from gateway.transports.mcp.answers import in_accepted_type
from gateway.transports.mcp.asking import OpenQuestions
from gateway.transports.mcp.caller import Caller
from gateway.transports.mcp.cancelling import (
    asks_of_session,
    profile_of_session,
    session_of,
)
from gateway.transports.mcp.descriptions import server_info
from gateway.transports.mcp.loading import Late, SdkPath, Sessions
from gateway.transports.mcp.protocol import (
    NOTHING,
    VERSIONS,
    is_of_handshake_era,
)
from gateway.transports.mcp.tools import Tools

if TYPE_CHECKING:
    from gateway.transports.mcp.paths import Paths
    from gateway.transports.mcp.subscriptions import SessionStreams

_LISTEN: Final = b"subscriptions/listen"
"""The method of MCP that a stream alone can answer."""
NO_LIMITS: Final[Mapping[str, int]] = {}


class McpEndpoint:
    """Serves `/mcp` and `/mcp/<connector>`. It is stateless: any process can serve any request.

    A session of the handshake revisions is only a name. It is used to cancel its calls, and to
    notify its client of changes.
    """

    def __init__(
        self,
        tools: Tools,
        rules: EdgeRules,
        version: str,
        followers: Followers | None = None,
        body_limits: Mapping[str, int] = NO_LIMITS,
        questions: OpenQuestions | None = None,
    ) -> None:
        """`body_limits`: bytes by operation, for operations with a higher limit than `rules`.
        `questions`: what clients are asked. None: the endpoint has its own.
        """
        self._tools = tools
        self._max_body_bytes = rules.max_body_bytes
        self._body_limits = body_limits
        self._largest: dict[str, int] = {}
        """By agent: there are as many as the policies have."""
        self._info = _info(tools.servers.gateway, version)
        largest = max((rules.max_body_bytes, *body_limits.values()))
        self._sdk = SdkPath(
            partial(_load_sessions, tools, version, followers, rules.hosts, largest)
        )
        channel = questions or OpenQuestions()
        self._late = Late("MCP", partial(_load_paths, tools, self._sdk, version, channel))
        self._paths: Paths | None = None
        self._streams = _late_streams(tools, followers)
        """None: the handshake revisions have no stream either."""

    def run(self) -> AbstractAsyncContextManager[None]:
        """A context manager that keeps the endpoint open. The application enters it once."""
        return self._sdk.run()

    async def serve(
        self, connector: str | None, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Serve one HTTP request on the endpoint of `connector`; None is the endpoint for all."""
        try:
            caller = await self._admit(connector, scope)
            if self._streams is not None and of_head(scope, is_of_handshake_era):
                if scope["method"] == "GET":
                    _check_stream(caller, scope)
                    await (await self._streams.get()).serve(caller, scope, receive, send)
                    return
                _check_form(scope, ("GET", "POST"))
            else:
                _check_form(scope, ("POST",))
            if self._paths is None:
                self._paths = await self._late.get()
            await self._paths.serve(caller, scope, receive, in_accepted_type(scope, send))
        except ClientGone:
            return
        except Exception as error:  # noqa: BLE001 - this endpoint's single edge
            await send_problem(send, error, request_id_of(scope))

    async def serve_info(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's
        """Serve `GET /mcp/info`: the server and its protocol versions, for callers with a key."""
        try:
            await self._admit("info", scope)
            _require_reading(scope)
            await respond(send, HTTPStatus.OK, self._info)
        except Exception as error:  # noqa: BLE001 - this endpoint's single edge
            await send_problem(send, error, request_id_of(scope))

    async def serve_unknown(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's
        """Serve a path under `/mcp` where nothing is, as one where something is.

        Without a key, they cannot be distinguished. With one, there is no such path.
        """
        try:
            await self._admit("*", scope)
            error: Exception = UnknownPath()
        except Exception as refusal:  # noqa: BLE001 - this endpoint's single edge
            error = refusal
        await send_problem(send, error, request_id_of(scope))

    async def _admit(self, connector: str | None, scope: Scope) -> Caller:
        """The authenticated caller. Raises `Unauthenticated` before anything else is checked."""
        credentials, sender = shown_credentials(scope), sender_of(scope)
        request_id = request_id_of(scope)
        try:
            principal = await authenticate(self._tools, credentials, sender)
        except GatewayError as error:
            endpoint = "mcp" if connector is None else f"mcp/{connector}"
            await self._tools.refuse(credentials, endpoint, request_id, error)
        sender.allow_body(self._largest_body(principal), self._max_body_bytes)
        is_handshake = of_head(scope, is_of_handshake_era)
        session = session_of(scope) if is_handshake else None
        return Caller(
            principal=principal,
            credentials=credentials,
            transport="mcp",
            request_id=request_id,
            connector=connector,
            commitment=Commitment(),
            session=session,
            # In these revisions, questions are sent on the stream of an answer.
            declared=asks_of_session(session) if accepts(scope, EVENT_STREAM) else NOTHING,
            view=self._tools.view(principal, profile_of_session(session)),
        )

    def _largest_body(self, principal: Principal) -> int:
        """The limit of the caller's body. Grants do not change while this endpoint serves."""
        found = self._largest.get(principal.agent)
        if found is None:
            may_call = self._tools.may_call(principal)
            found = largest_body(self._body_limits, self._max_body_bytes, may_call)
            self._largest[principal.agent] = found
        return found


def _require_reading(scope: Scope) -> None:
    if scope["method"] not in {"GET", "HEAD"}:
        raise MethodNotAllowed(allow=("GET", "HEAD"))


def _info(server: ServerDescription, version: str) -> bytes:
    """The body of the answer to `/mcp/info`."""
    info = {
        **server_info(server, version),
        "protocolVersions": list(VERSIONS),
        "transport": "streamable-http",
        "endpoint": "/mcp",
    }
    return jsontext.encode(info)


def _check_stream(caller: Caller, scope: Scope) -> None:
    """Check a `GET` of the stream of a session. Raises the errors of requests."""
    require_accept(scope, EVENT_STREAM)
    refuse_headers(scope)
    if header_values(scope, b"last-event-id"):
        raise MalformedRequest("No message has an id here: open the stream without Last-Event-ID.")
    if caller.session is None:
        detail = "A stream needs one Mcp-Session-Id, that of `initialize`."
        raise MethodNotAllowed(detail, allow=("POST",))


def _check_form(scope: Scope, allow: Sequence[str]) -> None:
    """Check a `POST`. `allow`: the methods of this path in the revision of the request."""
    if scope["method"] != "POST":
        # There is no session that a client could DELETE.
        raise MethodNotAllowed(allow=allow)
    if not of_head(scope, _has_form):
        _require_form(scope)


def _has_form(headers: Headers) -> bool:
    """Whether requests with these headers have the form that is required."""
    try:
        _require_form({"headers": headers})
    except CallerError:
        return False
    return True


def _require_form(scope: Scope) -> None:
    require_json_body(scope)
    refuse_headers(scope)
    if _LISTEN in [each.strip(b" \t") for each in header_values(scope, b"mcp-method")]:
        require_accept(scope, EVENT_STREAM)
    require_accept(scope, JSON.decode(), EVENT_STREAM)


def _load_paths(tools: Tools, sdk: SdkPath, version: str, questions: OpenQuestions) -> "Paths":
    """Load what serves messages. This takes a quarter of a second."""
    from gateway.transports.mcp.paths import Paths  # noqa: PLC0415 - a start does without it

    return Paths(tools, sdk, version, questions)


def _late_streams(tools: Tools, followers: Followers | None) -> "Late[SessionStreams] | None":
    """The streams of sessions. They need the SDK, which is loaded when a client opens one."""
    store = None if followers is None else followers.subscriptions
    if followers is None or store is None or tools.offered is None:
        return None
    return Late("MCP streams", partial(_load_streams, tools, followers, store))


def _load_streams(tools: Tools, followers: Followers, store: SubscriptionStore) -> "SessionStreams":
    from gateway.transports.mcp.subscriptions import (  # noqa: PLC0415 - as `_load_sessions`
        SessionStreams,
    )

    return SessionStreams(tools, followers, store)


def _load_sessions(
    tools: Tools, version: str, followers: Followers | None, hosts: HostRules, max_body_bytes: int
) -> Callable[[], Sessions]:
    """Load what opens the SDK's server. This takes half a second."""
    from gateway.transports.mcp.sessions import open_sessions  # noqa: PLC0415 - few need it

    return partial(open_sessions, tools, version, followers, hosts, max_body_bytes)
