# Generated from schemas/events/record.changed.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 5e9fb946ba7724bfe2d7575b0db3562c; generator 1

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
    """The record's id."""

    kind: Annotated[str, Field(max_length=64)]
    """What kind of record it is."""

    change: Literal["created", "updated", "deleted"]
    """What happened to it."""

    changed_at: str | None = None
    """When it happened, in UTC."""


class RecordChangedV1(BaseModel):
    """
    A system that sends Standard Webhooks reports that one of its records has changed.

    Schema: schemas/events/record.changed.v1.json
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

    type: Literal["gateway.record.changed.v1"]
    """The type of the event."""

    subject: Annotated[str, Field(max_length=200, min_length=1)]
    """What it is about."""

    time: str
    """When it was recorded, RFC 3339 in UTC."""

    datacontenttype: Literal["application/json"]
    """The form of `data`."""

    data: Data
