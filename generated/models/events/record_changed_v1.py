# Generated from schemas/events/record.changed.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: a3adbed7c6f745e213855321abe26a65; generator 1

"""A record has changed: gateway.record.changed.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.identifiers import Identifier


class Data(BaseModel):
    """A system that sends Standard Webhooks reports that one of its records has changed."""

    model_config = ConfigDict(
        extra="forbid",
    )
    record_id: Identifier
    """Id of the record."""

    kind: Annotated[str, Field(max_length=64)]
    """Kind of the record."""

    change: Literal["created", "updated", "deleted"]
    """Kind of the change."""

    changed_at: str | None = None
    """Time of the change, in UTC."""


class RecordChangedV1(BaseModel):
    """
    A system that sends Standard Webhooks reports that one of its records has changed.

    Schema: schemas/events/record.changed.v1.json
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

    type: Literal["gateway.record.changed.v1"]
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
