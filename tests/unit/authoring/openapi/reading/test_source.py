"""Files of vendors, as they are written."""

import hashlib
import tracemalloc

import pytest

from gateway.authoring.openapi.reading import source as jsonvalue
from gateway.authoring.openapi.reading.source import (
    DocumentRefused,
    Meter,
    ReadingBudget,
    parse_source,
    read_source,
)
from tests.unit.tables import each_of

SMALL = '{"openapi": "3.1.0", "paths": {}}'


def refused(raw, name="api.yaml", **budget):
    """The only finding of a document that cannot be read."""
    with pytest.raises(DocumentRefused) as caught:
        parse_source(raw.encode() if isinstance(raw, str) else raw, name, ReadingBudget(**budget))
    (finding,) = caught.value.findings
    return finding


@pytest.mark.parametrize(
    ("head", "version"),
    [
        ('swagger: "2.0"', "2.0"),
        ("swagger: 2.0", "2.0"),
        ("openapi: 3.0.4", "3.0"),
        ("openapi: 3.1", "3.1"),
        ("openapi: 3.2.0", "3.2"),
    ],
)
def test_each_version_is_recognised(head, version):
    assert parse_source(f"{head}\npaths: {{}}\n".encode(), "api.yaml").version == version


@pytest.mark.parametrize(
    "text",
    ["openapi: 4.0.0", "openapi: 3.10.0", "swagger: '1.2'", "openapi: '2.0'", "info: {}", "- 1"],
)
def test_another_version_is_refused(text):
    assert refused(text).rule == "document/version"


def test_json_without_a_suffix_is_read():
    assert parse_source(SMALL.encode(), "-").value["paths"] == {}


def test_a_byte_order_mark_is_accepted():
    assert parse_source(b"\xef\xbb\xbf" + SMALL.encode(), "api.json").version == "3.1"


@each_of("name", ["api.json", "api.yaml"])
@each_of(
    ("raw", "message"),
    [
        (SMALL.encode("utf-16"), "UTF-16"),
        (SMALL.encode("utf-16-be"), "UTF-16"),
        (b" \n", "the file is empty"),
        (b"\n<!DOCTYPE html>", "HTML"),
    ],
)
def test_what_is_neither_json_nor_yaml_is_named(raw, message, name):
    assert message in refused(raw, name).message


def test_the_digest_is_that_of_the_bytes():
    raw = b"\xef\xbb\xbf" + SMALL.encode()
    assert parse_source(raw, "api.json").sha256 == hashlib.sha256(raw).hexdigest()


@pytest.mark.parametrize("name", ["api.json", "api.yaml"])
def test_lines_are_those_of_the_text(name):
    text = '{\n "openapi": "3.1.0",\n "paths": {\n  "/a~b/c": {\n   "get": [1,\n 2]}}\n}'
    source = parse_source(text.encode(), name)
    pointer = "/paths/~1a~0b~1c"
    assert source.line_of("") == 1
    assert source.line_of(pointer) == 4
    assert source.line_of(f"{pointer}/get/1") == 6
    assert source.line_of(f"{pointer}/get/7/deeper") == 5


def test_lines_of_yaml_are_those_of_the_text():
    text = "openapi: 3.1.0\npaths:\n  /a:\n    get:\n      x: 1\n"
    source = parse_source(text.encode(), "api.yaml")
    assert source.line_of("/paths/~1a/get") == 4
    assert source.line_of("/paths/~1a/get/nothing") == 4


def test_malformed_json_is_refused_with_its_line():
    finding = refused('{\n "openapi": "3.1.0",\n "paths": }', "api.json")
    assert (finding.rule, finding.line) == ("document/malformed", 3)


def test_malformed_yaml_is_refused_with_its_line():
    finding = refused("openapi: 3.1.0\npaths: [1\ninfo: x\n")
    assert (finding.rule, finding.line) == ("document/malformed", 3)


def test_text_that_is_not_utf_8_is_refused():
    assert refused(b"openapi: 3.1.0\ntitle: \xff\n").rule == "document/encoding"


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        (SMALL, {"size_bytes": 10}),
        ('{"openapi": "3.1.0", "a": [[[[1]]]]}', {"depth": 4}),
        ("openapi: 3.1.0\na: [[[[1]]]]\n", {"depth": 4}),
        ('{"openapi": "3.1.0", "a": [1, 2, 3, 4, 5]}', {"nodes": 5}),
        ("openapi: 3.1.0\na: [1, 2, 3, 4, 5]\n", {"nodes": 5}),
    ],
)
def test_a_document_beyond_the_budget_is_refused(text, budget):
    assert refused(text, **budget).rule == "document/too-large"


def test_a_document_that_takes_too_long_is_refused():
    text = "openapi: 3.1.0\na: [" + "1, " * 30_000 + "1]\n"
    assert "seconds" in refused(text, seconds=-1.0).message


def test_deeply_nested_json_is_refused():
    assert refused('{"openapi": ' + "[" * 100_000, "api.json").rule == "document/too-large"


def test_commas_inside_of_text_are_no_values():
    text = '{"openapi": "3.1.0", "a": "' + "," * 50 + '"}'
    budget = ReadingBudget(nodes=10)
    assert parse_source(text.encode(), "api.json", budget).version == "3.1"


def test_aliases_that_grow_exponentially_are_refused_in_little_memory():
    lines = ["openapi: 3.1.0", "a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 40)]
    tracemalloc.start()
    finding = refused("\n".join(lines))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert finding.rule == "document/too-large"
    assert peak < 20_000_000


def test_aliases_of_one_long_text_are_refused():
    text = f"openapi: 3.1.0\na: &a {'x' * 100_000}\nb: [{', '.join(['*a'] * 1_000)}]\n"
    assert refused(text).rule == "document/too-large"


def test_aliases_that_nest_deeper_than_the_text_are_refused():
    lines = ["openapi: 3.1.0", "a0: &a0 [x]"]
    lines += [f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 250)]
    assert "deeper" in refused("\n".join(lines)).message


@pytest.mark.parametrize("text", ["a: &a [*a]", "a: &a {b: *a}", "a: *b"])
def test_an_alias_without_a_finished_anchor_is_refused(text):
    assert refused(f"openapi: 3.1.0\n{text}\n").rule == "document/malformed"


def test_a_name_that_occurs_twice_is_reported():
    source = parse_source(b'{"openapi": "3.1.0", "a": 1, "a": 2}', "api.json")
    assert source.file.repeated == ["a"]
    assert source.value["a"] == 2
    yaml = parse_source(b"openapi: 3.1.0\na: 1\na: 2\n", "api.yaml")
    assert (yaml.file.repeated, yaml.value["a"]) == (["a"], 2)


def test_many_names_that_occur_twice_are_found_in_one_pass() -> None:
    """With a search for each name, this would take minutes."""
    number = 100_000
    members = ",".join(f'"k{index}":1,"k{index}":2' for index in range(number))
    raw = b"{" + members.encode() + b"}"
    assert len(jsonvalue.repeated_names(raw, jsonvalue.decode_json(raw, Meter()))) == number


def test_a_folder_with_one_document_is_read(tmp_path):
    (tmp_path / "api.yaml").write_text("openapi: 3.1.0\n", "utf-8")
    (tmp_path / "parts.yaml").write_text("Pet: {type: object}\n", "utf-8")
    assert read_source(tmp_path).path == "api.yaml"


@pytest.mark.parametrize("names", [[], ["a.yaml", "b.yaml"]])
def test_a_folder_without_exactly_one_document_is_refused(tmp_path, names):
    for name in names:
        (tmp_path / name).write_text("openapi: 3.1.0\n", "utf-8")
    with pytest.raises(DocumentRefused) as caught:
        read_source(tmp_path)
    assert caught.value.findings[0].rule == "document/not-one"
    assert all(name in caught.value.findings[0].message for name in names)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(DocumentRefused) as caught:
        read_source(tmp_path / "none.yaml")
    assert caught.value.findings[0].rule == "document/unreadable"


def test_the_line_of_a_replaced_value_is_that_of_the_text():
    source = parse_source(b'{"openapi": "3.1.0",\n "paths": {}}', "api.json")
    replaced = source.replaced({**source.value, "x": 1})
    assert (replaced.value["x"], replaced.line_of("/paths")) == (1, 2)
    assert "x" not in source.value
