"""The form of the Avinode mock's replies: the envelope, its errors and the rate headers."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.mock import Behaviour, MockRefusal, MockReply, MockRequest, MockState

_RATE: Final = {
    "x-rate-limit-limit": "3600",
    "x-rate-limit-remaining": "3599",
    "x-rate-limit-reset": "3600",
}
_CODES: Final[Mapping[int, str]] = {
    400: "ERR_INPUT_GENERIC_INVALID",
    401: "NOT_AUTHORIZED",
    403: "AUTHENTICATION_COMPANY_ACCESS",
    404: "NOT_FOUND",
    405: "NOT_FOUND",
    422: "ERR_INPUT_GENERIC_INVALID",
}


def refuse(refusal: MockRefusal) -> Any:
    """Avinode's envelope with one error."""
    code = _CODES.get(refusal.status, "ERR_INTERNAL_CRITICAL")
    return {"meta": meta([{"title": refusal.title, "code": code, "path": refusal.path}])}


def finish(reply: MockReply) -> MockReply:
    """Adds the rate headers. The limit is never used up, except by an injected fault."""
    return MockReply(status=reply.status, headers={**_RATE, **reply.headers}, body=reply.body)


def refused(status: int, title: str, path: str = "") -> MockReply:
    """A refusal by a behaviour."""
    refusal = MockRefusal(status=status, title=title, path=path)
    return MockReply(status=status, body=refuse(refusal))


def refused_as(status: int, code: str, title: str, path: str = "") -> MockReply:
    """A refusal by a behaviour, with its own code."""
    error = {"title": title, "code": code, "path": path}
    return MockReply(status=status, body={"meta": meta([error])})


def stored(data: Mapping[str, Any]) -> MockReply:
    """The reply for a created resource."""
    return MockReply(status=201, body={"meta": meta(), "data": data})


def listed(rows: list[dict[str, Any]], errors: list[dict[str, str]], **more: Any) -> MockReply:
    """All `rows` on one page."""
    page = {"pageNumber": 1, "batchSize": max(len(rows), 1), "totalCount": len(rows)}
    return MockReply(body={"meta": meta(errors, pagination=page, **more), "data": rows})


def for_accounts(behaviour: Behaviour) -> Behaviour:
    """`behaviour` for clients whose access token has not expired."""

    def answer(request: MockRequest, state: MockState) -> MockReply:
        if "expired" in request.headers.get("authorization", ""):
            return refused(401, "The access token has expired.")
        return behaviour(request, state)

    return answer


def meta(errors: list[dict[str, str]] | None = None, **more: Any) -> dict[str, Any]:
    """The part of the envelope beside `data`."""
    return {"errors": errors or [], "warnings": [], "infos": [], **more}
