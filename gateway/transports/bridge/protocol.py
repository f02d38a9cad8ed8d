"""What the bridge knows of the protocol, so that it starts without loading the SDK.

Each definition has the meaning of the SDK's own. `tests/unit/transports/bridge/test_protocol.py`
compares them.
"""

import base64
import re
from collections.abc import Mapping
from typing import Final

METHOD_HEADER: Final = "mcp-method"
NAME_HEADER: Final = "mcp-name"
VERSION_HEADER: Final = "mcp-protocol-version"
VERSION_META: Final = "io.modelcontextprotocol/protocolVersion"
PROGRESS: Final = "progressToken"
HEADER_KEYWORD: Final = "x-mcp-header"
NAMING_MEMBERS: Final[Mapping[str, str]] = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
}
"""The member of the parameters that `Mcp-Name` repeats, by method."""
_PLAIN: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?|")
_CODED: Final = re.compile(r"=\?base64\?.*\?=")


def header_value(value: str) -> str:
    """`value` for a header: as it is, or in base64 if a header cannot carry it."""
    if _PLAIN.fullmatch(value) and not _CODED.fullmatch(value):
        return value
    return f"=?base64?{base64.b64encode(value.encode()).decode('ascii')}?="
