"""What the contracts of webhooks promise, tried on examples and on whatever payloads they admit.

Each row fits its table, each event its schema, each call its tool: a message that was let in can
always be processed.
"""

import json
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gateway.catalogue import open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.contract.context import CallFacts
from gateway.contract.rows.rows import holds_nul, shape_of
from gateway.contract.values.schema import Validator
from gateway.contracts.sources.tree import read_tree
from gateway.testing.generation import budget, valid_values

ROOT = Path(__file__).parents[2]
CATALOGUE = open_catalogue("generated", HANDLER_PACKAGES)
SHAPES = {kind: shape_of(kind, entity.schema) for kind, entity in CATALOGUE.entities.items()}
ENVELOPES = {name: Validator(each.event.schema) for name, each in CATALOGUE.events.items()}
PAYLOADS = json.loads((ROOT / "generated" / "webhooks.json").read_bytes())
TREE = read_tree(ROOT / "schemas")
EVENTS = [
    (contract, event)
    for contract in CATALOGUE.webhooks.values()
    for event in contract.source.events
]
NAMES = [f"{contract.source.provider}.{event.type}" for contract, event in EVENTS]
WEBHOOK_ID = "0193497f-6e3c-7a31-9d2f-5b8c0e4a1d70"
NOW = "2026-11-20T14:42:01.250Z"
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


def facts(contract, **said):
    return CallFacts(
        id=WEBHOOK_ID,
        now=NOW,
        settings={each.name: each.default for each in contract.source.settings} | said,
    )


def with_mail(contract):
    is_mailing = contract.source.provider == "avinode"
    return facts(contract, **({"notification_email": "desk@example.com"} if is_mailing else {}))


def check(contract, event, payload):
    """Everything that `payload` leads to is admitted by what it goes to."""
    said = with_mail(contract)
    for effect in event.effects:
        row, shape = effect.row(payload, said), SHAPES[effect.entity]
        if row is not None:
            assert shape.admits_change.admits(row), shape.admits_change.violations(row)
            assert row.keys() >= set(CATALOGUE.entities[effect.entity].key)
            shape.canonical(row)
    if event.emission is not None:
        gate = ENVELOPES[event.emission.event]
        envelope = published(contract, event, payload, said)
        assert gate.admits(envelope), gate.violations(envelope)
    for each in event.notifications:
        arguments = each.arguments(payload, said)
        gate = CATALOGUE.find(each.operation).input
        assert gate.admits(arguments), gate.violations(arguments)


def published(contract, event, payload, said):
    return {
        "specversion": "1.0",
        "id": WEBHOOK_ID,
        "source": f"/webhooks/{contract.source.provider}",
        "type": event.emission.event,
        "subject": event.emission.subject(payload, said),
        "time": NOW,
        "datacontenttype": "application/json",
        "data": event.emission.data(payload, said),
    }


def examples(contract, event):
    path = PurePosixPath(f"webhooks/{contract.source.provider}/{event.type}.payload.json")
    return TREE.find(path).value["examples"]


@pytest.mark.parametrize(("contract", "event"), EVENTS, ids=NAMES)
def test_the_examples_arrive_and_are_worked_off(contract, event):
    found = examples(contract, event)
    assert found
    for payload in found:
        gate = contract.validators[event.type]
        assert gate.admits(payload), gate.violations(payload)
        check(contract, event, payload)


@pytest.mark.parametrize(("contract", "event"), EVENTS, ids=NAMES)
def test_whatever_is_let_in_can_be_worked_off(contract, event):
    name = f"{contract.source.provider}.{event.type}"
    schema = PAYLOADS[contract.source.provider][event.type]

    @budget()
    @given(valid_values(name, schema, contract.validators[event.type]))
    def whatever(payload):
        assume(not holds_nul(payload))  # what ingest does not let in, whatever the schema says
        check(contract, event, payload)

    whatever()


@pytest.mark.parametrize(("contract", "event"), EVENTS, ids=NAMES)
def test_members_that_are_new_change_nothing(contract, event):
    """A provider adds members when it likes: at the top, and in each object."""

    def grown(value):
        match value:
            case dict():
                return {**{name: grown(each) for name, each in value.items()}, "new_member": [1]}
            case list():
                return [grown(each) for each in value]
            case _:
                return value

    for payload in examples(contract, event):
        more = grown(payload)
        assert contract.validators[event.type].admits(more)
        said = with_mail(contract)
        for effect in event.effects:
            assert effect.row(more, said) == effect.row(payload, said)


@pytest.mark.parametrize(("contract", "event"), EVENTS, ids=NAMES)
@budget()
@given(data=st.data())
def test_a_payload_without_what_it_needs_is_not_let_in(contract, event, data):
    schema = PAYLOADS[contract.source.provider][event.type]
    payload = dict(data.draw(st.sampled_from(examples(contract, event))))
    del payload[data.draw(st.sampled_from(schema["required"]))]
    assert not contract.validators[event.type].admits(payload)


def test_avinode_reports_fifteen_events_and_four_kinds_of_pointers():
    source = CATALOGUE.webhooks["avinode"].source
    by_profile = {
        profile.name: [each.type for each in source.events if profile.name in each.profiles]
        for profile in source.profiles
    }
    assert by_profile == {
        "signed": AVINODE,
        "pointer": ["rfqs", "tripmsgs", "emptylegs", "leads"],
    }


def test_each_event_of_avinode_is_published():
    source = CATALOGUE.webhooks["avinode"].source
    emitted = [each.emission.event for each in source.events if each.type in AVINODE]
    assert emitted == [f"gateway.{'.'.join(name.split('_'))}.v1" for name in AVINODE]


@pytest.mark.parametrize("event_type", ["rfq_received", "quote_accepted", "booking_confirmed"])
def test_nobody_is_mailed_until_the_operator_says_whom(event_type):
    contract = CATALOGUE.webhooks["avinode"]
    event = contract.events[event_type]
    [notification] = event.notifications
    [payload] = examples(contract, event)
    assert notification.arguments(payload, facts(contract)) is None
    mail = notification.arguments(payload, with_mail(contract))
    assert mail["to"] == "desk@example.com"
    assert (
        payload[f"{event_type.partition('_')[0]}_id".replace("rfq", "rfp")]
        in (mail["template_data"]["message"])
    )
