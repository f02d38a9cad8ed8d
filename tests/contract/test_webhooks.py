"""What the webhooks of this catalogue promise."""

import pytest

from gateway.errors import MalformedRequest
from gateway.store.records import Mismatch
from gateway.testing.fixtures import opened
from gateway.testing.gateways import catalogue_under_test, open_site
from gateway.testing.suite.webhooks import *  # noqa: F403 - each module lists its tests
from gateway.testing.suite.webhooks import check, declared, examples, facts
from gateway.webhooks.source import PayloadValidator

AVINODE = [
    "rfq_received",
    "rfq_updated",
    "rfq_cancelled",
    "quote_received",
    "quote_updated",
    "quote_accepted",
    "quote_rejected",
    "quote_expired",
    "message_received",
    "booking_confirmed",
    "booking_cancelled",
    "booking_updated",
    "trip_created",
    "trip_updated",
    "trip_cancelled",
]


def test_avinode_reports_fifteen_events_and_four_kinds_of_pointers():
    source = catalogue_under_test().webhooks["avinode"].source
    by_profile = {
        profile.name: [each.type for each in source.events if profile.name in each.profiles]
        for profile in source.profiles
    }
    assert by_profile == {
        "signed": AVINODE,
        "pointer": ["rfqs", "tripmsgs", "emptylegs", "leads"],
    }


def test_each_event_of_avinode_is_published():
    source = catalogue_under_test().webhooks["avinode"].source
    emitted = [each.emission.event for each in source.events if each.type in AVINODE]
    assert emitted == [f"gateway.{'.'.join(name.split('_'))}.v1" for name in AVINODE]


@pytest.mark.parametrize("event_type", ["rfq_received", "quote_accepted", "booking_confirmed"])
def test_nobody_is_mailed_until_the_operator_says_whom(event_type, gateway_webhook_settings):
    contract, event = declared(f"avinode.{event_type}")
    [notification] = event.notifications
    [payload] = examples(f"avinode.{event_type}")
    assert notification.arguments(payload, facts(contract, {})) is None
    mail = notification.arguments(payload, facts(contract, gateway_webhook_settings))
    assert mail["to"] == "desk@example.com"
    assert (
        payload[f"{event_type.partition('_')[0]}_id".replace("rfq", "rfp")]
        in (mail["template_data"]["message"])
    )


def test_a_row_that_does_not_fit_is_noticed(gateway_webhook_settings):
    name = "avinode.rfq_received"
    contract, _ = declared(name)
    [payload] = examples(name)
    said = facts(contract, gateway_webhook_settings)

    check(name, payload, said)
    with pytest.raises(AssertionError):
        check(name, {**payload, "rfp_id": "x" * 1000}, said)


def lets_in_all(*_):
    return ()


def lets_in_nothing(*_):
    return (Mismatch(pointer="", detail="is not known"),)


def answers_with_an_error(*_):
    raise MalformedRequest("it is wrong")


@pytest.fixture
def fresh_site(gateway_loop, tmp_path):
    """A gateway that no other test has sent messages to."""
    yield from opened(gateway_loop, open_site(tmp_path, []))


@pytest.mark.parametrize(
    ("judge", "found"),
    [
        (lets_in_all, "stored: "),
        (lets_in_nothing, "quarantined: "),
        (answers_with_an_error, "400 "),
    ],
)
def test_a_gateway_that_judges_payloads_wrongly_is_noticed(
    judge, found, gateway_loop, fresh_site, gateway_webhook_settings, monkeypatch
):
    monkeypatch.setattr(PayloadValidator, "refusals", judge)
    for name in ("avinode.quote_accepted", "github.push"):
        with pytest.raises(AssertionError, match=f"'{found}"):
            test_each_boundary_of_a_payload_is_let_in_or_quarantined(  # noqa: F405 - of the suite
                gateway_loop, fresh_site, name, gateway_webhook_settings
            )
