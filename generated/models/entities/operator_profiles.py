# Generated from schemas/tools/entities/operator_profiles.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 6172a53c970d82e936224e80c328318b; generator 1

"""Operators.

List the operators that Avinode's messages reported, the last changed first, page by page.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class OperatorProfilesInput(BaseModel):
    """
    Which of the operators to list.

    Schema: schemas/tools/entities/operator_profiles.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    avinode_operator_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """Only rows with this: Avinode's id of the company."""

    company_name: Annotated[str | None, Field(max_length=200)] = None
    """Only rows with this: the company's name."""

    limit: Annotated[int, Field(ge=1, le=200)] = 50
    """The most rows of one page."""

    cursor: Annotated[str | None, Field(max_length=300, min_length=1)] = None
    """Where the page begins: next_cursor of the page before, with the same filters."""


class Item(BaseModel):
    """A company that flies charters."""

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


class OperatorProfilesOutput(BaseModel):
    """
    One page of the operators.

    Schema: schemas/tools/entities/operator_profiles.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    items: Annotated[list[Item], Field(max_length=200)]
    """The rows, the last changed first."""

    next_cursor: Annotated[str | None, Field(max_length=300)]
    """Where the next page begins; null when there is none."""
