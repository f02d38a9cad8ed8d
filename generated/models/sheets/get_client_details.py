# Generated from schemas/tools/sheets/get_client_details.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 32152c70bb7fb9643c8595f6ae114f9a; generator 1

"""Get all details of a client.

Get all data about a client in the client sheet, by client id.
"""

from pydantic import BaseModel, ConfigDict

from generated.models.common.clients import CellText, ClientId, History, Preferences, VipStatus


class GetClientDetailsInput(BaseModel):
    """
    The client.

    Schema: schemas/tools/sheets/get_client_details.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    client_id: ClientId
    """Id of the client, such as CL-001."""


class GetClientDetailsOutput(BaseModel):
    """
    All data about the client in the client sheet. Values that the sheet does not have are
    absent.

    Schema: schemas/tools/sheets/get_client_details.output.json
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

    created_at: CellText | None = None
    """Creation time of the client's row, as the sheet has it."""

    updated_at: CellText | None = None
    """
    Time of the last change of the client's row, as the sheet has it; RFC 3339 if this gateway
    changed it.
    """
