"""The form of the Amadeus mock's replies: media type, errors and codes."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

from gateway.contract.mock import MockRefusal, MockReply, MockRequest, TokenRefusal

SITE: Final = "https://test.api.amadeus.com"
_MEDIA_TYPE: Final = "application/vnd.amadeus+json"
_BY_STATUS: Final[Mapping[int, tuple[int, str]]] = {
    400: (477, "INVALID FORMAT"),
    401: (38190, "Invalid access token"),
    403: (38197, "Forbidden"),
    404: (38196, "Resource not found"),
    405: (38196, "Resource not found"),
    429: (38194, "Too many requests"),
    500: (38189, "Internal error"),
}

_BY_REASON: Final[Mapping[str, tuple[int | str, str]]] = {
    # Amadeus sends only this code as text.
    "missing_credentials": ("38191", "Invalid HTTP header"),
    "invalid_token": (38190, "Invalid access token"),
    "expired_token": (38192, "Access token expired"),
}


def refuse(refusal: MockRefusal) -> Any:
    """Amadeus' list of errors, with one."""
    status = refusal.status
    if status == 400 and "missing" in refusal.title:
        return errors(400, 32171, "MANDATORY DATA MISSING", refusal.title, refusal.path)
    if refusal.reason in _BY_REASON:
        return errors(status, *_BY_REASON[refusal.reason], refusal.title)
    code, title = _BY_STATUS.get(status, (141, "SYSTEM ERROR HAS OCCURRED"))
    return errors(status, code, title, refusal.title, refusal.path)


def refuse_token(refusal: TokenRefusal) -> Any:
    """The error of the token endpoint: it has another form and always the same code."""
    return {
        "error": refusal.error,
        "error_description": refusal.description,
        "code": 38187,
        "title": "Invalid parameters",
    }


def refused(code: int, title: str, detail: str, parameter: str = "") -> MockReply:
    """A refusal by a behaviour, with status 400."""
    return MockReply(status=400, body=errors(400, code, title, detail, parameter))


def errors(status: int, code: int | str, title: str, detail: str, parameter: str = "") -> Any:
    """The error body."""
    error: dict[str, Any] = {"status": status, "code": code, "title": title, "detail": detail}
    if parameter:
        error["source"] = {"parameter": parameter}
    return {"errors": [error]}


def finish(reply: MockReply) -> MockReply:
    """Set the media type: Amadeus' own for data, plain JSON for tokens, also for their errors."""
    is_token = isinstance(reply.body, dict) and not reply.body.keys().isdisjoint(
        {"access_token", "error"}
    )
    if is_token or reply.body is None:
        return reply
    headers = {"content-type": _MEDIA_TYPE, **reply.headers}
    return MockReply(status=reply.status, headers=headers, body=reply.body)


def meta(request: MockRequest, path: str, count: int) -> dict[str, Any]:
    """The part of a list beside `data`."""
    return {"count": count, "links": {"self": _address(path, request.query)}}


def page(request: MockRequest, path: str, count: int, offset: int, limit: int) -> dict[str, Any]:
    """The same for a list that comes in pages."""
    metadata = meta(request, path, count)
    last = max(count - 1, 0) // limit * limit
    metadata["links"]["last"] = _address(path, {**request.query, "page[offset]": last})
    if offset + limit < count:
        following = {**request.query, "page[offset]": offset + limit}
        metadata["links"]["next"] = _address(path, following)
    return metadata


def _address(path: str, query: Mapping[str, Any]) -> str:
    texts = {
        name: ",".join(value) if isinstance(value, list) else value for name, value in query.items()
    }
    return f"{SITE}{path}?{urlencode(texts)}"
