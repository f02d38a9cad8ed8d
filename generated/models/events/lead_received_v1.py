# Generated from schemas/events/lead.received.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: e80bf1cfa911430b4a49346d21341f3a; generator 1

"""A lead was received: gateway.lead.received.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.identifiers import Identifier


class Data(BaseModel):
    """A visitor of this account's website has requested a flight."""

    model_config = ConfigDict(
        extra="forbid",
    )
    lead_id: Identifier
    """Avinode's id of the lead."""

    href: Annotated[str | None, Field(max_length=2048)] = None
    """
    URL of the details in Avinode's API; absent if the link in the message does not lead to
    Avinode.
    """


class LeadReceivedV1(BaseModel):
    """
    A visitor of this account's website has requested a flight.

    Schema: schemas/events/lead.received.v1.json
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

    type: Literal["gateway.lead.received.v1"]
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
