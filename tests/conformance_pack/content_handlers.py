"""The tools of the conformance suite whose results are content blocks, or errors."""

import base64
from typing import Final

from generated.models.conformance.test_audio_content import TestAudioContentInput
from generated.models.conformance.test_embedded_resource import (
    TestEmbeddedResourceInput,
    TestEmbeddedResourceOutput,
)
from generated.models.conformance.test_error_handling import (
    TestErrorHandlingInput,
    TestErrorHandlingOutput,
)
from generated.models.conformance.test_image_content import TestImageContentInput
from generated.models.conformance.test_multiple_content_types import (
    TestMultipleContentTypesInput,
    TestMultipleContentTypesOutput,
)
from generated.models.conformance.test_simple_text import (
    TestSimpleTextInput,
    TestSimpleTextOutput,
)

from gateway.contract.connector import tool_handler
from gateway.contract.values.files import FileContent
from gateway.errors import ToolFailed
from generated.models.common.content import ImageBlock, ResourceBlock, TextBlock, TextResource

_RED_PIXEL: Final = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
)
_SILENCE: Final = (
    b"RIFF\x26\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0@\x1f\0\0\x80\x3e\0\0\2\0\x10\0data\2\0\0\0\0\0"
)


@tool_handler
async def test_simple_text(arguments: TestSimpleTextInput) -> TestSimpleTextOutput:
    """The text that the suite names."""
    del arguments
    return TestSimpleTextOutput(text="This is a simple text response for testing.")


@tool_handler
async def test_image_content(arguments: TestImageContentInput) -> FileContent:
    """A red pixel."""
    del arguments
    return FileContent(media_type="image/png", data=base64.b64decode(_RED_PIXEL))


@tool_handler
async def test_audio_content(arguments: TestAudioContentInput) -> FileContent:
    """One sample of silence."""
    del arguments
    return FileContent(media_type="audio/wav", data=_SILENCE)


@tool_handler
async def test_error_handling(arguments: TestErrorHandlingInput) -> TestErrorHandlingOutput:
    """Fails with its declared error."""
    del arguments
    raise ToolFailed("intended")


@tool_handler
async def test_embedded_resource(
    arguments: TestEmbeddedResourceInput,
) -> TestEmbeddedResourceOutput:
    """The resource that the suite names."""
    del arguments
    contents = TextResource(
        uri="test://embedded-resource",
        mimeType="text/plain",
        text="This is an embedded resource content.",
    )
    return TestEmbeddedResourceOutput(content=[ResourceBlock(type="resource", resource=contents)])


@tool_handler
async def test_multiple_content_types(
    arguments: TestMultipleContentTypesInput,
) -> TestMultipleContentTypesOutput:
    """A text, an image and a resource."""
    del arguments
    contents = TextResource(
        uri="test://mixed-content-resource",
        mimeType="application/json",
        text='{"test":"data","value":123}',
    )
    return TestMultipleContentTypesOutput(
        content=[
            TextBlock(type="text", text="Multiple content types test:"),
            ImageBlock(type="image", data=_RED_PIXEL, mimeType="image/png"),
            ResourceBlock(type="resource", resource=contents),
        ]
    )
