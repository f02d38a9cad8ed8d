"""A check that is silenced says which one and why, on its line."""

import io
import re
import tokenize
from typing import Final

SILENCED: Final = re.compile(r"#\s*(noqa|type:\s*ignore|pragma|nosec|pyright:\s*ignore)")
REASONED: Final = re.compile(
    r"#\s*(noqa: [A-Z]+[0-9]+(, ?[A-Z]+[0-9]+)*|type: ignore\[[a-z-]+(, ?[a-z-]+)*\]"
    r"|pragma: no cover|pyright: ignore\[\w+\])(\s*[#:—-]|\s)\s*\S.{7,}"
)


def comments(source):
    """Each comment with its line."""
    tokens = tokenize.generate_tokens(io.StringIO(source.text).readline)
    return [(token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT]


def unreasoned(sources):
    """Each suppression without a rule or without a reason."""
    return [
        f"{source.path}:{line} {comment}"
        for source in sources
        for line, comment in comments(source)
        if SILENCED.search(comment) and not REASONED.search(comment)
    ]


def test_every_suppression_has_its_reason(written, tested):
    assert unreasoned([*written, *tested]) == []


def test_a_suppression_without_a_reason_is_found(planted):
    assert unreasoned(planted("x = 1  # no" + "qa\n"))
    assert unreasoned(planted("x = 1  # no" + "qa: S101\n"))
    assert unreasoned(planted("x = 1  # type: ig" + "nore[misc]\n"))
    assert unreasoned(planted("x = 1  # no" + "qa: S101 - pytest asserts\n")) == []
