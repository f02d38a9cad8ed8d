# Generated from schemas/common/receipt.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 469c0a6863fae81b5f7b978deb4d68dd; generator 1

"""Definitions that several contracts share: receipt."""

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Receipt(BaseModel):
    """
    The outcome for a message that a provider sent.

    Schema: schemas/common/receipt.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    id: str
    """The gateway's id of the message; of the first one where it had arrived before."""

    outcome: Literal["stored", "quarantined", "duplicate"]
    """
    `stored`: it will be processed. `quarantined`: it breaks its contract and waits.
    `duplicate`: it arrived before.
    """
