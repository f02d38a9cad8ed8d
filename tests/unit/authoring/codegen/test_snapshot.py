"""The short way after an edit finds exactly what the long way finds."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.authoring.codegen import snapshot
from gateway.authoring.codegen.generate import PackageNames, generate
from gateway.authoring.codegen.snapshot import CACHE_FOLDER
from gateway.authoring.contracts import meta
from gateway.authoring.contracts.finding import ContractRefused, Finding
from tests.unit.edits import Edit, edited

GOLDEN = Path(__file__).parents[3] / "golden"


def removed(pattern: str, index_line: str) -> Edit:
    def edit(schemas: Path) -> None:
        for file in schemas.glob(pattern):
            file.unlink()
        edited("openapi.yaml", index_line, "")(schemas)

    return edit


def added(name: str, text: str) -> Edit:
    def edit(schemas: Path) -> None:
        (schemas / name).write_text(text, "utf-8")

    return edit


SHOW = "tools/demo/show.yaml"
INPUT = "tools/demo/show.input.json"
GREET = "tools/words/greet.yaml"
SHORT: dict[str, Edit] = {
    "an input schema": edited(INPUT, '"maximum": 50', '"maximum": 60'),
    "an output schema": edited("tools/words/greet.output.json", "The greeting", "Hello and so on"),
    "a description": edited(SHOW, "Show the entries", "Show all entries"),
    "a time limit": edited(SHOW, "timeoutSeconds: 30", "timeoutSeconds: 5"),
    "a binding": edited(SHOW, "limit: 50\n", "limit: 40\n"),
    "a note of the lint": edited(
        INPUT, '"minLength": 1,', '"minLength": 1, "not": {"const": "A"},'
    ),
}
LONG: dict[str, Edit] = {
    "the upstream": edited("upstreams/demo/openapi.yaml", "ledger.example/v1", "ledger.example/v2"),
    "a shared file": edited("common/problem.json", "The HTTP status.", "The status."),
    "the policies": edited("policies/agents.yaml", '"*"', "words.greet"),
    "the index": edited("openapi.yaml", "title: Whole", "title: Other"),
    "an alias": edited(SHOW, "name: demo_show\n", "name: demo_show\n    aliases: [list_them]\n"),
    "an effect": edited(GREET, "effect: read", "effect: write"),
    "a new file": added("common/extra.json", "{}"),
    "a tool that is gone": removed(
        "tools/words/*", "  /v1/words/greet: {$ref: ./tools/words/greet.yaml}\n"
    ),
    "a mistake": edited(INPUT, '"type": "integer"', '"type": "whole"'),
    "a reference to elsewhere": edited(SHOW, "./show.input.json", "../words/greet.input.json"),
    "a file that cannot be read": edited(INPUT, "{", "{{"),
    "a taken alias": edited(GREET, "name: words_greet\n", "name: demo_show\n"),
}

NAMES = PackageNames(of_handlers=("gateway.connectors", "demo_handlers", "own_handlers"))
MARK = "from gateway.contract.connector import tool_handler\n@tool_handler\n"


class Run:
    """What one run found, in a form in which two runs can be compared."""

    def __init__(self, schemas: Path) -> None:
        self.steps: list[str] = []
        self.findings: tuple[Finding, ...] = ()
        out = schemas.parent / "generated"
        try:
            self.findings = generate(schemas, out, progress=self.steps.append, names=NAMES).notes
        except ContractRefused as refused:
            self.findings = refused.findings
        files = [path for path in out.rglob("*") if path.is_file()]
        self.texts = {path.relative_to(out).as_posix(): path.read_bytes() for path in files}

    @property
    def took_the_long_way(self) -> bool:
        return any(step.startswith("linting") for step in self.steps)


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Path], Path]:
    """Makes a folder a project with these contracts, after its first run; gives its schemas."""
    made: dict[str, Path] = {}

    def _copied(name: str, folder: Path) -> Path:
        if name not in made:
            project = tmp_path_factory.mktemp("generated") / "project"
            shutil.copytree(GOLDEN / name / "in", project / "schemas")
            meta.install(project / "schemas")
            assert Run(project / "schemas").took_the_long_way
            made[name] = project
        shutil.copytree(made[name], folder, dirs_exist_ok=True)
        return folder / "schemas"

    return _copied


@pytest.fixture
def schemas(generated: Callable[[str, Path], Path], tmp_path: Path) -> Path:
    return generated("whole", tmp_path)


@pytest.mark.parametrize("name", ["a binding", "a note of the lint", *LONG])
def test_an_edit_is_found_alike_with_and_without_a_snapshot(schemas: Path, name: str) -> None:
    """The same text, and the same findings; some edits on their own, others with everything."""
    (SHORT | LONG)[name](schemas)

    short = Run(schemas)
    shutil.rmtree(schemas.parent / CACHE_FOLDER)
    long = Run(schemas)

    assert long.took_the_long_way
    assert short.took_the_long_way == (name in LONG)
    assert short.findings == long.findings
    assert short.texts == long.texts


def test_an_edit_of_a_handlers_tool_is_read_with_the_upstreams_it_uses(tmp_path: Path) -> None:
    shutil.copytree(GOLDEN / "context/in", tmp_path / "schemas")
    shutil.copy(GOLDEN / "context/demo_handlers.py", tmp_path)
    meta.install(tmp_path / "schemas")
    Run(tmp_path / "schemas")
    edited(SHOW, "Show the entries", "Show all entries")(tmp_path / "schemas")

    short = Run(tmp_path / "schemas")
    shutil.rmtree(tmp_path / CACHE_FOLDER)

    assert not short.took_the_long_way
    assert short.texts == Run(tmp_path / "schemas").texts


def test_an_edit_of_a_table_is_read_with_everything(tmp_path: Path) -> None:
    shutil.copytree(GOLDEN / "upstream/in", tmp_path / "schemas")
    meta.install(tmp_path / "schemas")
    before = Run(tmp_path / "schemas")
    edited("upstreams/demo/tables/entries.json", "500", "600")(tmp_path / "schemas")
    after = Run(tmp_path / "schemas")

    assert after.took_the_long_way
    changed = {name for name, text in after.texts.items() if text != before.texts[name]}
    assert changed == {"upstreams/demo.json", "bindings/demo/show.py"}


def test_without_an_edit_nothing_is_linted(schemas: Path) -> None:
    shutil.rmtree(schemas.parent / CACHE_FOLDER)
    first = Run(schemas)
    second = Run(schemas)

    assert first.took_the_long_way
    assert not second.took_the_long_way
    assert (second.findings, second.texts) == (first.findings, first.texts)


def test_edits_add_up(schemas: Path) -> None:
    """A snapshot made by the short way is as good as one made by the long way."""
    for edit in SHORT.values():
        edit(schemas)
        assert not Run(schemas).took_the_long_way

    short = Run(schemas)
    shutil.rmtree(schemas.parent / CACHE_FOLDER)
    long = Run(schemas)

    assert (long.findings, long.texts) == (short.findings, short.texts)


def test_a_snapshot_of_another_version_is_not_used(schemas: Path) -> None:
    assert snapshot.load(schemas.parent / CACHE_FOLDER, "other") is None


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (MARK + "async def salute(arguments): ...", "binding/unknown-handler"),
        ("async def greet(arguments): ...", "binding/unmarked-handler"),
        (MARK + "async def greet(arguments, context): ...", "binding/handler-signature"),
    ],
)
def test_a_handler_that_is_gone_is_missed_although_no_contract_changed(
    tmp_path: Path, text: str, rule: str
) -> None:
    """The digests are of contracts; the functions that they name lie elsewhere."""
    schemas = tmp_path / "schemas"
    shutil.copytree(GOLDEN / "whole" / "in", schemas)
    meta.install(schemas)
    edited(GREET, "gateway.connectors.example.tools:greet", "own_handlers:greet")(schemas)
    handlers = tmp_path / "own_handlers.py"
    handlers.write_text(MARK + "async def greet(arguments): ...", "utf-8")
    generate(schemas, tmp_path / "generated", tmp_path / "docs", names=NAMES)
    handlers.write_text(text, "utf-8")

    with pytest.raises(ContractRefused, match=rule):
        generate(schemas, tmp_path / "generated", tmp_path / "docs", names=NAMES)


@pytest.mark.parametrize(
    ("name", "old", "new", "is_short"),
    [
        ("tools/books/add_book.yaml", "description: Add", "description: Put", True),
        ("tools/hello/greet.input.json", '"maxLength": 50', '"maxLength": 40', False),
        ("webhooks/desk/webhook.yaml", "subject: $request", "subject: $response", False),
        ("webhooks/desk/book_lent.payload.json", '"const": "book_lent"', '"const": "b"', False),
        ("events/book.lent.v1.json", '"maxLength": 200', '"maxLength": 2', False),
        ("entities/loans.json", '"maxLength": 13', '"maxLength": 12', False),
    ],
)
def test_what_concerns_webhooks_is_judged_with_them(
    generated: Callable[[str, Path], Path],
    tmp_path: Path,
    name: str,
    old: str,
    new: str,
    *,
    is_short: bool,
) -> None:
    """A tool that a webhook calls is not read on its own: the webhook's map may not fit it now."""
    schemas = generated("webhook", tmp_path)
    edited(name, old, new)(schemas)

    short = Run(schemas)
    shutil.rmtree(tmp_path / CACHE_FOLDER)
    long = Run(schemas)

    assert short.took_the_long_way is not is_short
    assert short.findings == long.findings
    assert short.texts == long.texts
