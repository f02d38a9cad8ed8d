# Generated from schemas/events/job.failed.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 25601c97421fba49aab9b73e12819885; generator 1

"""A call that an event asked for has failed: gateway.job.failed.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Data(BaseModel):
    """
    A call of one of the gateway's tools that an event asked for has failed for good, and
    waits for an operator.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    job_id: str
    """The job's id."""

    operation: Annotated[str, Field(max_length=128)]
    """The operation that was called, such as gmail.send_template_email."""

    attempts: Annotated[int, Field(ge=0)]
    """How often it was tried."""

    error: Annotated[str, Field(max_length=200)]
    """The class of the failure, such as upstream_unavailable; never a payload."""


class JobFailedV1(BaseModel):
    """
    A call of one of the gateway's tools that an event asked for has failed for good, and
    waits for an operator.

    Schema: schemas/events/job.failed.v1.json
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

    type: Literal["gateway.job.failed.v1"]
    """The type of the event."""

    subject: Annotated[str, Field(max_length=200, min_length=1)]
    """What it is about."""

    time: str
    """When it was recorded, RFC 3339 in UTC."""

    datacontenttype: Literal["application/json"]
    """The form of `data`."""

    data: Data
