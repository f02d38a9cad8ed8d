"""What an upstream says in a refusal: found, cleaned, bounded, and without secrets."""

import json

import msgspec
import pytest

from gateway.contract import refusals
from gateway.contract.refusals import (
    MAX_BODY_BYTES,
    MAX_ERROR_BYTES,
    MAX_SENTENCE,
    MAX_TEXT,
    plain_code,
    upstream_answer,
    with_code,
    with_sentence,
)
from gateway.contract.upstream import Reply, Upstream, UpstreamOperation, status_names
from gateway.contract.values.schema import Validator
from tests.unit.tables import each_of

JSON = "application/json"


def answered(body, media_type=JSON, validator=None):
    written = body if isinstance(body, bytes) else json.dumps(body).encode()
    reply = Reply(status=422, headers={"content-type": media_type}, body=written)
    return upstream_answer(reply, validator)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"message": "a must be even"}, "a must be even"),
        ({"error": {"type": "card_error", "message": "Declined."}}, "Declined."),
        ({"error": "invalid_grant", "error_description": "Too old."}, "Too old."),
        ({"title": "Bad", "detail": "a is odd", "status": 422}, "a is odd"),
        ({"detail": [{"loc": ["body", "a"], "msg": "not even"}]}, "not even"),
        ({"errors": [{"status": "422", "title": "Bad", "detail": "odd"}]}, "odd"),
        ({"errors": {"a": ["is odd"]}}, ""),
        (["first", "second"], "first"),
        ("only this", "only this"),
        ({"code": 7}, ""),
        ({"message": ""}, ""),
        ({"message": "two\n lines\t"}, "two lines"),
        ({"message": {"message": {"message": {"message": "too deep"}}}}, ""),
        ({"message": "x" * (MAX_SENTENCE + 1)}, "x" * (MAX_SENTENCE - 1) + "…"),
    ],
)
def test_the_sentence_of_an_error(body, sentence):
    assert answered(body).sentence == sentence


def test_a_sentence_is_marked_as_the_upstreams_and_said_once():
    answer = answered({"message": "a must be even"})
    assert with_sentence("Invalid.", answer) == 'Invalid. The upstream says: "a must be even"'
    assert with_sentence("Here a must be even.", answer) == "Here a must be even."
    assert with_sentence("Invalid.", answered({})) == "Invalid."
    assert with_sentence("Invalid.", None) == "Invalid."


def test_a_small_body_is_repeated_without_hidden_characters():
    answer = answered({"message": "a\u202e b\U000e0041", "\u200bat": ["/a\x1b[2J"]})
    assert answer.body == {"message": "a b", "at": ["/a[2J"]}
    assert answer.text is msgspec.UNSET


def test_of_a_large_body_the_sentence_is_left():
    large = {"trace": "x" * MAX_BODY_BYTES, "message": "a must be even"}
    answer = answered(large)
    assert (answer.body, answer.text) == (msgspec.UNSET, "a must be even")
    without = answered({"trace": "x" * MAX_BODY_BYTES})
    assert isinstance(without.text, str)
    assert len(without.text) == MAX_TEXT
    assert without.text.startswith('{"trace":"xxx')


def test_the_work_does_not_grow_with_a_large_body(monkeypatch):
    """Hidden characters are searched in what is shown, and a sentence in the first items."""
    looked_at = []

    def look(text):
        looked_at.append(text)
        return text, 0

    monkeypatch.setattr(refusals, "visible_text", look)
    monkeypatch.setattr(refusals, "visible", look)
    items = [{"at": number} for number in range(10_000)]
    assert answered({"errors": [*items, {"message": "odd"}]}).text.startswith('{"errors":[')
    assert answered({"errors": [*items[:5], {"message": "\u200b" * 9000}]}).text != ""
    assert [len(each) <= 4 * MAX_TEXT for each in looked_at] == [True, True]


@pytest.mark.parametrize(
    ("body", "media_type", "text"),
    [
        (b"short and stout", "text/plain", "short and stout"),
        (b"short and stout", "", "short and stout"),
        (b"<error>odd</error>", "application/xml", "<error>odd</error>"),
        (b"\xff odd", "text/plain", "\ufffd odd"),
        (b"y" * 9000, "text/plain", "y" * (MAX_TEXT - 1) + "…"),
        (b"<h1>Bad gateway</h1>", "text/html; charset=utf-8", msgspec.UNSET),
        (b"\x89PNG", "image/png", msgspec.UNSET),
        (b"", "text/plain", msgspec.UNSET),
        (b'{"message": "cut', JSON, msgspec.UNSET),
        (b"z" * (MAX_ERROR_BYTES + 1), "text/plain", msgspec.UNSET),
    ],
)
def test_another_text_is_repeated_if_it_is_no_page(body, media_type, text):
    answer = answered(body, media_type)
    assert (answer.body, answer.text) == (msgspec.UNSET, text)


def test_a_body_is_declared_if_it_keeps_to_its_schema():
    validator = Validator({"type": "object", "required": ["message"]})
    assert answered({"message": "odd"}, validator=validator).is_declared
    assert not answered({"text": "odd"}, validator=validator).is_declared
    assert not answered({"message": "odd"}).is_declared


def test_secrets_are_masked_in_texts_names_and_numbers():
    body = {"message": "card 4242 of ada", "ada": [4242, 42424, True, None, {"at": "x ada"}]}
    masked = answered(body).without({"ada", "4242"}, "<redacted>")
    assert masked.body == {
        "message": "card <redacted> of <redacted>",
        "<redacted>": ["<redacted>", 42424, True, None, {"at": "x <redacted>"}],
    }
    text = answered(b"no ada", "text/plain").without({"ada", "ada lovelace"}, "<redacted>")
    assert text.text == "no <redacted>"
    whole = answered(b"no ada lovelace", "text/plain").without({"ada", "ada lovelace"}, "***")
    assert whole.sentence == "no ***"


@pytest.mark.parametrize("code", ["invalid_grant", "PGRST124", "22P02", "x" * 64])
def test_a_plain_code_is_reported(code) -> None:
    assert plain_code(code) == code
    assert with_code("It answered 400", code) == f"It answered 400: {code}."


@each_of("code", ["", "x" * 65, "two words", "a\n", "<b>", "é", 7, None, ["a"], {"a": 1}])
def test_whatever_else_stands_there_is_not(code) -> None:
    assert plain_code(code) == ""
    assert with_code("It answered 400", code) == "It answered 400."


def test_a_status_has_its_own_name_before_that_of_its_class() -> None:
    assert (status_names(404), status_names(200)) == (("404", "4XX"), ("200", "2XX"))


def test_an_operation_is_found_by_its_id() -> None:
    look = UpstreamOperation(id="look", method="GET", path="/")
    zoo = Upstream(name="zoo", title="Zoo", base_url=None, operations=(look,))
    assert (zoo.find("look"), zoo.find("feed")) == (look, None)
