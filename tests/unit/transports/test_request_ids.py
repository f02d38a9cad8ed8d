"""Requests that are refused or questioned: their ids, and a table within bounds."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import LimitExceeded
from gateway.transports.json_rpc import TAIL_BYTES, ClientReply, id_of_request, reply_of
from gateway.transports.mcp import asking
from gateway.transports.mcp.asking import Asker, OpenQuestions
from gateway.transports.mcp.cancelling import asks_of_session, new_session, profile_of_session
from tests.unit.tables import each_of

LONG = b"x" * 100_000
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "method", "a"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.parametrize(
    "text",
    [
        b'{"jsonrpc":"2.0","id":7,"method":"a","params":{"x":"%b"}}' % LONG,
        b'{"method":"a","params":{"x":"%b","id":1},"jsonrpc":"2.0","id":7}' % LONG,
        b' {"id" : 7 , "method" : "a" , "params" : {"x":"%b"} } \n' % LONG,
        b'{"params":{"x":"%b"},\n "id": 7,\n "method": "a"\n}' % LONG,
        b'{"jsonrpc":"2.0","id":7,"method":"a","params":{"x":' + b"[" * 5000 + b"]" * 5000 + b"}}",
        b'{"jsonrpc":"2.0","id":7,"method":"a","params":{"x":"\\ud800"}}',
        b'{"jsonrpc":"2.0","id":7,"method":"a","params":["\\",\\"id\\":1,\\"method\\":1}"]}',
        b'{"jsonrpc":"2.0","id":7,"method":{"name":"a"}}',
    ],
)
def test_the_id_is_found_before_and_behind_the_parameters(text: bytes) -> None:
    assert id_of_request(text) == 7


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b'[{"id":7,"method":"a"}]',
        b'{"id":7,"result":{}}',
        b'{"method":"a","params":{"id":7}}',
        b'{"id":7,"id":8,"method":"a"}',
        b'{"id":7,"method":"a","params":{"x":"%b"},"id":7}' % LONG,
        b'{"id":7.5,"method":"a"}',
        b'{"id":true,"method":"a"}',
        b'{"id":null,"method":"a"}',
        b'{"id":{"id":7},"method":"a"}',
        b'{"id":"\\ud800","method":"a"}',
        b'{"id":"\xff","method":"a"}',
        b'{"method":"a","id":7',
    ],
)
def test_what_has_no_id_of_one_request_gives_none(text: bytes) -> None:
    assert id_of_request(text) is None


@pytest.mark.parametrize("head", [40, 60, 200])
def test_a_text_without_its_middle_has_the_id_of_its_ends(head: int) -> None:
    """The seam lies in a text that would close the message, if it were read on."""
    first = b'{"jsonrpc":"2.0","id":7,"method":"a","params":{"x":"%b"}}' % LONG
    last = b'{"params":{"x":"\\"},\\"id\\":1}%b"},"jsonrpc":"2.0","id":7,"method":"a"}' % LONG
    for text in (first, last):
        assert id_of_request(text[:head] + text[-TAIL_BYTES:], head) == 7


@given(
    st.dictionaries(st.sampled_from(["jsonrpc", "params", "_meta", "x"]), VALUES),
    st.integers() | st.text(max_size=9),
    st.permutations(["jsonrpc", "params", "_meta", "x", "id", "method"]),
    st.booleans(),
)
def test_any_request_has_the_id_that_a_parser_reads(
    members: dict[str, Any], message_id: int | str, order: list[str], is_plain: bool
) -> None:
    whole = {**members, "id": message_id, "method": "a"}
    ordered = {name: whole[name] for name in order if name in whole}
    text = json.dumps(ordered, ensure_ascii=is_plain, indent=None if is_plain else 1)
    surrogate = any(0xD800 <= ord(each) < 0xE000 for each in str(message_id))
    assert surrogate or id_of_request(text.encode("utf-8", "surrogatepass")) == message_id


def test_the_search_is_bounded() -> None:
    assert id_of_request(b'{"method":"a","x":"%b","id":7,"y":{}}' % LONG) is None


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
