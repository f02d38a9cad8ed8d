"""A gateway under verification is waited for as long as it says something."""

import asyncio

import pytest

from gateway.testing.served import READY, awaited
from gateway.testing.transports import TransportFailed
from tests.eventually import PATIENCE_SECONDS


def output(*lines: str) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    reader.feed_data("".join(f"{line}\n" for line in lines).encode())
    return reader


async def test_what_comes_before_is_reported():
    said: list[str] = []
    reader = output("reading the contracts", "opening a gateway", "ready http://127.0.0.1:1")
    assert await awaited(reader, READY, said.append, PATIENCE_SECONDS) == "http://127.0.0.1:1"
    assert said == ["starting", "reading the contracts", "opening a gateway"]


async def test_a_process_that_ends_is_named_with_its_last_step():
    reader = output("reading the contracts")
    reader.feed_eof()
    with pytest.raises(TransportFailed, match="ended unasked after: reading the contracts"):
        await awaited(reader, READY, lambda _: None, PATIENCE_SECONDS)


async def test_a_silent_process_is_given_up():
    with pytest.raises(TransportFailed, match=r"nothing for 0\.01 seconds after: opening"):
        await awaited(output("opening"), READY, lambda _: None, 0.01)
