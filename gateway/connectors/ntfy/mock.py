"""The behaviour of the ntfy mock: the server's checks, errors and limits.

The server identifies visitors by their IP address, the mock by their token. A token that contains
`expired` is invalid, and one that contains `readonly` may not publish. One that contains `limited`
has the limits of the free plan: a burst of 60 requests, then one every five seconds, and 250
messages per day. Other tokens have no limit.
"""

import re
import string
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from gateway.contract.connector import mock_behaviours
from gateway.contract.mock import MockRefusal, MockReply, MockRequest, MockState

__all__ = ["BEHAVIOURS", "finish", "refuse"]

BURST: Final = 60
REFILL_SECONDS: Final = 5.0
DAILY: Final = 250
MAX_MESSAGE_BYTES: Final = 4096
MAX_BODY_BYTES: Final = 2 * MAX_MESSAGE_BYTES
"""JSON may need twice as many bytes as its content."""
_KEPT: Final = timedelta(hours=12)
_TOPIC: Final = re.compile(r"[-_A-Za-z0-9]{1,64}")
_RESERVED: Final = frozenset(
    {"docs", "static", "file", "app", "metrics", "account", "settings", "signup", "login", "v1"}
)  # fmt: skip - one table
_LETTERS: Final = string.ascii_letters + string.digits
_DOCS: Final = "https://ntfy.sh/docs/publish/"
_ERRORS: Final[Mapping[int, tuple[str, str]]] = {
    40007: ("invalid priority parameter", "#message-priority"),
    40009: ("invalid request: topic invalid", ""),
    40010: ("invalid request: topic name is not allowed", ""),
    40017: ("invalid request: request body must be valid message JSON", "#publish-as-json"),
    40101: ("unauthorized", "#authentication"),
    40301: ("forbidden", "#authentication"),
    40401: ("page not found", ""),
    41301: ("attachment too large, or bandwidth limit reached", "#limitations"),
    41303: ("JSON body too large", ""),
    42901: ("limit reached: too many requests", "#limitations"),
    42908: ("limit reached: daily message quota reached", "#limitations"),
    50001: ("internal server error", ""),
}
_BY_STATUS: Final[Mapping[int, int]] = {
    400: 40017,
    401: 40101,
    403: 40301,
    404: 40401,
    405: 40401,
    413: 41303,
    422: 40017,
    429: 42901,
}  # fmt: skip - one table
_VISITORS: Final = "visitors"


def refuse(refusal: MockRefusal) -> Any:
    """ntfy's error for this status."""
    return _error(_BY_STATUS.get(refusal.status, 50001), refusal.status)


def finish(reply: MockReply) -> MockReply:
    """The reply unchanged: ntfy sends no limit headers, and a 429 has no Retry-After."""
    return reply


def publish(request: MockRequest, state: MockState) -> MockReply:
    code = _refusal(request) or _limit(request, state)
    if code is not None:
        return MockReply(status=code // 100, body=_error(code, code // 100))
    body = request.body
    now = int(request.now.timestamp())
    chance = request.random("id", state.new_id("message"))
    message = {
        "id": "".join(chance.choices(_LETTERS, k=12)),
        "time": now,
        "expires": now + int(_KEPT.total_seconds()),
        "event": "message",
        "topic": body["topic"],
        "message": body.get("message") or "triggered",
    }
    optional = {name: body[name] for name in ("title", "priority") if name in body}
    return MockReply(body=message | optional)


BEHAVIOURS: Final = mock_behaviours(__name__, {"publish": publish})


def _refusal(request: MockRequest) -> int | None:
    """The error code of an invalid request, or None."""
    token, body = request.headers.get("authorization", ""), request.body
    size = len(msgspec.json.encode(body))
    for is_wrong, code in (
        (size > MAX_BODY_BYTES, 41303),
        (not _TOPIC.fullmatch(body["topic"]), 40009),
        (body["topic"] in _RESERVED, 40010),
        (not 0 <= body.get("priority", 3) <= 5, 40007),
        ("expired" in token, 40101),
        ("readonly" in token, 40301),
        (len(body.get("message", "").encode()) > MAX_MESSAGE_BYTES, 41301),
    ):
        if is_wrong:
            return code
    return None


def _limit(request: MockRequest, state: MockState) -> int | None:
    """The error code of an exceeded limit, or None. Otherwise counts the request."""
    visitor = request.headers.get("authorization", "")
    if "limited" not in visitor:
        return None
    now = request.now
    fresh = {"left": float(BURST), "at": now, "day": now.date().isoformat(), "sent": 0}
    row = state.find(_VISITORS, visitor) or fresh
    _refill(row, now)
    code = _counted(row)
    state.add(_VISITORS, visitor, row)
    return code


def _counted(row: dict[str, Any]) -> int | None:
    if row["left"] < 1:
        return 42901
    row["left"] -= 1
    if row["sent"] >= DAILY:
        return 42908
    row["sent"] += 1
    return None


def _refill(row: dict[str, Any], now: datetime) -> None:
    gained = (now - row["at"]).total_seconds() / REFILL_SECONDS
    row["left"], row["at"] = min(row["left"] + gained, float(BURST)), now
    today = now.date().isoformat()
    if row["day"] != today:
        row["day"], row["sent"] = today, 0


def _error(code: int, status: int) -> dict[str, Any]:
    text, place = _ERRORS[code]
    link = {"link": _DOCS + place} if place else {}
    return {"code": code, "http": status, "error": text} | link
