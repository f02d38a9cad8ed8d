# Generated from schemas/events/code.pushed.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: be8c5f683d06fb5dca8a5bedac63fc17; generator 1

"""Code was pushed: gateway.code.pushed.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Data(BaseModel):
    """Commits were pushed to a repository."""

    model_config = ConfigDict(
        extra="forbid",
    )
    repository: Annotated[str, Field(max_length=200)]
    """Owner and name of the repository."""

    ref: Annotated[str, Field(max_length=300)]
    """The branch or tag, such as refs/heads/main."""

    after: Annotated[str, Field(max_length=64)]
    """The commit that it now points to."""

    pusher: Annotated[str | None, Field(max_length=100)] = None
    """Who pushed."""


class CodePushedV1(BaseModel):
    """
    Commits were pushed to a repository.

    Schema: schemas/events/code.pushed.v1.json
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

    type: Literal["gateway.code.pushed.v1"]
    """The type of the event."""

    subject: Annotated[str, Field(max_length=200, min_length=1)]
    """What it is about."""

    time: str
    """When it was recorded, RFC 3339 in UTC."""

    datacontenttype: Literal["application/json"]
    """The form of `data`."""

    data: Data
