# Generated from schemas/entities/*.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 97805f70f4f5dbeba67a61734019da16; generator 1

"""The rows of entities, as SQLModel classes."""

# SQLModel says that __tablename__ is a method, and takes a text.
# pyright: reportAssignmentType=false

from typing import Any

from sqlalchemy import JSON, BigInteger, Column, Float, Index, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import registry
from sqlmodel import Field, SQLModel


class Rows(SQLModel, registry=registry()):
    """Of this package alone: others may have tables of the same names."""


class BookingsRow(Rows, table=True):
    """A flight that is booked."""

    __tablename__ = "entity_bookings"
    __table_args__ = (
        Index("entity_bookings__updated_at", "updated_at", "id"),
        Index("entity_bookings__avinode_booking_id", "avinode_booking_id", "updated_at", "id"),
        Index("entity_bookings__avinode_rfp_id", "avinode_rfp_id", "updated_at", "id"),
        Index("entity_bookings__request_id", "request_id", "updated_at", "id"),
        Index("entity_bookings__quote_id", "quote_id", "updated_at", "id"),
        Index("entity_bookings__trip_id", "trip_id", "updated_at", "id"),
        Index("entity_bookings__status", "status", "updated_at", "id"),
        {
            "info": {
                "key": ("avinode_booking_id",),
                "filters": (
                    "avinode_booking_id",
                    "avinode_rfp_id",
                    "request_id",
                    "quote_id",
                    "trip_id",
                    "status",
                ),
                "rules": {
                    "defaults": {"currency": {"beside": "total_price", "value": "USD"}},
                    "computed": {
                        "total_price_usd": {"copy": "total_price", "when": {"currency": "USD"}}
                    },
                    "states": {
                        "column": "status",
                        "log": "state_log",
                        "initial": ("confirmed", "cancelled"),
                        "next": {"confirmed": ("cancelled",), "cancelled": ()},
                        "carries": ("cancellation_reason",),
                        "same": {},
                    },
                },
            }
        },
    )

    id: str = Field(sa_column=Column("id", Text, primary_key=True, info={"kind": "text"}))
    """The row's id: a UUIDv5 of its kind and key."""
    avinode_booking_id: str = Field(
        sa_column=Column("avinode_booking_id", Text, nullable=False, info={"kind": "text"})
    )
    """Avinode's id of the booking."""
    avinode_rfp_id: str | None = Field(
        default=None, sa_column=Column("avinode_rfp_id", Text, nullable=True, info={"kind": "text"})
    )
    """Avinode's id of the request for proposal behind it."""
    request_id: str | None = Field(
        default=None, sa_column=Column("request_id", Text, nullable=True, info={"kind": "text"})
    )
    """The request behind it."""
    quote_id: str | None = Field(
        default=None, sa_column=Column("quote_id", Text, nullable=True, info={"kind": "text"})
    )
    """The quote that was accepted."""
    trip_id: str | None = Field(
        default=None, sa_column=Column("trip_id", Text, nullable=True, info={"kind": "text"})
    )
    """The trip that it belongs to."""
    operator_profile_id: str | None = Field(
        default=None,
        sa_column=Column("operator_profile_id", Text, nullable=True, info={"kind": "text"}),
    )
    """The operator who flies."""
    status: str | None = Field(
        default=None, sa_column=Column("status", Text, nullable=True, info={"kind": "text"})
    )
    """Where the booking stands."""
    departure_airport: str | None = Field(
        default=None,
        sa_column=Column("departure_airport", Text, nullable=True, info={"kind": "text"}),
    )
    """ICAO code of the airport of departure."""
    arrival_airport: str | None = Field(
        default=None,
        sa_column=Column("arrival_airport", Text, nullable=True, info={"kind": "text"}),
    )
    """ICAO code of the airport of arrival."""
    departure_at: int | None = Field(
        default=None,
        sa_column=Column("departure_at", BigInteger, nullable=True, info={"kind": "moment"}),
    )
    """When the flight departs."""
    passengers: int | None = Field(
        default=None,
        sa_column=Column("passengers", BigInteger, nullable=True, info={"kind": "integer"}),
    )
    """How many passengers fly."""
    aircraft_type: str | None = Field(
        default=None, sa_column=Column("aircraft_type", Text, nullable=True, info={"kind": "text"})
    )
    """The type of the aircraft."""
    total_price: float | None = Field(
        default=None,
        sa_column=Column("total_price", Float(53), nullable=True, info={"kind": "number"}),
    )
    """Price with everything, in the booking's currency."""
    currency: str | None = Field(
        default=None, sa_column=Column("currency", Text, nullable=True, info={"kind": "text"})
    )
    """ISO 4217 code of the booking's currency."""
    total_price_usd: float | None = Field(
        default=None,
        sa_column=Column("total_price_usd", Float(53), nullable=True, info={"kind": "number"}),
    )
    """Price with everything, in US dollars; null where the booking has another currency."""
    cancellation_reason: str | None = Field(
        default=None,
        sa_column=Column("cancellation_reason", Text, nullable=True, info={"kind": "text"}),
    )
    """Why the booking was cancelled."""
    state_log: Any = Field(
        default=None,
        sa_column=Column(
            "state_log", JSON(none_as_null=True), nullable=True, info={"kind": "json"}
        ),
    )
    """The states that messages have reported, in the order in which they happened. Where `applied` is
    false the state could not follow, and the row stayed as it was.
    """
    webhook_id: str = Field(
        sa_column=Column("webhook_id", Text, nullable=False, info={"kind": "text"})
    )
    """The message that wrote the row last."""
    occurred_at: int = Field(
        sa_column=Column("occurred_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the latest change in the row happened."""
    created_at: int = Field(
        sa_column=Column("created_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the row was first written."""
    updated_at: int = Field(
        sa_column=Column("updated_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the row was written last."""
    column_times: Any = Field(
        sa_column=Column("column_times", JSON().with_variant(JSONB(), "postgresql"), nullable=False)
    )
    """By column, when its value changed: microseconds since 1970."""


class ConversationsRow(Rows, table=True):
    """A thread between the client's broker and an operator, in which the gateway speaks too."""

    __tablename__ = "entity_conversations"
    __table_args__ = (
        Index("entity_conversations__updated_at", "updated_at", "id"),
        Index("entity_conversations__avinode_thread_id", "avinode_thread_id", "updated_at", "id"),
        Index("entity_conversations__request_id", "request_id", "updated_at", "id"),
        Index("entity_conversations__quote_id", "quote_id", "updated_at", "id"),
        Index(
            "entity_conversations__operator_profile_id", "operator_profile_id", "updated_at", "id"
        ),
        {
            "info": {
                "key": ("avinode_thread_id",),
                "filters": (
                    "avinode_thread_id",
                    "request_id",
                    "quote_id",
                    "operator_profile_id",
                ),
            }
        },
    )

    id: str = Field(sa_column=Column("id", Text, primary_key=True, info={"kind": "text"}))
    """The row's id: a UUIDv5 of its kind and key."""
    avinode_thread_id: str = Field(
        sa_column=Column("avinode_thread_id", Text, nullable=False, info={"kind": "text"})
    )
    """Avinode's id of the thread; the quote's id where Avinode names no thread."""
    request_id: str | None = Field(
        default=None, sa_column=Column("request_id", Text, nullable=True, info={"kind": "text"})
    )
    """The request that it is about."""
    quote_id: str | None = Field(
        default=None, sa_column=Column("quote_id", Text, nullable=True, info={"kind": "text"})
    )
    """The quote that it is about."""
    operator_profile_id: str | None = Field(
        default=None,
        sa_column=Column("operator_profile_id", Text, nullable=True, info={"kind": "text"}),
    )
    """The operator who takes part."""
    last_message_at: int | None = Field(
        default=None,
        sa_column=Column("last_message_at", BigInteger, nullable=True, info={"kind": "moment"}),
    )
    """When the last message was sent."""
    webhook_id: str = Field(
        sa_column=Column("webhook_id", Text, nullable=False, info={"kind": "text"})
    )
    """The message that wrote the row last."""
    occurred_at: int = Field(
        sa_column=Column("occurred_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the latest change in the row happened."""
    created_at: int = Field(
        sa_column=Column("created_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the row was first written."""
    updated_at: int = Field(
        sa_column=Column("updated_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the row was written last."""
    column_times: Any = Field(
        sa_column=Column("column_times", JSON().with_variant(JSONB(), "postgresql"), nullable=False)
    )
    """By column, when its value changed: microseconds since 1970."""


class MessagesRow(Rows, table=True):
    """What was said in a conversation."""

    __tablename__ = "entity_messages"
    __table_args__ = (
        Index("entity_messages__updated_at", "updated_at", "id"),
        Index("entity_messages__conversation_id", "conversation_id", "updated_at", "id"),
        Index("entity_messages__content_type", "content_type", "updated_at", "id"),
        Index("entity_messages__sender_type", "sender_type", "updated_at", "id"),
        Index("entity_messages__quote_id", "quote_id", "updated_at", "id"),
        Index("entity_messages__source_id", "source_id", "updated_at", "id"),
        {
            "info": {
                "key": (
                    "content_type",
                    "source_id",
                ),
                "filters": (
                    "conversation_id",
                    "content_type",
                    "sender_type",
                    "quote_id",
                    "source_id",
                ),
            }
        },
    )

    id: str = Field(sa_column=Column("id", Text, primary_key=True, info={"kind": "text"}))
    """The row's id: a UUIDv5 of its kind and key."""
    content_type: str = Field(
        sa_column=Column("content_type", Text, nullable=False, info={"kind": "text"})
    )
    """`text`: somebody wrote. `quote_shared`: the gateway reports a quote."""
    source_id: str = Field(
        sa_column=Column("source_id", Text, nullable=False, info={"kind": "text"})
    )
    """Avinode's id of the message; for `quote_shared` that of the quote."""
    conversation_id: str | None = Field(
        default=None,
        sa_column=Column("conversation_id", Text, nullable=True, info={"kind": "text"}),
    )
    """The conversation that it belongs to."""
    sender_type: str | None = Field(
        default=None, sa_column=Column("sender_type", Text, nullable=True, info={"kind": "text"})
    )
    """Who speaks."""
    sender_name: str | None = Field(
        default=None, sa_column=Column("sender_name", Text, nullable=True, info={"kind": "text"})
    )
    """The sender's name."""
    body: str | None = Field(
        default=None, sa_column=Column("body", Text, nullable=True, info={"kind": "text"})
    )
    """What was written."""
    sent_at: int | None = Field(
        default=None,
        sa_column=Column("sent_at", BigInteger, nullable=True, info={"kind": "moment"}),
    )
    """When it was sent."""
    quote_id: str | None = Field(
        default=None, sa_column=Column("quote_id", Text, nullable=True, info={"kind": "text"})
    )
    """The quote that it is about."""
    rich_content: Any = Field(
        default=None,
        sa_column=Column(
            "rich_content", JSON(none_as_null=True), nullable=True, info={"kind": "json"}
        ),
    )
    """What a chat shows in place of a text."""
    webhook_id: str = Field(
        sa_column=Column("webhook_id", Text, nullable=False, info={"kind": "text"})
    )
    """The message that wrote the row last."""
    occurred_at: int = Field(
        sa_column=Column("occurred_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the latest change in the row happened."""
    created_at: int = Field(
        sa_column=Column("created_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the row was first written."""
    updated_at: int = Field(
        sa_column=Column("updated_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the row was written last."""
    column_times: Any = Field(
        sa_column=Column("column_times", JSON().with_variant(JSONB(), "postgresql"), nullable=False)
    )
    """By column, when its value changed: microseconds since 1970."""


class OperatorProfilesRow(Rows, table=True):
    """A company that flies charters."""

    __tablename__ = "entity_operator_profiles"
    __table_args__ = (
        Index("entity_operator_profiles__updated_at", "updated_at", "id"),
        Index(
            "entity_operator_profiles__avinode_operator_id",
            "avinode_operator_id",
            "updated_at",
            "id",
        ),
        Index("entity_operator_profiles__company_name", "company_name", "updated_at", "id"),
        {
            "info": {
                "key": ("avinode_operator_id",),
                "filters": (
                    "avinode_operator_id",
                    "company_name",
                ),
            }
        },
    )

    id: str = Field(sa_column=Column("id", Text, primary_key=True, info={"kind": "text"}))
    """The row's id: a UUIDv5 of its kind and key."""
    avinode_operator_id: str = Field(
        sa_column=Column("avinode_operator_id", Text, nullable=False, info={"kind": "text"})
    )
    """Avinode's id of the company."""
    company_name: str | None = Field(
        default=None, sa_column=Column("company_name", Text, nullable=True, info={"kind": "text"})
    )
    """The company's name."""
    rating: float | None = Field(
        default=None, sa_column=Column("rating", Float(53), nullable=True, info={"kind": "number"})
    )
    """Rating by customers, from 0 to 5."""
    safety_rating: str | None = Field(
        default=None, sa_column=Column("safety_rating", Text, nullable=True, info={"kind": "text"})
    )
    """The safety rating, such as ARGUS Gold."""
    contact_email: str | None = Field(
        default=None, sa_column=Column("contact_email", Text, nullable=True, info={"kind": "text"})
    )
    """Where the company is written to."""
    contact_phone: str | None = Field(
        default=None, sa_column=Column("contact_phone", Text, nullable=True, info={"kind": "text"})
    )
    """Where the company is called."""
    webhook_id: str = Field(
        sa_column=Column("webhook_id", Text, nullable=False, info={"kind": "text"})
    )
    """The message that wrote the row last."""
    occurred_at: int = Field(
        sa_column=Column("occurred_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the latest change in the row happened."""
    created_at: int = Field(
        sa_column=Column("created_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the row was first written."""
    updated_at: int = Field(
        sa_column=Column("updated_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the row was written last."""
    column_times: Any = Field(
        sa_column=Column("column_times", JSON().with_variant(JSONB(), "postgresql"), nullable=False)
    )
    """By column, when its value changed: microseconds since 1970."""


class QuotesRow(Rows, table=True):
    """What an operator asks for a flight."""

    __tablename__ = "entity_quotes"
    __table_args__ = (
        Index("entity_quotes__updated_at", "updated_at", "id"),
        Index("entity_quotes__avinode_quote_id", "avinode_quote_id", "updated_at", "id"),
        Index("entity_quotes__avinode_rfp_id", "avinode_rfp_id", "updated_at", "id"),
        Index("entity_quotes__request_id", "request_id", "updated_at", "id"),
        Index("entity_quotes__operator_profile_id", "operator_profile_id", "updated_at", "id"),
        Index("entity_quotes__status", "status", "updated_at", "id"),
        {
            "info": {
                "key": ("avinode_quote_id",),
                "filters": (
                    "avinode_quote_id",
                    "avinode_rfp_id",
                    "request_id",
                    "operator_profile_id",
                    "status",
                ),
                "rules": {
                    "agent": ("iso_request_id", "details"),
                    "defaults": {"currency": {"beside": "price", "value": "USD"}},
                    "computed": {"price_usd": {"copy": "price", "when": {"currency": "USD"}}},
                    "states": {
                        "column": "status",
                        "log": "state_log",
                        "initial": ("received", "expired", "rejected", "accepted"),
                        "next": {
                            "received": ("expired", "rejected", "accepted"),
                            "expired": ("accepted",),
                            "rejected": (),
                            "accepted": (),
                        },
                        "carries": ("rejection_reason",),
                        "same": {},
                    },
                },
            }
        },
    )

    id: str = Field(sa_column=Column("id", Text, primary_key=True, info={"kind": "text"}))
    """The row's id: a UUIDv5 of its kind and key."""
    avinode_quote_id: str = Field(
        sa_column=Column("avinode_quote_id", Text, nullable=False, info={"kind": "text"})
    )
    """Avinode's id of the quote."""
    avinode_rfp_id: str | None = Field(
        default=None, sa_column=Column("avinode_rfp_id", Text, nullable=True, info={"kind": "text"})
    )
    """Avinode's id of the request for proposal that it answers."""
    request_id: str | None = Field(
        default=None, sa_column=Column("request_id", Text, nullable=True, info={"kind": "text"})
    )
    """The request that it answers."""
    operator_profile_id: str | None = Field(
        default=None,
        sa_column=Column("operator_profile_id", Text, nullable=True, info={"kind": "text"}),
    )
    """The operator who quotes."""
    status: str | None = Field(
        default=None, sa_column=Column("status", Text, nullable=True, info={"kind": "text"})
    )
    """Where the quote stands."""
    aircraft_type: str | None = Field(
        default=None, sa_column=Column("aircraft_type", Text, nullable=True, info={"kind": "text"})
    )
    """The type of the offered aircraft, such as Citation X."""
    aircraft_id: str | None = Field(
        default=None, sa_column=Column("aircraft_id", Text, nullable=True, info={"kind": "text"})
    )
    """Avinode's id of the offered aircraft."""
    price: float | None = Field(
        default=None, sa_column=Column("price", Float(53), nullable=True, info={"kind": "number"})
    )
    """Price with everything, in the quote's currency."""
    currency: str | None = Field(
        default=None, sa_column=Column("currency", Text, nullable=True, info={"kind": "text"})
    )
    """ISO 4217 code of the quote's currency."""
    price_usd: float | None = Field(
        default=None,
        sa_column=Column("price_usd", Float(53), nullable=True, info={"kind": "number"}),
    )
    """Price with everything, in US dollars; null where the quote has another currency."""
    base_price: float | None = Field(
        default=None,
        sa_column=Column("base_price", Float(53), nullable=True, info={"kind": "number"}),
    )
    """Price before taxes and fees, in the quote's currency."""
    taxes_fees: float | None = Field(
        default=None,
        sa_column=Column("taxes_fees", Float(53), nullable=True, info={"kind": "number"}),
    )
    """Taxes and fees, in the quote's currency."""
    valid_until: int | None = Field(
        default=None,
        sa_column=Column("valid_until", BigInteger, nullable=True, info={"kind": "moment"}),
    )
    """When the quote lapses."""
    notes: str | None = Field(
        default=None, sa_column=Column("notes", Text, nullable=True, info={"kind": "text"})
    )
    """What the operator adds in words."""
    rejection_reason: str | None = Field(
        default=None,
        sa_column=Column("rejection_reason", Text, nullable=True, info={"kind": "text"}),
    )
    """Why the quote was rejected."""
    avinode_operator_id: str | None = Field(
        default=None,
        sa_column=Column("avinode_operator_id", Text, nullable=True, info={"kind": "text"}),
    )
    """Avinode's id of the operator who quotes."""
    operator_name: str | None = Field(
        default=None, sa_column=Column("operator_name", Text, nullable=True, info={"kind": "text"})
    )
    """The operator's name when it quoted."""
    operator_rating: float | None = Field(
        default=None,
        sa_column=Column("operator_rating", Float(53), nullable=True, info={"kind": "number"}),
    )
    """The operator's rating by customers when it quoted, from 0 to 5."""
    operator_safety_rating: str | None = Field(
        default=None,
        sa_column=Column("operator_safety_rating", Text, nullable=True, info={"kind": "text"}),
    )
    """The operator's safety rating when it quoted, such as ARGUS Gold."""
    aircraft_category: str | None = Field(
        default=None,
        sa_column=Column("aircraft_category", Text, nullable=True, info={"kind": "text"}),
    )
    """The category of the offered aircraft."""
    amenities: Any = Field(
        default=None,
        sa_column=Column(
            "amenities", JSON(none_as_null=True), nullable=True, info={"kind": "json"}
        ),
    )
    """What is on board, such as wifi."""
    flight_minutes: int | None = Field(
        default=None,
        sa_column=Column("flight_minutes", BigInteger, nullable=True, info={"kind": "integer"}),
    )
    """Minutes from departure to arrival."""
    iso_request_id: str | None = Field(
        default=None, sa_column=Column("iso_request_id", Text, nullable=True, info={"kind": "text"})
    )
    """The client's request behind it, in the table iso_requests."""
    details: Any = Field(
        default=None,
        sa_column=Column("details", JSON(none_as_null=True), nullable=True, info={"kind": "json"}),
    )
    """What agents note of the quote."""
    state_log: Any = Field(
        default=None,
        sa_column=Column(
            "state_log", JSON(none_as_null=True), nullable=True, info={"kind": "json"}
        ),
    )
    """The states that messages have reported, in the order in which they happened. Where `applied` is
    false the state could not follow, and the row stayed as it was.
    """
    webhook_id: str = Field(
        sa_column=Column("webhook_id", Text, nullable=False, info={"kind": "text"})
    )
    """The message that wrote the row last."""
    occurred_at: int = Field(
        sa_column=Column("occurred_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the latest change in the row happened."""
    created_at: int = Field(
        sa_column=Column("created_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the row was first written."""
    updated_at: int = Field(
        sa_column=Column("updated_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the row was written last."""
    column_times: Any = Field(
        sa_column=Column("column_times", JSON().with_variant(JSONB(), "postgresql"), nullable=False)
    )
    """By column, when its value changed: microseconds since 1970."""


class RequestsRow(Rows, table=True):
    """A client's request for a flight, for which operators are asked for proposals."""

    __tablename__ = "entity_requests"
    __table_args__ = (
        Index("entity_requests__updated_at", "updated_at", "id"),
        Index("entity_requests__avinode_rfp_id", "avinode_rfp_id", "updated_at", "id"),
        Index("entity_requests__avinode_trip_id", "avinode_trip_id", "updated_at", "id"),
        Index("entity_requests__status", "status", "updated_at", "id"),
        Index("entity_requests__departure_airport", "departure_airport", "updated_at", "id"),
        Index("entity_requests__arrival_airport", "arrival_airport", "updated_at", "id"),
        {
            "info": {
                "key": ("avinode_rfp_id",),
                "filters": (
                    "avinode_rfp_id",
                    "avinode_trip_id",
                    "status",
                    "departure_airport",
                    "arrival_airport",
                ),
                "rules": {
                    "agent": ("iso_request_id",),
                    "states": {
                        "column": "status",
                        "log": "state_log",
                        "initial": ("open", "booked", "reopened", "cancelled"),
                        "next": {
                            "open": ("booked", "reopened", "cancelled"),
                            "booked": ("reopened", "cancelled"),
                            "reopened": ("booked", "cancelled"),
                            "cancelled": (),
                        },
                        "carries": ("booking_id",),
                        "same": {"reopened": "booking_id"},
                    },
                },
            }
        },
    )

    id: str = Field(sa_column=Column("id", Text, primary_key=True, info={"kind": "text"}))
    """The row's id: a UUIDv5 of its kind and key."""
    avinode_rfp_id: str = Field(
        sa_column=Column("avinode_rfp_id", Text, nullable=False, info={"kind": "text"})
    )
    """Avinode's id of the request for proposal."""
    avinode_trip_id: str | None = Field(
        default=None,
        sa_column=Column("avinode_trip_id", Text, nullable=True, info={"kind": "text"}),
    )
    """Avinode's id of the trip that it belongs to."""
    status: str | None = Field(
        default=None, sa_column=Column("status", Text, nullable=True, info={"kind": "text"})
    )
    """Where the request stands. `reopened`: its booking was cancelled, and it looks for a flight
    again.
    """
    buyer_id: str | None = Field(
        default=None, sa_column=Column("buyer_id", Text, nullable=True, info={"kind": "text"})
    )
    """Avinode's id of the company that asks."""
    buyer_name: str | None = Field(
        default=None, sa_column=Column("buyer_name", Text, nullable=True, info={"kind": "text"})
    )
    """The name of the company that asks."""
    departure_airport: str | None = Field(
        default=None,
        sa_column=Column("departure_airport", Text, nullable=True, info={"kind": "text"}),
    )
    """ICAO code of the airport of departure."""
    arrival_airport: str | None = Field(
        default=None,
        sa_column=Column("arrival_airport", Text, nullable=True, info={"kind": "text"}),
    )
    """ICAO code of the airport of arrival."""
    departure_at: int | None = Field(
        default=None,
        sa_column=Column("departure_at", BigInteger, nullable=True, info={"kind": "moment"}),
    )
    """When the flight is to depart."""
    passengers: int | None = Field(
        default=None,
        sa_column=Column("passengers", BigInteger, nullable=True, info={"kind": "integer"}),
    )
    """How many passengers fly."""
    quote_deadline_at: int | None = Field(
        default=None,
        sa_column=Column("quote_deadline_at", BigInteger, nullable=True, info={"kind": "moment"}),
    )
    """Until when operators may quote."""
    special_requirements: str | None = Field(
        default=None,
        sa_column=Column("special_requirements", Text, nullable=True, info={"kind": "text"}),
    )
    """Wishes in words."""
    iso_request_id: str | None = Field(
        default=None, sa_column=Column("iso_request_id", Text, nullable=True, info={"kind": "text"})
    )
    """The client's request behind it, in the table iso_requests."""
    booking_id: str | None = Field(
        default=None, sa_column=Column("booking_id", Text, nullable=True, info={"kind": "text"})
    )
    """The latest booking, or the one whose cancellation reopened the request."""
    state_log: Any = Field(
        default=None,
        sa_column=Column(
            "state_log", JSON(none_as_null=True), nullable=True, info={"kind": "json"}
        ),
    )
    """The states that messages have reported, in the order in which they happened. Where `applied` is
    false the state could not follow, and the row stayed as it was.
    """
    webhook_id: str = Field(
        sa_column=Column("webhook_id", Text, nullable=False, info={"kind": "text"})
    )
    """The message that wrote the row last."""
    occurred_at: int = Field(
        sa_column=Column("occurred_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the latest change in the row happened."""
    created_at: int = Field(
        sa_column=Column("created_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the row was first written."""
    updated_at: int = Field(
        sa_column=Column("updated_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the row was written last."""
    column_times: Any = Field(
        sa_column=Column("column_times", JSON().with_variant(JSONB(), "postgresql"), nullable=False)
    )
    """By column, when its value changed: microseconds since 1970."""


class TripsRow(Rows, table=True):
    """A journey as Avinode keeps it: what a client searches aircraft for."""

    __tablename__ = "entity_trips"
    __table_args__ = (
        Index("entity_trips__updated_at", "updated_at", "id"),
        Index("entity_trips__avinode_trip_id", "avinode_trip_id", "updated_at", "id"),
        Index("entity_trips__status", "status", "updated_at", "id"),
        Index("entity_trips__departure_airport", "departure_airport", "updated_at", "id"),
        Index("entity_trips__arrival_airport", "arrival_airport", "updated_at", "id"),
        {
            "info": {
                "key": ("avinode_trip_id",),
                "filters": (
                    "avinode_trip_id",
                    "status",
                    "departure_airport",
                    "arrival_airport",
                ),
                "rules": {
                    "states": {
                        "column": "status",
                        "log": "state_log",
                        "initial": ("active", "cancelled"),
                        "next": {"active": ("cancelled",), "cancelled": ()},
                        "carries": ("cancellation_reason",),
                        "same": {},
                    }
                },
            }
        },
    )

    id: str = Field(sa_column=Column("id", Text, primary_key=True, info={"kind": "text"}))
    """The row's id: a UUIDv5 of its kind and key."""
    avinode_trip_id: str = Field(
        sa_column=Column("avinode_trip_id", Text, nullable=False, info={"kind": "text"})
    )
    """Avinode's id of the trip."""
    status: str | None = Field(
        default=None, sa_column=Column("status", Text, nullable=True, info={"kind": "text"})
    )
    """Where the trip stands."""
    departure_airport: str | None = Field(
        default=None,
        sa_column=Column("departure_airport", Text, nullable=True, info={"kind": "text"}),
    )
    """ICAO code of the airport of departure."""
    arrival_airport: str | None = Field(
        default=None,
        sa_column=Column("arrival_airport", Text, nullable=True, info={"kind": "text"}),
    )
    """ICAO code of the airport of arrival."""
    departure_at: int | None = Field(
        default=None,
        sa_column=Column("departure_at", BigInteger, nullable=True, info={"kind": "moment"}),
    )
    """When the first flight is to depart."""
    return_at: int | None = Field(
        default=None,
        sa_column=Column("return_at", BigInteger, nullable=True, info={"kind": "moment"}),
    )
    """When the flight back is to depart."""
    passengers: int | None = Field(
        default=None,
        sa_column=Column("passengers", BigInteger, nullable=True, info={"kind": "integer"}),
    )
    """How many passengers fly."""
    deep_link: str | None = Field(
        default=None, sa_column=Column("deep_link", Text, nullable=True, info={"kind": "text"})
    )
    """The page on which operators are searched."""
    cancellation_reason: str | None = Field(
        default=None,
        sa_column=Column("cancellation_reason", Text, nullable=True, info={"kind": "text"}),
    )
    """Why the trip was cancelled."""
    state_log: Any = Field(
        default=None,
        sa_column=Column(
            "state_log", JSON(none_as_null=True), nullable=True, info={"kind": "json"}
        ),
    )
    """The states that messages have reported, in the order in which they happened. Where `applied` is
    false the state could not follow, and the row stayed as it was.
    """
    webhook_id: str = Field(
        sa_column=Column("webhook_id", Text, nullable=False, info={"kind": "text"})
    )
    """The message that wrote the row last."""
    occurred_at: int = Field(
        sa_column=Column("occurred_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the latest change in the row happened."""
    created_at: int = Field(
        sa_column=Column("created_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the row was first written."""
    updated_at: int = Field(
        sa_column=Column("updated_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the row was written last."""
    column_times: Any = Field(
        sa_column=Column("column_times", JSON().with_variant(JSONB(), "postgresql"), nullable=False)
    )
    """By column, when its value changed: microseconds since 1970."""
