# Generated from schemas/entities/*.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 2d512ea43bf0d41f9c566d53bef6eea1; generator 1

"""Add avinode_operator_id to quotes; add operator_name to quotes; add operator_rating to quotes; add
operator_safety_rating to quotes; add aircraft_category to quotes; add amenities to quotes; add
flight_minutes to quotes; add iso_request_id to quotes; add details to quotes; add iso_request_id to
requests.
"""

from collections.abc import Mapping
from typing import Any, Final

from alembic import op
from sqlalchemy import JSON, BigInteger, Column, Float, Text

revision: Final = "0003"
down_revision: Final[str | None] = "0002"

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
            "avinode_operator_id": {"kind": "text", "is_nullable": True},
            "operator_name": {"kind": "text", "is_nullable": True},
            "operator_rating": {"kind": "number", "is_nullable": True},
            "operator_safety_rating": {"kind": "text", "is_nullable": True},
            "aircraft_category": {"kind": "text", "is_nullable": True},
            "amenities": {"kind": "json", "is_nullable": True},
            "flight_minutes": {"kind": "integer", "is_nullable": True},
            "iso_request_id": {"kind": "text", "is_nullable": True},
            "details": {"kind": "json", "is_nullable": True},
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
            "iso_request_id": {"kind": "text", "is_nullable": True},
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
    op.add_column("entity_quotes", Column("avinode_operator_id", Text, nullable=True))
    op.add_column("entity_quotes", Column("operator_name", Text, nullable=True))
    op.add_column("entity_quotes", Column("operator_rating", Float(53), nullable=True))
    op.add_column("entity_quotes", Column("operator_safety_rating", Text, nullable=True))
    op.add_column("entity_quotes", Column("aircraft_category", Text, nullable=True))
    op.add_column("entity_quotes", Column("amenities", JSON(none_as_null=True), nullable=True))
    op.add_column("entity_quotes", Column("flight_minutes", BigInteger, nullable=True))
    op.add_column("entity_quotes", Column("iso_request_id", Text, nullable=True))
    op.add_column("entity_quotes", Column("details", JSON(none_as_null=True), nullable=True))
    op.add_column("entity_requests", Column("iso_request_id", Text, nullable=True))
