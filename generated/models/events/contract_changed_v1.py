# Generated from schemas/events/contract.changed.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 4a5a7689ff0de820aed64525b60ce707; generator 1

"""The gateway's contract has changed: gateway.contract.changed.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Data(BaseModel):
    """The gateway has started with a changed contract."""

    model_config = ConfigDict(
        extra="forbid",
    )
    contract: Annotated[str, Field(max_length=128, min_length=1)]
    """Digest of the contract."""

    previous: Annotated[str | None, Field(max_length=128, min_length=1)] = None
    """Digest of the previous contract."""


class ContractChangedV1(BaseModel):
    """
    The gateway has started with a changed contract.

    Schema: schemas/events/contract.changed.v1.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    specversion: Literal["1.0"]
    """Version of the CloudEvents specification."""

    id: Annotated[str, Field(max_length=64, min_length=1)]
    """Id of the event, the same for each repeated delivery."""

    source: Annotated[str, Field(max_length=200, min_length=1)]
    """Source of the event, such as /webhooks/avinode."""

    type: Literal["gateway.contract.changed.v1"]
    """Type of the event."""

    subject: Annotated[str, Field(max_length=200, min_length=1)]
    """Subject of the event."""

    time: str
    """Time at which the event was recorded, RFC 3339 in UTC."""

    datacontenttype: Literal["application/json"]
    """Media type of `data`."""

    traceparent: Annotated[
        str | None, Field(max_length=55, pattern="^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$")
    ] = None
    """The trace in which the event came to be, as in W3C Trace Context."""

    data: Data
