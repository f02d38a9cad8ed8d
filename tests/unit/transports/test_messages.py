"""Which texts are JSON-RPC messages."""

from mcp_types import PARSE_ERROR

from gateway.transports.mcp.messages import refusal


def message(arguments: bytes) -> bytes:
    return (
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":'
        + arguments
        + b"}}"
    )


def test_arguments_may_nest_as_deep_as_over_rest() -> None:
    deepest = b"[" * 64 + b"]" * 64

    assert refusal(message(deepest), "r") is None
    assert refusal(message(b"[" + deepest + b"]"), "r") is not None


def test_a_message_that_holds_too_much_is_a_parse_error() -> None:
    error = refusal(message(b"[" + b"1," * 100_000 + b"1]"), "r")

    assert error is not None
    assert error.code == PARSE_ERROR
    assert "more than 100000 values" in error.data["detail"]
