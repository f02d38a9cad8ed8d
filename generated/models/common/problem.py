# Generated from schemas/common/problem.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: e95aceeda4aed17aa57d7ca015b4ba53; generator 1

"""Definitions that several contracts share: problem."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class Violation(BaseModel):
    """
    One way in which a value breaks its schema.

    Schema: schemas/common/problem.json#/$defs/Violation
    """

    model_config = ConfigDict(
        extra="allow",
    )
    pointer: str
    """JSON Pointer (RFC 6901) to the place."""

    keyword: Annotated[str, Field(max_length=64)]
    """The JSON Schema keyword that refused."""

    detail: str
    """What is wrong there; never the value itself."""


class Problem(BaseModel):
    """
    Why a call failed, as RFC 9457 problem details.

    Schema: schemas/common/problem.json#/$defs/Problem
    """

    model_config = ConfigDict(
        extra="allow",
    )
    type: Annotated[str, Field(max_length=200)]
    """The kind of problem, as a URI reference to a page that explains it."""

    title: Annotated[str, Field(max_length=200)]
    """The kind of problem in words, the same for every occurrence."""

    status: Annotated[int, Field(ge=400, le=599)]
    """The HTTP status of this answer."""

    detail: str | None = None
    """What is wrong with this call, and how to fix it."""

    code: Annotated[str, Field(pattern="^[A-Z][A-Z_]{0,63}$")]
    """The kind of problem for programs."""

    request_id: Annotated[str | None, Field(max_length=64)] = None
    """Names this call in the gateway's log and audit records."""

    retryable: bool | None = None
    """Whether the same call may succeed later without change."""

    reason: Annotated[str | None, Field(max_length=64)] = None
    """The name of the declared error, where the tool declares one."""

    retry_after: Annotated[int | float | None, Field(ge=0.0)] = None
    """Seconds to wait before the next try."""

    errors: Annotated[list[Violation] | None, Field(max_length=20)] = None
    """Each place at which the arguments, the reply or the result break their schema."""
