"""The behaviour of the Frankfurter mock: reference rates that change a little every working day.

Rates per euro are exact. Rates for any other base are rounded like Frankfurter's.
"""

import hashlib
from datetime import date, timedelta
from typing import Any, Final

from gateway.connectors.frankfurter.rates import REFERENCE
from gateway.contract.connector import mock_behaviours
from gateway.contract.mock import MockRefusal, MockReply, MockRequest, MockState

__all__ = ["BEHAVIOURS", "finish", "refuse"]

_EURO: Final = "EUR"
_SATURDAY: Final = 5
_MOST_MOVED: Final = 0.01
_CACHED: Final = {"cache-control": "public, max-age=86400"}
_DECIMALS: Final = ((5000, 0), (80, 2), (20, 3), (1, 4), (0.0001, 5))
"""The number of decimals of a rate above each bound; six below the last one."""


def read_latest_rates(request: MockRequest, _state: MockState) -> MockReply:
    base = request.query.get("base", "").upper()
    symbols = [symbol.upper() for symbol in request.query.get("symbols", ())]
    if symbols == [base]:
        return _message(422, "bad currency pair")
    day = _working_day(request.now.date())
    rates = _rates(request, day, base or _EURO)
    shown = {name: rate for name, rate in rates.items() if not symbols or name in symbols}
    if not shown:
        return _message(404, "not found")
    tag = hashlib.md5(day.encode(), usedforsecurity=False).hexdigest()
    body = {"amount": 1.0, "base": base or _EURO, "date": day, "rates": shown}
    return MockReply(headers={"etag": f'"{tag}"'}, body=body)


BEHAVIOURS: Final = mock_behaviours(__name__, {"readLatestRates": read_latest_rates})


def refuse(refusal: MockRefusal) -> Any:
    """Frankfurter's error message. It contains the status only for an unknown path."""
    if refusal.status in {404, 405}:
        return {"status": refusal.status, "message": "not found"}
    return {"message": refusal.title}


def finish(reply: MockReply) -> MockReply:
    """Adds Frankfurter's cache header: every reply may be cached for a day."""
    return MockReply(status=reply.status, headers={**_CACHED, **reply.headers}, body=reply.body)


def _working_day(today: date) -> str:
    """The last day up to `today` on which rates are published."""
    return (today - timedelta(days=max(today.weekday() - _SATURDAY + 1, 0))).isoformat()


def _rates(request: MockRequest, day: str, base: str) -> dict[str, float]:
    """The value of one unit of `base` in each currency; empty for a base without a rate."""
    per_euro = {name: _moved(request, day, name, float(rate)) for name, rate in REFERENCE.items()}
    divisor = per_euro.pop(base, None)
    if divisor is None:
        return {}
    if base == _EURO:
        return dict(sorted(per_euro.items()))
    return {name: _rounded(rate / divisor) for name, rate in sorted(per_euro.items())}


def _moved(request: MockRequest, day: str, currency: str, rate: float) -> float:
    """The rate of the day, with five digits, like the European Central Bank's."""
    if currency == _EURO:
        return rate
    shift = (request.fraction("rate", currency, day) - 0.5) * 2 * _MOST_MOVED
    return float(f"{rate * (1 + shift):.5g}")


def _rounded(rate: float) -> float:
    for bound, decimals in _DECIMALS:
        if rate > bound:
            return round(rate, decimals)
    return round(rate, 6)


def _message(status: int, text: str) -> MockReply:
    return MockReply(status=status, body={"message": text})
