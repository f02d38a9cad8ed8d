"""Field functions of Avinode's webhook."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.connectors.avinode.webhook_fields import (
    booking_confirmed_note,
    in_dollars,
    quote_accepted_note,
    rfq_received_note,
    thread_of,
    version_id,
)


@pytest.mark.parametrize(("thread", "expected"), [("alift-1", "alift-1"), (None, "aquote-1")])
def test_without_a_thread_the_quote_is_one(thread, expected):
    assert thread_of(thread, "aquote-1") == expected


@pytest.mark.parametrize(
    ("amount", "currency", "expected"),
    [(48200, "USD", 48200), (48200, None, 48200), (48200, "EUR", None), (None, "USD", None)],
)
def test_only_dollars_pass_for_dollars(amount, currency, expected):
    assert in_dollars(amount, currency) == expected


@given(st.dictionaries(st.text(), st.integers() | st.text()), st.text(min_size=1, max_size=64))
def test_a_version_has_one_id_however_its_members_are_ordered(thing, thing_id):
    shuffled = dict(reversed(list(thing.items())))
    assert version_id(thing_id, thing) == version_id(thing_id, shuffled)


@given(st.integers(), st.integers())
def test_another_version_has_another_id(one, other):
    ids = {version_id("q", {"price": price}) for price in (one, other)}
    assert len(ids) == len({one, other})


def test_notes_say_what_is_known():
    assert rfq_received_note("arfq-1", "Jetvision", "KTEB", None, None) == (
        "The request for proposal arfq-1 was received.\nBuyer: Jetvision\nFrom: KTEB"
    )
    assert quote_accepted_note("aquote-1", None, "Bluewing", 48200, None) == (
        "The quote aquote-1 was accepted.\nOperator: Bluewing\nPrice: 48,200.00"
    )
    assert booking_confirmed_note("abooking-1", None, None, None, None) == (
        "The booking abooking-1 is confirmed."
    )
