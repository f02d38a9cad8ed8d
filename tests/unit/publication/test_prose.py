"""Descriptions are shortened to whole sentences, and their markup is left out."""

import pytest

from gateway.publication.listed import shortened
from tests.unit.tables import each_of


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Find an airport.",
        "A list [1] and a call f(x), where a < b.",
        "Ends with blanks  ",
        "x" * 100,
    ],
)
def test_a_short_text_without_markup_is_unchanged(text: str) -> None:
    assert shortened(text, 100) is text


def test_the_target_of_a_link_is_left_out() -> None:
    text = 'See "[Pagination](https://docs.example.com/rest?a=b)" and [here](/docs#x).'
    assert shortened(text, 200) == 'See "Pagination" and here.'


def test_tags_are_left_out_and_other_angle_brackets_are_not() -> None:
    text = '<p>Send the <code>id</code> of a <a href="/docs/api">customer</a>.</p>\n<p>a <b c</p>'
    assert shortened(text, 200) == "Send the id of a customer.\na <b c"
    assert shortened("Use <owner>/<repo>.", 200) == "Use <owner>/<repo>."


def test_a_long_text_ends_with_a_sentence() -> None:
    text = "Creates a hook. It needs the scope `repo`. " + "More words follow here. " * 20
    short = shortened(text, 60)
    assert short == "Creates a hook. It needs the scope `repo`."


def test_a_long_text_ends_with_a_paragraph_where_no_sentence_ends() -> None:
    text = "A list of things\n   \n\n- one of them is long and has no end " + "and so on " * 20
    assert shortened(text, 40) == "A list of things"


def test_a_text_without_sentences_ends_with_a_word() -> None:
    assert shortened("word " * 50, 22) == "word word word word…"
    assert shortened("a" * 50, 20) == "a" * 19 + "…"


def test_dots_inside_words_end_no_sentence() -> None:
    text = "Use api.example.com version 1.2.3 of the interface and nothing else at all. Yes."
    assert shortened(text, 40) == "Use api.example.com version 1.2.3 of…"


@each_of("limit", [1, 2, 20, 300])
@each_of("text", ["[" * 10_000, "<a " * 10_000, "\n \n" * 9000, "a. " * 9000])
def test_no_text_is_longer_than_its_limit(text: str, limit: int) -> None:
    assert len(shortened(text, limit)) <= limit


def test_of_a_huge_text_only_the_beginning_is_read() -> None:
    assert shortened("One sentence. " + "[x](" * 3_000_000, 100).startswith("One sentence.")
