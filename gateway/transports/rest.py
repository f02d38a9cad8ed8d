"""The REST door: decode the request, invoke the pipeline, encode the answer."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from gateway.auth.principal import Credentials
from gateway.calls.call import Call, Result
from gateway.errors import MethodNotAllowed
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

Invoke: TypeAlias = Callable[[Call], Awaitable[Result]]
"""`Pipeline.invoke`."""

_ALLOW = ("POST", "OPTIONS")


class RestDoor:
    """Serves `POST /v1/<connector>/<tool>`: arguments in, result out, errors as problem+json."""

    def __init__(self, invoke: Invoke) -> None:
        self._invoke = invoke

    async def serve(self, operation_id: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request for `operation_id`. Never raises, but for cancellation."""
        request_id = request_id_of(scope)
        try:
            if scope["method"] == "OPTIONS":
                await respond(send, 204, b"", headers=[(b"allow", ", ".join(_ALLOW).encode())])
                return
            result = await self._invoke(await _read_call(operation_id, scope, receive))
        except ClientGone:
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


async def _read_call(operation_id: str, scope: Scope, receive: Receive) -> Call:
    if scope["method"] != "POST":
        raise MethodNotAllowed(allow=_ALLOW)
    credentials = credentials_of(scope)
    return Call(
        operation_id=operation_id,
        credentials=credentials,
        arguments=await _read_arguments(credentials, scope, receive),
        transport="rest",
        request_id=request_id_of(scope),
    )


async def _read_arguments(credentials: Credentials, scope: Scope, receive: Receive) -> bytes:
    if credentials.bearer is None:
        # The pipeline refuses and records the call; whoever shows no key is read no further.
        return b""
    require_json_body(scope)
    require_accept(scope, "application/json")
    return await read_body(receive)
