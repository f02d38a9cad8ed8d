"""`POST /tools/execute`: calls a tool as the document of the base server describes it.

The body is `{"name": …, "arguments": {…}, "id": …}`, or a JSON-RPC request with these. The answer
is a JSON-RPC response. The code of an error is a text for the first form, a number for the second.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final, Literal

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from gateway.auth.principal import Principal
from gateway.calls.call import UNBOUNDED, Call, CallBounds, Commitment, Result
from gateway.contract.values import jsontext
from gateway.errors import (
    GatewayError,
    MalformedRequest,
    MethodNotAllowed,
    ReplacedTool,
    UnknownOperation,
)
from gateway.limits.standing import LimitReport, rate_limit_headers
from gateway.publication.view import ShownNames
from gateway.transports.http.asgi import (
    ClientGone,
    Receive,
    Scope,
    Send,
    read_body,
    request_id_of,
    respond,
)
from gateway.transports.http.bodies import largest_body
from gateway.transports.http.call_headers import bounds_of_headers
from gateway.transports.http.connected import while_connected
from gateway.transports.http.content import require_accept, require_json_body
from gateway.transports.http.problems import (
    Problem,
    log_failure,
    problem_headers,
    problem_of,
    release,
)
from gateway.transports.http.senders import authenticate, sender_of, shown_credentials
from gateway.transports.json_rpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    id_of_request,
)
from gateway.transports.rest import CallerLeft, RestParts
from gateway.transports.results import result_headers

PATH: Final = "/tools/execute"
NUMBERS: Final[Mapping[str, int]] = {
    "TOOL_NOT_FOUND": -32001,
    "TOOL_REPLACED": -32001,
    "TIMEOUT_ERROR": -32003,
    "AUTHENTICATION_ERROR": -32004,
    "INTERNAL_ERROR": INTERNAL_ERROR,
}
"""The code of a problem to its JSON-RPC code in that document."""
_FAILED: Final = -32002


class _Named(Struct, forbid_unknown_fields=True):
    name: str
    arguments: Raw = Raw(b"{}")


class _Plain(_Named, forbid_unknown_fields=True):
    id: int | str | None = None


class _Rpc(Struct, forbid_unknown_fields=True):
    jsonrpc: Literal["2.0"]
    method: Literal["tools/execute", "tools/call"]
    params: _Named
    id: int | str | None = None


class _Asked(Struct, frozen=True, kw_only=True):
    """What has been read of a request."""

    id: int | str | None = None
    is_rpc: bool = False
    name: str = ""
    arguments: bytes = b""
    bounds: CallBounds = UNBOUNDED
    principal: Principal | None = None
    refusal: BaseException | None = None
    """Why the request must not run, whatever it asks for."""


class ExecuteEndpoint:
    """Serves `/tools/execute`."""

    def __init__(self, parts: RestParts, names: ShownNames) -> None:
        """`names` are those that MCP clients are shown."""
        self._parts = parts
        self._names = names

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request. Raises nothing except when it is cancelled."""
        asked = _Asked()
        limits = LimitReport()
        try:
            _require_post(scope)
            asked = await self._hear(scope, receive)
            result = await self._call(asked, scope, receive, limits)
        except (CallerLeft, ClientGone):
            return
        except Exception as error:  # noqa: BLE001 - the single edge of this endpoint
            await _send_error(send, error, asked, request_id_of(scope), limits)
            return
        body = _response(asked, b"result", result.whole_text)
        status = 200 if result.job_id is None else 202
        headers = [*result_headers(result), *rate_limit_headers(limits)]
        await respond(send, status, body, headers=headers)

    async def _hear(self, scope: Scope, receive: Receive) -> _Asked:
        """The call that the request asks for, or why it cannot be read."""
        principal: Principal | None = None
        try:
            # This is before the body: if the key is not valid, the body is not read.
            credentials, sender = shown_credentials(scope), sender_of(scope)
            principal = await authenticate(self._parts.identification, credentials, sender)
            sender.allow_body(self._largest_body(principal), self._parts.max_body_bytes)
            asked = replace(_read(await _body(scope, receive)), principal=principal)
        except ClientGone:
            return _Asked(principal=principal, refusal=CallerLeft())
        except GatewayError as error:
            return _Asked(principal=principal, refusal=error)
        try:
            return replace(asked, bounds=bounds_of_headers(scope))
        except MalformedRequest as error:
            return replace(asked, refusal=asked.refusal or error)

    async def _call(
        self, asked: _Asked, scope: Scope, receive: Receive, limits: LimitReport
    ) -> Result:
        commitment = Commitment()
        operation_id, refusal = self._operation_of(asked)
        call = Call(
            operation_id=operation_id,
            credentials=shown_credentials(scope),
            arguments=asked.arguments,
            transport="rest",
            request_id=request_id_of(scope),
            bounds=asked.bounds,
            limits=limits,
            commitment=commitment,
        )
        work = self._parts.invoke(call, asked.refusal or refusal, asked.principal)
        return await while_connected(work, receive, scope, commitment)

    def _largest_body(self, principal: Principal) -> int:
        parts = self._parts
        may_call = partial(parts.policy.allows, principal.agent)
        return largest_body(parts.body_limits, parts.max_body_bytes, may_call)

    def _operation_of(self, asked: _Asked) -> tuple[str, GatewayError | None]:
        """The id of the operation with this MCP name (also a short one), id or bare name.

        Any other name gives an id that no operation has, so the pipeline refuses it. A bare name is
        that of the only tool with it that the caller may call; of several, the refusal names them.
        """
        name, caller = asked.name, asked.principal
        entry = self._names.entry(name)
        if entry is not None:
            return entry.id, None
        bare = [
            entry.id
            for entry in self._names.entries
            if entry.tool.bare_name == name
            and caller is not None
            and self._parts.policy.allows(caller.agent, entry.id)
        ]
        if len(bare) == 1:
            return bare[0], None
        # No operation id has a colon, so an unknown name is never an operation.
        unknown = name if "." in name else f"tools:{name[:128]}"
        if not bare:
            return unknown, self._replacement(name, caller)
        several = f"Several tools have the name {name}: write {' or '.join(sorted(bare))}."
        return unknown, UnknownOperation(several)

    def _replacement(self, name: str, caller: Principal | None) -> ReplacedTool | None:
        found = self._names.successor(name)
        if found is None or caller is None:
            return None
        is_granted = self._parts.policy.allows(caller.agent, found.id)
        return ReplacedTool.by(found.operation, name) if is_granted else None


def _require_post(scope: Scope) -> None:
    if scope["method"] != "POST":
        raise MethodNotAllowed(allow=("POST",))


async def _body(scope: Scope, receive: Receive) -> bytes:
    require_json_body(scope)
    require_accept(scope, "application/json")
    return await read_body(receive)


def _read(body: bytes) -> _Asked:
    """The call that the body asks for, or a refusal in the form of the request.

    Raises `MalformedRequest` when the body is not JSON.
    """
    try:
        decoded: Any = jsontext.decode(body, jsontext.MESSAGE)
    except jsontext.NotAccepted as error:
        refused = MalformedRequest(f"The body is not accepted: {error}.")
        message_id = id_of_request(body)
        return _Asked(id=message_id, is_rpc=message_id is not None, refusal=refused)
    except jsontext.NotJson as error:
        raise MalformedRequest(f"The body is not valid JSON: {error}.") from None
    is_rpc = isinstance(decoded, dict) and "jsonrpc" in decoded
    try:
        if is_rpc:
            message = msgspec.json.decode(body, type=_Rpc)
            named, message_id = message.params, message.id
        else:
            named = plain = msgspec.json.decode(body, type=_Plain)
            message_id = plain.id
    except msgspec.DecodeError:
        refusal = MalformedRequest(
            "The body must be an object with name and arguments, or a JSON-RPC request with them."
        )
        return _Asked(id=_id_of(decoded), is_rpc=is_rpc, refusal=refusal)
    return _Asked(id=message_id, is_rpc=is_rpc, name=named.name, arguments=bytes(named.arguments))


def _id_of(decoded: Any) -> int | str | None:
    given = decoded.get("id") if isinstance(decoded, dict) else None
    return given if type(given) in {int, str} else None


async def _send_error(
    send: Send, error: Exception, asked: _Asked, request_id: str, limits: LimitReport
) -> None:
    log_failure(error, request_id)
    problem = problem_of(error, request_id)
    code = jsontext.encode(_number(problem) if asked.is_rpc else problem.code)
    message, data = jsontext.encode(problem.detail), jsontext.encode(problem)
    body = b'{"code":%b,"message":%b,"data":%b}' % (code, message, data)
    headers = [*problem_headers(error), *rate_limit_headers(limits)]
    release(error)
    await respond(send, problem.status, _response(asked, b"error", body), headers=headers)


def _number(problem: Problem) -> int:
    if problem.code == "VALIDATION_ERROR":
        return INVALID_REQUEST if problem.status == 400 else INVALID_PARAMS
    return NUMBERS.get(problem.code, _FAILED)


def _response(asked: _Asked, member: bytes, value: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":%b,"%b":%b}' % (jsontext.encode(asked.id), member, value)
