"""Entries are added to YAML that people edit, and nothing else of it changes."""

import pytest
import yaml

from gateway.authoring.project.merging import with_entries, with_nested
from gateway.errors import ConfigurationError

TEXT = """\
# The index.
tags:
  - name: one   # first
    description: One.

# About paths.
paths:
  /v1/a: {$ref: ./a.yaml}
"""


def test_an_entry_follows_the_last_one_of_its_section():
    assert with_entries(TEXT, "tags", ["- name: two\n  description: Two."], "i.yaml") == (
        TEXT.replace("One.\n", "One.\n  - name: two\n    description: Two.\n")
    )


def test_the_last_section_grows_at_the_end_of_the_file():
    assert with_entries(TEXT, "paths", ["/v1/b: 1"], "i.yaml") == f"{TEXT}  /v1/b: 1\n"


def test_a_missing_section_is_made():
    found = with_entries(TEXT, "x-upstreams", ["- ./u.yaml"], "i.yaml")
    assert found == f"{TEXT}x-upstreams:\n  - ./u.yaml\n"


def test_a_list_without_indentation_keeps_that():
    text = "x-upstreams:\n- ./a.yaml\npaths: {}\n"
    found = with_entries(text, "x-upstreams", ["- ./b.yaml"], "i.yaml")
    assert found == "x-upstreams:\n- ./a.yaml\n- ./b.yaml\npaths: {}\n"


@pytest.mark.parametrize("empty", ["tags:", "tags: []", "tags: []  # none yet"])
def test_an_empty_section_gets_its_first_entry(empty):
    found = with_entries(f"{empty}\npaths: {{}}\n", "tags", ["- name: two"], "i.yaml")
    assert yaml.safe_load(found) == {"tags": [{"name": "two"}], "paths": {}}


def test_a_section_on_one_line_is_refused_with_its_place():
    with pytest.raises(ConfigurationError, match=r"^i\.yaml:2: tags is written on one line, "):
        with_entries("openapi: 3.1.1\ntags: [{name: one}]\n", "tags", ["- name: two"], "i.yaml")


def test_nothing_to_add_changes_nothing():
    assert with_entries("tags: [x]", "tags", [], "i.yaml") == "tags: [x]"


def test_a_line_separator_in_a_text_does_not_end_a_line():
    text = 'agents:\n  one:\n    description: "a\u2028agents:\u2028x\x85y"\npaths: {}\n'
    found = with_entries(text, "agents", ["two: 1"], "i.yaml")
    assert found == text.replace("paths", "  two: 1\npaths")


def test_lines_keep_their_ends():
    found = with_entries(TEXT.replace("\n", "\r\n"), "tags", ["- name: two\n  x: 1"], "i.yaml")
    assert found == with_entries(TEXT, "tags", ["- name: two\n  x: 1"], "i.yaml").replace(
        "\n", "\r\n"
    )
    made = with_entries(TEXT.replace("\n", "\r\n"), "x-upstreams", ["- u"], "i.yaml")
    assert made.endswith("{$ref: ./a.yaml}\r\nx-upstreams:\r\n  - u\r\n")


NESTED = """\
post:
  description: >-
    events:
  x-webhook:
    events: # of the provider
      one:
        profiles: [signed]
        # Does it write rows?

      # The second.
      two: {}
    # After the events.
  responses:
    events:
      other: 1
"""


def test_a_nested_entry_follows_the_last_one_and_its_comments():
    found = with_nested(NESTED, ("post", "x-webhook", "events"), ["three: {}"], "w.yaml")
    assert found == NESTED.replace("two: {}\n", "two: {}\n      three: {}\n")
    found = with_nested(found, ("post", "responses"), ["more: 1"], "w.yaml")
    assert found.endswith("      other: 1\n    more: 1\n")


def test_a_comment_that_belongs_to_the_last_entry_stays_with_it():
    text = "a:\n  one:\n    x: 1\n    # of one\n# of nothing\nb: 1\n"
    found = with_nested(text, ("a",), ["two: 2"], "w.yaml")
    assert found == text.replace("# of one\n", "# of one\n  two: 2\n")


def test_a_list_at_the_indentation_of_its_name_grows():
    text = "a:\n  anyOf:\n  - 1\n  - 2\n  b: 1\n"
    assert with_nested(text, ("a", "anyOf"), ["- 3"], "w.yaml") == text.replace(
        "  - 2\n", "  - 2\n  - 3\n"
    )


@pytest.mark.parametrize("text", ["a: {b: {}}\n", "a:\n  b: {c: 1}\n", "b:\n  c: 1\n"])
def test_a_nested_entry_has_no_place_in_flow_style(text):
    with pytest.raises(ConfigurationError, match=r"of `a\.b` is not on a line of its own"):
        with_nested(text, ("a", "b"), ["x: 1"], "w.yaml")
