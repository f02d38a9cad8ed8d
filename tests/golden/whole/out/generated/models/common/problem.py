# Generated from schemas/common/problem.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 5c1c7ce9bb054c7d93ab27f35a738cd0; generator 1

"""Definitions that several contracts share: problem."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class Problem(BaseModel):
    """
    Why a call failed, as RFC 9457 problem details.

    Schema: schemas/common/problem.json#/$defs/Problem
    """

    model_config = ConfigDict(
        extra="allow",
    )
    title: str
    """The kind of problem."""

    status: Annotated[int, Field(ge=400, le=599)]
    """The HTTP status."""
