# Generated from schemas/entities/operator_profiles.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: af0108ca13eaf5d62d8b2f7e8e4f580a; generator 1

"""Operators.

List the operators that Avinode's messages reported, last changed first, in pages.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class OperatorProfilesInput(BaseModel):
    """
    Filters and page.

    Schema: schemas/entities/operator_profiles.json#/x-entity/tools/list
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    avinode_operator_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """Only the operator with this Avinode id."""

    company_name: Annotated[str | None, Field(max_length=200)] = None
    """Only operators with this company name."""

    limit: Annotated[int, Field(ge=1, le=200)] = 50
    """Maximum number of rows in one page."""

    cursor: Annotated[str | None, Field(max_length=300, min_length=1)] = None
    """Start of the page: `next_cursor` of the previous page. Keep the same filters."""


class Item(BaseModel):
    """A company that operates charter flights."""

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


class OperatorProfilesOutput(BaseModel):
    """
    One page of the operators.

    Schema: schemas/entities/operator_profiles.json#/x-entity/tools/list
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    items: Annotated[list[Item], Field(max_length=200)]
    """The rows, last changed first."""

    next_cursor: Annotated[str | None, Field(max_length=300)]
    """Cursor of the next page; null if this is the last page."""
