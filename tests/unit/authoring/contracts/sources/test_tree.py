"""Contract files in a folder, and what is written as YAML."""

import os
from pathlib import Path, PurePosixPath

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.authoring.contracts import yamltext
from gateway.authoring.contracts.tree import read_tree
from gateway.errors import ContractError
from tests.unit.tables import each_of


def test_every_contract_is_read_in_order_of_paths(schemas: Path) -> None:
    tree = read_tree(schemas)
    paths = list(tree.documents)
    assert paths == sorted(paths)
    assert PurePosixPath("common/library.json") in paths
    assert tree.findings == ()


def test_tools_upstreams_and_policies_are_found_by_their_place(schemas: Path) -> None:
    tree = read_tree(schemas)
    assert [tool.id for tool in tree.tools] == ["books.add_book", "books.find_books", "hello.greet"]
    assert list(tree.upstreams) == ["books"]
    assert tree.policies is tree.find("policies/agents.yaml")
    assert tree.index is tree.find("openapi.yaml")


def test_meta_schemas_hidden_files_and_texts_are_no_contracts(schemas: Path) -> None:
    (schemas / "README.md").write_text("How to write contracts.")
    (schemas / ".cache.json").write_text("not json")
    (schemas / ".git").mkdir()
    (schemas / ".git" / "a.json").write_text("not json")
    tree = read_tree(schemas)
    assert tree.findings == ()
    assert not [path for path in tree.documents if path.parts[0] in {"_meta", ".git"}]


def test_one_bad_file_does_not_hide_the_others(schemas: Path) -> None:
    (schemas / "policies/agents.yaml").write_text("agents: [")
    (schemas / "common/library.json").write_text("{")
    tree = read_tree(schemas)
    assert [finding.path for finding in tree.findings] == [
        "common/library.json",
        "policies/agents.yaml",
    ]
    assert tree.policies is None
    assert len(tree.tools) == 3


def test_a_linked_folder_is_refused_and_not_entered(schemas: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.json").write_text("{}")
    (schemas / "common" / "linked").symlink_to(outside, target_is_directory=True)
    tree = read_tree(schemas)
    assert [(finding.path, finding.rule) for finding in tree.findings] == [
        ("common/linked", "file/unknown-kind")
    ]
    assert not [path for path in tree.documents if path.name == "secret.json"]


def test_a_pipe_is_refused_and_not_waited_for(schemas: Path) -> None:
    os.mkfifo(schemas / "common" / "pipe.json")
    tree = read_tree(schemas)
    assert [finding.rule for finding in tree.findings] == ["file/not-regular"]


@pytest.mark.parametrize("name", ["missing", "openapi.yaml"])
def test_a_root_that_is_no_folder_cannot_be_used(schemas: Path, name: str) -> None:
    with pytest.raises(ContractError, match="is not a folder"):
        read_tree(schemas / name)


def test_a_tool_file_that_holds_no_operation_has_an_empty_one(schemas: Path) -> None:
    (schemas / "tools/hello/greet.yaml").write_text("7\n")
    tool = read_tree(schemas).tools[-1]
    assert (tool.id, tool.operation) == ("hello.greet", {})


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
