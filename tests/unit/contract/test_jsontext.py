"""The strict reading of JSON that every door shares."""

import pytest

from gateway.contract import jsontext


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


@pytest.mark.parametrize(
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
        (b"// comment\n1", "invalid character"),
    ],
)
def test_anything_else_is_refused(text: bytes, why: str) -> None:
    with pytest.raises(jsontext.NotJson) as refused:
        jsontext.decode(text)

    assert why in str(refused.value)


def test_a_brace_inside_a_string_does_not_count_as_nesting() -> None:
    assert jsontext.decode(b'"' + b'{[\\"' * 200 + b'"') == '{["' * 200
