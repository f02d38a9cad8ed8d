# Generated from schemas/events/code.pushed.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 3aba588c8f77128f55b8f31eb58e11b6; generator 1

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
    """The commit that the branch or tag now points to."""

    pusher: Annotated[str | None, Field(max_length=100)] = None
    """User who pushed."""


class CodePushedV1(BaseModel):
    """
    Commits were pushed to a repository.

    Schema: schemas/events/code.pushed.v1.json
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

    type: Literal["gateway.code.pushed.v1"]
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
