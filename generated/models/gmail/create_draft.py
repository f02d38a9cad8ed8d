# Generated from schemas/tools/gmail/create_draft.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 5e1ba24a1338f3862918569fd30af297; generator 1

"""Create a draft.

Create a draft of an email in the mailbox of this gateway, for people to look at and send.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.identifiers import Identifier
from generated.models.common.mail import Address, Attachment, Body, Recipients, Subject


class CreateDraftInput(BaseModel):
    """
    The mail, and whom it is for.

    Schema: schemas/tools/gmail/create_draft.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    to: Address
    """The recipient's address."""

    subject: Subject
    """The subject, in one line."""

    body: Body
    """The text of the mail, in the form that `body_type` says."""

    body_type: Literal["html", "text"] = "html"
    """Whether the text is HTML or plain."""

    cc: Annotated[list[Address], Field(max_length=100)] = []
    """Who gets a copy."""

    bcc: Annotated[list[Address], Field(max_length=100)] = []
    """Who gets a copy that the others do not see."""

    attachments: Annotated[list[Attachment] | None, Field(max_length=50)] = None
    """Files to send along."""

    reply_to: Address | None = None
    """Where answers go, if not to the sender."""


class CreateDraftOutput(BaseModel):
    """
    The draft that was created.

    Schema: schemas/tools/gmail/create_draft.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    draft_id: Identifier
    """Gmail's id of the draft."""

    message_id: Identifier
    """Gmail's id of the mail in it, which `get_email` takes."""

    thread_id: Identifier
    """Gmail's id of its thread."""

    created_at: str
    """When it was created, RFC 3339 in UTC."""

    status: Literal["draft"]
    """The state of the mail."""

    recipients: Recipients
    """Whom it is for."""
