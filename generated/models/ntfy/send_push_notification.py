# Generated from schemas/tools/ntfy/send_push_notification.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: f7aee8cb1ac820659eccecc15e5d2418; generator 1

"""Send a push notification.

Send a push notification to all subscribers of this gateway's ntfy topic.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class SendPushNotificationInput(BaseModel):
    """
    The message and its priority.

    Schema: schemas/tools/ntfy/send_push_notification.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    title: Annotated[
        str | None,
        Field(
            max_length=250,
            min_length=1,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$",
        ),
    ] = None
    """The title, above the message, in one line."""

    message: Annotated[str, Field(max_length=4096, min_length=1, pattern="[^ \\t\\r\\n]")]
    """
    The message, at most 4,096 bytes in UTF-8: about 4,096 English letters, 2,048 Russian
    letters or 1,024 emoji.
    """

    priority: Literal["low", "default", "high"] = "default"
    """Priority: `low` makes no sound, `high` vibrates longer."""


class SendPushNotificationOutput(BaseModel):
    """
    The notification that was published.

    Schema: schemas/tools/ntfy/send_push_notification.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    id: Annotated[str, Field(max_length=64)]
    """Id of the notification on the server."""

    status: Literal["sent"]
    """Status: the server has accepted the notification and sends it to every subscribed device."""

    sent_at: str
    """Time at which the server accepted it, RFC 3339 in UTC."""
