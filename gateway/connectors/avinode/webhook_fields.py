"""Field functions of Avinode's webhook: what its field maps cannot say in one expression."""

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
    """The thread in which a quote is talked about; the quote's id where Avinode names none."""
    return thread_id or quote_id


@mapping_function
def in_dollars(amount: float | None, currency: str | None) -> float | None:
    """`amount` where it is in US dollars, as it is where nothing is said of a currency."""
    return amount if currency in {None, _DOLLARS} else None


@mapping_function
def category_of(name: str | None) -> str | None:
    """The category that quotes are scored by, of Avinode's name; None for any other."""
    return _CATEGORIES.get(name or "")


@mapping_function
def own_link(link: str | None, domain: str) -> str | None:
    """`link` if it leads to `domain` by https, else None: people and agents open it."""
    return link if link is not None and is_link_within(link, domain) else None


@mapping_function
def version_id(thing_id: str, thing: Mapping[str, Any]) -> str:
    """An id of this very version of a thing: the same when nothing of it has changed.

    A pointer says that something has changed and not what, so that one thing may be read many
    times before its next version is there.
    """
    canonical = msgspec.json.encode(thing, order="deterministic")
    return f"{thing_id}:{hashlib.sha256(canonical).hexdigest()[:32]}"


@mapping_function
def rfq_received_note(
    rfp_id: str,
    buyer: str | None,
    departure_airport: str | None,
    arrival_airport: str | None,
    departure_at: str | None,
) -> str:
    """What the mail about a received request for proposal says."""
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
    """What the mail about an accepted quote says."""
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
    """What the mail about a confirmed booking says."""
    facts = (
        ("Operator", operator),
        ("From", departure_airport),
        ("To", arrival_airport),
        ("Departure", departure_at),
    )
    return _note(f"The booking {booking_id} is confirmed.", facts)


def _amount(price: float | None, currency: str | None) -> str | None:
    """Without a currency where the message names none: it may be any that is known already."""
    if price is None:
        return None
    return f"{price:,.2f} {currency}" if currency else f"{price:,.2f}"


def _note(opening: str, facts: tuple[tuple[str, str | None], ...]) -> str:
    return "\n".join([opening, *(f"{name}: {fact}" for name, fact in facts if fact is not None)])
