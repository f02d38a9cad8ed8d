"""The REST transport: decode the request, invoke the pipeline, encode the answer."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from gateway.auth.authorize import Policy
from gateway.auth.principal import Identification, Principal
from gateway.calls.call import UNBOUNDED, Call, Commitment, Invoke, Result
from gateway.contract.operation import Operation
from gateway.contract.values.files import BLOCKS_TYPE
from gateway.errors import GatewayError, MethodNotAllowed, ReplacedTool
from gateway.limits.standing import LimitReport, rate_limit_headers
from gateway.transports.http.asgi import (
    JSON,
    ClientGone,
    Receive,
    Scope,
    Send,
    read_body,
    request_id_of,
    respond,
)
from gateway.transports.http.call_headers import bounds_of_headers
from gateway.transports.http.connected import while_connected
from gateway.transports.http.content import (
    Readings,
    arguments_of,
    require_accept,
    require_json_body,
)
from gateway.transports.http.problems import send_problem
from gateway.transports.http.senders import authenticate, sender_of, shown_credentials
from gateway.transports.results import PLAIN_TEXT, send_blocks, send_result

_ALLOW: Final = ("POST", "OPTIONS")
_ALLOW_QUERIES: Final = ("GET", "HEAD", "POST", "OPTIONS")
_METHODS: Final = ", ".join(_ALLOW_QUERIES).encode()
"""The answer to OPTIONS for every path. It is the same for all: the list of tools needs a key."""


class CallerLeft(BaseException):
    """The caller closed the connection before the call was read.

    Like a cancellation, this is not an `Exception`. So the audit log distinguishes it from a
    failure.
    """


class RestParts(Struct, frozen=True, kw_only=True):
    """What the REST transport needs."""

    invoke: Invoke
    identification: Identification
    policy: Policy
    queries: Mapping[str, Readings]
    """How to read query parameters, for the operations that can be called by GET too."""
    file_types: Mapping[str, tuple[str, ...]]
    """The media types of results that are files, for the operations that have such results."""
    with_blocks: frozenset[str]
    """The operations whose results are lists of content blocks."""
    text_members: Mapping[str, str]
    """The only member of the result, for the operations whose results are served as text too."""
    successors: Mapping[str, Operation]
    """By path, the tools that are gone, each with the tool to call instead."""
    body_limits: Mapping[str, int]
    """Bytes, for the operations whose contract allows more than `max_body_bytes`."""
    max_body_bytes: int


class RestEndpoint:
    """Serves `POST /v1/<connector>/<tool>`: arguments in, result out, errors as problem+json.

    A client that closes its connection cancels its call, unless the call has begun a write.
    Operations in `queries` can also be called by `GET`, with the arguments as query parameters.
    """

    def __init__(self, parts: RestParts) -> None:
        self._parts = parts

    async def serve(self, operation_id: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request for `operation_id`. Raises nothing except when it is cancelled."""
        request_id = request_id_of(scope)
        limits = LimitReport()
        try:
            if scope["method"] == "OPTIONS":
                await respond(send, 204, b"", headers=[(b"allow", _METHODS)])
                return
            result = await self._call(operation_id, scope, receive, limits)
        except (CallerLeft, ClientGone):
            return
        except Exception as error:  # noqa: BLE001 - this transport's single edge
            await send_problem(send, error, request_id, rate_limit_headers(limits))
            return
        member = self._parts.text_members.get(operation_id)
        if operation_id in self._parts.with_blocks and result.job_id is None:
            await send_blocks(scope, send, result, rate_limit_headers(limits))
            return
        await send_result(scope, send, result, rate_limit_headers(limits), member)

    async def serve_unknown(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a path under `/v1` that is no tool's."""
        # Operation ids have no slash, so no contract can declare this id.
        operation = f"/v1{scope['path'].rstrip('/')}"[:256]
        await self.serve(operation, scope, receive, send)

    async def _call(
        self, operation_id: str, scope: Scope, receive: Receive, limits: LimitReport
    ) -> Result:
        """The result of the call. A request that cannot be read is recorded as a call too."""
        credentials = shown_credentials(scope)
        principal: Principal | None = None
        arguments = b""
        bounds = UNBOUNDED
        refusal: BaseException | None = None
        try:
            # This is before the body: if the key is not valid, the body is not read.
            principal = await authenticate(
                self._parts.identification, credentials, sender_of(scope)
            )
            self._admit(principal, operation_id, scope)
            bounds = bounds_of_headers(scope)
            arguments = await self._read_arguments(operation_id, scope, receive)
        except MethodNotAllowed:
            raise
        except ClientGone:
            refusal = CallerLeft()
        except GatewayError as error:
            refusal = error
        commitment = Commitment()
        call = Call(
            operation_id=operation_id,
            credentials=credentials,
            arguments=arguments,
            transport="rest",
            request_id=request_id_of(scope),
            bounds=bounds,
            limits=limits,
            commitment=commitment,
        )
        work = self._parts.invoke(call, refusal, principal)
        return await while_connected(work, receive, scope, commitment)

    def _admit(self, principal: Principal, operation_id: str, scope: Scope) -> None:
        """Set the limit of the body as the contract allows.

        Raises `MethodNotAllowed`, and `ReplacedTool` for a tool that is gone.
        For a caller without the grant, the tool looks like one that does not exist.
        """
        parts = self._parts
        is_granted = parts.policy.allows(principal.agent, operation_id)
        allow = _ALLOW_QUERIES if is_granted and operation_id in parts.queries else _ALLOW
        successor = parts.successors.get(operation_id)
        if successor is not None and parts.policy.allows(principal.agent, successor.id):
            raise ReplacedTool.by(successor, operation_id)
        limit = parts.body_limits.get(operation_id) if is_granted else None
        sender_of(scope).allow_body(limit or parts.max_body_bytes, parts.max_body_bytes)
        if scope["method"] not in allow:
            raise MethodNotAllowed(allow=allow)

    async def _read_arguments(self, operation_id: str, scope: Scope, receive: Receive) -> bytes:
        if scope["method"] == "POST":
            require_json_body(scope)
            self._require_accept(operation_id, scope)
            return await read_body(receive)
        self._require_accept(operation_id, scope)
        return arguments_of(scope["query_string"], self._parts.queries[operation_id])

    def _require_accept(self, operation_id: str, scope: Scope) -> None:
        """Raise `NotAcceptable` unless the client accepts JSON, or what else the results can be."""
        types = self._parts.file_types.get(operation_id, ())
        if operation_id in self._parts.text_members:
            types = (*types, PLAIN_TEXT)
        if operation_id in self._parts.with_blocks:
            types = (*types, BLOCKS_TYPE)
        if not any("*" in each for each in types):
            require_accept(scope, JSON.decode(), *types)
