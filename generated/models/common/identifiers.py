# Generated from schemas/common/identifiers.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: a8a57ab918a00b4bc6733d898c189659; generator 1

"""Definitions that several contracts share: identifiers."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypeAliasType

Identifier = TypeAliasType(
    "Identifier", Annotated[str, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")]
)
"""The upstream's id of a thing, taken over as it is."""
