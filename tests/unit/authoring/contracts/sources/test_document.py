"""Contract files as text: YAML that means one JSON value, strict JSON, and lines for both."""

import contextlib
import hashlib
import json
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gateway.authoring.contracts import yamltext
from gateway.authoring.contracts.document import (
    MAX_BYTES,
    Document,
    JsonLines,
    JsonRefused,
    read_document,
)
from gateway.authoring.contracts.document import decode as decode_json
from gateway.authoring.contracts.finding import ContractRefused
from gateway.contract.values.pointers import child
from tests.unit.tables import each_of

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)
TEXTS = st.recursive(
    st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=8,
)


def read(folder: Path, name: str, text: str | bytes) -> Document:
    raw = text.encode() if isinstance(text, str) else text
    (folder / name).write_bytes(raw)
    return read_document(folder, PurePosixPath(name))


def pointers_in(value: Any, pointer: str = "") -> list[str]:
    if not isinstance(value, dict | list):
        return [pointer]
    members = value.items() if isinstance(value, dict) else enumerate(value)
    inner = [pointers_in(member, child(pointer, step)) for step, member in members]
    return [pointer, *(found for each in inner for found in each)]


@each_of(
    ("text", "value"),
    [
        ("yes", "yes"),
        ("NO", "NO"),
        ("on", "on"),
        ("2026-11-20", "2026-11-20"),
        ("2026-11-20T10:00:00Z", "2026-11-20T10:00:00Z"),
        ("12:30:45", "12:30:45"),
        ("1.5.3", "1.5.3"),
        ("@/id", None),
        ('"@/id"', "@/id"),
        ("$inputs.name", "$inputs.name"),
        ("2XX", "2XX"),
        ("0", 0),
        ("-7", -7),
        ("1.50", 1.5),
        ("1e3", 1000.0),
        ("true", True),
        ("null", None),
        ("'true'", "true"),
        ('"7"', "7"),
        ("'~'", "~"),
        ("-", None),
        ("v1.0", "v1.0"),
        ("nobody", "nobody"),
        ("Text with: colon", None),
    ],
)
def test_plain_yaml_scalars_are_read_by_the_json_schema_of_yaml(text: str, value: Any) -> None:
    """YAML 1.1 would make booleans, dates and sexagesimal numbers of several of these."""
    source = f"name: {text}\n"
    if value is None and text != "null":
        with pytest.raises(yamltext.YamlRefused) as refused:
            yamltext.decode(source)
        assert refused.value.rule == "yaml/malformed"
    else:
        assert yamltext.decode(source) == {"name": value}
        assert type(yamltext.decode(source)["name"]) is type(value)


@each_of(
    "text",
    [
        *("True", "FALSE", "Null", "~", "0x1F", "0o17", "010", "+1", "1_000", ".5", "1.", ".inf"),
        *(".NaN", "1e999", "-.inf", "0b101", "9" * 200),
    ],
)
def test_scalars_that_yaml_readers_disagree_about_are_refused(text: str) -> None:
    with pytest.raises(yamltext.YamlRefused) as refused:
        yamltext.decode(f"first: 1\nname: {text}\n")
    assert (refused.value.rule, refused.value.line) == ("yaml/ambiguous-scalar", 2)
    assert refused.value.pointer == "/name"


def test_yaml_nests_as_deep_as_json_and_no_deeper() -> None:
    assert yamltext.decode("[" * 64 + "]" * 64)
    with pytest.raises(yamltext.YamlRefused) as refused:
        yamltext.decode("[" * 65 + "]" * 65)
    assert refused.value.rule == "yaml/too-deep"


@given(TEXTS, st.sampled_from(['"', "'", "|", ">"]), st.booleans())
def test_yaml_written_by_another_program_is_read_as_the_same_value(
    value: Any, style: str, is_flow: bool
) -> None:
    text = yaml.safe_dump(value, default_style=style, default_flow_style=is_flow)
    assert yamltext.decode(text) == value


@given(VALUES, st.sampled_from([None, 1]))
def test_json_is_yaml_with_the_same_value_and_the_same_lines(
    value: Any, indent: int | None
) -> None:
    """Two independent readers of one text: JSON's scanner and YAML's events."""
    text = json.dumps(value, indent=indent).replace("\\ud", "\\u0d").replace("\\/", "/")
    decoded = json.loads(text)
    assert yamltext.decode(text) == decoded
    lines = yamltext.lines_of(text)
    assert set(lines) == set(pointers_in(decoded))
    assert lines == {pointer: JsonLines(text).line_of(pointer) for pointer in lines}


def test_lines_are_those_of_names_and_items(tmp_path: Path) -> None:
    yaml_document = read(
        tmp_path, "a.yaml", "# comment\n\none: 1\nlist:\n  - a\n  -\n    b: 2\n'a/b~c':\n  7\n"
    )
    json_document = read(tmp_path, "a.json", '\n{\n"one": 1,\n"list": [1,\n{"b":\n2}]}')

    places = ["", "/one", "/list", "/list/0", "/list/1/b", "/a~1b~0c"]
    assert [yaml_document.line_of(place) for place in places] == [3, 3, 4, 5, 7, 8]
    assert [json_document.line_of(place) for place in places[:5]] == [2, 3, 4, 4, 5]


def test_a_pointer_to_nothing_has_the_line_of_what_is_around_it(tmp_path: Path) -> None:
    document = read(tmp_path, "a.yaml", "one:\n  two:\n    three: 3\n")
    assert document.line_of("/one/two/missing/deeper") == 2
    assert document.line_of("/elsewhere") == 1


def test_the_hash_does_not_depend_on_line_ends(tmp_path: Path) -> None:
    """A checkout with CRLF must generate the same bytes."""
    unix = read(tmp_path, "a.yaml", b"one: 1\ntwo: |\n  text\n")
    windows = read(tmp_path, "b.yaml", b"one: 1\r\ntwo: |\r\n  text\r\n")
    assert (
        unix.text_sha256
        == windows.text_sha256
        == hashlib.sha256(b"one: 1\ntwo: |\n  text\n").hexdigest()
    )
    assert unix.value == windows.value


def test_a_file_of_exactly_one_mebibyte_is_read(tmp_path: Path) -> None:
    text = json.dumps({"text": ""}).encode()
    full = text.replace(b'""', b'"' + b"a" * (MAX_BYTES - len(text)) + b'"')
    assert len(full) == MAX_BYTES
    assert len(read(tmp_path, "a.json", full).value["text"]) == MAX_BYTES - len(text)


def test_an_unreadable_file_is_reported_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.json").write_text("{}")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(ContractRefused, match="Permission denied") as refused:
        read_document(tmp_path, PurePosixPath("a.json"))
    assert refused.value.findings[0].rule == "file/unreadable"


@pytest.mark.parametrize(
    ("text", "line"),
    [(b'{\n"a": 1,\n}', 3), (b'{\n"a": \n01}', 3), (b"{}\n{}", 2), (b'{"a":"\\ud800"}', 1)],
)
def test_malformed_json_is_refused_with_its_line(tmp_path: Path, text: bytes, line: int) -> None:
    with pytest.raises(ContractRefused) as refused:
        read(tmp_path, "a.json", text)
    (finding,) = refused.value.findings
    assert (finding.rule, finding.path, finding.line) == ("json/malformed", "a.json", line)


def test_a_name_that_occurs_twice_in_json_is_refused_at_its_second_place() -> None:
    with pytest.raises(JsonRefused) as refused:
        decode_json(b'{"a": [1, {"b": {"c": 1,\n"c": 2}}],\n"a": 1,\n"a": 2}')
    assert (refused.value.line, refused.value.pointer) == (2, "/a/1/b/c")
    assert refused.value.message == "'c' occurs twice in one object"


@given(st.binary(max_size=60))
def test_any_bytes_are_read_as_json_or_refused(raw: bytes) -> None:
    """No other exception escapes, whatever the file holds."""
    with contextlib.suppress(JsonRefused):
        decode_json(raw)


@given(st.text(max_size=60))
def test_any_text_is_read_as_yaml_or_refused(text: str) -> None:
    with contextlib.suppress(yamltext.YamlRefused):
        yamltext.decode(text)


@given(st.text(alphabet="{}[]:,-&*!?|>%@\"'# \n\ta1~", max_size=40))
def test_any_punctuation_is_read_as_yaml_or_refused(text: str) -> None:
    try:
        value = yamltext.decode(text)
    except yamltext.YamlRefused:
        return
    assert set(yamltext.lines_of(text)) == set(pointers_in(value))
