"""From a message to what it changes, and the secrets of sources that are only mocked."""

import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from gateway.contract.fields.conversion import Unmappable
from gateway.contract.fields.fieldmap import entity_id
from gateway.contract.values.schema import Validator
from gateway.errors import StoreError
from gateway.webhooks.processing import Effects, PermanentFailure
from gateway.webhooks.source import made_secret
from tests.unit.webhooks import shop
from tests.webhook_sources import ACME

EFFECTS = Effects(shop.SHAPES, {"gateway.order.paid.v1": Validator(shop.PAID)}, lambda: shop.AT)
PAYLOAD = {"id": "1", "number": "A1", "total": 20.0, "email": "ada@example.org"}


def changes(payload, settings=None):
    source = shop.opened(settings)
    webhook = shop.webhook(payload)
    return EFFECTS.changes(source.events["order_paid"], webhook, payload, source.facts(webhook))


def test_rows_are_canonical_and_in_the_order_of_the_contract():
    customer, order = changes(PAYLOAD | {"due": "2026-11-21T10:00:00+02:00"}).entities
    assert (customer.kind, customer.mode, customer.values) == (
        "customers",
        "create",
        {"email": "ada@example.org"},
    )
    assert (order.kind, order.mode) == ("orders", "upsert")
    assert order.values == {
        "number": "A1",
        "total": 20,
        "due_at": "2026-11-21T08:00:00Z",
        "customer_id": entity_id("customers", {"email": "ada@example.org"}),
    }
    assert order.webhook_id == shop.uuid_of("webhook")


def test_an_effect_without_a_row_writes_nothing():
    found = changes({"id": "1", "number": "A1"})
    assert [change.kind for change in found.entities] == ["orders"]


def test_it_happened_when_the_payload_says():
    found = changes(PAYLOAD | {"at": "2026-11-19T01:02:03.5+01:00"})
    moment = datetime(2026, 11, 19, 0, 2, 3, 500_000, tzinfo=UTC)
    assert {change.occurred_at for change in found.entities} == {moment}


def test_where_the_payload_does_not_say_it_happened_when_it_arrived():
    assert {change.occurred_at for change in changes(PAYLOAD).entities} == {shop.AT}


@pytest.mark.parametrize("at", ["yesterday", 5, "2026-11-19T01:02:03", None])
def test_a_moment_that_is_none_is_refused(at):
    with pytest.raises(Unmappable, match="/at"):
        changes(PAYLOAD | {"at": at})


def test_the_event_has_a_subject_a_source_and_an_id_that_stays():
    first, second = (changes(PAYLOAD).events[0] for _ in range(2))
    assert first == second
    assert (first.type, first.subject, first.source) == (
        "gateway.order.paid.v1",
        "A1",
        "/webhooks/shop",
    )
    assert first.data == {"number": "A1"}
    assert first.webhook_id == shop.uuid_of("webhook")


def test_an_event_that_would_break_its_contract_is_a_defect_without_the_value():
    with pytest.raises(PermanentFailure) as refused:
        changes(PAYLOAD | {"amount": "hunter2"})
    assert refused.value.error == "broken_promise"
    assert "/data/total" in refused.value.detail
    assert "hunter2" not in refused.value.detail


def test_a_value_that_its_column_cannot_hold_is_refused_at_its_column():
    with pytest.raises(Unmappable, match=r"/orders/number") as refused:
        changes(PAYLOAD | {"number": "secret" * 10})
    assert "secret" not in str(refused.value)


def test_a_nul_is_refused_at_its_column():
    with pytest.raises(Unmappable, match=r"/orders/number"):
        changes(PAYLOAD | {"number": "A\0"})


def test_nobody_is_notified_where_nobody_is_named():
    assert changes(PAYLOAD).calls == ()
    assert changes(PAYLOAD, {"notification_email": ""}).calls == ()


def test_a_notification_is_a_call_with_an_id_that_stays():
    settings = {"notification_email": "desk@example.org"}
    (first,) = changes(PAYLOAD, settings).calls
    assert (first,) == changes(PAYLOAD, settings).calls
    assert (first.operation, first.lane) == ("mail.send", "mail.send")
    assert first.arguments == {"to": "desk@example.org", "number": "A1"}


@pytest.mark.parametrize("profile", ACME.profiles, ids=lambda profile: profile.name)
def test_a_secret_is_made_once_and_kept_private(tmp_path, profile) -> None:
    first, again = (made_secret(tmp_path, "acme", profile) for _ in range(2))
    (file,) = (tmp_path / "webhook-secrets").iterdir()
    assert first == again
    assert profile.authentication.key_of(first)
    assert file.name == f"acme-{profile.name}"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_those_who_start_together_agree(tmp_path) -> None:
    with ThreadPoolExecutor(16) as pool:
        made = list(pool.map(lambda _: made_secret(tmp_path, "acme", ACME.profiles[0]), range(64)))
    assert len(set(made)) == 1
    assert len(list((tmp_path / "webhook-secrets").iterdir())) == 1


def test_a_folder_that_cannot_be_used_is_one_line(tmp_path) -> None:
    (tmp_path / "webhook-secrets").write_text("a file")
    with pytest.raises(StoreError, match="webhook-secrets/acme-signed cannot be used"):
        made_secret(tmp_path, "acme", ACME.profiles[0])


@pytest.mark.parametrize("profile", ACME.profiles, ids=lambda profile: profile.name)
def test_a_file_with_an_invalid_secret_is_named_with_the_fix(tmp_path, profile) -> None:
    file = tmp_path / "webhook-secrets" / f"acme-{profile.name}"
    file.parent.mkdir()
    file.write_text("canary\n")
    with pytest.raises(StoreError, match="contains an invalid secret, which must ") as refused:
        made_secret(tmp_path, "acme", profile)
    assert str(file) in refused.value.detail
    assert "; remove the file" in refused.value.detail
    assert "canary" not in refused.value.detail
