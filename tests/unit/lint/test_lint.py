"""Every rule has a planted mistake that breaks it, and a clean folder that keeps it.

The mistakes are data, in tests/assets/contracts/planted/: what to do to the minimal contracts, and
the one finding that must come of it, with its file, line and JSON Pointer.
"""

import copy
import random
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway.contracts import meta
from gateway.contracts.finding import Finding, Severity, errors
from gateway.contracts.sources.document import Document
from gateway.contracts.sources.tree import SourceTree, read_tree
from gateway.lint import CHECKS, DEEP_CHECKS, RULES, lint

ASSETS = Path(__file__).parents[2] / "assets" / "contracts"
MISTAKES: list[dict[str, Any]] = [
    mistake
    for file in sorted((ASSETS / "planted").glob("*.yaml"))
    for mistake in yaml.safe_load(file.read_text())
]
NOT_PLANTED = {
    "webhook/scheme": "test_new_scheme.py: shape/x-webhook refuses what it does not list before",
    "file/unreadable": "test_document.py: the tests may run as root, who may read every file",
    "binding/python-reference": "shape/x-binding refuses the same before",
    "client/refused": "test_acceptance.py: it takes more than contract files, as the next two",
    "client/narrowed": "test_acceptance.py",
    "client/long-list": "test_acceptance.py",
    "entity/retyped": "test_migrations.py: it takes what was generated before",
    "binding/path-template": "upstream/path-parameter refuses the same before",
}


def plant(schemas: Path, mistake: dict[str, Any]) -> str:
    """Spoil the folder as the mistake says. Answers the file in which the finding must lie."""
    match mistake:
        case {"edits": [*edits, edit]}:
            for each in (*edits, edit):
                rewrite(schemas, each)
        case {"edit": edit}:
            rewrite(schemas, edit)
        case {"write": edit}:
            file = schemas / edit["file"]
            raw = bytes.fromhex(edit["hex"]) if "hex" in edit else edit["text"].encode()
            file.write_bytes(raw.ljust(edit.get("pad_to", 0)))
        case {"link": edit}:
            (schemas / edit["file"]).symlink_to(edit["to"])
        case {"delete": name}:
            (schemas / name).unlink()
            edit = {"file": name}
        case {"rename": edit}:
            (schemas / edit["file"]).rename(schemas / edit["to"])
        case _:
            pytest.fail("the mistake says nothing that can be done")
    return str(mistake["expect"].get("file", edit["file"]))


def rewrite(schemas: Path, edit: dict[str, Any]) -> None:
    file = schemas / edit["file"]
    text = file.read_text()
    assert edit["old"] in text, "the planted edit does not apply any more"
    file.write_text(text.replace(edit["old"], replacement(edit), 1))


def replacement(edit: dict[str, Any]) -> str:
    match edit:
        case {"new": text}:
            return str(text)
        case {"nest": how}:
            depth = how["depth"]
            return f"{how['before']}{how['open'] * depth}{how['inside']}{how['close'] * depth}"
        case {"many": how}:
            return how["before"] + "".join(how["each"] % number for number in range(how["count"]))
    pytest.fail("the edit says nothing to write")


def expected_line(schemas: Path, file: str, expect: dict[str, Any]) -> int:
    if "line" in expect:
        return int(expect["line"])
    text = (schemas / file).read_text()
    if "line_with_last" in expect:
        return text.count("\n", 0, text.rindex(expect["line_with_last"])) + 1
    return text.count("\n", 0, text.index(expect["line_with"])) + 1


def has_place(finding: Finding, expect: dict[str, Any]) -> bool:
    if "pointer_prefix" in expect:
        return finding.pointer.startswith(expect["pointer_prefix"])
    return bool(finding.pointer == expect["pointer"])


@pytest.fixture(scope="module")
def minimal(tmp_path_factory: pytest.TempPathFactory) -> SourceTree:
    """The minimal contracts, read once."""
    folder = tmp_path_factory.mktemp("minimal") / "schemas"
    shutil.copytree(ASSETS / "minimal", folder)
    meta.install(folder)
    return read_tree(folder)


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


@pytest.mark.parametrize("mistake", MISTAKES, ids=[mistake["name"] for mistake in MISTAKES])
def test_a_planted_mistake_is_found_where_it_is(schemas: Path, mistake: dict[str, Any]) -> None:
    file = plant(schemas, mistake)
    expect = mistake["expect"]

    findings = lint(read_tree(schemas))

    line = expected_line(schemas, file, expect)
    (found,) = [
        finding
        for finding in findings
        if finding.rule == expect["rule"] and finding.path == file and has_place(finding, expect)
    ]
    assert found.line == line
    assert expect.get("fix", "") in found.fix
    assert expect.get("message", "") in found.message
    others = {each.rule for each in errors(findings) if each != found}
    assert others <= set(mistake.get("also", ())), "the mistake is reported as others too"


def test_every_rule_has_a_planted_mistake() -> None:
    planted = {mistake["expect"]["rule"] for mistake in MISTAKES}
    assert planted | NOT_PLANTED.keys() == {rule.id for rule in RULES}


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
    monkeypatch.setattr("gateway.contracts.meta.stale_copies", lambda _: ())
    for name in ("faults", "signature_faults"):
        monkeypatch.setattr(f"gateway.lint.tools.handlers.Handlers.{name}", lambda *_: ())

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
    file.write_text(file.read_text().replace('"maxItems": 50', '"maxItems": 50, "contains": true'))
    findings = lint(read_tree(schemas))
    assert [finding.severity for finding in findings] == [Severity.NOTE]
    assert errors(findings) == ()


@pytest.mark.untraced  # lints more than a hundred times
def test_a_folder_with_only_rubbish_is_reported_and_not_crashed_on(schemas: Path) -> None:
    """Every contract file replaced by values of the wrong kind, one after the other."""
    found = [path.relative_to(schemas) for path in schemas.rglob("*.*") if path.is_file()]
    # What resources send as it is may have any text.
    names = [path for path in found if path.parent.name != "files"]
    for rubbish in ("[]", "7", '"text"', "null", "{}", '{"post": []}', '{"paths": 7, "$defs": 7}'):
        for name in names:
            original = (schemas / name).read_bytes()
            (schemas / name).write_text(rubbish)
            assert errors(lint(read_tree(schemas))), f"{name} holding {rubbish} passed"
            (schemas / name).write_bytes(original)


@pytest.mark.parametrize(
    "name",
    [
        "openapi.yaml",
        "policies/agents.yaml",
        "common/library.json",
        "tools/hello/greet.yaml",
        "tools/hello/greet.input.json",
        "upstreams/books/openapi.yaml",
    ],
)
def test_a_file_that_cannot_be_read_is_not_said_to_be_missing(schemas: Path, name: str) -> None:
    (schemas / name).write_bytes(b"\xff")
    assert [each.rule for each in errors(lint(read_tree(schemas)))] == ["file/encoding"]


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
    kept: dict[str, str] = {}
    made: list[str] = []

    def remember(kind: str, basis: str, make: Callable[[], str]) -> str:
        if kind + basis not in kept:
            made.append(basis)
            kept[kind + basis] = make()
        return kept[kind + basis]

    first, second = lint(read_tree(schemas), remember), lint(read_tree(schemas), remember)
    assert len(made) == 3 + 2, "bindings, and events of webhooks"
    assert first == second
    assert [finding.rule for finding in first] == ["binding/unknown-source"]


def test_the_contracts_of_this_repository_have_no_errors() -> None:
    assert errors(lint(read_tree(Path(__file__).parents[3] / "schemas"))) == ()


RUBBISH: list[Any] = [None, True, 0, -1, 1.5, "", "$ref", [], {}, [1], {"$ref": "#"}, {"$ref": 7}]
KEYWORDS = ["$ref", "type", "properties", "required", "enum", "items", "allOf", "format", "$defs"]


def steps_into(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    members = value.items() if isinstance(value, dict) else enumerate(value)
    for step, member in members:
        yield (*path, step)
        if isinstance(member, dict | list):
            yield from steps_into(member, (*path, step))


@pytest.mark.parametrize("seed", range(300))
def test_one_value_of_the_wrong_kind_anywhere_crashes_nothing(
    minimal: SourceTree, seed: int
) -> None:
    """A member replaced, removed or added at random; the seed finds it again."""
    dice = random.Random(seed)  # noqa: S311 - repeatable on purpose, no secret
    path, steps = dice.choice(
        [
            (path, steps)
            for path, each in minimal.documents.items()
            for steps in steps_into(each.value)
        ]
    )
    value = copy.deepcopy(minimal.documents[path].value)
    holder = value
    for step in steps[:-1]:
        holder = holder[step]
    if dice.random() < 0.2 and isinstance(holder, dict):
        holder[dice.choice(KEYWORDS)] = dice.choice(RUBBISH)
    elif dice.random() < 0.2:
        del holder[steps[-1]]
    else:
        holder[steps[-1]] = dice.choice(RUBBISH)
    spoilt = Document(path, value, "", dict)

    findings = lint(SourceTree(minimal.root, {**minimal.documents, path: spoilt}))

    assert all(finding.line >= 1 and finding.message and finding.fix for finding in findings)


def test_a_tool_that_destroys_is_not_redundant_beside_the_star(tmp_path: Path) -> None:
    """`*` leaves it out, so its name beside it is what grants it."""
    schemas = tmp_path / "schemas"
    shutil.copytree(ASSETS / "minimal", schemas)
    rewrite(
        schemas,
        {"file": "tools/hello/greet.yaml", "old": "effect: read", "new": "effect: destroy"},
    )
    rewrite(
        schemas,
        {"file": "policies/agents.yaml", "old": "- books.find_books", "new": '- "*"'},
    )
    found = [each.rule for each in lint(read_tree(schemas)) if each.rule.startswith("policy/")]
    assert found == []


def test_a_tab_is_called_a_tab(tmp_path: Path) -> None:
    schemas = tmp_path / "schemas"
    shutil.copytree(ASSETS / "minimal", schemas)
    rewrite(
        schemas,
        {"file": "tools/hello/greet.yaml", "old": "  operationId", "new": "\toperationId"},
    )
    [finding] = [each for each in lint(read_tree(schemas)) if each.rule == "yaml/malformed"]
    assert finding.message == "a TAB is used for indentation: YAML allows only spaces"
