# Generated from schemas/tools/sheets/get_client_details.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 15bc71c6d080d107d18dd45279b0045c; generator 1

"""Get all details of a client.

Get everything the client sheet says of a client, by client id.
"""

from pydantic import BaseModel, ConfigDict

from generated.models.common.clients import CellText, ClientId, History, Preferences, VipStatus


class GetClientDetailsInput(BaseModel):
    """
    Which client.

    Schema: schemas/tools/sheets/get_client_details.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    client_id: ClientId
    """The client's id, such as CL-001."""


class GetClientDetailsOutput(BaseModel):
    """
    Everything the client sheet says of the client. What it does not say is left out.

    Schema: schemas/tools/sheets/get_client_details.output.json
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

    created_at: CellText | None = None
    """When the client was entered, as the sheet holds it."""

    updated_at: CellText | None = None
    """
    When the client was last changed, as the sheet holds it; RFC 3339 where this gateway
    changed it.
    """
