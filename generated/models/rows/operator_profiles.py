# Generated from schemas/entities/operator_profiles.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: f745ca52146f248728c4531319a3b9d9; generator 1

"""A row of operator_profiles."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class OperatorProfiles(BaseModel):
    """
    A company that operates charter flights.

    Schema: schemas/entities/operator_profiles.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    id: str
    """Id of the row: a UUIDv5 of its kind and key."""

    avinode_operator_id: Annotated[
        str, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ]
    """Avinode's id of the company."""

    company_name: Annotated[str | None, Field(max_length=200)] = None
    """Name of the company."""

    rating: Annotated[int | float | None, Field(ge=0.0, le=5.0)] = None
    """Customer rating, from 0 to 5."""

    safety_rating: Annotated[str | None, Field(max_length=100)] = None
    """Safety rating, such as ARGUS Gold."""

    contact_email: Annotated[str | None, Field(max_length=320)] = None
    """Email address of the company."""

    contact_phone: Annotated[str | None, Field(max_length=40)] = None
    """Telephone number of the company."""

    webhook_id: str
    """Id of the message that last wrote the row."""

    occurred_at: str
    """When the last change in the row happened."""

    created_at: str
    """When the gateway first wrote the row."""

    updated_at: str
    """When the gateway last wrote the row."""
