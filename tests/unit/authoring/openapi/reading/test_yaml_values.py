"""YAML of vendors, as YAML 1.2 reads it."""

import pytest

from gateway.authoring.contracts.sources.yamltext import YamlRefused
from gateway.authoring.openapi.reading.source import Meter, decode_yaml
from tests.unit.tables import each_of


def value(text):
    """The value of `text`."""
    return decode_yaml(text, Meter())[0]


@each_of(
    ("text", "expected"),
    [
        ("on", "on"),
        ("yes", "yes"),
        ("2026-11-23", "2026-11-23"),
        ("12:30", "12:30"),
        ("1_000", "1_000"),
        ("True", True),
        ("~", None),
        ("", None),
        ("012", 12),
        ("0x1F", 31),
        ("0o17", 15),
        ("1.5e3", 1500.0),
        (".5", 0.5),
        ("1.", 1.0),
        (".inf", ".inf"),
        ("1e999", "1e999"),
        ("'1'", "1"),
        ("!!str 1", "1"),
        ("!!int '7'", 7),
    ],
)
def test_a_scalar_has_the_value_of_the_core_schema(text, expected):
    found = value(f"a: {text}\n")["a"]
    assert (found, type(found)) == (expected, type(expected))


def test_names_are_text():
    assert value("200: a\ntrue: b\nnull: c\n1.0: d\n") == {
        "200": "a",
        "true": "b",
        "null": "c",
        "1.0": "d",
    }


def test_a_merge_key_adds_what_the_mapping_does_not_have():
    text = "a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc:\n  <<: [*a, *b]\n  x: 3\n"
    assert value(text)["c"] == {"x": 3, "y": 1, "z": 2}


def test_a_quoted_merge_key_is_a_name():
    assert value('a: {"<<": 1}\n')["a"] == {"<<": 1}


@pytest.mark.parametrize("text", ["a: &a <<\nb: {*a : 1}\n", 'a: &a "<<"\nb: {*a : 1}\n'])
def test_an_alias_of_the_text_of_a_merge_key_is_a_name(text):
    assert value(text)["b"] == {"<<": 1}


def test_an_alias_is_the_same_value():
    found = value("a: &a [1]\nb: *a\n")
    assert found["b"] is found["a"]


@pytest.mark.parametrize(
    "text", ["a: !!python/object:os.system {}", "a: !x 1", "<<: 1", "? [a]\n: 1", "a: 1\n---\nb: 1"]
)
def test_what_is_no_json_is_refused(text):
    with pytest.raises(YamlRefused) as caught:
        decode_yaml(f"{text}\n", Meter())
    assert caught.value.line >= 1
