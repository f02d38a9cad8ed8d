"""The table of open questions: bounded, and only who was asked answers."""

import pytest

from gateway.errors import LimitExceeded
from gateway.transports.json_rpc import ClientReply, reply_of
from gateway.transports.mcp import asking
from gateway.transports.mcp.asking import Asker, OpenQuestions
from gateway.transports.mcp.cancelling import asks_of_session, new_session, profile_of_session
from tests.unit.tables import each_of

ADA = Asker("key-of-ada", "session")
BOB = Asker("key-of-bob", "session")


def test_ids_have_128_random_bits():
    questions = OpenQuestions()
    with questions.opened(ADA, [str(n) for n in range(60)]) as sent:
        assert len({bytes.fromhex(each) for each in sent.keys}) == 60
        assert {len(bytes.fromhex(each)) for each in sent.keys} == {16}


def test_the_limits_are_of_one_key_and_of_the_process(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(asking, "MAX_OPEN", 3)
    monkeypatch.setattr(asking, "MAX_OF_ONE_KEY", 2)
    questions = OpenQuestions()
    with questions.opened(ADA, ["a", "b"]):
        with pytest.raises(LimitExceeded), questions.opened(ADA, ["c"]):
            pass
        with pytest.raises(LimitExceeded), questions.opened(BOB, ["a", "b"]):
            pass
        with questions.opened(BOB, ["a"]):
            pass
    with questions.opened(ADA, ["a", "b"]) as sent:
        for each in sent.keys:
            assert questions.answer(ADA, ClientReply("2.0", each, {}))
        # What is answered is not open, though its call still runs.
        with questions.opened(ADA, ["c", "d"]):
            pass


@each_of(
    "text",
    [
        b'{"jsonrpc":"2.0","id":"x"}',
        b'{"jsonrpc":"2.0","id":"x","result":{},"error":{"code":1,"message":""}}',
        b'{"jsonrpc":"2.0","id":"x","result":{},"method":7}',
        b'{"jsonrpc":"2.0","id":"x","error":"no"}',
        b'{"jsonrpc":"2.0","id":null,"result":{}}',
        b'{"jsonrpc":"2.0","result":{}}',
        b'{"jsonrpc":"1.0","id":"x","result":{}}',
        b'{"id":"x","result":{}}',
        b"[]",
        b"{",
    ],
)
def test_what_is_no_answer_is_none(text: bytes):
    assert reply_of(text) is None


def test_an_answer_may_have_any_result():
    found = reply_of(b'{"jsonrpc":"2.0","id":"x","result":{"method":"cash"}}')
    assert found is not None
    assert found.result == {"method": "cash"}


@pytest.mark.parametrize("profile", ["default", "source"])
@pytest.mark.parametrize("asks", [(), ("elicitation",), ("roots", "elicitation", "sampling")])
def test_a_session_names_the_profile_and_the_kinds(profile: str, asks: tuple[str, ...]):
    session = new_session(profile, asks).decode()  # type: ignore[arg-type]  # all of them are kinds
    assert asks_of_session(session) == frozenset(asks)
    assert profile_of_session(session) == (None if profile == "default" else profile)
    assert len(session) <= 128
    assert session.isprintable()


@pytest.mark.parametrize("session", [None, "", "~", "x~zz", "~" * 100, ".~."])
def test_a_session_of_a_clients_own_may_name_anything(session: str | None):
    assert asks_of_session(session) == frozenset()
