# Generated from schemas/common/receipt.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: e96bd382231a618a36c573342fec4a22; generator 1

"""Definitions that several contracts share: receipt."""

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Receipt(BaseModel):
    """
    The outcome of receiving a message.

    Schema: schemas/common/receipt.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    id: str
    """The gateway's id of the message. For a duplicate, the id of the first message."""

    outcome: Literal["stored", "quarantined", "duplicate"]
    """
    `stored`: the message will be processed. `quarantined`: the message breaks its contract
    and is kept. `duplicate`: the message had already arrived.
    """
