# Generated from schemas/entities/operator_profiles.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: ab3e07044f9441510dc285b7ba70906a; generator 1

"""A row of operator_profiles."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class OperatorProfiles(BaseModel):
    """
    A company that flies charters.

    Schema: schemas/entities/operator_profiles.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    id: str
    """The row's id: a UUIDv5 of its kind and key."""

    avinode_operator_id: Annotated[
        str, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ]
    """Avinode's id of the company."""

    company_name: Annotated[str | None, Field(max_length=200)] = None
    """The company's name."""

    rating: Annotated[int | float | None, Field(ge=0.0, le=5.0)] = None
    """Rating by customers, from 0 to 5."""

    safety_rating: Annotated[str | None, Field(max_length=100)] = None
    """The safety rating, such as ARGUS Gold."""

    contact_email: Annotated[str | None, Field(max_length=320)] = None
    """Where the company is written to."""

    contact_phone: Annotated[str | None, Field(max_length=40)] = None
    """Where the company is called."""

    webhook_id: str
    """The message that wrote the row last."""

    occurred_at: str
    """When the latest change in the row happened."""

    created_at: str
    """When the row was first written."""

    updated_at: str
    """When the row was written last."""
