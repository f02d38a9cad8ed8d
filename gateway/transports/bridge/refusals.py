"""Why a remote gateway did not serve a message, for the user of the bridge's host."""

from typing import Final

import httpx2
import msgspec

from gateway.transports.json_rpc import INTERNAL_ERROR

_JSON: Final = "application/json"
_PROBLEM: Final = "application/problem+json"
_REASONS: Final = {
    401: "it refused the key (401). Set GATEWAY_KEY to a key that is not revoked",
    421: "it is not known by this name (421). Add the name to its setting allowed_hosts",
    429: "it is busy (429). Try again later",
}
REMOTE_ERRORS: Final = (httpx2.TransportError, httpx2.DecodingError, httpx2.SSEError, OSError)
"""What HTTP clients raise when the remote, or the way to it, fails."""


class RemoteFailed(Exception):
    """The remote did not serve a message. Its text is for the user of the host."""

    def __init__(
        self,
        url: str,
        reason: str,
        *,
        code: int = INTERNAL_ERROR,
        retry_after_seconds: float = 0.0,
    ) -> None:
        """`retry_after_seconds`: how long the remote asks not to be asked again."""
        super().__init__(f"The gateway at {url} did not serve this: {reason}.")
        self.code = code
        """Of the error with which the host's request is answered."""
        self.retry_after_seconds = retry_after_seconds


class _Problem(msgspec.Struct):
    detail: str = ""


def explained(error: Exception) -> str:
    """The reason for `error`, one of `REMOTE_ERRORS`."""
    if isinstance(error, httpx2.ReadTimeout):
        return "it has sent nothing for too long"
    if isinstance(error, httpx2.DecodingError | httpx2.SSEError):
        return f"its answer cannot be read ({error})"
    kind = type(error).__name__
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
        return f"it cannot be reached ({kind})"
    return f"the connection to it was lost ({kind})"


def refusal_of(response: httpx2.Response, kind: str, body: bytes) -> str | None:
    """Why `response` to a message, with this `body`, breaks the protocol. None if it does not."""
    status = response.status_code
    if status in _REASONS:
        return _REASONS[status]
    if status == httpx2.codes.CONTENT_TOO_LARGE:
        return f"it is too large (413). {_detail(kind, body)}".rstrip(". ")
    if status == httpx2.codes.ACCEPTED or (kind == _JSON and b'"jsonrpc"' in body):
        return None
    what = f"it answered {status} {kind or 'without a content type'}"
    if response.is_redirect:
        return f"{what}, a redirect. Use the address that it leads to"
    if response.is_server_error:
        return f"{what}. Try again later, or see its log"
    return f"{what}, so there is no MCP endpoint there. The URL should end in /mcp"


def _detail(kind: str, body: bytes) -> str:
    """The detail of a problem of a gateway. Empty if it is none, such as a page of a proxy."""
    try:
        return msgspec.json.decode(body, type=_Problem).detail if kind == _PROBLEM else ""
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
