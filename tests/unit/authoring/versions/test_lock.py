"""`contracts.lock`: one text for one set of contracts, however they are spelt; damage is named."""

from pathlib import Path

import pytest

from gateway.authoring.codegen.lowering import lower
from gateway.authoring.contracts.finding import ContractRefused, Finding
from gateway.authoring.contracts.tree import read_tree
from gateway.authoring.diff.facets import canonical, digest, schema_digest, text_digest
from gateway.authoring.versions.lock import FILE, Lock, first_version, lock_of, read_lock
from tests.unit.edits import rewrite

FIND = "tools/books/find_books.yaml"
INPUT = "tools/books/find_books.input.json"
KEY = ("tool", "books.find_books")
WORDS = """\
"query": {
      "description": "Words of the title.",
      "type": "string",
      "minLength": 1,
      "maxLength": 100
    },"""


def lock(schemas: Path) -> Lock:
    return lock_of(lower(read_tree(schemas)), {})


def written(folder: Path, text: str) -> Path:
    (folder / FILE).write_text(text, "utf-8")
    return folder


def refused(folder: Path) -> Finding:
    with pytest.raises(ContractRefused) as caught:
        read_lock(folder)
    (found,) = caught.value.findings
    assert (found.path, found.rule) == ("../contracts.lock", "version/lock-damaged")
    return found


def test_what_is_written_is_read(schemas: Path, tmp_path: Path) -> None:
    made = lock(schemas)
    assert {kind for kind, _ in made.entries} == {"tool", "webhook", "event"}
    recorded = read_lock(written(tmp_path, made.text()))
    assert recorded is not None
    assert recorded.lock == made
    assert recorded.lock.text() == made.text()


def test_there_need_not_be_one(tmp_path: Path) -> None:
    assert read_lock(tmp_path) is None


def test_it_is_sorted_with_a_block_for_each_contract(schemas: Path) -> None:
    lines = lock(schemas).text().splitlines()
    names = [line for line in lines if line.startswith("  ") and not line.startswith("   ")]
    assert names == [
        "  books.add_book:",
        "  books.find_books:",
        "  hello.greet:",
        "  desk:",
        "  gateway.book.lent.v1:",
    ]


SPELLINGS = {
    "numbers": (INPUT, '"maximum": 50', '"maximum": 50.0'),
    "order of members": (
        INPUT,
        '"minimum": 1,\n      "maximum": 50,',
        '"maximum": 50,\n      "minimum": 1,',
    ),
    "one type in a list": (INPUT, '"type": "boolean"', '"type": ["boolean"]'),
    "blanks and quotes": (FIND, "effect: read", "'effect':    read"),
    "a comment": (FIND, "post:", "post:  # of the library"),
    "order of aliases": (FIND, "aliases: [search_books]", 'aliases: ["search_books"]'),
    "a definition of its own": (
        INPUT,
        WORDS,
        '"query": {"$ref": "#/$defs/Words", "description": "Words of the title."},',
    ),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_another_spelling_is_the_same_contract(schemas: Path, name: str) -> None:
    before = lock(schemas)
    file, old, new = SPELLINGS[name]
    rewrite(schemas / file, old, new)
    if "$defs" in new:
        words = '"$defs": {"Words": {"type": "string", "maxLength": 100, "minLength": 1}}'
        rewrite(schemas / file, '"type": "object",', f'"type": "object", {words},')
    assert lock(schemas) == before


CHANGES = {
    "input": (INPUT, '"maximum": 50', '"maximum": 51'),
    "output": ("tools/books/find_books.output.json", '"minimum": 0', '"minimum": 1'),
    "description": (INPUT, "Words of the title.", "Words."),
    "annotations": (FIND, "openWorldHint: true", "openWorldHint: false"),
    "binding": (FIND, "limit: $inputs.limit", "limit: {const: 5}"),
}


@pytest.mark.parametrize("facet", CHANGES)
def test_a_change_is_of_one_facet(schemas: Path, facet: str) -> None:
    before = lock(schemas)
    file, old, new = CHANGES[facet]
    rewrite(schemas / file, old, new)
    after = lock(schemas)
    unlike = {
        key: each.facets.unlike(after.entries[key].facets) for key, each in before.entries.items()
    }
    assert {key: names for key, names in unlike.items() if names} == {KEY: (facet,)}


def test_a_schema_that_contains_itself_is_known_by_no_name() -> None:
    def tree(name: str, most: int) -> dict[str, object]:
        node = {"type": "object", "properties": {"below": {"$ref": f"#/$defs/{name}"}}}
        return {**node, "$defs": {name: {**node, "maxProperties": most, "title": name}}}

    assert schema_digest(tree("Node", 3)) == schema_digest(tree("Leaf", 3))
    assert schema_digest(tree("Node", 3)) != schema_digest(tree("Node", 4))
    assert text_digest(tree("Node", 3)) != text_digest(tree("Leaf", 3))
    assert text_digest(tree("Node", 3)) == text_digest(tree("Node", 4))


def test_data_is_compared_as_json() -> None:
    assert canonical({"b": 1.0, "a": [1, "é"]}) == '{"a":[1,"é"],"b":1}'
    assert digest({"enum": [True]}) != digest({"enum": [1]})
    assert schema_digest({"enum": ["a", "b"]}) == schema_digest({"enum": ["b", "a"]})
    assert schema_digest({"prefixItems": [{}, True]}) != schema_digest({"prefixItems": [True, {}]})
    assert schema_digest({"const": {"title": "a"}}) != schema_digest({"const": {"title": "b"}})


def test_a_conflict_of_git_is_one_finding(schemas: Path, tmp_path: Path) -> None:
    text = lock(schemas).text()
    line = next(line for line in text.splitlines(keepends=True) if "input" in line)
    marked = f"<<<<<<< HEAD\n{line}=======\n{line}>>>>>>> branch\n"
    found = refused(written(tmp_path, text.replace(line, marked, 1)))
    assert found.line == text[: text.index(line)].count("\n") + 1
    assert "not merged" in found.message
    assert "gateway release --write" in found.fix


DAMAGE = {
    "no YAML": ("tools: [", "/tools", 2),
    "a list": ("- tools\n", "", 1),
    "another section": ("tool: {}\n", "/tool", 1),
    "no map": ("tools: none\n", "/tools", 1),
    "no version": ("tools:\n  a.b:\n    input: x\n", "/tools/a.b", 2),
    "a short version": ('tools:\n  a.b:\n    version: "1.0"\n', "/tools/a.b/version", 3),
    "a number": ("tools:\n  a.b:\n    version: 1\n", "/tools/a.b/version", 3),
    "another facet": (
        "tools:\n  a.b:\n    version: 1.0.0\n    inputs: x\n",
        "/tools/a.b/inputs",
        4,
    ),
    "no hash": (
        "tools:\n  a.b:\n    version: 1.0.0\n    input: sha256:0g\n",
        "/tools/a.b/input",
        4,
    ),
    "a name twice": (
        "tools:\n  a.b:\n    version: 1.0.0\n  a.b:\n    version: 1.0.0\n",
        "/tools/a.b",
        4,
    ),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_one_finding_with_its_place(tmp_path: Path, name: str) -> None:
    text, pointer, line = DAMAGE[name]
    found = refused(written(tmp_path, text))
    assert (found.pointer, found.line) == (pointer, line)


def test_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).symlink_to(tmp_path / "elsewhere")
    assert "link" in refused(tmp_path).message


def test_the_first_version_is_that_of_the_index(schemas: Path) -> None:
    rewrite(schemas / "openapi.yaml", "version: 1.0.0", "version: 2.3.4")
    assert first_version(lower(read_tree(schemas))) == "2.3.4"
    rewrite(schemas / "openapi.yaml", "version: 2.3.4", "version: '2026-11'")
    assert first_version(lower(read_tree(schemas))) == "1.0.0"
