# Generated from schemas/events/empty_leg.changed.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: dca234955d9989e969d296acf525c519; generator 1

"""An empty leg was published or changed: gateway.empty_leg.changed.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.identifiers import Identifier


class Data(BaseModel):
    """Avinode points to an empty leg that was published or has changed."""

    model_config = ConfigDict(
        extra="forbid",
    )
    empty_leg_id: Identifier
    """Avinode's id of the empty leg."""

    href: Annotated[str | None, Field(max_length=2048)] = None
    """
    Where Avinode's API has the details; absent where the message's link leads elsewhere than
    to Avinode.
    """


class EmptyLegChangedV1(BaseModel):
    """
    Avinode points to an empty leg that was published or has changed.

    Schema: schemas/events/empty_leg.changed.v1.json
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

    type: Literal["gateway.empty_leg.changed.v1"]
    """The type of the event."""

    subject: Annotated[str, Field(max_length=200, min_length=1)]
    """What it is about."""

    time: str
    """When it was recorded, RFC 3339 in UTC."""

    datacontenttype: Literal["application/json"]
    """The form of `data`."""

    data: Data
