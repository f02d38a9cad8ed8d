"""Results that are lists of content blocks, as each revision of the protocol has them."""

from typing import Any

from gateway.calls.call import Result
from gateway.contract.values.files import BLOCKS
from gateway.transports.mcp.revisions import ProtocolRevision


class BlocksResult(Result, frozen=True, kw_only=True):
    """A result whose blocks are sent in place of its JSON, and nothing beside them."""

    blocks: list[dict[str, Any]]
    """Those that are sent. Others may be left out."""
    uri: str
    """The gateway's name for bytes that have none."""
    note: str | None = None
    """What is left out, for a model."""


def blocks_result(
    result: Result, uri: str, blocks: list[dict[str, Any]] | None = None, note: str | None = None
) -> BlocksResult:
    """`result`, with these blocks of it. None: all of them."""
    sent = result.values[BLOCKS] if blocks is None else blocks
    return result.as_kind(BlocksResult, blocks=sent, uri=uri, note=note)


def sent_blocks(result: BlocksResult, revision: ProtocolRevision) -> list[dict[str, Any]]:
    """The blocks that `revision` has: the same data, in other blocks where it lacks one."""
    return [_known_to(revision, block, result.uri) for block in result.blocks]


def _known_to(revision: ProtocolRevision, block: dict[str, Any], uri: str) -> dict[str, Any]:
    if block["type"] == "audio" and not revision.has_audio:
        resource = {"uri": uri, "mimeType": block["mimeType"], "blob": block["data"]}
        return {"type": "resource", "resource": resource}
    if block["type"] == "resource_link" and not revision.has_links:
        said = (block.get(each) for each in ("title", "name", "description"))
        about = ": ".join(dict.fromkeys(filter(None, said)))
        return {"type": "text", "text": f"{about} ({block['uri']})"}
    return block
