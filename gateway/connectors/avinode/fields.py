"""Field functions of the connector `avinode`: what expressions cannot express."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from statistics import fmean
from typing import Any, Final

from gateway.connectors.frankfurter.rates import Exchange, ExchangeRate
from gateway.contract.connector import mapping_function
from gateway.contract.fields.fieldmap import Unmappable, as_date, as_date_time
from gateway.errors import InvalidArguments

_DOLLARS: Final = "USD"
_UNANSWERED: Final = "Unanswered"
_WITHDRAWN: Final = frozenset({"Canceled", "Cancelled"})
Lift = Mapping[str, Any]
"""One operator in a request for quotes. `answeredOn` is present once the operator has responded."""


@mapping_function
def days_in_order(days: Mapping[str, str]) -> dict[str, str]:
    """The first and the last day in Avinode's form.

    Raises `InvalidArguments` if the last day is before the first.
    """
    if days["to"] < days["from"]:
        raise InvalidArguments.at("/date_range/to", "order", "must not be before from")
    return {"from": days["from"], "to": days["to"]}


@mapping_function
def wishes(
    requirements: Sequence[str] | Mapping[str, str | float | bool] | None,
) -> list[str] | None:
    """Requirements in Avinode's form: a list of texts. `{"wifi": true}` becomes `wifi: yes`."""
    if requirements is None:
        return None
    if isinstance(requirements, Mapping):
        return [f"{name}: {_requirement(value)}" for name, value in requirements.items()]
    return list(requirements)


def _requirement(value: str | float | bool) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


@mapping_function
def day_back(departure: str, back: str) -> str:
    """The day of the return flight, in UTC.

    Raises `InvalidArguments` if it departs before the outbound flight.
    """
    if _instant(back) < _instant(departure):
        raise InvalidArguments.at("/return_date", "order", "must not be before departure_date")
    return as_date(back)


@mapping_function
def city_or_name(city: str | None, name: str) -> str:
    """The city of an airport; its own name if Avinode knows no city."""
    return city or name


@mapping_function
def before_departure(departure: str, deadline: str | None) -> str | None:
    """The deadline for quotes, in UTC; None if there is none.

    Raises `InvalidArguments` for a deadline after the departure: such quotes come too late.
    """
    if deadline is None:
        return None
    try:
        latest = _instant(deadline)
    except Unmappable as error:
        raise InvalidArguments.at("/deadline", "format", error.detail) from None
    if latest > _instant(departure):
        raise InvalidArguments.at("/deadline", "order", "must not be after departure_date")
    return as_date_time(deadline)


@mapping_function
def minutes_between(start: str, end: str) -> int:
    """Whole minutes from one date-time to another; 0 if `end` is before `start`.

    Raises `Unmappable` for a date-time outside the years 1 to 9999.
    """
    return max((_instant(end) - _instant(start)) // timedelta(minutes=1), 0)


@mapping_function
def first_response_minutes(created_on: str, lifts: Sequence[Lift]) -> int | None:
    """Whole minutes until the first operator responded; None if none has."""
    return min(_response_minutes(created_on, lifts), default=None)


@mapping_function
def average_response_minutes(created_on: str, lifts: Sequence[Lift]) -> int | None:
    """Mean response time of the operators in minutes, rounded; None if none has responded."""
    minutes = list(_response_minutes(created_on, lifts))
    return round(fmean(minutes)) if minutes else None


def _response_minutes(created_on: str, lifts: Sequence[Lift]) -> Iterator[int]:
    return (
        minutes_between(created_on, lift["answeredOn"])
        for lift in lifts
        if lift.get("answeredOn") is not None
    )


@mapping_function
def rfp_status(deadline: str | None, lifts: Sequence[Lift], now: str) -> str:
    """Whether operators may still respond: `open`, `closed`, `expired` or `cancelled`."""
    states = {lift["sourcingDisplayStatus"] for lift in lifts}
    if states and states <= _WITHDRAWN:
        return "cancelled"
    if _UNANSWERED not in states:
        return "closed"
    is_over = deadline is not None and _instant(deadline) <= _instant(now)
    return "expired" if is_over else "open"


@mapping_function
def in_dollars(amount: float | None, currency: str, now: str) -> float | None:
    """The amount in US dollars, at a fixed rate if it has another currency.

    None for no amount, and for a currency without a rate that is new enough.
    """
    if amount is None or currency == _DOLLARS:
        return amount
    rate = _rate(currency, now)
    return None if rate is None else float(rate.convert(Decimal(str(amount))))


@mapping_function
def rate_source(currency: str, now: str) -> str | None:
    """`same` for US dollars, `fallback` for a currency with a fixed rate, otherwise None."""
    rate = _rate(currency, now)
    return None if rate is None else rate.source


@mapping_function
def rate_date(currency: str, now: str) -> str | None:
    """The date of the fixed rate; None if none is used."""
    rate = None if currency == _DOLLARS else _rate(currency, now)
    return None if rate is None else rate.date


def _rate(currency: str, now: str) -> ExchangeRate | None:
    # A request to Frankfurter beside that to Avinode would need a handler.
    return Exchange(today=now[:10], live=None).find(currency, _DOLLARS)


def _instant(text: str) -> datetime:
    # A deadline of another year than was said would be another deadline.
    if text.startswith("0000"):
        raise Unmappable("", "is not a date-time of the years 1 to 9999")
    try:
        return datetime.fromisoformat(as_date_time(text))
    except ValueError as error:
        raise Unmappable("", "is not a date-time of the years 1 to 9999") from error
