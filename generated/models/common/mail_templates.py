# Generated from schemas/common/mail_templates.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: edb078c099deef1465b302b117c6bbb5; generator 1

"""Definitions that several contracts share: mail_templates."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypeAliasType

ClientName = TypeAliasType(
    "ClientName",
    Annotated[
        str,
        Field(
            max_length=100,
            min_length=1,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$",
        ),
    ],
)
"""Name of the client that the mail addresses, such as John Doe."""


Place = TypeAliasType(
    "Place",
    Annotated[
        str,
        Field(
            max_length=80,
            min_length=1,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$",
        ),
    ],
)
"""An airport as shown to the client, such as Teterboro (KTEB)."""


Day = TypeAliasType("Day", str)
"""A day, YYYY-MM-DD."""


Phone = TypeAliasType(
    "Phone", Annotated[str, Field(max_length=30, min_length=5, pattern="^[+]?[0-9 ()./-]+$")]
)
"""A telephone number, such as +1 555 123 4567."""


Dollars = TypeAliasType(
    "Dollars",
    Annotated[int, Field(ge=0, le=1000000000)] | Annotated[float, Field(ge=0.0, le=1000000000.0)],
)
"""An amount in US dollars."""


Reference = TypeAliasType(
    "Reference",
    Annotated[
        str,
        Field(
            max_length=40,
            min_length=1,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$",
        ),
    ],
)
"""Reference of the booking."""


Operator = TypeAliasType(
    "Operator",
    Annotated[
        str,
        Field(
            max_length=100,
            min_length=1,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$",
        ),
    ],
)
"""Name of the operator of the aircraft."""


AircraftType = TypeAliasType(
    "AircraftType",
    Annotated[
        str,
        Field(
            max_length=100,
            min_length=1,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$",
        ),
    ],
)
"""Type of the aircraft, such as Citation X."""


Passengers = TypeAliasType("Passengers", Annotated[int, Field(ge=1, le=500)])
"""Number of passengers."""


class ProposedAircraft(BaseModel):
    """
    One option of a flight proposal.

    Schema: schemas/common/mail_templates.json#/$defs/ProposedAircraft
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: AircraftType
    price_usd: Dollars
    operator_name: Operator
    capacity: Passengers
    features: Annotated[
        str,
        Field(
            max_length=500,
            min_length=1,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$",
        ),
    ]
    """Amenities, such as Wi-Fi and catering."""


class FlightProposal(BaseModel):
    """
    The variables of the template flight_proposal.

    Schema: schemas/common/mail_templates.json#/$defs/FlightProposal
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    client_name: ClientName
    proposal_count: Annotated[int, Field(ge=1, le=1000)]
    """Number of options: as many as `aircraft` has."""

    departure_airport: Place
    arrival_airport: Place
    departure_date: Day
    aircraft: Annotated[list[ProposedAircraft], Field(max_length=20, min_length=1)]
    """The options, best first."""

    contact_phone: Phone


class BookingConfirmation(BaseModel):
    """
    The variables of the template booking_confirmation.

    Schema: schemas/common/mail_templates.json#/$defs/BookingConfirmation
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    client_name: ClientName
    booking_reference: Reference
    departure_airport: Place
    arrival_airport: Place
    departure_date: Day
    departure_time: Annotated[str, Field(max_length=5, pattern="^(?:[01][0-9]|2[0-3]):[0-5][0-9]$")]
    """Departure time, local, HH:MM."""

    aircraft_type: AircraftType
    operator_name: Operator
    passengers: Passengers
    total_price_usd: Dollars
    contact_phone: Phone
    notes: Annotated[str | None, Field(max_length=2000, min_length=1)] = None
    """Further information for the client; may have several lines."""


class PaymentReceipt(BaseModel):
    """
    The variables of the template payment_receipt.

    Schema: schemas/common/mail_templates.json#/$defs/PaymentReceipt
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    client_name: ClientName
    receipt_number: Annotated[
        str,
        Field(
            max_length=40,
            min_length=1,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$",
        ),
    ]
    """Number of the receipt."""

    payment_date: Day
    amount_usd: Dollars
    payment_method: Annotated[
        str,
        Field(
            max_length=60,
            min_length=1,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$",
        ),
    ]
    """Payment method, such as Wire transfer."""

    payment_for: Annotated[
        str,
        Field(
            max_length=200,
            min_length=1,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$",
        ),
    ]
    """Purpose of the payment."""

    booking_reference: Reference | None = None
    contact_phone: Phone


class FollowUp(BaseModel):
    """
    The variables of the template follow_up.

    Schema: schemas/common/mail_templates.json#/$defs/FollowUp
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    client_name: ClientName
    topic: Annotated[
        str,
        Field(
            max_length=100,
            min_length=1,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$",
        ),
    ]
    """Topic, in a few words."""

    message: Annotated[str, Field(max_length=5000, min_length=1)]
    """The message; may have several lines."""

    agent_name: Annotated[
        str,
        Field(
            max_length=100,
            min_length=1,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$",
        ),
    ]
    """Name of the sender."""

    contact_phone: Phone
