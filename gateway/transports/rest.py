"""The REST door: decode the request, invoke the pipeline, encode the answer."""

from collections.abc import Mapping, Sequence
from typing import Final

from gateway.auth.principal import Credentials
from gateway.calls.call import Call, Invoke, Result
from gateway.errors import CallerError, MethodNotAllowed, Unauthenticated
from gateway.transports.asgi import (
    ClientGone,
    Receive,
    Scope,
    Send,
    read_body,
    request_id_of,
    respond,
)
from gateway.transports.credentials import credentials_of
from gateway.transports.negotiation import require_accept, require_json_body
from gateway.transports.problems import send_problem
from gateway.transports.queries import Readings, arguments_of

_ALLOW: Final = ("POST", "OPTIONS")
_ALLOW_QUERIES: Final = ("GET", "HEAD", "POST", "OPTIONS")
_NOBODYS: Final = Credentials(bearer="")
"""What an Authorization header shows that holds no key: something, but nobody's."""


class _CallerLeft(BaseException):
    """The caller left before the call was read.

    No `Exception`, like every cancellation: by that the audit tells it from a failure.
    """


class RestDoor:
    """Serves `POST /v1/<connector>/<tool>`: arguments in, result out, errors as problem+json.

    For the operations among `queries` also `GET`, with the arguments as query parameters.
    """

    def __init__(self, invoke: Invoke, queries: Mapping[str, Readings]) -> None:
        self._invoke = invoke
        self._queries = queries

    async def serve(self, operation_id: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request for `operation_id`. Never raises, but for cancellation."""
        request_id = request_id_of(scope)
        try:
            allow = _ALLOW_QUERIES if operation_id in self._queries else _ALLOW
            if scope["method"] == "OPTIONS":
                await respond(send, 204, b"", headers=[(b"allow", ", ".join(allow).encode())])
                return
            _require_method(scope, allow)
            result = await self._call(operation_id, scope, receive)
        except _CallerLeft:
            return
        except Exception as error:  # noqa: BLE001 - this door's single edge
            await send_problem(send, error, request_id)
            return
        backend = (b"gateway-backend", result.backend.encode("ascii"))
        await respond(send, 200, result.text, headers=[backend])

    async def serve_unknown(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a path under `/v1` that is no tool's: exactly as a tool that does not exist."""
        # Ids hold no slash, so the path itself is an operation that nobody can declare.
        await self.serve(f"/v1{scope['path'].rstrip('/')}"[:256], scope, receive, send)

    async def _call(self, operation_id: str, scope: Scope, receive: Receive) -> Result:
        """The result of the call; a request that cannot be read is a call too, and recorded."""
        credentials = shown_credentials(scope)
        arguments = b""
        refusal: BaseException | None = None
        # Whoever shows no key is refused by the pipeline, and read no further.
        if credentials.bearer:
            try:
                arguments = await self._read_arguments(operation_id, scope, receive)
            except ClientGone:
                refusal = _CallerLeft()
            except CallerError as error:
                refusal = error
        call = Call(
            operation_id=operation_id,
            credentials=credentials,
            arguments=arguments,
            transport="rest",
            request_id=request_id_of(scope),
        )
        return await self._invoke(call, refusal)

    async def _read_arguments(self, operation_id: str, scope: Scope, receive: Receive) -> bytes:
        if scope["method"] == "POST":
            require_json_body(scope)
            require_accept(scope, "application/json")
            return await read_body(receive)
        require_accept(scope, "application/json")
        return arguments_of(scope["query_string"], self._queries[operation_id])


def shown_credentials(scope: Scope) -> Credentials:
    """What the request shows, to be judged where the call is recorded: nobody's if malformed."""
    try:
        return credentials_of(scope)
    except Unauthenticated:
        return _NOBODYS


def _require_method(scope: Scope, allow: Sequence[str]) -> None:
    """Raise `MethodNotAllowed` for what is no call."""
    if scope["method"] not in allow:
        raise MethodNotAllowed(allow=allow)
