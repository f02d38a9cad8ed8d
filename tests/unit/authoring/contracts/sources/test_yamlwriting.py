"""What is written as YAML is decoded to the same value, by us and by other parsers."""

import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.authoring.contracts.sources import yamltext
from tests.unit.tables import each_of

AMBIGUOUS = ["012345678912345678", "1e5", "1.", "0o17", "0x1F", "~", "True", "nan", ".5", "-", ""]


@each_of("text", AMBIGUOUS)
def test_a_text_that_looks_like_something_else_is_quoted(text: str) -> None:
    written = yamltext.written({"key_id": text, text: ["x", text]})

    assert yamltext.decode(written) == {"key_id": text, text: ["x", text]}
    assert yaml.safe_load(written) == {"key_id": text, text: ["x", text]}


def test_a_plain_text_has_no_quotes() -> None:
    assert yamltext.written({"a": "plain text", "b": 1}) == "a: plain text\nb: 1\n"


@given(st.text(st.characters(codec="ascii", categories=["L", "N", "P", "S"]), max_size=6))
@example("1_000")
@example("0b1")
@example("1:30")
@example("2026-11-23")
@example("yes")
def test_every_text_stays_itself(text: str) -> None:
    assert yamltext.decode(yamltext.written([text])) == [text]
