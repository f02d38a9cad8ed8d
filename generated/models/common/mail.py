# Generated from schemas/common/mail.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 804ba31748c77d69bf965ee27cc2a619; generator 1

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
"""An address such as name@example.com, without a name beside it."""


Subject = TypeAliasType(
    "Subject",
    Annotated[
        str, Field(max_length=998, pattern="^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$")
    ],
)
"""The subject, in one line."""


Body = TypeAliasType("Body", Annotated[str, Field(max_length=1000000)])
"""The text of the mail, as HTML or plain."""


class Attachment(BaseModel):
    """
    A file sent along.

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
    """The file's name, without a path."""

    content: Annotated[
        str,
        Field(
            max_length=26214400,
            pattern="^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
        ),
    ]
    """
    The file in base64 with padding. All files of a mail have at most 26,214,400 characters
    together.
    """

    content_type: Annotated[
        str,
        Field(
            max_length=127,
            pattern="^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*$",
        ),
    ] = "application/octet-stream"
    """The file's media type, such as application/pdf; no type that holds further parts."""


class Recipients(BaseModel):
    """
    Whom the mail is for.

    Schema: schemas/common/mail.json#/$defs/Recipients
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    to: Annotated[list[Address], Field(max_length=1)]
    """The recipient."""

    cc: Annotated[list[Address], Field(max_length=100)]
    """Who gets a copy."""

    bcc: Annotated[list[Address], Field(max_length=100)]
    """Who gets a copy that the others do not see."""


RfcMessageId = TypeAliasType("RfcMessageId", Annotated[str, Field(max_length=998)])
"""The Message-ID in the mail's header, in angle brackets."""


ReceivedAddress = TypeAliasType("ReceivedAddress", Annotated[str, Field(max_length=320)])
"""An address as it stands in the mail, without the name."""


ReceivedSubject = TypeAliasType("ReceivedSubject", Annotated[str, Field(max_length=2000)])
"""The subject; empty when the mail has none."""


Snippet = TypeAliasType("Snippet", Annotated[str, Field(max_length=1000)])
"""The beginning of the text."""


class ReceivedAttachment(BaseModel):
    """
    A file that came with the mail.

    Schema: schemas/common/mail.json#/$defs/ReceivedAttachment
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    filename: Annotated[str, Field(max_length=255)]
    """The file's name, as the sender gave it."""

    content_type: Annotated[str, Field(max_length=255)]
    """The file's media type, as the sender gave it."""

    size_bytes: Annotated[int, Field(ge=0)]
    """The file's size in bytes."""
