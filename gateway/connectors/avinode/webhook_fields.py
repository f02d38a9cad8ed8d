"""Field functions of Avinode's webhook: what expressions cannot express."""

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from gateway.contract.connector import mapping_function
from gateway.contract.outbound import is_link_within

_DOLLARS: Final = "USD"
_CATEGORIES: Final[Mapping[str, str]] = {
    "Entry level jet (VLJ)": "light",
    "Light jet": "light",
    "Super light jet": "light",
    "Midsize jet": "midsize",
    "Super midsize jet": "midsize",
    "Heavy jet": "heavy",
    "Ultra long range": "ultra-long-range",
}


@mapping_function
def thread_of(thread_id: str | None, quote_id: str) -> str:
    """The thread of a quote; the quote's id if Avinode names no thread."""
    return thread_id or quote_id


@mapping_function
def in_dollars(amount: float | None, currency: str | None) -> float | None:
    """`amount` if it is in US dollars, otherwise None. Without a currency, it is in US dollars."""
    return amount if currency in {None, _DOLLARS} else None


@mapping_function
def category_of(name: str | None) -> str | None:
    """The category for scoring quotes, from Avinode's name; None for an unknown name."""
    return _CATEGORIES.get(name or "")


@mapping_function
def own_link(link: str | None, domain: str) -> str | None:
    """`link` if it leads to `domain` by https, otherwise None. People and agents open it."""
    return link if link is not None and is_link_within(link, domain) else None


@mapping_function
def version_id(resource_id: str, resource: Mapping[str, Any]) -> str:
    """An id of one version of a resource: the same as long as the resource does not change.

    A pointer does not show what has changed, so the same version may be read many times.
    """
    canonical = msgspec.json.encode(resource, order="deterministic")
    return f"{resource_id}:{hashlib.sha256(canonical).hexdigest()[:32]}"


@mapping_function
def rfq_received_note(
    rfp_id: str,
    buyer: str | None,
    departure_airport: str | None,
    arrival_airport: str | None,
    departure_at: str | None,
) -> str:
    """The text of the mail about a received request for proposal."""
    facts = (
        ("Buyer", buyer),
        ("From", departure_airport),
        ("To", arrival_airport),
        ("Departure", departure_at),
    )
    return _note(f"The request for proposal {rfp_id} was received.", facts)


@mapping_function
def quote_accepted_note(
    quote_id: str,
    rfp_id: str | None,
    operator: str | None,
    price: float | None,
    currency: str | None,
) -> str:
    """The text of the mail about an accepted quote."""
    facts = (
        ("Request for proposal", rfp_id),
        ("Operator", operator),
        ("Price", _amount(price, currency)),
    )
    return _note(f"The quote {quote_id} was accepted.", facts)


@mapping_function
def booking_confirmed_note(
    booking_id: str,
    operator: str | None,
    departure_airport: str | None,
    arrival_airport: str | None,
    departure_at: str | None,
) -> str:
    """The text of the mail about a confirmed booking."""
    facts = (
        ("Operator", operator),
        ("From", departure_airport),
        ("To", arrival_airport),
        ("Departure", departure_at),
    )
    return _note(f"The booking {booking_id} is confirmed.", facts)


def _amount(price: float | None, currency: str | None) -> str | None:
    """Without a currency if the message names none: an earlier message may have set it."""
    if price is None:
        return None
    return f"{price:,.2f} {currency}" if currency else f"{price:,.2f}"


def _note(opening: str, facts: tuple[tuple[str, str | None], ...]) -> str:
    return "\n".join([opening, *(f"{name}: {fact}" for name, fact in facts if fact is not None)])
