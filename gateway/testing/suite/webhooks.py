"""What the contracts of webhooks promise, tried on examples and on whatever payloads they admit.

Each row fits its table, each event its schema, each call its tool: a message that was let in can
always be processed.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import PurePosixPath
from typing import Any, Final

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from gateway.authoring.contracts.names import payload_stem
from gateway.authoring.contracts.tree import SourceTree, read_tree
from gateway.catalogue import DeclaredSource
from gateway.cli.operating.webhooks import signing_secret
from gateway.cli.project import package_folder
from gateway.contract.context import CallFacts
from gateway.contract.rows.rows import Shape, holds_nul, shape_of
from gateway.contract.values.schema import Validator
from gateway.contract.webhook import WebhookEvent
from gateway.errors import ConfigurationError
from gateway.signatures.received import Fields
from gateway.testing.boundary_payloads import (
    LET_IN,
    QUARANTINED,
    boundary_payloads,
    fate,
    posted,
    signed,
)
from gateway.testing.fixtures import Loop
from gateway.testing.gateways import Site, catalogue_under_test, project_under_test
from gateway.testing.generation import budget, valid_values

__all__ = [
    "test_a_message_with_a_wrong_header_is_never_processed",
    "test_a_payload_without_what_it_needs_is_not_let_in",
    "test_each_boundary_of_a_payload_is_let_in_or_quarantined",
    "test_members_that_are_new_change_nothing",
    "test_the_examples_arrive_and_are_worked_off",
    "test_whatever_is_let_in_can_be_worked_off",
]

WEBHOOK_ID: Final = "0193497f-6e3c-7a31-9d2f-5b8c0e4a1d70"
NOW: Final = "2026-11-20T14:42:01.250Z"
Settings = Mapping[str, Mapping[str, str]]


def declared(name: str) -> tuple[DeclaredSource, WebhookEvent]:
    """The webhook and the event that `<provider>.<event>` names."""
    provider, _, event = name.partition(".")
    source = catalogue_under_test().webhooks[provider]
    return source, source.events[event]


def facts(source: DeclaredSource, settings: Settings) -> CallFacts:
    """The facts of a message of a tenant, with the settings of the tests and others' defaults."""
    defaults = {each.name: each.default for each in source.source.settings}
    own = settings.get(source.source.provider, {})
    return CallFacts(id=WEBHOOK_ID, now=NOW, settings={**defaults, **own}, tenant="sample")


def examples(name: str) -> list[dict[str, Any]]:
    """The examples of the payload of this event. A draft of a vendor's webhook may have none."""
    source, event = declared(name)
    path = PurePosixPath(
        f"webhooks/{source.source.provider}/{payload_stem(event.type)}.payload.json"
    )
    found: list[dict[str, Any]] = _tree().documents[path].value.get("examples", [])
    return found


def check(name: str, payload: Mapping[str, Any], said: CallFacts) -> None:
    """Everything that `payload` leads to is admitted by what it goes to."""
    source, event = declared(name)
    catalogue = catalogue_under_test()
    for effect in event.effects:
        row, shape = effect.row(payload, said), _shape(effect.entity)
        if row is not None:
            assert shape.admits_change.admits(row), shape.admits_change.violations(row)
            assert row.keys() >= set(catalogue.entities[effect.entity].key)
            shape.canonical(row)
    if event.emission is not None:
        gate = _envelope(event.emission.event)
        envelope = published(source, event, payload, said)
        assert gate.admits(envelope), gate.violations(envelope)
    for each in event.notifications:
        arguments = each.arguments(payload, said)
        if arguments is not None:
            gate = catalogue.find(each.operation).input
            assert gate.admits(arguments), gate.violations(arguments)


def published(
    source: DeclaredSource, event: WebhookEvent, payload: Mapping[str, Any], said: CallFacts
) -> dict[str, Any]:
    """The event that `payload` leads to, as subscribers get it."""
    assert event.emission is not None
    return {
        "specversion": "1.0",
        "id": WEBHOOK_ID,
        "source": f"/webhooks/{source.source.provider}",
        "type": event.emission.event,
        "subject": event.emission.subject(payload, said),
        "time": NOW,
        "datacontenttype": "application/json",
        "data": event.emission.data(payload, said),
    }


def test_the_examples_arrive_and_are_worked_off(
    gateway_webhook_event: str, gateway_webhook_settings: Settings
) -> None:
    source, event = declared(gateway_webhook_event)
    found = examples(gateway_webhook_event)
    if not found:
        pytest.skip(f"the payload of {gateway_webhook_event} has no examples")
    for payload in found:
        gate = source.validators[event.type]
        assert gate.admits(payload), gate.violations(payload)
        check(gateway_webhook_event, payload, facts(source, gateway_webhook_settings))


def test_whatever_is_let_in_can_be_worked_off(
    gateway_webhook_event: str, gateway_webhook_settings: Settings
) -> None:
    source, event = declared(gateway_webhook_event)
    said = facts(source, gateway_webhook_settings)
    schema, gate = _payload_schema(gateway_webhook_event), source.validators[event.type]

    @budget()
    @given(valid_values(gateway_webhook_event, schema, gate))
    def whatever(payload: Any) -> None:
        assume(not holds_nul(payload))  # what ingest does not let in, whatever the schema says
        check(gateway_webhook_event, payload, said)

    whatever()


def test_members_that_are_new_change_nothing(
    gateway_webhook_event: str, gateway_webhook_settings: Settings
) -> None:
    """A provider adds members when it likes: at the top, and in each object."""
    source, event = declared(gateway_webhook_event)
    said = facts(source, gateway_webhook_settings)
    for payload in examples(gateway_webhook_event):
        more = _grown(payload)
        assert source.validators[event.type].admits(more)
        for effect in event.effects:
            assert effect.row(more, said) == effect.row(payload, said)


def test_a_payload_without_what_it_needs_is_not_let_in(gateway_webhook_event: str) -> None:
    source, event = declared(gateway_webhook_event)
    required = _payload_schema(gateway_webhook_event).get("required", [])
    found = examples(gateway_webhook_event)

    @budget()
    @given(st.sampled_from(found), st.sampled_from(required))
    def check_one(payload: dict[str, Any], name: str) -> None:
        less = {key: value for key, value in payload.items() if key != name}
        assert not source.validators[event.type].admits(less)

    if required and found:
        check_one()


def test_each_boundary_of_a_payload_is_let_in_or_quarantined(
    gateway_loop: Loop,
    gateway_site: Site,
    gateway_webhook_event: str,
    gateway_webhook_settings: Settings,
) -> None:
    """What the authority finds valid can be worked off. What is authentic and invalid is kept for
    an operator."""
    source, event = declared(gateway_webhook_event)
    said = facts(source, gateway_webhook_settings)
    failed = []
    try:
        profile, *_ = signing_secret(gateway_site.settings, source.source, event, None)
        signed(gateway_site, source, event, {})
    except ConfigurationError as error:
        pytest.skip(error.detail)
    if profile.body.is_form:
        pytest.skip("a form has texts alone")
    schemas = _payloads()[source.source.provider]
    for each in boundary_payloads(profile, source, event, schemas):
        message = signed(gateway_site, source, event, each.value)
        found = gateway_loop.run_until_complete(fate(gateway_site, message))
        if found != (LET_IN if each.is_valid else QUARANTINED):
            failed.append(f"{found}: {message.body.decode()}")
        if each.is_valid:
            check(gateway_webhook_event, each.value, said)
    assert failed == []


def test_a_message_with_a_wrong_header_is_never_processed(
    gateway_loop: Loop, gateway_site: Site, gateway_webhook_event: str
) -> None:
    """A header field of the sender is missing, malformed, there twice or too long.

    Those that authenticate refuse it. Where another one names the message or its type, it is kept
    for an operator.
    """
    source, event = declared(gateway_webhook_event)
    found = examples(gateway_webhook_event)
    if not found:
        pytest.skip(f"the payload of {gateway_webhook_event} has no examples")
    try:
        profile, *_ = signing_secret(gateway_site.settings, source.source, event, None)
        # No other test sends this body: it would be the same message.
        payload = {**found[-1], "new_member": "of the test of headers"}
        message = signed(gateway_site, source, event, payload)
    except ConfigurationError as error:
        pytest.skip(error.detail)
    places = [place for place in (profile.message_id, profile.event_type) if place is not None]
    named = {place.header.lower().encode() for place in places if place.header is not None}
    wrong = []
    for name, kind, fields in wrong_fields(message.fields):
        posting = posted(gateway_site, replace(message, fields=fields))
        reply = gateway_loop.run_until_complete(posting)
        is_kept = reply.is_success and reply.json()["outcome"] in {QUARANTINED, "duplicate"}
        if reply.status_code not in {401, 431} and not (is_kept and name in named):
            wrong.append(f"{name.decode()} {kind}: {reply.status_code} {reply.text[:200]}")
    assert wrong == []


def wrong_fields(fields: Fields) -> Iterator[tuple[bytes, str, Fields]]:
    """For each header field but the media type: its name, what is wrong, and all fields so."""
    for number, (name, value) in enumerate(fields):
        others = [*fields[:number], *fields[number + 1 :]]
        if name.lower() != b"content-type":
            yield name, "missing", others
            yield name, "malformed", [*others, (name, b"\x01")]
            yield name, "empty", [*others, (name, b"")]
            yield name, "twice", [*fields, (name, value)]
            yield name, "too long", [*others, (name, value + b"0" * 70_000)]


def _grown(value: Any) -> Any:
    match value:
        case dict():
            return {**{name: _grown(each) for name, each in value.items()}, "new_member": [1]}
        case list():
            return [_grown(each) for each in value]
        case _:
            return value


@cache
def _tree() -> SourceTree:
    return read_tree(project_under_test().schemas)


@cache
def _shape(kind: str) -> Shape:
    return shape_of(kind, catalogue_under_test().entities[kind].schema)


@cache
def _envelope(event: str) -> Validator:
    return Validator(catalogue_under_test().events[event].event.schema)


def _payload_schema(name: str) -> dict[str, Any]:
    provider, _, event = name.partition(".")
    schema: dict[str, Any] = _payloads()[provider][event]
    return schema


@cache
def _payloads() -> dict[str, Any]:
    file = package_folder(project_under_test()) / "webhooks.json"
    found: dict[str, Any] = msgspec.json.decode(file.read_bytes())
    return found
