"""Why a remote gateway refused a request of the bridge, for the user of its host."""

from contextvars import ContextVar
from typing import Final

import httpx2

_JSON: Final = "application/json"
_EVENTS: Final = "text/event-stream"
_REASONS: Final = {
    401: "it refused the key (401). Set GATEWAY_KEY to a key that is not revoked",
    421: "it is not known by this name (421). Add the name to its setting allowed_hosts",
    429: "it is busy (429). Try again later",
}


class LastRefusal:
    """Why the last answer to a request breaks the protocol. The SDK does not report the reason."""

    def __init__(self) -> None:
        self.reason: str | None = None


LAST_REFUSAL: Final[ContextVar[LastRefusal]] = ContextVar("last_refusal")


async def note_refusal(response: httpx2.Response) -> None:
    """Check an answer before the SDK gets it."""
    if response.request.method == "POST":
        LAST_REFUSAL.get().reason = await _refusal(response)


async def _refusal(response: httpx2.Response) -> str | None:
    status = response.status_code
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if status in _REASONS:
        return _REASONS[status]
    if status == httpx2.codes.ACCEPTED or (status < 400 and kind == _EVENTS):
        return None
    if kind == _JSON and b'"jsonrpc"' in await response.aread():
        return None
    what = f"it answered {status} {kind or 'without a content type'}"
    if response.is_redirect:
        return f"{what}, a redirect. Use the address that it leads to"
    if response.is_server_error:
        return f"{what}. Try again later, or see its log"
    return f"{what}, so there is no MCP endpoint there. The URL should end in /mcp"
