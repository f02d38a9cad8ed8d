"""`RateLimit` and `RateLimit-Policy`, by draft-ietf-httpapi-ratelimit-headers-11."""

from math import ceil

from gateway.calls.standing import LimitReport, LimitStanding
from gateway.transports.http.asgi import Headers


def rate_limit_headers(report: LimitReport) -> Headers:
    """The limits that apply to a call, and what is left of them. Empty for a call without limits.

    `t` is the time until something comes back: the windows move with the time.
    """
    standings = report.standings
    if not standings:
        return []
    return [
        (b"ratelimit-policy", ", ".join(map(_policy, standings)).encode("ascii")),
        (b"ratelimit", ", ".join(map(_left, standings)).encode("ascii")),
    ]


def _policy(standing: LimitStanding) -> str:
    text = f'"{standing.name}";q={standing.max}'
    if standing.window_seconds is None:
        return f'{text};qu="concurrent-requests"'
    if standing.cost is not None:
        # The draft has no unit for costs, and lets services add parameters with a prefix.
        return f"{text};w={standing.window_seconds};gateway-cost={standing.cost}"
    return f"{text};w={standing.window_seconds}"


def _left(standing: LimitStanding) -> str:
    text = f'"{standing.name}";r={max(0, standing.max - standing.used)}'
    if standing.left_seconds is None:
        return text
    return f"{text};t={max(1, ceil(standing.left_seconds))}"
