# Generated from schemas/tools/demo/show.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: fa7940dd47e4f082db73b97363843d4d; generator 1

"""Show it.

Show what is generated.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict


class MailContact(BaseModel):
    """By mail."""

    model_config = ConfigDict(
        extra="forbid",
    )
    kind: Literal["mail"]
    """Always mail."""

    address: str
    """The address."""


class PhoneContact(BaseModel):
    """By phone."""

    model_config = ConfigDict(
        extra="forbid",
    )
    kind: Literal["phone"]
    """Always phone."""

    number: str
    """The number."""


class ShowInput(BaseModel):
    """
    What to show.

    Schema: schemas/tools/demo/show.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    contact: MailContact | PhoneContact
    """How to reach you."""

    amount: int | float | str | None = None
    """A number, or text."""


class ShowOutput(BaseModel):
    """
    What comes back.

    Schema: schemas/tools/demo/show.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    done: bool
    """Whether it is done."""
