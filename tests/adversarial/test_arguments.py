"""Arguments that want to be more than data."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from gateway.app import Gateway
from gateway.errors import InvalidArguments
from gateway.settings import read_settings

SQL = [
    "x'; DROP TABLE iso_requests; --",
    'x"; DROP TABLE iso_requests; --',
    "1 OR 1=1",
    "x') UNION SELECT id FROM api_keys --",
    "%",
    "\\",
    "$1",
]
LINE_BREAKS = ["\r\n", "\n", "\r", "\u2028", "\x00", "\x1b"]
CLIMBING = [
    "..",
    ".",
    "../../etc/passwd",
    "a/../../b",
    "%2e%2e%2f",
    "a?b=c",
    "a#b",
    "a\\b",
    "a\x00b",
]


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    """The whole catalogue on its mocks."""
    settings = read_settings({"GATEWAY_MOCK_LATENCY_SECONDS": "0"}, None, {"data": tmp_path})
    async with Gateway.open(settings) as opened:
        yield opened


async def refusal(gateway: Gateway, operation: str, arguments: dict[str, Any]) -> str:
    """The pointer of the argument that is refused."""
    with pytest.raises(InvalidArguments) as refused:
        await gateway.call(operation, arguments)
    return refused.value.violations[0].pointer


@pytest.mark.attack(
    "SQL in names of tables, columns and functions, and in the values of filters and of rows",
    required="names that the contract does not know are refused with a pointer; values are only "
    "compared and stored; no row but the one that is meant is read or changed",
)
async def test_sql_in_names_and_values(gateway: Gateway) -> None:
    errors = {"table": "agent_errors"}
    agent = {"agent_type": "flight_search"}
    kept = agent | {"error_type": "kept", "error_message": "kept"}
    await gateway.call("supabase.insert", {**errors, "data": {"id": "row-1", **kept}})
    for text in SQL:
        assert await refusal(gateway, "supabase.query", {"table": text}) == "/table"
        for arguments in (
            {"filters": {text: 1}},
            {"select": f"id, {text}"},
            {"orderBy": {"column": text, "ascending": True}},
        ):
            pointer = await refusal(gateway, "supabase.query", errors | arguments)
            assert pointer.startswith(f"/{next(iter(arguments))}")
        assert (
            await refusal(gateway, "supabase.rpc", {"function": text, "params": {}}) == "/function"
        )
        plain = text.replace("\\", "\\\\")
        for wanted in (text, {"eq": text}, {"like": f"{plain}none"}, {"in": [text]}):
            filters = errors | {"filters": {"error_message": wanted}}
            assert (await gateway.call("supabase.query", filters))["rows"] == []
        row = agent | {"error_type": text, "error_message": text}
        await gateway.call("supabase.insert", {**errors, "data": row})
        found = await gateway.call("supabase.query", errors | {"filters": {"error_type": text}})
        assert [each["error_message"] for each in found["rows"]] == [text]
    everything = await gateway.call("supabase.query", errors)
    assert everything["count"] == 1 + len(SQL)
    first = await gateway.call("supabase.query", errors | {"filters": {"id": "row-1"}})
    assert [each["error_message"] for each in first["rows"]] == ["kept"]


@pytest.mark.attack(
    "line breaks and control characters in recipients, subjects, reply addresses and names of "
    "attachments of a mail, and several addresses in the place of one",
    required="refused with a pointer to the argument; nothing is sent",
)
async def test_header_injection_in_mails(gateway: Gateway) -> None:
    mail = {"to": "ada@example.com", "subject": "Hello", "body": "x"}
    for sign in LINE_BREAKS:
        for name, value in (
            ("to", f"ada@example.com{sign}Bcc: eve@example.com"),
            ("subject", f"Hello{sign}Bcc: eve@example.com"),
            ("reply_to", f"ada@example.com{sign}Bcc: eve@example.com"),
            ("cc", [f"ada@example.com{sign}"]),
            ("attachments", [{"filename": f"a{sign}X: y.txt", "content": "eA=="}]),
            ("attachments", [{"filename": "../a.txt", "content": "eA=="}]),
        ):
            pointer = await refusal(gateway, "gmail.send_email", mail | {name: value})
            assert pointer.startswith(f"/{name}")
    for several in ("ada@example.com, eve@example.com", "ada@example.com;eve@example.com"):
        assert await refusal(gateway, "gmail.send_email", mail | {"to": several}) == "/to"


@pytest.mark.attack(
    "ids that climb out of the path of an upstream's URL, or bring a query",
    required="refused with a pointer; no request is made",
)
async def test_ids_that_climb_out_of_their_path(gateway: Gateway) -> None:
    for text in CLIMBING:
        for operation, name in (
            ("gmail.get_email", "message_id"),
            ("gmail.get_thread_history", "thread_id"),
            ("avinode.get_quotes", "rfp_id"),
            ("avinode.get_quote_status", "rfp_id"),
        ):
            assert await refusal(gateway, operation, {name: text}) == f"/{name}"
