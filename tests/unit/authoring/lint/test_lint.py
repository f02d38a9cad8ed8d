"""Every rule has a planted mistake that breaks it, and a clean folder that keeps it.

The mistakes are data, in tests/assets/contracts/planted/: what to do to the minimal contracts, and
the one finding that must come of it, with its file, line and JSON Pointer.
"""

import copy
import random
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway.authoring.contracts import meta
from gateway.authoring.contracts.document import Document
from gateway.authoring.contracts.finding import Severity, errors
from gateway.authoring.contracts.tree import SourceTree, read_tree
from gateway.authoring.contracts.yamltext import LineTable
from gateway.authoring.lint import CHECKS, DEEP_CHECKS, RULES, lint
from tests.unit.authoring.lint.planting import (
    ASSETS,
    KINDS,
    PLANTED,
    RELEASED,
    Verdicts,
    misjudged,
    mistakes_of,
    release,
    rewrite,
)

ELSEWHERE = {
    "file/unreadable": "contracts/sources/test_document.py",
    "client/narrowed": "codegen/test_report.py",
    "entity/retyped": "codegen/test_migrations.py",
}
"""Rules that take more than the files of a project: the tests that break them.

That is what was generated before, a profile that is wrong, and a file that the system refuses to
root too.
"""


@pytest.fixture(scope="module")
def minimal(tmp_path_factory: pytest.TempPathFactory) -> SourceTree:
    """The minimal contracts, read once."""
    folder = tmp_path_factory.mktemp("minimal") / "schemas"
    shutil.copytree(ASSETS / "minimal", folder)
    meta.install(folder)
    return read_tree(folder)


@pytest.fixture(scope="module")
def verdicts() -> Verdicts:
    """What was proved of the bindings and events of the minimal contracts."""
    return Verdicts()


def test_the_minimal_contracts_are_clean(schemas: Path) -> None:
    assert lint(read_tree(schemas)) == ()


def test_a_function_in_a_field_map_may_raise_any_declared_error(schemas: Path) -> None:
    file = schemas / "tools/books/find_books.yaml"
    unused = "shelf_lost: {status: 404, title: There is no such shelf.}"
    text = file.read_text().replace("shelf_closed: {", f"{unused}\n      shelf_closed: {{", 1)

    def found() -> set[str]:
        return {finding.rule for finding in lint(read_tree(schemas))}

    file.write_text(text)
    assert "policy/unused-error" in found()
    function = "{python: gateway.connectors.sheets.fields:total, with: [$response.body#/items]}"
    file.write_text(text.replace("{count: $response.body#/items}", function))
    assert "policy/unused-error" not in found()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_planted_mistakes_are_found_where_they_are(
    schemas: Path, verdicts: Verdicts, kind: str
) -> None:
    if kind == RELEASED:
        release(schemas)

    assert misjudged(schemas, mistakes_of(kind), verdicts) == {}


def test_every_rule_has_a_planted_mistake() -> None:
    assert {name for names in KINDS.values() for name in names} == {
        file.stem for file in PLANTED.iterdir()
    }
    planted = {mistake["expect"]["rule"] for kind in KINDS for mistake in mistakes_of(kind)}
    assert planted.isdisjoint(ELSEWHERE)
    assert planted | ELSEWHERE.keys() == {rule.id for rule in RULES}
    tests = Path(__file__).parents[1]
    texts = {name: (tests / name).read_text("utf-8") for name in ELSEWHERE.values()}
    assert {rule for rule, name in ELSEWHERE.items() if f'"{rule}"' not in texts[name]} == set()


def test_rules_are_unique_and_speak_in_sentences() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule.meaning.endswith("."), rule.id
        assert rule.fix.endswith("."), rule.id


def test_every_check_names_its_rules() -> None:
    """The docstring of a check is what the list of checks is read by."""
    themes = {rule.id.partition("/")[0] for rule in RULES}
    for check in (*CHECKS, *DEEP_CHECKS):
        named = (check.__doc__ or "").split(", ")
        assert {name.partition("/")[0] for name in named} <= themes, check.__name__


@pytest.mark.parametrize("target", ["http://127.0.0.1:9/a.json", "file:///etc/hostname"])
def test_a_reference_to_elsewhere_opens_no_socket_and_no_file(
    schemas: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    file = schemas / "tools/books/add_book.input.json"
    file.write_text(file.read_text().replace("../../common/library.json", target))
    tree = read_tree(schemas)

    def refuse(*_: object, **__: object) -> None:
        pytest.fail("the lint reached out of the folder")

    for rule_text in meta.texts():
        meta.validator(rule_text)
    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr("builtins.open", refuse)
    monkeypatch.setattr("gateway.authoring.contracts.meta.stale_copies", lambda _: ())
    for name in ("faults", "signature_faults"):
        monkeypatch.setattr(f"gateway.authoring.lint.bindings.Handlers.{name}", lambda *_: ())

    assert [finding.rule for finding in errors(lint(tree))] == ["ref/remote"]


def test_no_finding_repeats_a_value_of_an_example(schemas: Path) -> None:
    file = schemas / "tools/hello/greet.yaml"
    file.write_text(file.read_text().replace("{name: Grace}", "{name: 70070707}"))
    found = lint(read_tree(schemas))
    assert [finding.rule for finding in found] == ["tool/example-refused"]
    assert "70070707" not in found[0].message + found[0].fix


def test_a_shared_mistake_is_reported_once(schemas: Path) -> None:
    """Where it is written, however many contracts use it."""
    file = schemas / "common/library.json"
    file.write_text(file.read_text().replace("^97[89][0-9]{10}$", "^\\\\d+$"))
    found = lint(read_tree(schemas))
    assert [finding.path for finding in found] == ["common/library.json"]


def test_notes_do_not_refuse(schemas: Path) -> None:
    file = schemas / "tools/books/find_books.output.json"
    file.write_text(
        file.read_text().replace(
            '"maxItems": 50', '"maxItems": 50, "contains": true, "minContains": 0'
        )
    )
    findings = lint(read_tree(schemas))
    assert {finding.severity for finding in findings} == {Severity.NOTE}
    assert errors(findings) == ()


@pytest.mark.untraced
def test_a_folder_with_rubbish_is_reported_and_not_crashed_on(
    schemas: Path, verdicts: Verdicts
) -> None:
    """Every contract file replaced by values of the wrong kind, one after the other.

    Each file by one value that is no object and by one with members that are none, by turns.
    """
    found = sorted(path.relative_to(schemas) for path in schemas.rglob("*.*") if path.is_file())
    # What resources send as it is may have any text, and meta-schemas are compared by their bytes.
    names = [path for path in found if path.parent.name not in {"files", "_meta"}]
    plain = ("[]", "7", '"text"', "null")
    objects = ("{}", '{"post": []}', '{"paths": 7, "$defs": 7}')
    for turn, name in enumerate(names):
        original = (schemas / name).read_bytes()
        for rubbish in (plain[turn % len(plain)], objects[turn % len(objects)]):
            (schemas / name).write_text(rubbish)
            found_in_it = errors(lint(read_tree(schemas), verdicts))
            assert found_in_it, f"{name} holding {rubbish} passed"
        (schemas / name).write_bytes(original)


@pytest.mark.parametrize(
    "name",
    [
        "openapi.yaml",
        "policies/agents.yaml",
        "common/library.json",
        "tools/hello/greet.yaml",
        "upstreams/books/openapi.yaml",
    ],
)
def test_a_file_that_cannot_be_read_is_not_said_to_be_missing(
    schemas: Path, verdicts: Verdicts, name: str
) -> None:
    (schemas / name).write_bytes(b"\xff")
    found = errors(lint(read_tree(schemas), verdicts))
    assert [each.rule for each in found] == ["file/encoding"]


def test_what_lies_in_a_linked_folder_is_not_said_to_be_missing(schemas: Path) -> None:
    (schemas / "tools/hello").rename(schemas.with_name("elsewhere"))
    (schemas / "tools/hello").symlink_to(schemas.with_name("elsewhere"))
    assert [each.rule for each in lint(read_tree(schemas))] == ["file/unknown-kind"]


def test_declared_errors_that_python_may_raise_or_a_fallback_gives_are_used(schemas: Path) -> None:
    greet, find = schemas / "tools/hello/greet.yaml", schemas / "tools/books/find_books.yaml"
    declared = "timeoutSeconds: 1\n    errors: {rude: {status: 422, title: How rude.}}"
    greet.write_text(greet.read_text().replace("timeoutSeconds: 1", declared))
    meaning = '      "409": {reason: shelf_closed}\n'
    text = find.read_text()
    response = text[text.index("    response:\n") : text.index('    errors:\n      "409"')]
    request = text[text.index("    request:\n") : text.index("    response:\n")]
    nested = "".join(f"  {line}\n" for line in (request + response).splitlines())
    fallback = (
        '    fallback:\n      on: ["403"]\n      operationId: searchBooks\n'
        f"{nested}      errors:\n  {meaning}"
    )
    find.write_text(text.replace(f"    errors:\n{meaning}", fallback))
    assert fallback in find.read_text()
    assert [each.rule for each in lint(read_tree(schemas))] == []


def test_verdicts_on_bindings_can_be_remembered(schemas: Path) -> None:
    """A second run of the same contracts asks for no proof again, and finds the same."""
    file = schemas / "tools/books/find_books.yaml"
    file.write_text(file.read_text().replace("$inputs.query", "$inputs.words"))
    remember = Verdicts()

    first, second = lint(read_tree(schemas), remember), lint(read_tree(schemas), remember)
    assert remember.made == 3 + 2, "bindings, and events of webhooks"
    assert first == second
    assert [finding.rule for finding in first] == ["binding/unknown-source"]


def test_the_contracts_of_this_repository_have_no_errors() -> None:
    assert errors(lint(read_tree(Path(__file__).parents[4] / "schemas"))) == ()


RUBBISH: list[Any] = [None, True, 0, -1, 1.5, "", "$ref", [], {}, [1], {"$ref": "#"}, {"$ref": 7}]
KEYWORDS = ["$ref", "type", "properties", "required", "enum", "items", "allOf", "format", "$defs"]


def steps_into(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    members = value.items() if isinstance(value, dict) else enumerate(value)
    for step, member in members:
        yield (*path, step)
        if isinstance(member, dict | list):
            yield from steps_into(member, (*path, step))


def spoilt(tree: SourceTree, dice: random.Random) -> SourceTree:
    """The contracts with a member replaced, removed or added at random."""
    path, steps = dice.choice(
        [(path, steps) for path, each in tree.documents.items() for steps in steps_into(each.value)]
    )
    value = copy.deepcopy(tree.documents[path].value)
    holder = value
    for step in steps[:-1]:
        holder = holder[step]
    if dice.random() < 0.2 and isinstance(holder, dict):
        holder[dice.choice(KEYWORDS)] = dice.choice(RUBBISH)
    elif dice.random() < 0.2:
        del holder[steps[-1]]
    else:
        holder[steps[-1]] = dice.choice(RUBBISH)
    return SourceTree(tree.root, {**tree.documents, path: Document(path, value, "", LineTable)})


@pytest.mark.untraced
def test_one_value_of_the_wrong_kind_anywhere_crashes_nothing(
    minimal: SourceTree, verdicts: Verdicts
) -> None:
    for seed in range(30):
        dice = random.Random(seed)  # noqa: S311 - repeatable on purpose, no secret
        findings = lint(spoilt(minimal, dice), verdicts)
        said = all(finding.line >= 1 and finding.message and finding.fix for finding in findings)
        assert said, f"with the seed {seed}"


def test_a_tool_that_destroys_is_not_redundant_beside_the_star(tmp_path: Path) -> None:
    """`*` leaves it out, so its name beside it is what grants it."""
    schemas = tmp_path / "schemas"
    shutil.copytree(ASSETS / "minimal", schemas)
    rewrite(
        schemas, {"file": "tools/hello/greet.yaml", "old": "effect: read", "new": "effect: destroy"}
    )
    rewrite(schemas, {"file": "policies/agents.yaml", "old": "- books.find_books", "new": '- "*"'})
    found = [each.rule for each in lint(read_tree(schemas)) if each.rule.startswith("policy/")]
    assert found == []


def test_a_tab_is_called_a_tab(tmp_path: Path) -> None:
    schemas = tmp_path / "schemas"
    shutil.copytree(ASSETS / "minimal", schemas)
    rewrite(
        schemas, {"file": "tools/hello/greet.yaml", "old": "  operationId", "new": "\toperationId"}
    )
    [finding] = [each for each in lint(read_tree(schemas)) if each.rule == "yaml/malformed"]
    assert finding.message == "a TAB is used for indentation: YAML allows only spaces"
