# Generated from schemas/entities/*.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 8497f37f2b9472406d41c0437604afc9; generator 1

"""Add state_log to bookings; add state_log to quotes; add booking_id to requests; add state_log to
requests; add state_log to trips.
"""

from collections.abc import Mapping
from typing import Any, Final

from alembic import op
from sqlalchemy import JSON, Column, Text

revision: Final = "0002"
down_revision: Final[str | None] = "0001"

SHAPES: Final[Mapping[str, Any]] = {
    "bookings": {
        "columns": {
            "id": {"kind": "text", "is_nullable": False},
            "avinode_booking_id": {"kind": "text", "is_nullable": False},
            "avinode_rfp_id": {"kind": "text", "is_nullable": True},
            "request_id": {"kind": "text", "is_nullable": True},
            "quote_id": {"kind": "text", "is_nullable": True},
            "trip_id": {"kind": "text", "is_nullable": True},
            "operator_profile_id": {"kind": "text", "is_nullable": True},
            "status": {"kind": "text", "is_nullable": True},
            "departure_airport": {"kind": "text", "is_nullable": True},
            "arrival_airport": {"kind": "text", "is_nullable": True},
            "departure_at": {"kind": "moment", "is_nullable": True},
            "passengers": {"kind": "integer", "is_nullable": True},
            "aircraft_type": {"kind": "text", "is_nullable": True},
            "total_price": {"kind": "number", "is_nullable": True},
            "currency": {"kind": "text", "is_nullable": True},
            "total_price_usd": {"kind": "number", "is_nullable": True},
            "cancellation_reason": {"kind": "text", "is_nullable": True},
            "webhook_id": {"kind": "text", "is_nullable": False},
            "occurred_at": {"kind": "moment", "is_nullable": False},
            "created_at": {"kind": "moment", "is_nullable": False},
            "updated_at": {"kind": "moment", "is_nullable": False},
            "state_log": {"kind": "json", "is_nullable": True},
        },
        "key": ("avinode_booking_id",),
        "indexes": (
            ("updated_at", "id"),
            ("avinode_booking_id", "updated_at", "id"),
            ("avinode_rfp_id", "updated_at", "id"),
            ("request_id", "updated_at", "id"),
            ("quote_id", "updated_at", "id"),
            ("trip_id", "updated_at", "id"),
            ("status", "updated_at", "id"),
        ),
    },
    "conversations": {
        "columns": {
            "id": {"kind": "text", "is_nullable": False},
            "avinode_thread_id": {"kind": "text", "is_nullable": False},
            "request_id": {"kind": "text", "is_nullable": True},
            "quote_id": {"kind": "text", "is_nullable": True},
            "operator_profile_id": {"kind": "text", "is_nullable": True},
            "last_message_at": {"kind": "moment", "is_nullable": True},
            "webhook_id": {"kind": "text", "is_nullable": False},
            "occurred_at": {"kind": "moment", "is_nullable": False},
            "created_at": {"kind": "moment", "is_nullable": False},
            "updated_at": {"kind": "moment", "is_nullable": False},
        },
        "key": ("avinode_thread_id",),
        "indexes": (
            ("updated_at", "id"),
            ("avinode_thread_id", "updated_at", "id"),
            ("request_id", "updated_at", "id"),
            ("quote_id", "updated_at", "id"),
            ("operator_profile_id", "updated_at", "id"),
        ),
    },
    "messages": {
        "columns": {
            "id": {"kind": "text", "is_nullable": False},
            "content_type": {"kind": "text", "is_nullable": False},
            "source_id": {"kind": "text", "is_nullable": False},
            "conversation_id": {"kind": "text", "is_nullable": True},
            "sender_type": {"kind": "text", "is_nullable": True},
            "sender_name": {"kind": "text", "is_nullable": True},
            "body": {"kind": "text", "is_nullable": True},
            "sent_at": {"kind": "moment", "is_nullable": True},
            "quote_id": {"kind": "text", "is_nullable": True},
            "rich_content": {"kind": "json", "is_nullable": True},
            "webhook_id": {"kind": "text", "is_nullable": False},
            "occurred_at": {"kind": "moment", "is_nullable": False},
            "created_at": {"kind": "moment", "is_nullable": False},
            "updated_at": {"kind": "moment", "is_nullable": False},
        },
        "key": ("content_type", "source_id"),
        "indexes": (
            ("updated_at", "id"),
            ("conversation_id", "updated_at", "id"),
            ("content_type", "updated_at", "id"),
            ("sender_type", "updated_at", "id"),
            ("quote_id", "updated_at", "id"),
            ("source_id", "updated_at", "id"),
        ),
    },
    "operator_profiles": {
        "columns": {
            "id": {"kind": "text", "is_nullable": False},
            "avinode_operator_id": {"kind": "text", "is_nullable": False},
            "company_name": {"kind": "text", "is_nullable": True},
            "rating": {"kind": "number", "is_nullable": True},
            "safety_rating": {"kind": "text", "is_nullable": True},
            "contact_email": {"kind": "text", "is_nullable": True},
            "contact_phone": {"kind": "text", "is_nullable": True},
            "webhook_id": {"kind": "text", "is_nullable": False},
            "occurred_at": {"kind": "moment", "is_nullable": False},
            "created_at": {"kind": "moment", "is_nullable": False},
            "updated_at": {"kind": "moment", "is_nullable": False},
        },
        "key": ("avinode_operator_id",),
        "indexes": (
            ("updated_at", "id"),
            ("avinode_operator_id", "updated_at", "id"),
            ("company_name", "updated_at", "id"),
        ),
    },
    "quotes": {
        "columns": {
            "id": {"kind": "text", "is_nullable": False},
            "avinode_quote_id": {"kind": "text", "is_nullable": False},
            "avinode_rfp_id": {"kind": "text", "is_nullable": True},
            "request_id": {"kind": "text", "is_nullable": True},
            "operator_profile_id": {"kind": "text", "is_nullable": True},
            "status": {"kind": "text", "is_nullable": True},
            "aircraft_type": {"kind": "text", "is_nullable": True},
            "aircraft_id": {"kind": "text", "is_nullable": True},
            "price": {"kind": "number", "is_nullable": True},
            "currency": {"kind": "text", "is_nullable": True},
            "price_usd": {"kind": "number", "is_nullable": True},
            "base_price": {"kind": "number", "is_nullable": True},
            "taxes_fees": {"kind": "number", "is_nullable": True},
            "valid_until": {"kind": "moment", "is_nullable": True},
            "notes": {"kind": "text", "is_nullable": True},
            "rejection_reason": {"kind": "text", "is_nullable": True},
            "webhook_id": {"kind": "text", "is_nullable": False},
            "occurred_at": {"kind": "moment", "is_nullable": False},
            "created_at": {"kind": "moment", "is_nullable": False},
            "updated_at": {"kind": "moment", "is_nullable": False},
            "state_log": {"kind": "json", "is_nullable": True},
        },
        "key": ("avinode_quote_id",),
        "indexes": (
            ("updated_at", "id"),
            ("avinode_quote_id", "updated_at", "id"),
            ("avinode_rfp_id", "updated_at", "id"),
            ("request_id", "updated_at", "id"),
            ("operator_profile_id", "updated_at", "id"),
            ("status", "updated_at", "id"),
        ),
    },
    "requests": {
        "columns": {
            "id": {"kind": "text", "is_nullable": False},
            "avinode_rfp_id": {"kind": "text", "is_nullable": False},
            "avinode_trip_id": {"kind": "text", "is_nullable": True},
            "status": {"kind": "text", "is_nullable": True},
            "buyer_id": {"kind": "text", "is_nullable": True},
            "buyer_name": {"kind": "text", "is_nullable": True},
            "departure_airport": {"kind": "text", "is_nullable": True},
            "arrival_airport": {"kind": "text", "is_nullable": True},
            "departure_at": {"kind": "moment", "is_nullable": True},
            "passengers": {"kind": "integer", "is_nullable": True},
            "quote_deadline_at": {"kind": "moment", "is_nullable": True},
            "special_requirements": {"kind": "text", "is_nullable": True},
            "webhook_id": {"kind": "text", "is_nullable": False},
            "occurred_at": {"kind": "moment", "is_nullable": False},
            "created_at": {"kind": "moment", "is_nullable": False},
            "updated_at": {"kind": "moment", "is_nullable": False},
            "booking_id": {"kind": "text", "is_nullable": True},
            "state_log": {"kind": "json", "is_nullable": True},
        },
        "key": ("avinode_rfp_id",),
        "indexes": (
            ("updated_at", "id"),
            ("avinode_rfp_id", "updated_at", "id"),
            ("avinode_trip_id", "updated_at", "id"),
            ("status", "updated_at", "id"),
            ("departure_airport", "updated_at", "id"),
            ("arrival_airport", "updated_at", "id"),
        ),
    },
    "trips": {
        "columns": {
            "id": {"kind": "text", "is_nullable": False},
            "avinode_trip_id": {"kind": "text", "is_nullable": False},
            "status": {"kind": "text", "is_nullable": True},
            "departure_airport": {"kind": "text", "is_nullable": True},
            "arrival_airport": {"kind": "text", "is_nullable": True},
            "departure_at": {"kind": "moment", "is_nullable": True},
            "return_at": {"kind": "moment", "is_nullable": True},
            "passengers": {"kind": "integer", "is_nullable": True},
            "deep_link": {"kind": "text", "is_nullable": True},
            "cancellation_reason": {"kind": "text", "is_nullable": True},
            "webhook_id": {"kind": "text", "is_nullable": False},
            "occurred_at": {"kind": "moment", "is_nullable": False},
            "created_at": {"kind": "moment", "is_nullable": False},
            "updated_at": {"kind": "moment", "is_nullable": False},
            "state_log": {"kind": "json", "is_nullable": True},
        },
        "key": ("avinode_trip_id",),
        "indexes": (
            ("updated_at", "id"),
            ("avinode_trip_id", "updated_at", "id"),
            ("status", "updated_at", "id"),
            ("departure_airport", "updated_at", "id"),
            ("arrival_airport", "updated_at", "id"),
        ),
    },
}
"""What the tables are after this revision: the next one starts from it."""


def upgrade() -> None:
    """Make what is missing."""
    op.add_column("entity_bookings", Column("state_log", JSON(none_as_null=True), nullable=True))
    op.add_column("entity_quotes", Column("state_log", JSON(none_as_null=True), nullable=True))
    op.add_column("entity_requests", Column("booking_id", Text, nullable=True))
    op.add_column("entity_requests", Column("state_log", JSON(none_as_null=True), nullable=True))
    op.add_column("entity_trips", Column("state_log", JSON(none_as_null=True), nullable=True))
