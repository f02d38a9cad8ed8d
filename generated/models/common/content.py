# Generated from schemas/common/content.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: d321c785279e742c24918c85fbf4c765; generator 1

"""Definitions that several contracts share: content."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypeAliasType


class TextBlock(BaseModel):
    """
    A text.

    Schema: schemas/common/content.json#/$defs/TextBlock
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["text"]
    """The kind of block."""

    text: Annotated[str, Field(max_length=1000000)]
    """The text."""


Bytes = TypeAliasType(
    "Bytes",
    Annotated[
        str,
        Field(
            max_length=5592408,
            min_length=4,
            pattern="^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
        ),
    ],
)
"""At most 4 MiB, in base64 (RFC 4648 section 4)."""


Uri = TypeAliasType("Uri", Annotated[str, Field(max_length=2000, min_length=1)])
"""Name of the resource: a URI with its scheme (RFC 3986)."""


class ImageBlock(BaseModel):
    """
    An image.

    Schema: schemas/common/content.json#/$defs/ImageBlock
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["image"]
    """The kind of block."""

    data: Bytes
    mimeType: Annotated[str, Field(max_length=100, pattern="^image/[a-z0-9][a-z0-9!#$&^_.+-]*$")]
    """Media type of the bytes, such as image/png."""


class AudioBlock(BaseModel):
    """
    A sound.

    Schema: schemas/common/content.json#/$defs/AudioBlock
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["audio"]
    """The kind of block."""

    data: Bytes
    mimeType: Annotated[str, Field(max_length=100, pattern="^audio/[a-z0-9][a-z0-9!#$&^_.+-]*$")]
    """Media type of the bytes, such as audio/wav."""


class TextResource(BaseModel):
    """
    A resource whose contents are a text.

    Schema: schemas/common/content.json#/$defs/TextResource
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    uri: Uri
    mimeType: Annotated[
        str,
        Field(max_length=100, pattern="^(?:application|image|text)/[a-z0-9][a-z0-9!#$&^_.+-]*$"),
    ]
    """Media type of the text, such as text/plain or application/json."""

    text: Annotated[str, Field(max_length=1000000)]
    """The text."""


class BlobResource(BaseModel):
    """
    A resource whose contents are bytes. A text is a text resource, where a model can read it.

    Schema: schemas/common/content.json#/$defs/BlobResource
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    uri: Uri
    mimeType: Annotated[
        str,
        Field(
            max_length=100,
            pattern="^(?:application|audio|font|image|model|video)/[a-z0-9][a-z0-9!#$&^_.+-]*$",
        ),
    ]
    """Media type of the bytes, such as application/pdf."""

    blob: Bytes


class LinkBlock(BaseModel):
    """
    A link to a resource that the client may read or show.

    Schema: schemas/common/content.json#/$defs/LinkBlock
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["resource_link"]
    """The kind of block."""

    uri: Uri
    name: Annotated[str, Field(max_length=200, min_length=1)]
    """Name of the resource."""

    title: Annotated[str | None, Field(max_length=200, min_length=1)] = None
    """Its name for people."""

    description: Annotated[str | None, Field(max_length=2000)] = None
    """What it is."""

    mimeType: Annotated[
        str | None, Field(max_length=100, pattern="^[a-z]+/[a-z0-9][a-z0-9!#$&^_.+-]*$")
    ] = None
    """Media type of the resource."""

    size: Annotated[int | None, Field(ge=0)] = None
    """Its size in bytes."""


class ResourceBlock(BaseModel):
    """
    A resource with its contents.

    Schema: schemas/common/content.json#/$defs/ResourceBlock
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["resource"]
    """The kind of block."""

    resource: TextResource | BlobResource
    """The resource: its name and its contents."""


Block = TypeAliasType("Block", TextBlock | ImageBlock | AudioBlock | ResourceBlock | LinkBlock)
"""One content block."""


Blocks = TypeAliasType("Blocks", Annotated[list[Block], Field(max_length=20, min_length=1)])
"""Content blocks, in the order in which they are shown."""
