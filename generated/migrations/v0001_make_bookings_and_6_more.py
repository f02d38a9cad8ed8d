# Generated from schemas/entities/*.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 4777b7561cf8e0d81aa6c034626756ba; generator 1

"""Make bookings; make conversations; make messages; make operator_profiles; make quotes; make
requests; make trips.
"""

from collections.abc import Mapping
from typing import Any, Final

from alembic import op
from sqlalchemy import JSON, BigInteger, Column, Float, Text
from sqlalchemy.dialects.postgresql import JSONB

revision: Final = "0001"
down_revision: Final[str | None] = None

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
    op.create_table(
        "entity_bookings",
        Column("id", Text, primary_key=True),
        Column("avinode_booking_id", Text, nullable=False),
        Column("avinode_rfp_id", Text, nullable=True),
        Column("request_id", Text, nullable=True),
        Column("quote_id", Text, nullable=True),
        Column("trip_id", Text, nullable=True),
        Column("operator_profile_id", Text, nullable=True),
        Column("status", Text, nullable=True),
        Column("departure_airport", Text, nullable=True),
        Column("arrival_airport", Text, nullable=True),
        Column("departure_at", BigInteger, nullable=True),
        Column("passengers", BigInteger, nullable=True),
        Column("aircraft_type", Text, nullable=True),
        Column("total_price", Float(53), nullable=True),
        Column("currency", Text, nullable=True),
        Column("total_price_usd", Float(53), nullable=True),
        Column("cancellation_reason", Text, nullable=True),
        Column("webhook_id", Text, nullable=False),
        Column("occurred_at", BigInteger, nullable=False),
        Column("created_at", BigInteger, nullable=False),
        Column("updated_at", BigInteger, nullable=False),
        Column("column_times", JSON().with_variant(JSONB(), "postgresql"), nullable=False),
    )
    op.create_index("entity_bookings__updated_at", "entity_bookings", ["updated_at", "id"])
    op.create_index(
        "entity_bookings__avinode_booking_id",
        "entity_bookings",
        ["avinode_booking_id", "updated_at", "id"],
    )
    op.create_index(
        "entity_bookings__avinode_rfp_id", "entity_bookings", ["avinode_rfp_id", "updated_at", "id"]
    )
    op.create_index(
        "entity_bookings__request_id", "entity_bookings", ["request_id", "updated_at", "id"]
    )
    op.create_index(
        "entity_bookings__quote_id", "entity_bookings", ["quote_id", "updated_at", "id"]
    )
    op.create_index("entity_bookings__trip_id", "entity_bookings", ["trip_id", "updated_at", "id"])
    op.create_index("entity_bookings__status", "entity_bookings", ["status", "updated_at", "id"])
    op.create_table(
        "entity_conversations",
        Column("id", Text, primary_key=True),
        Column("avinode_thread_id", Text, nullable=False),
        Column("request_id", Text, nullable=True),
        Column("quote_id", Text, nullable=True),
        Column("operator_profile_id", Text, nullable=True),
        Column("last_message_at", BigInteger, nullable=True),
        Column("webhook_id", Text, nullable=False),
        Column("occurred_at", BigInteger, nullable=False),
        Column("created_at", BigInteger, nullable=False),
        Column("updated_at", BigInteger, nullable=False),
        Column("column_times", JSON().with_variant(JSONB(), "postgresql"), nullable=False),
    )
    op.create_index(
        "entity_conversations__updated_at", "entity_conversations", ["updated_at", "id"]
    )
    op.create_index(
        "entity_conversations__avinode_thread_id",
        "entity_conversations",
        ["avinode_thread_id", "updated_at", "id"],
    )
    op.create_index(
        "entity_conversations__request_id",
        "entity_conversations",
        ["request_id", "updated_at", "id"],
    )
    op.create_index(
        "entity_conversations__quote_id", "entity_conversations", ["quote_id", "updated_at", "id"]
    )
    op.create_index(
        "entity_conversations__operator_profile_id",
        "entity_conversations",
        ["operator_profile_id", "updated_at", "id"],
    )
    op.create_table(
        "entity_messages",
        Column("id", Text, primary_key=True),
        Column("content_type", Text, nullable=False),
        Column("source_id", Text, nullable=False),
        Column("conversation_id", Text, nullable=True),
        Column("sender_type", Text, nullable=True),
        Column("sender_name", Text, nullable=True),
        Column("body", Text, nullable=True),
        Column("sent_at", BigInteger, nullable=True),
        Column("quote_id", Text, nullable=True),
        Column("rich_content", JSON(none_as_null=True), nullable=True),
        Column("webhook_id", Text, nullable=False),
        Column("occurred_at", BigInteger, nullable=False),
        Column("created_at", BigInteger, nullable=False),
        Column("updated_at", BigInteger, nullable=False),
        Column("column_times", JSON().with_variant(JSONB(), "postgresql"), nullable=False),
    )
    op.create_index("entity_messages__updated_at", "entity_messages", ["updated_at", "id"])
    op.create_index(
        "entity_messages__conversation_id",
        "entity_messages",
        ["conversation_id", "updated_at", "id"],
    )
    op.create_index(
        "entity_messages__content_type", "entity_messages", ["content_type", "updated_at", "id"]
    )
    op.create_index(
        "entity_messages__sender_type", "entity_messages", ["sender_type", "updated_at", "id"]
    )
    op.create_index(
        "entity_messages__quote_id", "entity_messages", ["quote_id", "updated_at", "id"]
    )
    op.create_index(
        "entity_messages__source_id", "entity_messages", ["source_id", "updated_at", "id"]
    )
    op.create_table(
        "entity_operator_profiles",
        Column("id", Text, primary_key=True),
        Column("avinode_operator_id", Text, nullable=False),
        Column("company_name", Text, nullable=True),
        Column("rating", Float(53), nullable=True),
        Column("safety_rating", Text, nullable=True),
        Column("contact_email", Text, nullable=True),
        Column("contact_phone", Text, nullable=True),
        Column("webhook_id", Text, nullable=False),
        Column("occurred_at", BigInteger, nullable=False),
        Column("created_at", BigInteger, nullable=False),
        Column("updated_at", BigInteger, nullable=False),
        Column("column_times", JSON().with_variant(JSONB(), "postgresql"), nullable=False),
    )
    op.create_index(
        "entity_operator_profiles__updated_at", "entity_operator_profiles", ["updated_at", "id"]
    )
    op.create_index(
        "entity_operator_profiles__avinode_operator_id",
        "entity_operator_profiles",
        ["avinode_operator_id", "updated_at", "id"],
    )
    op.create_index(
        "entity_operator_profiles__company_name",
        "entity_operator_profiles",
        ["company_name", "updated_at", "id"],
    )
    op.create_table(
        "entity_quotes",
        Column("id", Text, primary_key=True),
        Column("avinode_quote_id", Text, nullable=False),
        Column("avinode_rfp_id", Text, nullable=True),
        Column("request_id", Text, nullable=True),
        Column("operator_profile_id", Text, nullable=True),
        Column("status", Text, nullable=True),
        Column("aircraft_type", Text, nullable=True),
        Column("aircraft_id", Text, nullable=True),
        Column("price", Float(53), nullable=True),
        Column("currency", Text, nullable=True),
        Column("price_usd", Float(53), nullable=True),
        Column("base_price", Float(53), nullable=True),
        Column("taxes_fees", Float(53), nullable=True),
        Column("valid_until", BigInteger, nullable=True),
        Column("notes", Text, nullable=True),
        Column("rejection_reason", Text, nullable=True),
        Column("webhook_id", Text, nullable=False),
        Column("occurred_at", BigInteger, nullable=False),
        Column("created_at", BigInteger, nullable=False),
        Column("updated_at", BigInteger, nullable=False),
        Column("column_times", JSON().with_variant(JSONB(), "postgresql"), nullable=False),
    )
    op.create_index("entity_quotes__updated_at", "entity_quotes", ["updated_at", "id"])
    op.create_index(
        "entity_quotes__avinode_quote_id", "entity_quotes", ["avinode_quote_id", "updated_at", "id"]
    )
    op.create_index(
        "entity_quotes__avinode_rfp_id", "entity_quotes", ["avinode_rfp_id", "updated_at", "id"]
    )
    op.create_index(
        "entity_quotes__request_id", "entity_quotes", ["request_id", "updated_at", "id"]
    )
    op.create_index(
        "entity_quotes__operator_profile_id",
        "entity_quotes",
        ["operator_profile_id", "updated_at", "id"],
    )
    op.create_index("entity_quotes__status", "entity_quotes", ["status", "updated_at", "id"])
    op.create_table(
        "entity_requests",
        Column("id", Text, primary_key=True),
        Column("avinode_rfp_id", Text, nullable=False),
        Column("avinode_trip_id", Text, nullable=True),
        Column("status", Text, nullable=True),
        Column("buyer_id", Text, nullable=True),
        Column("buyer_name", Text, nullable=True),
        Column("departure_airport", Text, nullable=True),
        Column("arrival_airport", Text, nullable=True),
        Column("departure_at", BigInteger, nullable=True),
        Column("passengers", BigInteger, nullable=True),
        Column("quote_deadline_at", BigInteger, nullable=True),
        Column("special_requirements", Text, nullable=True),
        Column("webhook_id", Text, nullable=False),
        Column("occurred_at", BigInteger, nullable=False),
        Column("created_at", BigInteger, nullable=False),
        Column("updated_at", BigInteger, nullable=False),
        Column("column_times", JSON().with_variant(JSONB(), "postgresql"), nullable=False),
    )
    op.create_index("entity_requests__updated_at", "entity_requests", ["updated_at", "id"])
    op.create_index(
        "entity_requests__avinode_rfp_id", "entity_requests", ["avinode_rfp_id", "updated_at", "id"]
    )
    op.create_index(
        "entity_requests__avinode_trip_id",
        "entity_requests",
        ["avinode_trip_id", "updated_at", "id"],
    )
    op.create_index("entity_requests__status", "entity_requests", ["status", "updated_at", "id"])
    op.create_index(
        "entity_requests__departure_airport",
        "entity_requests",
        ["departure_airport", "updated_at", "id"],
    )
    op.create_index(
        "entity_requests__arrival_airport",
        "entity_requests",
        ["arrival_airport", "updated_at", "id"],
    )
    op.create_table(
        "entity_trips",
        Column("id", Text, primary_key=True),
        Column("avinode_trip_id", Text, nullable=False),
        Column("status", Text, nullable=True),
        Column("departure_airport", Text, nullable=True),
        Column("arrival_airport", Text, nullable=True),
        Column("departure_at", BigInteger, nullable=True),
        Column("return_at", BigInteger, nullable=True),
        Column("passengers", BigInteger, nullable=True),
        Column("deep_link", Text, nullable=True),
        Column("cancellation_reason", Text, nullable=True),
        Column("webhook_id", Text, nullable=False),
        Column("occurred_at", BigInteger, nullable=False),
        Column("created_at", BigInteger, nullable=False),
        Column("updated_at", BigInteger, nullable=False),
        Column("column_times", JSON().with_variant(JSONB(), "postgresql"), nullable=False),
    )
    op.create_index("entity_trips__updated_at", "entity_trips", ["updated_at", "id"])
    op.create_index(
        "entity_trips__avinode_trip_id", "entity_trips", ["avinode_trip_id", "updated_at", "id"]
    )
    op.create_index("entity_trips__status", "entity_trips", ["status", "updated_at", "id"])
    op.create_index(
        "entity_trips__departure_airport", "entity_trips", ["departure_airport", "updated_at", "id"]
    )
    op.create_index(
        "entity_trips__arrival_airport", "entity_trips", ["arrival_airport", "updated_at", "id"]
    )
