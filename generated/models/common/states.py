# Generated from schemas/common/states.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 0c7cbe6794f6c6e1dcd84ecab6720420; generator 1

"""Definitions that several contracts share: states."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class Values(BaseModel):
    """What is written together with the state."""

    model_config = ConfigDict(
        extra="forbid",
    )
    rejection_reason: Annotated[str | None, Field(max_length=2000)] = None
    """Why a quote was rejected."""

    cancellation_reason: Annotated[str | None, Field(max_length=2000)] = None
    """Why it was cancelled."""

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
    """When it had happened."""

    webhook_id: str
    """The message."""

    applied: bool
    """Whether the state could follow the one before it."""

    earlier: Annotated[int | None, Field(ge=1, le=1000000000)] = None
    """How many older reports this one stands for as well."""

    values: Values | None = None
