# Generated from schemas/events/book.lent.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: ea43cacc5355fb7f8a46cdaabdcfd72f; generator 1

"""A book was lent: gateway.book.lent.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.library import Isbn


class Data(BaseModel):
    """What was lent."""

    model_config = ConfigDict(
        extra="forbid",
    )
    loan_id: str
    """The row of the loan."""

    isbn: Isbn | None = None


class BookLentV1(BaseModel):
    """
    Somebody has taken a book home.

    Schema: schemas/events/book.lent.v1.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    specversion: Literal["1.0"]
    """The version of CloudEvents."""

    id: Annotated[str, Field(max_length=64, min_length=1)]
    """The event's id."""

    source: Annotated[str, Field(max_length=200, min_length=1)]
    """Where it comes from."""

    type: Literal["gateway.book.lent.v1"]
    """The type of the event."""

    subject: Annotated[str, Field(max_length=200, min_length=1)]
    """The number of the loan."""

    time: str
    """When it was recorded."""

    datacontenttype: Literal["application/json"]
    """The form of data."""

    traceparent: Annotated[
        str | None, Field(max_length=55, pattern="^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$")
    ] = None
    """The trace in which the event came to be, as in W3C Trace Context."""

    data: Data
