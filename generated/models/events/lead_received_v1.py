# Generated from schemas/events/lead.received.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 44a1e3a862c7b5b786a2ac0c73ce326c; generator 1

"""A lead was received: gateway.lead.received.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.identifiers import Identifier


class Data(BaseModel):
    """A visitor of this account's website asks for a flight."""

    model_config = ConfigDict(
        extra="forbid",
    )
    lead_id: Identifier
    """Avinode's id of the lead."""

    href: Annotated[str | None, Field(max_length=2048)] = None
    """
    Where Avinode's API has the details; absent where the message's link leads elsewhere than
    to Avinode.
    """


class LeadReceivedV1(BaseModel):
    """
    A visitor of this account's website asks for a flight.

    Schema: schemas/events/lead.received.v1.json
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

    type: Literal["gateway.lead.received.v1"]
    """The type of the event."""

    subject: Annotated[str, Field(max_length=200, min_length=1)]
    """What it is about."""

    time: str
    """When it was recorded, RFC 3339 in UTC."""

    datacontenttype: Literal["application/json"]
    """The form of `data`."""

    data: Data
