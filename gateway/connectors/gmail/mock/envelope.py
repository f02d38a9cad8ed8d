"""The errors of the Gmail mock in Google's form, and the check of the account."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.mock import Behaviour, MockRefusal, MockReply, MockRequest, MockState

ACCOUNT: Final = "agent@example.com"
_NOT_FOUND: Final = "Requested entity was not found."
_KINDS: Final[Mapping[int, tuple[str, str]]] = {
    400: ("INVALID_ARGUMENT", "invalidArgument"),
    401: ("UNAUTHENTICATED", "authError"),
    403: ("PERMISSION_DENIED", "forbidden"),
    404: ("NOT_FOUND", "notFound"),
    405: ("INVALID_ARGUMENT", "httpMethodNotAllowed"),
    409: ("ABORTED", "aborted"),
    429: ("RESOURCE_EXHAUSTED", "rateLimitExceeded"),
    500: ("INTERNAL", "backendError"),
    503: ("UNAVAILABLE", "backendError"),
}
"""Google's name of each status, and Gmail's most frequent reason for it."""
_UNPROCESSABLE: Final = 422


class GmailRefused(Exception):
    """The mailbox refuses a request."""

    def __init__(self, status: int, message: str = _NOT_FOUND, reason: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.reason = reason


def refuse(refusal: MockRefusal) -> Any:
    """Google's error body."""
    return _error(refusal.status, refusal.title, None)


def finish(reply: MockReply) -> MockReply:
    """Change 422 to 400, because Google does not use 422."""
    if reply.status != _UNPROCESSABLE:
        return reply
    return MockReply(status=400, headers=reply.headers, body=reply.body)


def for_account(behaviour: Behaviour) -> Behaviour:
    """`behaviour` for the mailbox of the account, with its refusals as replies."""

    def answer(request: MockRequest, state: MockState) -> MockReply:
        try:
            if request.path["userId"] not in {"me", ACCOUNT}:
                _refuse_delegation()
            return behaviour(request, state)
        except GmailRefused as refused:
            body = _error(refused.status, refused.message, refused.reason)
            return MockReply(status=refused.status, body=body)

    return answer


def _refuse_delegation() -> None:
    raise GmailRefused(403, f"Delegation denied for {ACCOUNT}")


def _error(status: int, message: str, reason: str | None) -> dict[str, Any]:
    code = 400 if status == _UNPROCESSABLE else status
    word, usual = _KINDS.get(code, ("UNKNOWN", "backendError"))
    domain = "usageLimits" if (reason or usual).endswith("LimitExceeded") else "global"
    detail: dict[str, str] = {"message": message, "domain": domain, "reason": reason or usual}
    if code == 401:
        detail |= {"location": "Authorization", "locationType": "header"}
    return {"error": {"code": code, "message": message, "errors": [detail], "status": word}}
