# Generated from schemas/entities/*.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 005b2ce4904333744df95518895349e3; generator 1

"""The rows of entities, as SQLModel classes."""

# SQLModel declares __tablename__ as a method, and accepts a text.
# pyright: reportAssignmentType=false

from typing import Any

from sqlalchemy import JSON, BigInteger, Column, Float, Index, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import registry
from sqlmodel import Field, SQLModel


class Rows(SQLModel, registry=registry()):
    """The base with this package's own registry, separate from other packages."""


class BookingsRow(Rows, table=True):
    """A booked flight."""

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
    """Id of the row: a UUIDv5 of its kind and key."""
    avinode_booking_id: str = Field(
        sa_column=Column("avinode_booking_id", Text, nullable=False, info={"kind": "text"})
    )
    """Avinode's id of the booking."""
    avinode_rfp_id: str | None = Field(
        default=None, sa_column=Column("avinode_rfp_id", Text, nullable=True, info={"kind": "text"})
    )
    """Avinode's id of the request for proposal."""
    request_id: str | None = Field(
        default=None, sa_column=Column("request_id", Text, nullable=True, info={"kind": "text"})
    )
    """Id of the row in requests."""
    quote_id: str | None = Field(
        default=None, sa_column=Column("quote_id", Text, nullable=True, info={"kind": "text"})
    )
    """Id of the accepted quote's row in quotes."""
    trip_id: str | None = Field(
        default=None, sa_column=Column("trip_id", Text, nullable=True, info={"kind": "text"})
    )
    """Id of the row in trips."""
    operator_profile_id: str | None = Field(
        default=None,
        sa_column=Column("operator_profile_id", Text, nullable=True, info={"kind": "text"}),
    )
    """Id of the operator's row in operator_profiles."""
    status: str | None = Field(
        default=None, sa_column=Column("status", Text, nullable=True, info={"kind": "text"})
    )
    """Status of the booking."""
    departure_airport: str | None = Field(
        default=None,
        sa_column=Column("departure_airport", Text, nullable=True, info={"kind": "text"}),
    )
    """ICAO code of the departure airport."""
    arrival_airport: str | None = Field(
        default=None,
        sa_column=Column("arrival_airport", Text, nullable=True, info={"kind": "text"}),
    )
    """ICAO code of the arrival airport."""
    departure_at: int | None = Field(
        default=None,
        sa_column=Column("departure_at", BigInteger, nullable=True, info={"kind": "moment"}),
    )
    """Departure time."""
    passengers: int | None = Field(
        default=None,
        sa_column=Column("passengers", BigInteger, nullable=True, info={"kind": "integer"}),
    )
    """Number of passengers."""
    aircraft_type: str | None = Field(
        default=None, sa_column=Column("aircraft_type", Text, nullable=True, info={"kind": "text"})
    )
    """Type of the aircraft."""
    total_price: float | None = Field(
        default=None,
        sa_column=Column("total_price", Float(53), nullable=True, info={"kind": "number"}),
    )
    """Total price, in the booking's currency."""
    currency: str | None = Field(
        default=None, sa_column=Column("currency", Text, nullable=True, info={"kind": "text"})
    )
    """ISO 4217 code of the booking's currency."""
    total_price_usd: float | None = Field(
        default=None,
        sa_column=Column("total_price_usd", Float(53), nullable=True, info={"kind": "number"}),
    )
    """Total price, in US dollars; null if the booking has another currency."""
    cancellation_reason: str | None = Field(
        default=None,
        sa_column=Column("cancellation_reason", Text, nullable=True, info={"kind": "text"}),
    )
    """Reason for the cancellation."""
    state_log: Any = Field(
        default=None,
        sa_column=Column(
            "state_log", JSON(none_as_null=True), nullable=True, info={"kind": "json"}
        ),
    )
    """The states that messages reported, in the order in which they happened. If `applied` is false,
    the state was not a valid next state, and the row was not changed.
    """
    webhook_id: str = Field(
        sa_column=Column("webhook_id", Text, nullable=False, info={"kind": "text"})
    )
    """Id of the message that last wrote the row."""
    occurred_at: int = Field(
        sa_column=Column("occurred_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the last change in the row happened."""
    created_at: int = Field(
        sa_column=Column("created_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the gateway first wrote the row."""
    updated_at: int = Field(
        sa_column=Column("updated_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the gateway last wrote the row."""
    column_times: Any = Field(
        sa_column=Column("column_times", JSON().with_variant(JSONB(), "postgresql"), nullable=False)
    )
    """By column, the time of its last change: microseconds since 1970."""


class ConversationsRow(Rows, table=True):
    """A thread between the client's broker and an operator. The gateway also posts in it."""

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
    """Id of the row: a UUIDv5 of its kind and key."""
    avinode_thread_id: str = Field(
        sa_column=Column("avinode_thread_id", Text, nullable=False, info={"kind": "text"})
    )
    """Avinode's id of the thread, or of the quote if Avinode names no thread."""
    request_id: str | None = Field(
        default=None, sa_column=Column("request_id", Text, nullable=True, info={"kind": "text"})
    )
    """Id of the row in requests."""
    quote_id: str | None = Field(
        default=None, sa_column=Column("quote_id", Text, nullable=True, info={"kind": "text"})
    )
    """Id of the row in quotes."""
    operator_profile_id: str | None = Field(
        default=None,
        sa_column=Column("operator_profile_id", Text, nullable=True, info={"kind": "text"}),
    )
    """Id of the operator's row in operator_profiles."""
    last_message_at: int | None = Field(
        default=None,
        sa_column=Column("last_message_at", BigInteger, nullable=True, info={"kind": "moment"}),
    )
    """Time of the last message."""
    webhook_id: str = Field(
        sa_column=Column("webhook_id", Text, nullable=False, info={"kind": "text"})
    )
    """Id of the message that last wrote the row."""
    occurred_at: int = Field(
        sa_column=Column("occurred_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the last change in the row happened."""
    created_at: int = Field(
        sa_column=Column("created_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the gateway first wrote the row."""
    updated_at: int = Field(
        sa_column=Column("updated_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the gateway last wrote the row."""
    column_times: Any = Field(
        sa_column=Column("column_times", JSON().with_variant(JSONB(), "postgresql"), nullable=False)
    )
    """By column, the time of its last change: microseconds since 1970."""


class MessagesRow(Rows, table=True):
    """A message in a conversation."""

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
    """Id of the row: a UUIDv5 of its kind and key."""
    content_type: str = Field(
        sa_column=Column("content_type", Text, nullable=False, info={"kind": "text"})
    )
    """`text`: written by a person. `quote_shared`: the gateway reports a quote."""
    source_id: str = Field(
        sa_column=Column("source_id", Text, nullable=False, info={"kind": "text"})
    )
    """Avinode's id of the message; for `quote_shared`, Avinode's id of the quote."""
    conversation_id: str | None = Field(
        default=None,
        sa_column=Column("conversation_id", Text, nullable=True, info={"kind": "text"}),
    )
    """Id of the row in conversations."""
    sender_type: str | None = Field(
        default=None, sa_column=Column("sender_type", Text, nullable=True, info={"kind": "text"})
    )
    """Kind of the sender."""
    sender_name: str | None = Field(
        default=None, sa_column=Column("sender_name", Text, nullable=True, info={"kind": "text"})
    )
    """Name of the sender."""
    body: str | None = Field(
        default=None, sa_column=Column("body", Text, nullable=True, info={"kind": "text"})
    )
    """Text of the message."""
    sent_at: int | None = Field(
        default=None,
        sa_column=Column("sent_at", BigInteger, nullable=True, info={"kind": "moment"}),
    )
    """Time of sending."""
    quote_id: str | None = Field(
        default=None, sa_column=Column("quote_id", Text, nullable=True, info={"kind": "text"})
    )
    """Id of the row in quotes."""
    rich_content: Any = Field(
        default=None,
        sa_column=Column(
            "rich_content", JSON(none_as_null=True), nullable=True, info={"kind": "json"}
        ),
    )
    """Structured content that a chat shows instead of text."""
    webhook_id: str = Field(
        sa_column=Column("webhook_id", Text, nullable=False, info={"kind": "text"})
    )
    """Id of the message that last wrote the row."""
    occurred_at: int = Field(
        sa_column=Column("occurred_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the last change in the row happened."""
    created_at: int = Field(
        sa_column=Column("created_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the gateway first wrote the row."""
    updated_at: int = Field(
        sa_column=Column("updated_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the gateway last wrote the row."""
    column_times: Any = Field(
        sa_column=Column("column_times", JSON().with_variant(JSONB(), "postgresql"), nullable=False)
    )
    """By column, the time of its last change: microseconds since 1970."""


class OperatorProfilesRow(Rows, table=True):
    """A company that operates charter flights."""

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
    """Id of the row: a UUIDv5 of its kind and key."""
    avinode_operator_id: str = Field(
        sa_column=Column("avinode_operator_id", Text, nullable=False, info={"kind": "text"})
    )
    """Avinode's id of the company."""
    company_name: str | None = Field(
        default=None, sa_column=Column("company_name", Text, nullable=True, info={"kind": "text"})
    )
    """Name of the company."""
    rating: float | None = Field(
        default=None, sa_column=Column("rating", Float(53), nullable=True, info={"kind": "number"})
    )
    """Customer rating, from 0 to 5."""
    safety_rating: str | None = Field(
        default=None, sa_column=Column("safety_rating", Text, nullable=True, info={"kind": "text"})
    )
    """Safety rating, such as ARGUS Gold."""
    contact_email: str | None = Field(
        default=None, sa_column=Column("contact_email", Text, nullable=True, info={"kind": "text"})
    )
    """Email address of the company."""
    contact_phone: str | None = Field(
        default=None, sa_column=Column("contact_phone", Text, nullable=True, info={"kind": "text"})
    )
    """Telephone number of the company."""
    webhook_id: str = Field(
        sa_column=Column("webhook_id", Text, nullable=False, info={"kind": "text"})
    )
    """Id of the message that last wrote the row."""
    occurred_at: int = Field(
        sa_column=Column("occurred_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the last change in the row happened."""
    created_at: int = Field(
        sa_column=Column("created_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the gateway first wrote the row."""
    updated_at: int = Field(
        sa_column=Column("updated_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the gateway last wrote the row."""
    column_times: Any = Field(
        sa_column=Column("column_times", JSON().with_variant(JSONB(), "postgresql"), nullable=False)
    )
    """By column, the time of its last change: microseconds since 1970."""


class QuotesRow(Rows, table=True):
    """An operator's offer for a flight."""

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
                    "inherits": {"iso_request_id": {"from": "requests", "by": "request_id"}},
                },
            }
        },
    )

    id: str = Field(sa_column=Column("id", Text, primary_key=True, info={"kind": "text"}))
    """Id of the row: a UUIDv5 of its kind and key."""
    avinode_quote_id: str = Field(
        sa_column=Column("avinode_quote_id", Text, nullable=False, info={"kind": "text"})
    )
    """Avinode's id of the quote."""
    avinode_rfp_id: str | None = Field(
        default=None, sa_column=Column("avinode_rfp_id", Text, nullable=True, info={"kind": "text"})
    )
    """Avinode's id of the request for proposal."""
    request_id: str | None = Field(
        default=None, sa_column=Column("request_id", Text, nullable=True, info={"kind": "text"})
    )
    """Id of the row in requests."""
    operator_profile_id: str | None = Field(
        default=None,
        sa_column=Column("operator_profile_id", Text, nullable=True, info={"kind": "text"}),
    )
    """Id of the operator's row in operator_profiles."""
    status: str | None = Field(
        default=None, sa_column=Column("status", Text, nullable=True, info={"kind": "text"})
    )
    """Status of the quote."""
    aircraft_type: str | None = Field(
        default=None, sa_column=Column("aircraft_type", Text, nullable=True, info={"kind": "text"})
    )
    """Type of the offered aircraft, such as Citation X."""
    aircraft_id: str | None = Field(
        default=None, sa_column=Column("aircraft_id", Text, nullable=True, info={"kind": "text"})
    )
    """Avinode's id of the offered aircraft."""
    price: float | None = Field(
        default=None, sa_column=Column("price", Float(53), nullable=True, info={"kind": "number"})
    )
    """Total price, in the quote's currency."""
    currency: str | None = Field(
        default=None, sa_column=Column("currency", Text, nullable=True, info={"kind": "text"})
    )
    """ISO 4217 code of the quote's currency."""
    price_usd: float | None = Field(
        default=None,
        sa_column=Column("price_usd", Float(53), nullable=True, info={"kind": "number"}),
    )
    """Total price, in US dollars; null if the quote has another currency."""
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
    """When the quote expires."""
    notes: str | None = Field(
        default=None, sa_column=Column("notes", Text, nullable=True, info={"kind": "text"})
    )
    """Notes of the operator."""
    rejection_reason: str | None = Field(
        default=None,
        sa_column=Column("rejection_reason", Text, nullable=True, info={"kind": "text"}),
    )
    """Reason for the rejection."""
    avinode_operator_id: str | None = Field(
        default=None,
        sa_column=Column("avinode_operator_id", Text, nullable=True, info={"kind": "text"}),
    )
    """Avinode's id of the operator."""
    operator_name: str | None = Field(
        default=None, sa_column=Column("operator_name", Text, nullable=True, info={"kind": "text"})
    )
    """Name of the operator at the time of the quote."""
    operator_rating: float | None = Field(
        default=None,
        sa_column=Column("operator_rating", Float(53), nullable=True, info={"kind": "number"}),
    )
    """Customer rating of the operator at the time of the quote, from 0 to 5."""
    operator_safety_rating: str | None = Field(
        default=None,
        sa_column=Column("operator_safety_rating", Text, nullable=True, info={"kind": "text"}),
    )
    """Safety rating of the operator at the time of the quote, such as ARGUS Gold."""
    aircraft_category: str | None = Field(
        default=None,
        sa_column=Column("aircraft_category", Text, nullable=True, info={"kind": "text"}),
    )
    """Category of the offered aircraft."""
    amenities: Any = Field(
        default=None,
        sa_column=Column(
            "amenities", JSON(none_as_null=True), nullable=True, info={"kind": "json"}
        ),
    )
    """Amenities on board, such as wifi."""
    flight_minutes: int | None = Field(
        default=None,
        sa_column=Column("flight_minutes", BigInteger, nullable=True, info={"kind": "integer"}),
    )
    """Flight time in minutes."""
    iso_request_id: str | None = Field(
        default=None, sa_column=Column("iso_request_id", Text, nullable=True, info={"kind": "text"})
    )
    """Id of the client's request in the table iso_requests."""
    details: Any = Field(
        default=None,
        sa_column=Column("details", JSON(none_as_null=True), nullable=True, info={"kind": "json"}),
    )
    """Notes of the agents about the quote."""
    state_log: Any = Field(
        default=None,
        sa_column=Column(
            "state_log", JSON(none_as_null=True), nullable=True, info={"kind": "json"}
        ),
    )
    """The states that messages reported, in the order in which they happened. If `applied` is false,
    the state was not a valid next state, and the row was not changed.
    """
    webhook_id: str = Field(
        sa_column=Column("webhook_id", Text, nullable=False, info={"kind": "text"})
    )
    """Id of the message that last wrote the row."""
    occurred_at: int = Field(
        sa_column=Column("occurred_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the last change in the row happened."""
    created_at: int = Field(
        sa_column=Column("created_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the gateway first wrote the row."""
    updated_at: int = Field(
        sa_column=Column("updated_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the gateway last wrote the row."""
    column_times: Any = Field(
        sa_column=Column("column_times", JSON().with_variant(JSONB(), "postgresql"), nullable=False)
    )
    """By column, the time of its last change: microseconds since 1970."""


class RequestsRow(Rows, table=True):
    """A client's request for a flight, which is sent to operators as a request for proposal."""

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
                    "calls": {
                        "avinode.create_rfp": {
                            "avinode_rfp_id": "/result/rfp_id",
                            "status": {"const": "open"},
                            "departure_airport": "/arguments/flight_details/departure_airport",
                            "arrival_airport": "/arguments/flight_details/arrival_airport",
                            "departure_at": "/arguments/flight_details/departure_date",
                            "passengers": "/arguments/flight_details/passengers",
                            "quote_deadline_at": "/result/deadline",
                            "special_requirements": "/arguments/special_requirements",
                            "iso_request_id": "/arguments/request_id",
                        }
                    },
                },
            }
        },
    )

    id: str = Field(sa_column=Column("id", Text, primary_key=True, info={"kind": "text"}))
    """Id of the row: a UUIDv5 of its kind and key."""
    avinode_rfp_id: str = Field(
        sa_column=Column("avinode_rfp_id", Text, nullable=False, info={"kind": "text"})
    )
    """Avinode's id of the request for proposal."""
    avinode_trip_id: str | None = Field(
        default=None,
        sa_column=Column("avinode_trip_id", Text, nullable=True, info={"kind": "text"}),
    )
    """Avinode's id of the trip."""
    status: str | None = Field(
        default=None, sa_column=Column("status", Text, nullable=True, info={"kind": "text"})
    )
    """Status of the request. `reopened`: its booking was cancelled, and a flight is needed again.
    """
    buyer_id: str | None = Field(
        default=None, sa_column=Column("buyer_id", Text, nullable=True, info={"kind": "text"})
    )
    """Avinode's id of the buyer."""
    buyer_name: str | None = Field(
        default=None, sa_column=Column("buyer_name", Text, nullable=True, info={"kind": "text"})
    )
    """Name of the buyer."""
    departure_airport: str | None = Field(
        default=None,
        sa_column=Column("departure_airport", Text, nullable=True, info={"kind": "text"}),
    )
    """ICAO code of the departure airport."""
    arrival_airport: str | None = Field(
        default=None,
        sa_column=Column("arrival_airport", Text, nullable=True, info={"kind": "text"}),
    )
    """ICAO code of the arrival airport."""
    departure_at: int | None = Field(
        default=None,
        sa_column=Column("departure_at", BigInteger, nullable=True, info={"kind": "moment"}),
    )
    """Planned departure time."""
    passengers: int | None = Field(
        default=None,
        sa_column=Column("passengers", BigInteger, nullable=True, info={"kind": "integer"}),
    )
    """Number of passengers."""
    quote_deadline_at: int | None = Field(
        default=None,
        sa_column=Column("quote_deadline_at", BigInteger, nullable=True, info={"kind": "moment"}),
    )
    """Deadline for quotes."""
    special_requirements: str | None = Field(
        default=None,
        sa_column=Column("special_requirements", Text, nullable=True, info={"kind": "text"}),
    )
    """Special requirements, as text."""
    iso_request_id: str | None = Field(
        default=None, sa_column=Column("iso_request_id", Text, nullable=True, info={"kind": "text"})
    )
    """Id of the client's request in the table iso_requests."""
    booking_id: str | None = Field(
        default=None, sa_column=Column("booking_id", Text, nullable=True, info={"kind": "text"})
    )
    """Id of the row in bookings: the latest booking, or the one whose cancellation reopened the
    request.
    """
    state_log: Any = Field(
        default=None,
        sa_column=Column(
            "state_log", JSON(none_as_null=True), nullable=True, info={"kind": "json"}
        ),
    )
    """The states that messages reported, in the order in which they happened. If `applied` is false,
    the state was not a valid next state, and the row was not changed.
    """
    webhook_id: str = Field(
        sa_column=Column("webhook_id", Text, nullable=False, info={"kind": "text"})
    )
    """Id of the message, or of the call, that last wrote the row."""
    occurred_at: int = Field(
        sa_column=Column("occurred_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the last change in the row happened."""
    created_at: int = Field(
        sa_column=Column("created_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the gateway first wrote the row."""
    updated_at: int = Field(
        sa_column=Column("updated_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the gateway last wrote the row."""
    column_times: Any = Field(
        sa_column=Column("column_times", JSON().with_variant(JSONB(), "postgresql"), nullable=False)
    )
    """By column, the time of its last change: microseconds since 1970."""


class TripsRow(Rows, table=True):
    """A trip in Avinode, for which a client searches aircraft."""

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
                    },
                    "calls": {
                        "avinode.create_trip": {
                            "avinode_trip_id": "/result/trip_id",
                            "status": {"const": "active"},
                            "deep_link": "/result/deep_link",
                            "departure_airport": "/arguments/departure_airport",
                            "arrival_airport": "/arguments/arrival_airport",
                            "departure_at": "/arguments/departure_date",
                            "return_at": "/arguments/return_date",
                            "passengers": "/arguments/passengers",
                        },
                        "avinode.search_flights": {
                            "avinode_trip_id": "/result/trip_id",
                            "status": {"const": "active"},
                            "deep_link": "/result/deep_link",
                            "departure_airport": "/arguments/departure_airport",
                            "arrival_airport": "/arguments/arrival_airport",
                            "passengers": "/arguments/passengers",
                        },
                    },
                },
            }
        },
    )

    id: str = Field(sa_column=Column("id", Text, primary_key=True, info={"kind": "text"}))
    """Id of the row: a UUIDv5 of its kind and key."""
    avinode_trip_id: str = Field(
        sa_column=Column("avinode_trip_id", Text, nullable=False, info={"kind": "text"})
    )
    """Avinode's id of the trip."""
    status: str | None = Field(
        default=None, sa_column=Column("status", Text, nullable=True, info={"kind": "text"})
    )
    """Status of the trip."""
    departure_airport: str | None = Field(
        default=None,
        sa_column=Column("departure_airport", Text, nullable=True, info={"kind": "text"}),
    )
    """ICAO code of the departure airport."""
    arrival_airport: str | None = Field(
        default=None,
        sa_column=Column("arrival_airport", Text, nullable=True, info={"kind": "text"}),
    )
    """ICAO code of the arrival airport."""
    departure_at: int | None = Field(
        default=None,
        sa_column=Column("departure_at", BigInteger, nullable=True, info={"kind": "moment"}),
    )
    """Planned departure time of the first flight."""
    return_at: int | None = Field(
        default=None,
        sa_column=Column("return_at", BigInteger, nullable=True, info={"kind": "moment"}),
    )
    """Planned departure time of the return flight."""
    passengers: int | None = Field(
        default=None,
        sa_column=Column("passengers", BigInteger, nullable=True, info={"kind": "integer"}),
    )
    """Number of passengers."""
    deep_link: str | None = Field(
        default=None, sa_column=Column("deep_link", Text, nullable=True, info={"kind": "text"})
    )
    """Link to the page for searching operators."""
    cancellation_reason: str | None = Field(
        default=None,
        sa_column=Column("cancellation_reason", Text, nullable=True, info={"kind": "text"}),
    )
    """Reason for the cancellation."""
    state_log: Any = Field(
        default=None,
        sa_column=Column(
            "state_log", JSON(none_as_null=True), nullable=True, info={"kind": "json"}
        ),
    )
    """The states that messages reported, in the order in which they happened. If `applied` is false,
    the state was not a valid next state, and the row was not changed.
    """
    webhook_id: str = Field(
        sa_column=Column("webhook_id", Text, nullable=False, info={"kind": "text"})
    )
    """Id of the message, or of the call, that last wrote the row."""
    occurred_at: int = Field(
        sa_column=Column("occurred_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the last change in the row happened."""
    created_at: int = Field(
        sa_column=Column("created_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the gateway first wrote the row."""
    updated_at: int = Field(
        sa_column=Column("updated_at", BigInteger, nullable=False, info={"kind": "moment"})
    )
    """When the gateway last wrote the row."""
    column_times: Any = Field(
        sa_column=Column("column_times", JSON().with_variant(JSONB(), "postgresql"), nullable=False)
    )
    """By column, the time of its last change: microseconds since 1970."""
