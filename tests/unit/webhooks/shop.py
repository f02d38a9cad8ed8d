"""A shop that sends webhooks: its contract, and messages of it."""

from datetime import UTC, datetime
from uuid import UUID, uuid5

from msgspec.structs import replace

from gateway.catalogue import DeclaredSource
from gateway.contract.fields.fieldmap import (
    ABSENT,
    as_date_time,
    converted,
    dig,
    entity_id,
    present,
)
from gateway.contract.rows.rows import shape_of
from gateway.contract.values import jsontext
from gateway.contract.values.schema import Validator
from gateway.contract.webhook import (
    Derivation,
    Emission,
    EntityEffect,
    Fetch,
    MessagePart,
    Notification,
    Profile,
    WebhookEvent,
    WebhookSource,
)
from gateway.signatures.basic import BasicCredentials
from gateway.signatures.hmac_header import HmacSignature
from gateway.store.records import Job, StoredWebhook
from gateway.webhooks.source import OpenSource
from tests.clocks import ManualClock

AT = datetime(2026, 11, 20, 14, 30, tzinfo=UTC)
BASE = "https://api.shop.test/v1"
NULLABLE = ["string", "null"]
ORDER = {
    "type": "object",
    "additionalProperties": False,
    "required": ["id", "number", "webhook_id", "occurred_at", "created_at", "updated_at"],
    "properties": {
        "id": {"type": "string", "format": "uuid", "readOnly": True},
        "number": {"type": "string", "maxLength": 20},
        "total": {"type": ["number", "null"]},
        "due_at": {"type": NULLABLE, "format": "date-time"},
        "customer_id": {"type": NULLABLE, "format": "uuid"},
        **{
            name: {"type": "string", "readOnly": True}
            for name in ("webhook_id", "occurred_at", "created_at", "updated_at")
        },
    },
}
CUSTOMER = {
    "type": "object",
    "additionalProperties": False,
    "required": ["email"],
    "properties": {"email": {"type": "string"}},
}
SHAPES = {"orders": shape_of("orders", ORDER), "customers": shape_of("customers", CUSTOMER)}

PAYLOADS = {
    "order_paid": {
        "type": "object",
        "required": ["id", "number"],
        "properties": {"number": {"type": "string"}, "total": {"type": "number"}},
    },
    "order_changed": {"type": "object", "required": ["ref"]},
}
PAID = {
    "type": "object",
    "required": ["type", "subject", "data"],
    "properties": {
        "type": {"const": "gateway.order.paid.v1"},
        "specversion": {"const": "1.0"},
        "time": {"type": "string", "format": "date-time"},
        "data": {
            "type": "object",
            "additionalProperties": False,
            "required": ["number"],
            "properties": {"number": {"type": "string"}, "total": {"type": "number"}},
        },
    },
}


def order_row(payload, facts):
    email = dig(payload, "email")
    return present(
        {
            "number": dig(payload, "number"),
            "total": dig(payload, "total"),
            "due_at": converted(dig(payload, "due"), as_date_time, "/due"),
            "customer_id": ABSENT if email is ABSENT else entity_id("customers", {"email": email}),
        }
    )


def customer_row(payload, facts):
    return None if dig(payload, "email") is ABSENT else {"email": dig(payload, "email")}


def mail(payload, facts):
    to = facts.settings.get("notification_email")
    return None if to is None else {"to": to, "number": dig(payload, "number")}


EVENTS = (
    WebhookEvent(
        type="order_paid",
        profiles=("signed",),
        occurred_at="/at",
        effects=(
            EntityEffect(entity="customers", mode="create", row=customer_row),
            EntityEffect(entity="orders", row=order_row),
        ),
        emission=Emission(
            event="gateway.order.paid.v1",
            subject=lambda payload, facts: dig(payload, "number"),
            data=lambda payload, facts: present(
                {"number": dig(payload, "number"), "total": dig(payload, "amount")}
            ),
        ),
        notifications=(Notification(operation="mail.send", arguments=mail),),
    ),
    WebhookEvent(
        type="order_changed",
        profiles=("pointer",),
        fetch=Fetch(
            upstream="shop",
            operation="readOrders",
            path=lambda payload, facts: {"ref": dig(payload, "ref")},
            query=lambda payload, facts: {"fields": "total"},
            href=MessagePart(pointer="/href"),
        ),
        derives=(
            Derivation(
                event="order_paid",
                payloads=lambda reply, facts: dig(reply, "orders"),
                message_id="/id",
            ),
        ),
    ),
)
SOURCE = WebhookSource(
    provider="shop",
    title="Shop",
    profiles=(
        Profile(
            name="signed",
            authentication=HmacSignature(header="x-signature"),
            message_id=MessagePart(pointer="/id"),
            event_type=MessagePart(pointer="/type"),
        ),
        Profile(
            name="pointer",
            authentication=BasicCredentials(),
            message_id=None,
            event_type=MessagePart(pointer="/type"),
        ),
    ),
    events=EVENTS,
    contract="digest-2",
)


def opened(settings=None, payloads=None, tenant=None):
    gates = {name: Validator(schema) for name, schema in (payloads or PAYLOADS).items()}
    profiles = tuple(replace(each, tenant=tenant) for each in SOURCE.profiles)
    source = DeclaredSource(replace(SOURCE, profiles=profiles), gates)
    return OpenSource(source, ManualClock(), settings=settings or {})


def uuid_of(name):
    return str(uuid5(UUID(int=0), name))


def job(kind="webhook", lane="shop", **values):
    known = {
        "id": uuid_of("job"),
        "kind": kind,
        "subject": uuid_of("webhook"),
        "lane": lane,
        "state": "processing",
        "attempts": 1,
        "max_attempts": 6,
        "run_at": AT,
        "lease_until": AT,
        "claim_seq": 1,
        "claimed_by": "w",
        "error": None,
        "replay_of": None,
        "actor": None,
        "created_at": AT,
        "updated_at": AT,
    }
    return Job(**(known | values))


def webhook(payload, event_type="order_paid", profile="signed", **values):
    known = {
        "id": uuid_of("webhook"),
        "provider": "shop",
        "profile": profile,
        "message_id": "m1",
        "event_type": event_type,
        "body": jsontext.encode(payload),
        "body_sha256": "",
        "headers": {},
        "contract": "digest-1",
        "received_at": AT,
        "derived_from": None,
        "is_conflict": False,
        "refusals": (),
        "job": job(),
    }
    return StoredWebhook(**(known | values))
