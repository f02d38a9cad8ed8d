"""Exchange rates: today's rates from Frankfurter, and fixed rates as a fallback.

All rates are read at once, per euro, as the European Central Bank publishes them. For any other
base, Frankfurter converts and rounds them: the rate of a rupiah then has only two digits.
"""

from collections.abc import Mapping
from datetime import date
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any, Final, Literal

from msgspec import Struct

from gateway.contract.context import CallContext, UpstreamCall
from gateway.errors import InvalidReply, UpstreamError

RATE_SECONDS: Final = 2.0
"""Seconds that a call waits for rates, with all attempts, before it uses fixed rates."""
MAX_FALLBACK_DAYS: Final = 90
"""Fixed rates that are older are not used, except those between currencies that are held to the
dollar: those do not change."""
RATE_DIGITS: Final = 10
"""Significant digits of a rate."""
_EURO: Final = "EUR"
_CENT: Final = Decimal("0.01")
_WHOLE: Final = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"
_THOUSANDTHS: Final = "BHD IQD JOD KWD LYD OMR TND"
_UNITS: Final[Mapping[str, Decimal]] = {
    **dict.fromkeys(_WHOLE.split(), Decimal(1)),
    **dict.fromkeys(_THOUSANDTHS.split(), Decimal("0.001")),
    **dict.fromkeys(("CLF", "UYW"), Decimal("0.0001")),
}
"""The smallest units of currencies that have no hundredths (ISO 4217)."""
_DIVISION: Final = Context(prec=RATE_DIGITS, rounding=ROUND_HALF_EVEN)
_EXACT: Final = Context(prec=80, rounding=ROUND_HALF_EVEN)

RateSource = Literal["live", "fallback", "same"]


class ExchangeRate(Struct, frozen=True, kw_only=True):
    """The value of one unit of a currency in another currency."""

    value: Decimal
    date: str
    """The date of the rate, YYYY-MM-DD."""
    source: RateSource
    target: str
    """The other currency."""

    def convert(self, amount: Decimal) -> Decimal:
        """`amount` in the other currency, rounded to its smallest unit, half to even."""
        unit = _UNITS.get(self.target, _CENT)
        return _EXACT.multiply(amount, self.value).quantize(unit, context=_EXACT)


class Rates(Struct, frozen=True, kw_only=True):
    """The value of one euro in other currencies, on one day."""

    per_euro: Mapping[str, Decimal]
    date: str
    source: Literal["live", "fallback"]

    def find(self, source: str, target: str) -> ExchangeRate | None:
        """The rate from one currency to another, if both have a rate."""
        if source not in self.per_euro or target not in self.per_euro:
            return None
        value = _DIVISION.divide(self.per_euro[target], self.per_euro[source])
        return ExchangeRate(value=value, date=self.date, source=self.source, target=target)


class Exchange(Struct, frozen=True, kw_only=True):
    """The rates that one call uses."""

    today: str
    """The call's day in UTC."""
    live: Rates | None

    def find(self, source: str, target: str) -> ExchangeRate | None:
        """The best rate: 1 for the same currency, a live rate, a fixed rate, or None."""
        if source == target:
            return ExchangeRate(value=Decimal(1), date=self.today, source="same", target=target)
        live = None if self.live is None else self.live.find(source, target)
        is_usable = not self.is_fallback_old or {source, target} <= {"USD", *_PER_DOLLAR}
        return live or (FALLBACK.find(source, target) if is_usable else None)

    @property
    def is_fallback_old(self) -> bool:
        """Whether the fixed rates are older than `MAX_FALLBACK_DAYS`."""
        age = date.fromisoformat(self.today) - date.fromisoformat(FALLBACK.date)
        return age.days > MAX_FALLBACK_DAYS


async def read_exchange(context: CallContext) -> Exchange:
    """Today's rates; only fixed ones if Frankfurter fails or takes longer than `RATE_SECONDS`."""
    return Exchange(today=context.call.now[:10], live=await _live(context))


async def _live(context: CallContext) -> Rates | None:
    upstream_call = UpstreamCall(
        "frankfurter", "readLatestRates", query={"base": _EURO}, timeout_seconds=RATE_SECONDS
    )
    try:
        reply = await context.send(upstream_call)
        if reply.body["base"] != _EURO:
            raise InvalidReply("The rates are those of another base.")
    except UpstreamError as error:
        context.fell_back("frankfurter", error)
        return None
    return _rates(reply.body)


def _rates(body: Mapping[str, Any]) -> Rates:
    """Reads the text of each JSON number, because a binary number may have other digits."""
    per_euro = {currency: Decimal(str(rate)) for currency, rate in body["rates"].items()}
    return Rates(per_euro={**per_euro, _EURO: Decimal(1)}, date=body["date"], source="live")


_FALLBACK_DATE: Final = "2026-10-06"
"""The date of the reference rates below. Update both together."""
REFERENCE: Final[Mapping[str, str]] = {
    "AUD": "1.614",
    "BRL": "5.5991",
    "CAD": "1.6058",
    "CHF": "0.9359",
    "CNY": "7.5554",
    "CZK": "24.405",
    "DKK": "7.4747",
    "EUR": "1",
    "GBP": "0.8488",
    "HKD": "8.8438",
    "HUF": "364.95",
    "IDR": "20104.8",
    "ILS": "3.4348",
    "INR": "108.6615",
    "ISK": "137.2",
    "JPY": "178.15",
    "KRW": "1508.67",
    "MXN": "20.2217",
    "MYR": "4.6034",
    "NOK": "10.778",
    "NZD": "2.0061",
    "PHP": "70.702",
    "PLN": "4.365",
    "RON": "5.351",
    "SEK": "11.2425",
    "SGD": "1.4392",
    "THB": "37.836",
    "TRY": "55.4196",
    "USD": "1.1269",
    "ZAR": "18.5829",
}
"""Units per euro: every currency that the European Central Bank quotes."""
_PER_DOLLAR: Final[Mapping[str, str]] = {
    "AED": "3.6725",
    "BHD": "0.376",
    "JOD": "0.709",
    "OMR": "0.3845",
    "QAR": "3.64",
    "SAR": "3.75",
}
"""Units per US dollar of currencies with a fixed rate to it."""


def _fallback() -> Rates:
    quoted = {currency: Decimal(rate) for currency, rate in REFERENCE.items()}
    fixed = {
        currency: _EXACT.multiply(Decimal(rate), quoted["USD"])
        for currency, rate in _PER_DOLLAR.items()
    }
    return Rates(per_euro={**quoted, **fixed}, date=_FALLBACK_DATE, source="fallback")


FALLBACK: Final = _fallback()
