# Generated from schemas/common/problem.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 0d2cb6bafc5c55a7d691f65fbdbbc2d4; generator 1

"""Definitions that several contracts share: problem."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field


class UpstreamAnswer(BaseModel):
    """
    The answer of the system behind the tool, if it refused the request, or if a write
    happened and its answer breaks the contract. Its texts are not the gateway's.

    Schema: schemas/common/problem.json#/$defs/UpstreamAnswer
    """

    model_config = ConfigDict(
        extra="allow",
    )
    status: Annotated[int, Field(ge=100, le=599)]
    """The HTTP status of its answer."""

    declared: bool
    """Whether its contract describes this body, and the body keeps to it."""

    body: Any | None = None
    """The body, if it is JSON of at most 4096 bytes."""

    text: Annotated[str | None, Field(max_length=1000)] = None
    """The begin of any other text, or the sentence of a larger body."""


class Violation(BaseModel):
    """
    One violation of a schema.

    Schema: schemas/common/problem.json#/$defs/Violation
    """

    model_config = ConfigDict(
        extra="allow",
    )
    pointer: str
    """JSON Pointer (RFC 6901) to the place."""

    keyword: Annotated[str, Field(max_length=64)]
    """The JSON Schema keyword that the value violates."""

    detail: str
    """The error at this place, without the value."""


class Problem(BaseModel):
    """
    Why a call failed, as RFC 9457 problem details.

    Schema: schemas/common/problem.json#/$defs/Problem
    """

    model_config = ConfigDict(
        extra="allow",
    )
    type: Annotated[str, Field(max_length=200)]
    """The problem type, as a URI reference to a page that explains it."""

    title: Annotated[str, Field(max_length=200)]
    """Title of the problem type, the same for every occurrence."""

    status: Annotated[int, Field(ge=400, le=599)]
    """The HTTP status of this response."""

    detail: str | None = None
    """The error in this call, and how to fix it."""

    code: Annotated[str, Field(pattern="^[A-Z][A-Z_]{0,63}$")]
    """The problem type, as a code for programs."""

    request_id: Annotated[str | None, Field(max_length=64)] = None
    """Id of this call in the gateway's log and audit records."""

    retryable: bool | None = None
    """Whether the same call can succeed later."""

    reason: Annotated[str | None, Field(max_length=64)] = None
    """The name of the declared error, if the tool declares one."""

    retry_after: Annotated[int | float | None, Field(ge=0.0)] = None
    """Seconds to wait before the next attempt."""

    errors: Annotated[list[Violation] | None, Field(max_length=20)] = None
    """
    The violations: each place where the arguments, the reply or the result break their
    schema.
    """

    upstream: UpstreamAnswer | None = None
