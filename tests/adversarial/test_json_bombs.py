"""Bodies that are small on the wire and large, deep or double inside."""

from typing import Any

import pytest

HEADERS = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": "2025-11-25",
}
VALUES = {
    "deep lists": b"[" * 1500 + b"]" * 1500,
    "deep objects": b'{"a":' * 300 + b"1" + b"}" * 300,
    "a name twice": b'{"a": 1, "a": 2}',
    "a huge exponent": b"1e999999999",
    "a long integer": b"9" * 3000,
    "not a number": b"NaN",
    "infinity": b"-Infinity",
    "a lone surrogate": b'"\\ud800"',
    "half a surrogate pair": b'"\\udc00\\ud800"',
    "an overlong encoding": b'"\xc0\xaf"',
    "a byte order mark": b"\xef\xbb\xbf1",
    "a raw control character": b'"\x01"',
    "a comment": b"1 /* 2 */",
    "a trailing comma": b"[1,]",
}


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.attack(
    "JSON that is nested deeply, names a member twice, or holds numbers and texts that JSON does "
    "not have or that other readers understand differently",
    required="400 or 422 over REST, 400 or a failed result over MCP, the same over each; nothing "
    "runs, the value is not repeated in the answer, and the next request is served",
)
async def test_odd_values_over_each_transport(site: Any, name: str) -> None:
    value = VALUES[name]
    arguments = b'{"name": "Ada", "note": %b}' % value
    call = b'{"name": "example_greet", "arguments": %b}' % arguments
    message = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": %b}' % call
    async with site.http(**HEADERS) as http:
        rest = await http.post("/v1/example/greet", content=arguments)
        execute = await http.post("/tools/execute", content=call)
        mcp = await http.post("/mcp", content=message)
        after = await http.post("/v1/example/greet", json={"name": "Ada"})
    assert rest.status_code in {400, 422}
    assert execute.status_code == rest.status_code
    assert mcp.status_code == 400 or mcp.json()["result"]["isError"] is True
    assert after.status_code == 200
    for answer in (rest, execute, mcp):
        assert value not in answer.content
        assert len(answer.content) < 4096
    outcomes = {record.outcome for record in (await site.records())[:-1]}
    assert outcomes == {"VALIDATION_ERROR"}


@pytest.mark.attack(
    "a body within the size limit that holds thousands of members or elements",
    required="refused by count before schemas look at it, or by the schema; the next is served",
)
async def test_many_members(site: Any) -> None:
    members = b",".join(b'"%x":1' % number for number in range(400))
    elements = b",".join([b"0"] * 1900)
    async with site.http(**HEADERS) as http:
        for body in (b'{"name": "Ada", %b}' % members, b'{"name": [%b]}' % elements):
            assert len(body) <= 4096
            answer = await http.post("/v1/example/greet", content=body)
            assert answer.status_code == 422
            assert len(answer.content) < 65536
        assert (await http.post("/v1/example/greet", json={"name": "Ada"})).status_code == 200
