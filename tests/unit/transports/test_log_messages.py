"""What a call says to its client: in order, bounded, and only to a client that asks for it."""

import asyncio

import pytest

from gateway.auth.principal import Credentials, Principal
from gateway.transports.mcp.caller import Caller
from gateway.transports.mcp.reporting import MAX_MESSAGES, MAX_SESSIONS, LogLevels, LogMessages

pytestmark = pytest.mark.usefixtures("time_leaps")


def caller(subject="ada", session=None, transport="mcp"):
    return Caller(
        principal=Principal(subject=subject, agent="agent"),
        credentials=Credentials(),
        transport=transport,
        request_id="1",
        session=session,
    )


class Client:
    """Receives messages."""

    def __init__(self):
        self.received = []

    async def send(self, level, text):
        await asyncio.sleep(0)
        self.received.append((level, text))


async def test_messages_are_sent_in_their_order_and_before_the_call_ends():
    client = Client()
    async with LogMessages(client.send, "info") as messages:
        messages.write("debug", "too little")
        messages.write("info", "one")
        messages.write("emergency", "two")
    messages.write("info", "after it")
    await asyncio.sleep(0.01)
    assert client.received == [("info", "one"), ("emergency", "two")]


async def test_one_call_has_a_number_of_messages_at_most():
    client = Client()
    async with LogMessages(client.send, "debug") as messages:
        for number in range(5 * MAX_MESSAGES):
            messages.write("info", str(number))
    assert len(client.received) == MAX_MESSAGES
    level, text = client.received[-1]
    assert (level, text) == ("warning", f"The call has more than {MAX_MESSAGES - 1} messages.")


async def test_nothing_is_sent_once_the_call_has_failed():
    client = Client()

    async def fail():
        async with LogMessages(client.send, "debug") as messages:
            messages.write("info", "one")
            raise LookupError

    with pytest.raises(LookupError):
        await fail()
    await asyncio.sleep(0.01)
    assert client.received == []


async def test_a_client_that_has_gone_ends_its_messages_and_not_the_call():
    async def refuse(level, text):
        raise ConnectionError

    async with LogMessages(refuse, "debug") as messages:
        messages.write("info", "one")
        await asyncio.sleep(0.01)
        messages.write("info", "two")


def test_a_level_is_that_of_one_session_of_one_key():
    levels = LogLevels()
    assert levels.set(caller(session="a"), "warning")
    assert levels.of(caller(session="a"), None) == "warning"
    assert levels.of(caller(session="b"), None) is None
    assert levels.of(caller("bob", session="a"), None) is None
    assert levels.of(caller(), None) is None


def test_a_level_needs_a_session_or_a_process_with_one_client():
    levels = LogLevels()
    assert not levels.set(caller(), "info")
    assert levels.set(caller(transport="stdio"), "error")
    assert levels.of(caller(transport="stdio"), None) == "error"


def test_no_more_levels_are_kept_than_the_bound():
    levels = LogLevels()
    for number in range(MAX_SESSIONS + 1):
        levels.set(caller(session=str(number)), "info")
    assert levels.of(caller(session="0"), None) is None
    assert levels.of(caller(session="1"), None) == "info"


def test_a_request_says_its_level_itself():
    asked = {"io.modelcontextprotocol/logLevel": "error"}
    assert LogLevels().of(caller(), asked) == "error"
