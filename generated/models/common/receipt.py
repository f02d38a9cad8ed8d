# Generated from schemas/common/receipt.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: fde75b38e5c050ffd049adcae133490a; generator 1

"""Definitions that several contracts share: receipt."""

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Receipt(BaseModel):
    """
    What became of a message that a provider sent.

    Schema: schemas/common/receipt.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    id: str
    """The gateway's id of the message; of the first one where it had arrived before."""

    outcome: Literal["stored", "quarantined", "duplicate"]
    """
    `stored`: it will be worked off. `quarantined`: it does not fit its contract and waits.
    `duplicate`: it had arrived before.
    """
