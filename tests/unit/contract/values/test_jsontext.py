"""The strict reading of JSON that every transport shares."""

import json
import re
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.contract.values import jsontext
from tests.unit.tables import each_of

PIECE = 64 * 1024


def test_between_pieces_of_a_long_text_the_processor_is_left_to_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times: list[None] = []
    monkeypatch.setattr(jsontext, "_make_way", lambda: times.append(None))
    jsontext.decode(b'"' + b"a" * (PIECE // 2) + b'"')
    assert times == []
    jsontext.decode(b'"' + b"a" * (10 * PIECE) + b'"')
    assert len(times) >= 10


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'{"a": [1, 2.5, null, true, "x"]}', {"a": [1, 2.5, None, True, "x"]}),
        (b"[" * 64 + b"]" * 64, None),
        (b'"\\u00e9 \\ud83d\\ude00"', "é 😀"),
        (b' {"a":"{[{[" } ', {"a": "{[{["}),
        (b'{"a":{"x":1},"b":{"x":1}}', {"a": {"x": 1}, "b": {"x": 1}}),
    ],
)
def test_well_formed_text_is_read(text: bytes, value: object) -> None:
    decoded = jsontext.decode(text)

    assert value is None or decoded == value


@each_of(
    ("text", "why"),
    [
        (b"", "truncated"),
        (b'{"a":1', "truncated"),
        (b"{'a':1}", "keys must be strings"),
        (b"[1,]", "trailing comma"),
        (b"1 2", "trailing characters"),
        (b"NaN", "invalid character"),
        (b"-Infinity", "invalid character"),
        (b"[1e400]", "out of range"),
        (b"[" + b"9" * 5000 + b"]", "out of range"),
        (b'{"a":1,"a":2}', "twice"),
        (b'{"o":{"a":1,"\\u0061":2}}', "twice"),
        (b"[" * 65 + b"]" * 65, "nested deeper"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested deeper"),
        (b'"\xff"', "UTF-8"),
        (b"\xef\xbb\xbf{}", "invalid character"),
        ('{"a":1}'.encode("utf-16"), "invalid character"),
        (b'"\\ud800 and more"', "surrogate"),
        (b'"\\udc00"', "surrogate"),
        (b'{"a":"\\ud800"}', "a lone surrogate"),
        (b'"\\ud83d', "truncated"),
        (b"// comment\n1", "invalid character"),
    ],
)
def test_anything_else_is_refused(text: bytes, why: str) -> None:
    with pytest.raises(jsontext.NotJson) as refused:
        jsontext.decode(text)

    assert why in str(refused.value)


def test_a_reason_speaks_of_the_text_and_not_of_the_reader() -> None:
    with pytest.raises(jsontext.NotJson) as refused:
        jsontext.decode(b'{"a":{"b":[1,1e400]}}')

    assert str(refused.value) == "Number out of range"


@each_of(
    ("text", "value"),
    [
        (b"1e30", 10**30),
        (b"-1E+30", -(10**30)),
        (b"12345678901234567890.0", 12345678901234567000),
        (b"-9223372036854775808.0", -9223372036854776000),
        (b"1.5e300", 15 * 10**299),
        (b"9223372036854774784.0", 9223372036854774784.0),
        (b"1e3", 1000.0),
        (b"-0.0", -0.0),
    ],
)
def test_a_whole_number_beyond_64_bits_is_an_integer_however_it_is_written(
    text: bytes, value: float
) -> None:
    decoded = jsontext.decode(text)
    again = jsontext.decode(jsontext.encode(json.loads(text)))  # as the SDK passes it on

    assert (type(decoded), repr(decoded)) == (type(value), repr(value))
    assert (type(again), repr(again)) == (type(value), repr(value))
    assert float(decoded) == float(text)


def test_bounds_of_contracts_stay_as_they_are_written() -> None:
    found = jsontext.decode(b"[1e300, 5.0, 7]", jsontext.CONTRACT)
    assert [type(each) for each in found] == [float, float, int]


def test_a_brace_inside_a_string_does_not_count_as_nesting() -> None:
    assert jsontext.decode(b'"' + b'{[\\"' * 200 + b'"') == '{["' * 200


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"[" + b",".join([b'{"a":[1]}'] * 10_001) + b"]", "more than 10000 names"),
        (b"{" + b",".join(b'"%d":1' % n for n in range(10_001)) + b"}", "more than 10000 names"),
        (b"[" + b",".join([b"1"] * 100_001) + b"]", "more than 100000 values"),
        (b"[" + b",".join([b"[]"] * 100_001) + b"]", "more than 100000 values"),
    ],
)
def test_a_request_holds_no_more_than_is_quickly_judged(text: bytes, why: str) -> None:
    with pytest.raises(jsontext.NotJson) as refused:
        jsontext.decode(text, jsontext.REQUEST)

    assert why in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        b"{" + b",".join(b'"%d":1' % n for n in range(10_000)) + b"}",
        b"[" + b",".join([b"1"] * 100_000) + b"]",
        b'"' + b"{[:,]}" * 50_000 + b'"',
    ],
)
def test_what_a_request_may_hold_is_read_and_marks_inside_strings_do_not_count(text: bytes) -> None:
    assert jsontext.decode(text, jsontext.REQUEST)


def test_an_upstream_may_answer_more_than_a_caller_may_send() -> None:
    text = b"[" + b",".join([b'{"a":[1]}'] * 20_000) + b"]"

    assert len(jsontext.decode(text, jsontext.REPLY)) == 20_000


@each_of(
    ("text", "why"),
    [
        (b"{" + b",".join(b'"%d":1' % n for n in range(250_001)) + b"}", "more than 250000 names"),
        (b"[" + b"1," * 500_001 + b"1]", "more than 500000 values"),
        (b"[" + b"[[]]," * 250_001 + b"1]", "more than 500000 values"),
        (b'["' + b"x,:[" * 10 + b'",' + b'"\\"",' * 500_000 + b"1]", "more than 500000 values"),
    ],
)
def test_too_many_values_of_an_upstream_are_refused_before_they_are_made(
    text: bytes, why: str
) -> None:
    """Nothing else runs while they are made, also in a thread: 150 ms for 500,000 names."""
    tracemalloc.start()
    with pytest.raises(jsontext.NotJson, match=why):
        jsontext.decode(text, jsontext.REPLY)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2 * len(text)


@each_of(
    "text",
    [
        b'"' + b"1,[:{" * 1_000_000 + b'"',
        b'["' + b'\\",:[' * 1_000_000 + b'"]',
        b"{" + b",".join(b'"%d":1' % n for n in range(250_000)) + b"}",
        b"[" + b"[1,2],3," * 100_000 + b"1]",
    ],
)
def test_a_large_answer_with_fewer_values_is_read_whatever_its_strings_hold(text: bytes) -> None:
    assert jsontext.decode(text, jsontext.REPLY)


@each_of("text", [b'"' + b'\\"' * 1_000_000, b'"' + b"," * 600_000, b'"' + b"\\" * 600_001])
def test_a_string_without_an_end_is_refused(text: bytes) -> None:
    with pytest.raises(jsontext.NotJson):
        jsontext.decode(text + b"," * 600_000, jsontext.REPLY)


@given(st.lists(st.sampled_from(['"', "\\", "\\\\", ":,[{", "u"]), max_size=30), st.integers(1, 9))
def test_marks_are_counted_outside_of_strings_wherever_pieces_end(
    parts: list[str], piece: int
) -> None:
    """A text is read in pieces, between which the event loop runs."""
    text = "[1," + json.dumps("".join(parts)) + ',{"a":2}]'
    outside = re.sub(r'"(?:[^"\\]|\\.)*"', "", text, flags=re.DOTALL)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsontext, "_PIECE_BYTES", piece)
        found = list(jsontext._between_strings(text.encode()))

    assert b"".join(found).decode() == outside


def test_before_an_answer_of_an_upstream_a_byte_order_mark_is_ignored() -> None:
    assert jsontext.decode(b"\xef\xbb\xbf[1]", jsontext.REPLY) == [1]
    for text, limits in (
        (b"\xef\xbb\xbf[1]", jsontext.REQUEST),
        (b"\xef\xbb\xbf\xef\xbb\xbf[1]", jsontext.REPLY),
    ):
        with pytest.raises(jsontext.NotJson):
            jsontext.decode(text, limits)


def test_an_upstream_may_not_nest_deeper_than_a_gate_reads() -> None:
    with pytest.raises(jsontext.NotJson, match="nested deeper than 200"):
        jsontext.decode(b"[" * 201 + b"]" * 201, jsontext.REPLY)
