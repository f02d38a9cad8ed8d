# Generated from schemas/events/job.completed.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 6023fe8b7fcdbd30dbf2358421c7698b; generator 1

"""A tool call for an event has succeeded: gateway.job.completed.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Data(BaseModel):
    """A tool call that an event triggered has succeeded."""

    model_config = ConfigDict(
        extra="forbid",
    )
    job_id: str
    """Id of the job."""

    operation: Annotated[str, Field(max_length=128)]
    """The operation that was called, such as gmail.send_template_email."""

    attempts: Annotated[int, Field(ge=0)]
    """Number of attempts."""


class JobCompletedV1(BaseModel):
    """
    A tool call that an event triggered has succeeded.

    Schema: schemas/events/job.completed.v1.json
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

    type: Literal["gateway.job.completed.v1"]
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
