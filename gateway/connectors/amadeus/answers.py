"""What the tools of `amadeus` read of answers: prices in US dollars, and reasons of refusals."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from msgspec import Struct

from gateway.connectors.frankfurter.rates import FALLBACK, Exchange, RateSource
from gateway.contract.context import UpstreamReply
from gateway.errors import UpstreamRejected

_DOLLARS: Final = "USD"
_MAX_DOLLARS: Final = Decimal("1e12")
"""Up to this amount, a JSON number is exact to the cent."""
_MAX_NAMED: Final = 10


class Price(Struct, frozen=True, kw_only=True):
    """The price of an offer."""

    original_amount: str
    """Decimal text, as Amadeus sent it."""
    original_currency: str
    dollars: Decimal | None
    """Rounded to cents, half to even; None if there is no rate to US dollars."""
    source: RateSource | None

    @property
    def number(self) -> float | None:
        """`dollars` as a JSON number."""
        return None if self.dollars is None else float(self.dollars)

    @property
    def rank(self) -> tuple[bool, Decimal]:
        """The sort key: cheapest first, prices without US dollars last."""
        return self.dollars is None, self.dollars or Decimal(self.original_amount)


def price_of(amount: str, currency: str, exchange: Exchange) -> Price:
    """The price `amount` in `currency`, and in US dollars if there is a rate."""
    rate = exchange.find(currency, _DOLLARS)
    dollars = None if rate is None else rate.convert(Decimal(amount))
    if rate is None or dollars is None or dollars > _MAX_DOLLARS:
        return Price(original_amount=amount, original_currency=currency, dollars=None, source=None)
    return Price(
        original_amount=amount, original_currency=currency, dollars=dollars, source=rate.source
    )


def conversion_notes(prices: Sequence[Price]) -> list[str]:
    """Notes for the caller about fixed rates and about prices without US dollars."""
    fixed = {price.original_currency for price in prices if price.source == "fallback"}
    unpriced = {price.original_currency for price in prices if price.source is None}
    notes = []
    if fixed:
        notes.append(f"{_named(fixed)} converted at the gateway's fixed rates of {FALLBACK.date}.")
    if unpriced:
        notes.append(f"No rate leads from {_named(unpriced)} to US dollars: see `original_amount`.")
    return notes


def _named(currencies: Iterable[str]) -> str:
    return ", ".join(sorted(currencies)[:_MAX_NAMED])


class AmadeusRefusal(Struct, frozen=True, kw_only=True):
    """All errors of one reply."""

    error: Exception
    """What to raise for a refusal that has no specific meaning."""
    codes: frozenset[int]
    """Amadeus' own codes. It sends numbers, or numbers as text with leading zeros."""
    parameters: tuple[str, ...]
    """The query parameters that the errors name, as Amadeus writes them."""

    def is_only(self, codes: Collection[int]) -> bool:
        """Whether there is a code, and each is one of `codes`."""
        return bool(self.codes) and self.codes.issubset(codes)


def refusal(reply: UpstreamReply) -> AmadeusRefusal:
    """The errors of `reply`, an error reply that is valid against the upstream's contract."""
    errors = (reply.body or {}).get("errors", [])
    return AmadeusRefusal(
        error=reply.failure or UpstreamRejected(),
        codes=frozenset(code for each in errors if (code := _code(each)) is not None),
        parameters=tuple(
            parameter for each in errors if (parameter := each.get("source", {}).get("parameter"))
        ),
    )


def _code(error: Mapping[str, Any]) -> int | None:
    code = str(error.get("code", ""))
    return int(code) if code.isascii() and code.isdigit() else None
