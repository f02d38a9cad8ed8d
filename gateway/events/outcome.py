"""The outcome of a delivery, from the endpoint's answer or the reason for no answer."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from msgspec import Struct

from gateway.backends.http.posting import NoAnswer, PostAnswer

TRANSIENT: Final = frozenset({408, 409, 425, 429})
"""Client errors that say that the endpoint is busy."""
GONE: Final = 410
_SECONDS: Final = re.compile(r"[0-9]{1,10}")


class AttemptOutcome(Struct, frozen=True, kw_only=True):
    """How an attempt to deliver ended."""

    answer: str
    """`2xx` to `5xx`, or why there was no answer. A test of an endpoint reports only this."""
    error: str | None = None
    """A class such as `endpoint_unavailable`. None if the event was delivered."""
    detail: str | None = None
    """Details for the operator."""
    is_retryable: bool = False
    is_gone: bool = False
    """Whether the endpoint asks for no more deliveries."""
    is_endpoints_fault: bool = True
    asked_seconds: float | None = None
    """How long the endpoint asks to wait."""


def verdict_of(outcome: PostAnswer | NoAnswer, now: datetime) -> AttemptOutcome:
    """The outcome by Standard Webhooks 1.0.0: only 2xx is a successful delivery."""
    if isinstance(outcome, NoAnswer):
        return _unanswered(outcome)
    answer, status = f"{outcome.status // 100}xx", f"HTTP {outcome.status}"
    if answer == "2xx":
        return AttemptOutcome(answer=answer)
    if outcome.status == GONE:
        return AttemptOutcome(answer=answer, error="endpoint_gone", detail=status, is_gone=True)
    if answer == "5xx" or outcome.status in TRANSIENT:
        return AttemptOutcome(
            answer=answer,
            error="endpoint_unavailable",
            detail=status,
            is_retryable=True,
            asked_seconds=_seconds(outcome.retry_after, now),
        )
    # While its owner deploys it, an endpoint may answer 401, 404 or a redirect.
    error = "endpoint_redirects" if answer == "3xx" else "endpoint_refuses"
    return AttemptOutcome(answer=answer, error=error, detail=status, is_retryable=True)


def _unanswered(outcome: NoAnswer) -> AttemptOutcome:
    is_refused = outcome.reason == "address_refused"
    return AttemptOutcome(
        answer=outcome.reason,
        error=outcome.reason if is_refused else f"endpoint_{outcome.reason}",
        detail=outcome.detail,
        is_retryable=not is_refused,
    )


def _seconds(retry_after: str | None, now: datetime) -> float | None:
    """Both forms of RFC 9110 §10.2.3; None for anything else."""
    if retry_after is None:
        return None
    if _SECONDS.fullmatch(retry_after):
        return float(retry_after)
    try:
        moment = parsedate_to_datetime(retry_after)
    except (ValueError, OverflowError):
        # A year or a zone beyond all integers is no `ValueError` to the library.
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max((moment - now).total_seconds(), 0.0)
