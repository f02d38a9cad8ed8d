# Generated from schemas/tools/sheets/get_client.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 8ce06698e5f4758ea4dc444ca37b9a6f; generator 1

"""Get a client.

Get a client's profile by email address or client id.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.clients import CellText, History, Preferences, VipStatus


class GetClientInput(BaseModel):
    """
    Which client.

    Schema: schemas/tools/sheets/get_client.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    identifier: Annotated[str, Field(max_length=320, min_length=1, pattern="[^ ]")]
    """The client's email address or id; upper and lower case are the same."""

    search_field: Literal["email", "client_id"] = "email"
    """What the identifier is."""


class GetClientOutput(BaseModel):
    """
    The client. What the sheet does not say is left out.

    Schema: schemas/tools/sheets/get_client.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    client_id: CellText
    """The client's id, such as CL-001."""

    name: CellText | None = None
    """Full name."""

    email: CellText | None = None
    """Email address, as the sheet holds it."""

    phone: CellText | None = None
    """Telephone number, as the sheet holds it."""

    company: CellText | None = None
    """Company."""

    preferences: Preferences
    """What the client likes and needs."""

    history: History
    """The client's flights in figures."""

    vip_status: VipStatus | None = None
    """The client's status; left out where the cell holds none of these words."""
