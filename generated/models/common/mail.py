# Generated from schemas/common/mail.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: a1a850df196ebeaea090fc206a9048e5; generator 1

"""Definitions that several contracts share: mail."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypeAliasType

Address = TypeAliasType(
    "Address",
    Annotated[
        str,
        Field(
            max_length=254,
            pattern="^[A-Za-z0-9!#$%&'*+/=^_`{|}~-]+(?:[.][A-Za-z0-9!#$%&'*+/=^_`{|}~-]+)*@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:[.][A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*$",
        ),
    ],
)
"""An address such as name@example.com, without a display name."""


Subject = TypeAliasType(
    "Subject",
    Annotated[
        str, Field(max_length=998, pattern="^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$")
    ],
)
"""Subject, in one line."""


Body = TypeAliasType("Body", Annotated[str, Field(max_length=1000000)])
"""Text of the mail, as HTML or plain text."""


class Attachment(BaseModel):
    """
    An attached file.

    Schema: schemas/common/mail.json#/$defs/Attachment
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    filename: Annotated[
        str,
        Field(
            max_length=255,
            min_length=1,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069/\\\\]*$",
        ),
    ]
    """Name of the file, without a path."""

    content: Annotated[
        str,
        Field(
            max_length=26214400,
            pattern="^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
        ),
    ]
    """
    Content of the file in base64 with padding. All files of a mail together have at most
    26,214,400 characters.
    """

    content_type: Annotated[
        str,
        Field(
            max_length=127,
            pattern="^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*$",
        ),
    ] = "application/octet-stream"
    """Media type of the file, such as application/pdf. Types with nested parts are not allowed."""


class Recipients(BaseModel):
    """
    The recipients of the mail.

    Schema: schemas/common/mail.json#/$defs/Recipients
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    to: Annotated[list[Address], Field(max_length=1)]
    """The recipient."""

    cc: Annotated[list[Address], Field(max_length=100)]
    """Addresses that receive a copy."""

    bcc: Annotated[list[Address], Field(max_length=100)]
    """Addresses that receive a copy, hidden from the other recipients."""


RfcMessageId = TypeAliasType("RfcMessageId", Annotated[str, Field(max_length=998)])
"""The Message-ID in the header of the mail, in angle brackets."""


ReceivedAddress = TypeAliasType("ReceivedAddress", Annotated[str, Field(max_length=320)])
"""An address as written in the mail, without the display name."""


ReceivedSubject = TypeAliasType("ReceivedSubject", Annotated[str, Field(max_length=2000)])
"""Subject; empty if the mail has none."""


Snippet = TypeAliasType("Snippet", Annotated[str, Field(max_length=1000)])
"""Beginning of the text."""


class ReceivedAttachment(BaseModel):
    """
    A file attached to the mail.

    Schema: schemas/common/mail.json#/$defs/ReceivedAttachment
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    filename: Annotated[str, Field(max_length=255)]
    """Name of the file, as given by the sender."""

    content_type: Annotated[str, Field(max_length=255)]
    """Media type of the file, as given by the sender."""

    size_bytes: Annotated[int, Field(ge=0)]
    """Size of the file in bytes."""
