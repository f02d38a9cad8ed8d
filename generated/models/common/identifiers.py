# Generated from schemas/common/identifiers.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 74d1529b83b5fd6b80c14952724ade17; generator 1

"""Definitions that several contracts share: identifiers."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypeAliasType

Identifier = TypeAliasType(
    "Identifier", Annotated[str, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")]
)
"""The upstream's own id, unchanged."""
