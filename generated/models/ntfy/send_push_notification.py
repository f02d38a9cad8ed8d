# Generated from schemas/tools/ntfy/send_push_notification.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 145c871bcac3d8a4113f9c14e16b2d33; generator 1

"""Send a push notification.

Send a push notification to everybody who listens to this gateway's ntfy topic.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class SendPushNotificationInput(BaseModel):
    """
    What to say, and how urgently.

    Schema: schemas/tools/ntfy/send_push_notification.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    title: Annotated[str | None, Field(max_length=250, min_length=1)] = None
    """The title, above the message."""

    message: Annotated[str, Field(max_length=4096, min_length=1, pattern="[^ \\t\\r\\n]")]
    """
    The message, at most 4,096 bytes in UTF-8: that many letters of English, half as many of
    Russian, a quarter as many emoji.
    """

    priority: Literal["low", "default", "high"] = "default"
    """How urgent it is: low comes without a sound, high stands out with a longer vibration."""


class SendPushNotificationOutput(BaseModel):
    """
    The notification that was published.

    Schema: schemas/tools/ntfy/send_push_notification.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    id: Annotated[str, Field(max_length=64)]
    """The notification's id at the server."""

    status: Literal["sent"]
    """The state: the server has it, and passes it on to every device that listens."""

    sent_at: str
    """When the server took it, RFC 3339 in UTC."""
