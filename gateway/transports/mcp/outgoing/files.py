"""Results that are files, as content blocks."""

from typing import Any, Final

from gateway.calls.call import Result
from gateway.contract.values.files import FileContent
from gateway.transports.mcp.revisions import ProtocolRevision

MAX_FILE_BYTES: Final = 4 * 2**20
"""Hosts and the models behind them take images of up to about 5 MB."""
RESULT_URI: Final = "gateway://results/"


class FileResult(Result, frozen=True, kw_only=True):
    """A result whose file is sent whole."""

    uri: str
    """The gateway's name for the file. It is different for each call, and cannot be read later."""


def file_result(result: Result, request_id: str) -> FileResult:
    """`result`, which has a file, as it is sent in answer to this request."""
    return result.as_kind(FileResult, uri=f"{RESULT_URI}{request_id}")


def file_block(file: FileContent, uri: str, revision: ProtocolRevision) -> dict[str, Any]:
    """The content block: an image, audio, or an embedded resource with the name `uri`."""
    kind = file.media_type.partition("/")[0]
    if kind == "image" or (kind == "audio" and revision.has_audio):
        return {"type": kind, "data": file.base64, "mimeType": file.media_type}
    resource = {"uri": uri, "mimeType": file.media_type, "blob": file.base64}
    return {"type": "resource", "resource": resource}
