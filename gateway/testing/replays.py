"""A case as lines to paste: a command of this gateway, a curl line, a JSON-RPC message."""

import json
from shlex import quote
from typing import Final

import msgspec

from gateway.catalogue import Entry
from gateway.cli.reports.record import ReplayLines
from gateway.transports.http.call_headers import KEY_META

CURL_KEY: Final = "$GATEWAY_KEY"
"""No line holds a key: the shell puts it in."""


def replay_text(contract: str, text: bytes) -> str:
    """What `gateway test --replay` takes."""
    return f"{contract} {text.decode('utf-8', 'backslashreplace')}"


def replay_command(contract: str, text: bytes) -> str:
    """The command that makes a call again, over every transport."""
    return f"gateway test --replay {quote(replay_text(contract, text))}"


def parted_replay(text: str) -> tuple[str, bytes]:
    """The contract and the arguments that `replay_text` has put together.

    Raises `ValueError`, which says what is expected.
    """
    contract, _, arguments = text.strip().partition(" ")
    if not contract or not arguments.strip():
        raise ValueError("expected the id of a tool, a space, and its arguments as JSON")
    return contract, arguments.strip().encode()


def replay_of(entry: Entry, arguments: bytes, key: str | None = None) -> ReplayLines:
    """The three lines of a call. `key`: its idempotency key."""
    text = arguments.decode("utf-8", "backslashreplace")
    own = "" if key is None else f" -H {quote(f'idempotency-key: {key}')}"
    curl = (
        f'curl -sS "${{GATEWAY_URL:-http://127.0.0.1:8700}}{entry.operation.route}"'
        f' -H "authorization: Bearer {CURL_KEY}" -H "content-type: application/json"{own}'
        f" --data-binary {quote(text)}"
    )
    rpc = _rpc(entry.tool.name, arguments, key)
    return ReplayLines(command=replay_command(entry.id, arguments), curl=curl, rpc=rpc)


def _rpc(tool: str, arguments: bytes, key: str | None) -> str:
    params: dict[str, object] = {"name": tool}
    try:
        json.loads(arguments)
        params["arguments"] = msgspec.Raw(arguments)
    except ValueError:
        params["arguments"] = arguments.decode("utf-8", "backslashreplace")
    if key is not None:
        params["_meta"] = {KEY_META: key}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return msgspec.json.encode(message).decode()
