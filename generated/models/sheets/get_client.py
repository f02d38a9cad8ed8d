# Generated from schemas/tools/sheets/get_client.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: c705caabde7cfc2b1d7b54883c19a76c; generator 1

"""Get a client.

Get a client's profile by email address or client id.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.clients import CellText, History, Preferences, VipStatus


class GetClientInput(BaseModel):
    """
    The client.

    Schema: schemas/tools/sheets/get_client.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    identifier: Annotated[str, Field(max_length=320, min_length=1, pattern="[^ ]")]
    """Email address or id of the client, not case-sensitive."""

    search_field: Literal["email", "client_id"] = "email"
    """Kind of the identifier."""


class GetClientOutput(BaseModel):
    """
    The client. Values that the sheet does not have are absent.

    Schema: schemas/tools/sheets/get_client.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    client_id: CellText
    """Id of the client, such as CL-001."""

    name: CellText | None = None
    """Full name."""

    email: CellText | None = None
    """Email address, as the sheet has it."""

    phone: CellText | None = None
    """Telephone number, as the sheet has it."""

    company: CellText | None = None
    """Company."""

    preferences: Preferences
    """Preferences and needs of the client."""

    history: History
    """Figures about the client's flights."""

    vip_status: VipStatus | None = None
    """VIP status of the client; absent if the cell has none of these values."""
