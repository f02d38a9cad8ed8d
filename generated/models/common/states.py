# Generated from schemas/common/states.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 6c4c49719ca59862a48ba20b5c1a4c83; generator 1

"""Definitions that several contracts share: states."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class Values(BaseModel):
    """Columns that are written together with the state."""

    model_config = ConfigDict(
        extra="forbid",
    )
    rejection_reason: Annotated[str | None, Field(max_length=2000)] = None
    """Reason for the rejection of a quote."""

    cancellation_reason: Annotated[str | None, Field(max_length=2000)] = None
    """Reason for the cancellation."""

    booking_id: str | None = None
    """The booking that a request's state is about."""


class StateReport(BaseModel):
    """
    One state that a message reported.

    Schema: schemas/common/states.json#/$defs/StateReport
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    state: Annotated[str, Field(max_length=64)]
    """The state."""

    occurred_at: str
    """When the state was reached."""

    webhook_id: str
    """Id of the message that reported it."""

    applied: bool
    """Whether the state was a valid next state."""

    earlier: Annotated[int | None, Field(ge=1, le=1000000000)] = None
    """Number of older reports that this report also represents."""

    values: Values | None = None
