# Generated from schemas/events/contract.changed.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: e2f4e8282d2e70ac2e14e60d76954999; generator 1

"""The gateway's contract has changed: gateway.contract.changed.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Data(BaseModel):
    """The gateway has started with another contract than before."""

    model_config = ConfigDict(
        extra="forbid",
    )
    contract: Annotated[str, Field(max_length=128, min_length=1)]
    """Digest of the contract."""

    previous: Annotated[str | None, Field(max_length=128, min_length=1)] = None
    """Digest of the contract before."""


class ContractChangedV1(BaseModel):
    """
    The gateway has started with another contract than before.

    Schema: schemas/events/contract.changed.v1.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    specversion: Literal["1.0"]
    """The version of CloudEvents."""

    id: Annotated[str, Field(max_length=64, min_length=1)]
    """The event's id: the same whenever it is delivered again."""

    source: Annotated[str, Field(max_length=200, min_length=1)]
    """Where it comes from, such as /webhooks/avinode."""

    type: Literal["gateway.contract.changed.v1"]
    """The type of the event."""

    subject: Annotated[str, Field(max_length=200, min_length=1)]
    """What it is about."""

    time: str
    """When it was recorded, RFC 3339 in UTC."""

    datacontenttype: Literal["application/json"]
    """The form of `data`."""

    data: Data
