# Generated from schemas/common/problem.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: adcccf44186ac10fb344e97c43232461; generator 1

"""Definitions that several contracts share: problem."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


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
